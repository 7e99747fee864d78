package sweeps

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/claim"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Two arms without scale, penalty and noise follow z + sinh z = z_0 + sinh z_0 + ηΔt up to the
// order of η, with z the gap of the logits and Δ that of the mean rewards. From z_0 = 0 the policy
// is at J = m_0 + Δσ(z).
func TestTimeToLevelByFormula(t *testing.T) {
	const rate, gap = 0.005, 0.7
	var checks string
	levels := []float64{0.6, 0.7, 0.8, 0.55 + 0.95*0.35}
	for i, level := range levels {
		if i == len(levels)-1 { // the claim's own
			checks += "  - {claim: time-to-level, margin: 0.01}\n"
		} else {
			checks += fmt.Sprintf("  - {claim: time-to-level, level: %g, margin: 0.01}\n", level)
		}
	}
	entropy := -0.8*math.Log(0.8) - 0.2*math.Log(0.2)
	checks += fmt.Sprintf("  - {claim: time-to-level, quantity: entropy, level: %.12g, margin: 0.01}\n", entropy)
	text := strings.NewReplacer("group_size: 8", "group_size: inf", "learning_rate: 0.05", fmt.Sprint("learning_rate: ", rate), "steps: 600", "steps: 8000").Replace(underway)
	p := planText(t, text+checks)
	outcomes := must(plan.Simulate(t.Context(), p, 1))
	for i, v := range judged(t, p, outcomes) {
		best := 0.8
		if i < len(levels) {
			best = (levels[i] - 0.2) / gap
		}
		z := math.Log(best / (1 - best))
		want := (z + math.Sinh(z)) / (rate * gap)
		if got := float64(v.Predicted); math.Abs(got/want-1) > rate || v.Verdict != agree || math.Abs(float64(v.Measured/v.Predicted)-1) > 1e-9 {
			t.Errorf("%s: predicted %.6g and measured %.6g, want %.6g; %v because %s", v.Quantity, got, float64(v.Measured), want, v.Verdict, v.Because)
		}
	}
}

// timed judges a run whose mean reward is the predicted curve at times that are stretched by a
// factor, with an error.
func timed(t *testing.T, check string, stretch, stdErr float64) judge.Verdict {
	t.Helper()
	plan := planText(t, underway+"  - "+check+"\n")
	c := &plan.Cells[0]
	j := claim.NewQuestion(plan.Checks[0].Check, claim.NewEvidence(plan, nil))
	cv, of := j.Curve(c)
	if of.Out() {
		t.Fatal(of.Because)
	}
	o := outcomeOf()
	o.ID = c.ID
	steps := theory.ComparedSteps(&c.Settings)
	recorded := &store.Trajectory{Steps: sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)}
	series := store.RecordedSeries{Quantity: sim.ExpectedReward}
	for _, at := range recorded.Steps {
		early := float64(at) / stretch
		n := 0
		for n < len(steps)-2 && float64(steps[n+1]) < early {
			n++
		}
		share := (early - float64(steps[n])) / float64(steps[n+1]-steps[n])
		series.Mean = append(series.Mean, store.Number(cv.At(steps[n])+share*(cv.At(steps[n+1])-cv.At(steps[n]))))
		series.StdErr = append(series.StdErr, store.Number(stdErr*math.Min(float64(at), 1)))
	}
	recorded.Quantities = []store.RecordedSeries{series}
	o.SetTrajectory(recorded)
	return judged(t, plan, map[string]*store.Outcome{o.ID: &o})[0]
}

func TestJudgeTimeToLevel(t *testing.T) {
	const check = "{claim: time-to-level, level: 0.75, margin: 0.05, control: {scale: {stiffness: 1.2}}}"
	for _, c := range []struct {
		check           string
		stretch, stdErr float64
		want            judge.Ruling
		because         string
	}{
		{check, 1, 1e-4, agree, "inside"},
		{check, 1.2, 1e-4, disagree, "outside"},
		{check, 1, 0.02, inconclusive, "would decide"},
		{"{claim: time-to-level, level: 0.89, margin: 0.05}", 1, 1e-4, agree, "not reached in the run, and is not predicted to be"},
		{"{claim: time-to-level, level: 0.82, margin: 0.05}", 20, 1e-4, disagree, "not reached in the run, and is predicted to be"},
		{"{claim: time-to-level, level: 0.89, margin: 0.05}", 0.25, 1e-4, disagree, "outside"},
		{"{claim: time-to-level, level: 0.75, at_most: 1000}", 1, 1e-4, agree, "≤ 1000 holds; the theory predicts"},
		{"{claim: time-to-level, level: 0.75, expected: 10, margin: 0.5}", 1, 1e-4, disagree, "10 ± 5 is refuted"},
		{"{claim: time-to-level, level: 0.89, at_most: 300}", 1, 1e-4, disagree, "≤ 300 is refuted; the theory predicts that it never occurs"},
	} {
		v := timed(t, c.check, c.stretch, c.stdErr)
		if v.Verdict != c.want || !strings.Contains(v.Because, c.because) {
			t.Errorf("%s, times × %g: %v because %s, want %v because %s", c.check, c.stretch, v.Verdict, v.Because, c.want, c.because)
		}
		if v.Control != nil && c.want == agree && v.Control.Verdict != disagree {
			t.Errorf("%s: the control is %v", c.check, v.Control.Verdict)
		}
	}
	// The edges of the band at 0.75, of a curve that is steep there, are reached symmetrically.
	v := timed(t, check, 1, 1e-3)
	if early, late := float64(v.Measured-v.Lo), float64(v.Hi-v.Measured); !(early > 0) || math.Abs(early/late-1) > 0.1 {
		t.Errorf("measured %g in [%g, %g], want the middle", float64(v.Measured), float64(v.Lo), float64(v.Hi))
	}
}

// Every recorded quantity of this run follows its predicted curve, and a force that is three tenths
// larger is caught. At this confidence one seed in 10,000 gives another verdict.
func TestTrajectoryOfEveryQuantity(t *testing.T) {
	text := strings.NewReplacer("name: underway", "name: underway\nconfidence: 0.9999", "replicas: 64", "replicas: 2048",
		"coefficient: 0}}", "coefficient: 0.1}}\npolicy: {reference: [0.5, 0], init: [0, 0]}\nlag: {kind: delay, interval: 4}").Replace(underway)
	var names []sim.Quantity
	for _, q := range sim.Quantities(2) {
		// of the samples of a step, or not derived
		if q == sim.ZeroVarianceFraction || q == sim.ClipFraction || q == sim.GradientNorm || q == sim.ImportanceRatioMax {
			continue
		}
		names = append(names, q)
		text += fmt.Sprintf("  - {claim: trajectory, quantity: %s, absolute_margin: 0.05, control: {scale: {stiffness: 1.3}}}\n", q)
	}
	p := planText(t, text)
	outcomes := must(plan.Simulate(t.Context(), p, 1))
	for i, v := range judged(t, p, outcomes) {
		if v.Verdict != agree || v.Control.Verdict != disagree || v.PredictionKind != rom.Exact {
			t.Errorf("%s: %s %v in [%v, %v], %v because %s, control %v", names[i], v.Quantity, v.Measured, v.Lo, v.Hi, v.Verdict, v.Because, v.Control.Verdict)
		}
	}
}
