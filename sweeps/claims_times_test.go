package sweeps

import (
	"fmt"
	"math"
	"slices"
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
	checks += fmt.Sprintf("  - {claim: time-to-level, quantity: entropy, level: %g, margin: 0.01}\n", entropy)
	text := strings.NewReplacer("size: 8", "size: inf", "rate: 0.05", fmt.Sprint("rate: ", rate),
		"steps: 600", "steps: 8000").Replace(underway)
	p := planText(t, text+checks)
	for i, v := range must(Judge(p, must(plan.Simulate(t.Context(), p, 1)))) {
		best := 0.8
		if i < len(levels) {
			best = (levels[i] - 0.2) / gap
		}
		z := math.Log(best / (1 - best))
		want := (z + math.Sinh(z)) / (rate * gap)
		ruled(t, want, v, agree)
		near(t, v.Quantity, float64(v.Predicted), want, rate*want)
		near(t, v.Quantity, float64(v.Measured/v.Predicted), 1, 1e-9)
	}
}

// timed judges a run whose mean reward is the predicted curve at times that are stretched by a
// factor, with an error.
func timed(t *testing.T, check string, stretch, stdErr float64) judge.Verdict {
	t.Helper()
	plan := planText(t, underway+"  - {claim: time-to-level, "+check+"}\n")
	c := plan.Cells[0]
	j := claim.NewQuestion(plan.Checks[0].Check, claim.NewEvidence(plan, nil))
	cv, of := j.Curve(c)
	if of.Out() {
		t.Fatal(of.Because)
	}
	o := outcomeOf()
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
		before, after := cv.At(steps[n]), cv.At(steps[n+1])
		series.Mean = append(series.Mean, store.Number(before+share*(after-before)))
		series.StdErr = append(series.StdErr, store.Number(stdErr*math.Min(float64(at), 1)))
	}
	recorded.Quantities = []store.RecordedSeries{series}
	o.SetTrajectory(recorded)
	return judgeCell(t, plan, o)[0]
}

func TestJudgeTimeToLevel(t *testing.T) {
	const check = "level: 0.75, margin: 0.05, control: {scale: {stiffness: 1.2}}"
	for _, c := range []struct {
		check           string
		stretch, stdErr float64
		want            ruling
		because         string
	}{
		{check, 1, 1e-4, agree, "inside"},
		{check, 1.2, 1e-4, disagree, "outside"},
		{check, 1, 0.02, inconclusive, "would decide"},
		{"level: 0.89, margin: 0.05", 1, 1e-4, agree, "not reached in the run, and is not predicted to be"},
		{"level: 0.82, margin: 0.05", 20, 1e-4, disagree, "not reached in the run, and is predicted to be"},
		{"level: 0.89, margin: 0.05", 0.25, 1e-4, disagree, "outside"},
		{"level: 0.75, at_most: 1000", 1, 1e-4, agree, "≤ 1000 holds; the theory predicts"},
		{"level: 0.75, expected: 10, margin: 0.5", 1, 1e-4, disagree, "10 ± 5 is refuted"},
		{"level: 0.89, at_most: 300", 1, 1e-4, disagree,
			"≤ 300 is refuted; the theory predicts that it never occurs"},
	} {
		v := timed(t, c.check, c.stretch, c.stdErr)
		ruledBecause(t, c, v, c.want, c.because)
		if v.Control != nil && c.want == agree && v.Control.Verdict != disagree {
			t.Errorf("%s: the control is %v", c.check, v.Control.Verdict)
		}
	}
	// The edges of the band at 0.75, of a curve that is steep there, are reached symmetrically.
	v := timed(t, check, 1, 1e-3)
	early, late := v.Measured-v.Lo, v.Hi-v.Measured
	if !(early > 0) || math.Abs(float64(early/late)-1) > 0.1 {
		t.Errorf("%s, want the middle", told(v))
	}
}

// Every recorded quantity of this run follows its predicted curve, and a force that is three tenths
// larger is caught. At this confidence one seed in 10,000 gives another verdict.
func TestTrajectoryOfEveryQuantity(t *testing.T) {
	text := strings.NewReplacer("seed: 1", "seed: 1\nconfidence: 0.9999\nlag: {kind: delay, interval: 4}",
		"replicas: 64", "replicas: 2048", "coefficient: 0}}",
		"coefficient: 0.1}}\npolicy: {reference: [0.5, 0], init: [0, 0]}").Replace(underway)
	// of the samples of a step, or not derived
	ofStep := []sim.Quantity{sim.ZeroVarianceFraction, sim.ClipFraction, sim.GradientNorm,
		sim.ImportanceRatioMax}
	for _, q := range sim.Quantities(2) {
		if !slices.Contains(ofStep, q) {
			text += "  - {claim: trajectory, quantity: " + string(q) +
				", absolute_margin: 0.05, control: {scale: {stiffness: 1.3}}}\n"
		}
	}
	p := planText(t, text)
	for _, v := range must(Judge(p, must(plan.Simulate(t.Context(), p, 1)))) {
		ruled(t, v.Check, v, agree, disagree)
		if v.PredictionKind != rom.Exact {
			t.Error(told(v))
		}
	}
}
