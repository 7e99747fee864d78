package sweeps

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/store"
)

// underway is a configuration without a KL penalty, to be completed by checks.
const underway = `
name: underway
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.2}, {reward: bernoulli, mean: 0.9}]}
grpo: {group_size: 8, advantage: {scale: none}, kl: {coefficient: 0}}
optimizer: {learning_rate: 0.05}
run: {steps: 600, replicas: 64}
checks:
`

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
	plan := planText(t, text+checks)
	outcomes, err := Simulate(t.Context(), plan, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range judged(t, plan, outcomes) {
		best := 0.8
		if i < len(levels) {
			best = (levels[i] - 0.2) / gap
		}
		z := math.Log(best / (1 - best))
		want := (z + math.Sinh(z)) / (rate * gap)
		if got := float64(v.Predicted); math.Abs(got/want-1) > rate || v.Verdict != Agree || math.Abs(float64(v.Measured/v.Predicted)-1) > 1e-9 {
			t.Errorf("%s: predicted %.6g and measured %.6g, want %.6g; %v because %s", v.Quantity, got, float64(v.Measured), want, v.Verdict, v.Because)
		}
	}
}

// timed judges a run whose mean reward is the predicted curve at times that are stretched by a
// factor, with an error.
func timed(t *testing.T, check string, stretch, stdErr float64) Verdict {
	t.Helper()
	plan := planText(t, underway+"  - "+check+"\n")
	c := &plan.Cells[0]
	j := newJudgement(plan.Checks[0].Check, 0.99, newEvidence(nil))
	cv, of := j.curve(c)
	if of.Out() {
		t.Fatal(of.Because)
	}
	o := outcomeOf()
	o.ID = c.ID
	recorded := &store.Trajectory{Steps: sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)}
	series := store.RecordedSeries{Quantity: sim.ExpectedReward}
	for _, at := range recorded.Steps {
		early := float64(at) / stretch
		n := 0
		for n < len(cv.steps)-2 && float64(cv.steps[n+1]) < early {
			n++
		}
		share := (early - float64(cv.steps[n])) / float64(cv.steps[n+1]-cv.steps[n])
		series.Mean = append(series.Mean, store.Number(cv.values[n]+share*(cv.values[n+1]-cv.values[n])))
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
		want            Ruling
		because         string
	}{
		{check, 1, 1e-4, Agree, "inside"},
		{check, 1.2, 1e-4, Disagree, "outside"},
		{check, 1, 0.02, Inconclusive, "would decide"},
		{"{claim: time-to-level, level: 0.89, margin: 0.05}", 1, 1e-4, Agree, "not reached in the run, and is not predicted to be"},
		{"{claim: time-to-level, level: 0.82, margin: 0.05}", 20, 1e-4, Disagree, "not reached in the run, and is predicted to be"},
		{"{claim: time-to-level, level: 0.89, margin: 0.05}", 0.25, 1e-4, Disagree, "outside"},
		{"{claim: time-to-level, level: 0.75, at_most: 1000}", 1, 1e-4, Agree, "≤ 1000 holds; the theory predicts"},
		{"{claim: time-to-level, level: 0.75, expected: 10, margin: 0.5}", 1, 1e-4, Disagree, "10 ± 5 is refuted"},
		{"{claim: time-to-level, level: 0.89, at_most: 300}", 1, 1e-4, Disagree, "≤ 300 is refuted; the theory predicts that it never occurs"},
	} {
		v := timed(t, c.check, c.stretch, c.stdErr)
		if v.Verdict != c.want || !strings.Contains(v.Because, c.because) {
			t.Errorf("%s, times × %g: %v because %s, want %v because %s", c.check, c.stretch, v.Verdict, v.Because, c.want, c.because)
		}
		if v.Control != nil && c.want == Agree && v.Control.Verdict != Disagree {
			t.Errorf("%s: the control is %v", c.check, v.Control.Verdict)
		}
	}
	// The edges of the band at 0.75, of a curve that is steep there, are reached symmetrically.
	v := timed(t, check, 1, 1e-3)
	if early, late := float64(v.Measured-v.Lo), float64(v.Hi-v.Measured); !(early > 0) || math.Abs(early/late-1) > 0.1 {
		t.Errorf("measured %g in [%g, %g], want the middle", float64(v.Measured), float64(v.Lo), float64(v.Hi))
	}
}

