package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// locating is a configuration of one cell without noise, to be completed by a check that
// locates a threshold.
const locating = `
name: locating
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: fixed-point}
grpo: {group_size: inf, advantage: {scale: none}, kl: {coefficient: 0.5, at: snapshot}}
lag: {interval: 4}
optimizer: {learning_rate: 0.1, momentum: 0.9}
run: {steps: 1000}
checks:
`

// Constants of that cell: λ of docs/theory.md §5 and its threshold at K = 4 and
// μ = 0.9, κ* = 0.0730613979; the paper's rule is 0.1/(4λ).
const (
	locatingStiffness = 0.1586848975
	locatingThreshold = 0.0730613979 / locatingStiffness
	locatingRule      = 0.1 / (4 * locatingStiffness)
)

// judgeLocated judges the cell with an event located between lo and hi, the search
// ending at end, and the given estimate of the stiffness. NaN leaves an estimate out.
func judgeLocated(t *testing.T, check string, lo, hi, end float64, stiffness store.NamedEstimate) []judge.Verdict {
	t.Helper()
	p := planText(t, locating+"  - {"+check+", displacement: 0.00001, draws: 1}\n")
	o := store.Outcome{ID: p.Cells[0].ID, Status: store.CellOK}
	add := func(name string, x float64) {
		if !math.IsNaN(x) {
			o.Estimates = append(o.Estimates, store.NamedEstimate{Name: name, Mean: x, DF: measure.Exactly})
		}
	}
	add(probe.LocatedLow, lo)
	add(probe.LocatedHigh, hi)
	add(probe.LocatedEnd, end)
	add(plan.StiffnessFresh, 0)
	for _, name := range []string{plan.StiffnessTotal, plan.StiffnessStale} {
		stiffness.Name = name
		o.Estimates = append(o.Estimates, stiffness)
	}
	return judged(t, p, map[string]*store.Outcome{o.ID: &o})
}

const inRate = "locate: {param: optimizer.learning_rate, from: 0.5, to: 8, tolerance: 0.001}"

func TestJudgeLocated(t *testing.T) {
	certain := store.NamedEstimate{Mean: locatingStiffness, DF: measure.Exactly}
	noisy := store.NamedEstimate{Mean: locatingStiffness, StdErr: 0.01 * locatingStiffness, DF: 63}
	nan := math.NaN()
	threshold := "claim: stability-threshold, margin: 0.01, control: {scale: {stiffness: 1.1}}, " + inRate
	refuted := "claim: stability-threshold, margin: 0.01, prediction: rule-at-stiffness, expect: fails, " + inRate
	for _, c := range []struct {
		name, check   string
		lo, hi, end   float64 // in units of the threshold
		stiffness     store.NamedEstimate
		want, control judge.Ruling
	}{
		{"located at the prediction", threshold, 0.999, 1.001, 2, certain, agree, disagree},
		{"located 10 % above the prediction", threshold, 1.1, 1.101, 2, certain, disagree, disagree},
		{"stiffness with an error of 1 %", threshold, 0.999, 1.001, 2, noisy, inconclusive, disagree},
		{"stiffness of unknown error", threshold, 0.999, 1.001, 2, store.NamedEstimate{Mean: locatingStiffness}, inconclusive, inconclusive},
		{"not located, though predicted within the search", threshold, 2, nan, 2, certain, disagree, disagree},
		{"not located, and predicted beyond the search", threshold, 0.5, nan, 0.5, certain, agree, agree},
		{"search undecided before its end", threshold, 0.5, nan, 2, certain, inconclusive, inconclusive},
		{"search not begun", threshold, nan, nan, nan, certain, outOfScope, outOfScope},
		{"refutation of the rule, right", refuted, 0.999, 1.001, 2, certain, agree, disagree},
		{"refutation of the rule, wrong", refuted, 0.999 * locatingRule / locatingThreshold, 1.001 * locatingRule / locatingThreshold, 2, certain, disagree, agree},
	} {
		v := judgeLocated(t, c.check, c.lo*locatingThreshold, c.hi*locatingThreshold, c.end*locatingThreshold, c.stiffness)[0]
		if v.Verdict != c.want || v.Control.Verdict != c.control {
			t.Errorf("%s: %v because %s, control %v; want %v and %v", c.name, v.Verdict, v.Because, v.Control.Verdict, c.want, c.control)
		}
	}
}

// The threshold is compared with the rule from below and without margin, the ratio of
// the two from both sides with margin.
func TestJudgeRuleIsSafe(t *testing.T) {
	certain := store.NamedEstimate{Mean: locatingStiffness, DF: measure.Exactly}
	const factor = locatingThreshold / locatingRule
	const holds = "claim: rule-is-safe, prediction: rule-at-stiffness, margin: 0.01, control: {scale: {stiffness: 0.3}}, " + inRate
	const fails = "claim: rule-is-safe, prediction: rule-at-stiffness, margin: 0.01, expect: fails, " + inRate
	for _, c := range []struct {
		check  string
		at     float64 // in units of the rule
		want   [2]judge.Ruling
		caught [2]judge.Ruling
	}{
		{holds, factor, [2]judge.Ruling{agree, agree}, [2]judge.Ruling{disagree, disagree}},
		{holds, 0.99, [2]judge.Ruling{disagree, disagree}, [2]judge.Ruling{disagree, disagree}},
		{holds, 1, [2]judge.Ruling{inconclusive, disagree}, [2]judge.Ruling{disagree, disagree}},
		{fails, factor, [2]judge.Ruling{disagree, agree}, [2]judge.Ruling{disagree, disagree}},
		{fails, 0.9, [2]judge.Ruling{agree, disagree}, [2]judge.Ruling{agree, disagree}},
	} {
		verdicts := judgeLocated(t, c.check, c.at*locatingRule*0.9999, c.at*locatingRule*1.0001, 8*locatingRule, certain)
		for i, v := range verdicts {
			if v.Verdict != c.want[i] || v.Control.Verdict != c.caught[i] {
				t.Errorf("%s, located at %g times the rule, row %d: %v because %s, control %s: %v; want %v and %v",
					c.check, c.at, i, v.Verdict, v.Because, v.Control.Fault, v.Control.Verdict, c.want[i], c.caught[i])
			}
		}
		if v := verdicts[1]; math.Abs(float64(v.Predicted)-factor) > 1e-6*factor {
			t.Errorf("predicted threshold / rule %g, want %g", float64(v.Predicted), factor)
		}
	}
}

// A location beyond the range that the theory searches is out of scope; it does not
// agree with "never".
func TestJudgeBeyondSearchOfTheory(t *testing.T) {
	certain := store.NamedEstimate{Mean: locatingStiffness, DF: measure.Exactly}
	const check = "claim: oscillation-onset, absolute_margin: 0, locate: {param: lag.interval, from: 0.1, to: 900, tolerance: 0.01}"
	text := strings.Replace(locating, "lag: {interval: 4}", "lag: {kind: delay, interval: 4}", 1)
	text = strings.Replace(text, "learning_rate: 0.1,", "learning_rate: 0.0000001,", 1)
	p := planText(t, text+"  - {"+check+", displacement: 0.00001, draws: 1}\n")
	o := store.Outcome{ID: p.Cells[0].ID, Status: store.CellOK, Estimates: []store.NamedEstimate{
		{Name: probe.LocatedLow, Mean: 400, DF: measure.Exactly}, {Name: probe.LocatedEnd, Mean: 400, DF: measure.Exactly},
		{Name: plan.StiffnessFresh, DF: measure.Exactly},
	}}
	for _, name := range []string{plan.StiffnessTotal, plan.StiffnessStale} {
		certain.Name = name
		o.Estimates = append(o.Estimates, certain)
	}
	v := judged(t, p, map[string]*store.Outcome{o.ID: &o})[0]
	if v.Verdict != outOfScope || !strings.Contains(v.Because, "below 79 only") {
		t.Errorf("%v because %s", v.Verdict, v.Because)
	}
}