// What a time leaves out is how far it moves with the curve; where the displaced curve does not
// reach the level, that is not known.
func TestNeglectedTime(t *testing.T) {
	plan := planText(t, underway+"  - {claim: time-to-level, level: 0.75, margin: 0.05}\n")
	j := newJudgement(plan.Checks[0].Check, 0.99, newEvidence(nil))
	cv := curve{steps: []int{0, 10, 20}, values: []float64{0, 1, 2}, neglected: []float64{0, 0.1, 0.2}}
	p := j.end(&plan.Cells[0]).Number
	p.Neglected = nil
	cv.predictTime(&p, cv.steps, 1.5, true)
	// 0.9 t/10 and 1.1 t/10 reach 1.5 at 16.67 and 13.64.
	if want := 1.5/0.09 - 15; p.Value != 15 || math.Abs(p.Size()-want) > 1e-12 {
		t.Errorf("%g leaves out %g, want 15 and %g", p.Value, p.Size(), want)
	}
	p.Neglected = nil
	cv.predictTime(&p, cv.steps, 1.9, true)
	if because := p.Judged(100); p.Value != 19 || !strings.Contains(because.String(), "reaches the level or not") {
		t.Errorf("%g is judged: %s", p.Value, because)
	}
	p.Neglected = nil
	cv.predictTime(&p, cv.steps, 3, true)
	if !math.IsInf(p.Value, 1) || p.Size() != 0 {
		t.Errorf("%g leaves out %g, want a level that is never reached and nothing", p.Value, p.Size())
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
	plan := planText(t, text)
	outcomes, err := Simulate(t.Context(), plan, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range judged(t, plan, outcomes) {
		if v.Verdict != Agree || v.Control.Verdict != Disagree || v.PredictionKind != rom.Exact {
			t.Errorf("%s: %s %v in [%v, %v], %v because %s, control %v", names[i], v.Quantity, v.Measured, v.Lo, v.Hi, v.Verdict, v.Because, v.Control.Verdict)
		}
	}
}

// A share of groups that no replica shows is not certain: the band has Wilson's interval.
func TestBandOfShares(t *testing.T) {
	plan := planText(t, underway+"  - {claim: trajectory, quantity: zero_variance_fraction, absolute_margin: 0.1}\n")
	c, j := &plan.Cells[0], newJudgement(plan.Checks[0].Check, 0.99, newEvidence(nil))
	recorded := &store.Trajectory{Steps: []int{0, 1}}
	for _, q := range []sim.Quantity{sim.ZeroVarianceFraction, sim.ClipFraction, sim.Entropy} {
		recorded.Quantities = append(recorded.Quantities, store.RecordedSeries{Quantity: q, Mean: []store.Number{0, 0}, StdErr: []store.Number{0, 0}})
	}
	z := distuv.UnitNormal.Quantile(1 - 0.01/4)
	want := z * z / (64 + z*z)
	for _, q := range []sim.Quantity{sim.ZeroVarianceFraction, sim.ClipFraction} {
		b := j.band(c, recorded, q)
		for i := range b.hi {
			if b.lo[i] != 0 || math.Abs(b.hi[i]/want-1) > 1e-6 {
				t.Errorf("%s, step %d: [%g, %g], want [0, %g]", q, i, b.lo[i], b.hi[i], want)
			}
		}
	}
	if b := j.band(c, recorded, sim.Entropy); b.hi[1] != 0 {
		t.Errorf("entropy: up to %g, want 0", b.hi[1])
	}
}
