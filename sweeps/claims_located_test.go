package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
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
func judgeLocated(t *testing.T, check string, lo, hi, end float64, stiffness measure.Named,
) []judge.Verdict {
	t.Helper()
	p := planText(t, locating+"  - {"+check+", displacement: 0.00001, draws: 1}\n")
	o := outcomeOf()
	add := func(name string, x float64) {
		if !math.IsNaN(x) {
			o.Estimates = append(o.Estimates, exactly(name, x))
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
	return judgeCell(t, p, o)
}

const inRate = "locate: {param: optimizer.learning_rate, from: 0.5, to: 8, tolerance: 0.001}"

func TestJudgeLocated(t *testing.T) {
	certain := measure.Named{Estimate: measure.Estimate{Mean: locatingStiffness, DF: measure.Exactly}}
	noisy := measure.Named{Estimate: measure.Estimate{Mean: locatingStiffness, StdErr: 0.01 * locatingStiffness, DF: 63}}
	nan := math.NaN()
	unknown := measure.Named{Estimate: measure.Estimate{Mean: locatingStiffness}}
	const rule = locatingRule / locatingThreshold
	const claim = "claim: stability-threshold, margin: 0.01, " + inRate
	const threshold = claim + ", control: {scale: {stiffness: 1.1}}"
	const refuted = claim + ", prediction: rule-at-stiffness, expect: fails"
	for _, c := range []struct {
		name, check   string
		lo, hi, end   float64 // in units of the threshold
		stiffness     measure.Named
		want, control ruling
	}{
		{"located at the prediction", threshold, 0.999, 1.001, 2, certain, agree, disagree},
		{"located 10 % above the prediction", threshold, 1.1, 1.101, 2, certain, disagree, disagree},
		{"stiffness with an error of 1 %", threshold, 0.999, 1.001, 2, noisy, inconclusive, disagree},
		{"stiffness of unknown error", threshold, 0.999, 1.001, 2, unknown, inconclusive, inconclusive},
		{"not located, though predicted inside", threshold, 2, nan, 2, certain, disagree, disagree},
		{"not located, and predicted beyond the search", threshold, 0.5, nan, 0.5, certain, agree, agree},
		{"search undecided before its end", threshold, 0.5, nan, 2, certain, inconclusive, inconclusive},
		{"search not begun", threshold, nan, nan, nan, certain, outOfScope, outOfScope},
		{"rule refuted, right", refuted, 0.999, 1.001, 2, certain, agree, disagree},
		{"rule refuted, wrong", refuted, 0.999 * rule, 1.001 * rule, 2, certain, disagree, agree},
	} {
		const at = locatingThreshold
		v := judgeLocated(t, c.check, c.lo*at, c.hi*at, c.end*at, c.stiffness)[0]
		ruled(t, c.name, v, c.want, c.control)
	}
}

// The threshold is compared with the rule from below and without margin, the ratio of
// the two from both sides with margin.
func TestJudgeRuleIsSafe(t *testing.T) {
	certain := measure.Named{Estimate: measure.Estimate{Mean: locatingStiffness, DF: measure.Exactly}}
	const factor = locatingThreshold / locatingRule
	const claim = "claim: rule-is-safe, prediction: rule-at-stiffness, margin: 0.01, " + inRate
	const holds = claim + ", control: {scale: {stiffness: 0.3}}"
	const fails = claim + ", expect: fails"
	for _, c := range []struct {
		check  string
		at     float64 // in units of the rule
		want   [2]ruling
		caught [2]ruling
	}{
		{holds, factor, [2]ruling{agree, agree}, [2]ruling{disagree, disagree}},
		{holds, 0.99, [2]ruling{disagree, disagree}, [2]ruling{disagree, disagree}},
		{holds, 1, [2]ruling{inconclusive, disagree}, [2]ruling{disagree, disagree}},
		{fails, factor, [2]ruling{disagree, agree}, [2]ruling{disagree, disagree}},
		{fails, 0.9, [2]ruling{agree, disagree}, [2]ruling{agree, disagree}},
	} {
		at := c.at * locatingRule
		verdicts := judgeLocated(t, c.check, at*0.9999, at*1.0001, 8*locatingRule, certain)
		for i, v := range verdicts {
			ruled(t, c, v, c.want[i], c.caught[i])
		}
		near(t, "threshold / rule", float64(verdicts[1].Predicted), factor, 1e-6*factor)
	}
}

// A location beyond the range that the theory searches is out of scope; it does not
// agree with "never".
func TestJudgeBeyondSearchOfTheory(t *testing.T) {
	text := strings.NewReplacer("lag: {", "lag: {kind: delay, ", "rate: 0.1,", "rate: 1e-7,").Replace(locating)
	p := planText(t, text+`
  - {claim: oscillation-onset, absolute_margin: 0, displacement: 0.00001, draws: 1,
     locate: {param: lag.interval, from: 0.1, to: 900, tolerance: 0.01}}
`)
	o := outcomeOf(exactly(probe.LocatedLow, 400), exactly(probe.LocatedEnd, 400),
		exactly(plan.StiffnessFresh, 0), exactly(plan.StiffnessTotal, locatingStiffness),
		exactly(plan.StiffnessStale, locatingStiffness))
	ruledBecause(t, "a small rate", judgeCell(t, p, o)[0], outOfScope, "below 79 only")
}

// Sampled groups of more than two arms have more modes than a search can tell apart.
func TestJudgeUnsearchable(t *testing.T) {
	text := strings.NewReplacer("mean: 0.2}", "mean: 0.2}, {reward: bernoulli, mean: 0.5}",
		"size: inf", "size: 16", "1000}", "1000, replicas: 2}").Replace(locating)
	p := planText(t, text+"  - {claim: stability-threshold, margin: 0.1, displacement: 0.01, draws: 1, "+inRate+"}\n")
	ruledBecause(t, "three arms", judgeCell(t, p, outcomeOf())[0], outOfScope, "are not searched")
}

// threshold is a check of a located threshold.
const threshold = "{claim: stability-threshold, displacement: 0.001, draws: 1, margin: 0.01, " +
	"locate: {param: optimizer.learning_rate, from: 0.5, to: 4, tolerance: 0.001}}"

// A located value is compared at the measured stiffness: where the error of that is not
// known, the verdict is inconclusive.
func TestLocatedAtAnUnknownStiffness(t *testing.T) {
	const lambda = 0.1670956266 // docs/theory.md §5
	located := func(stdErr float64, df int) judge.Verdict {
		return judgeOne(t, strings.Replace(threshold, "draws: 1,", "draws: 10,", 1), outcomeOf(
			estimate(plan.StiffnessTotal, lambda, stdErr, df), estimate(plan.StiffnessFresh, 0, stdErr, df),
			estimate(plan.StiffnessStale, lambda, stdErr, df),
			exactly(probe.LocatedLow, 2/lambda), exactly(probe.LocatedHigh, 2/lambda)))
	}
	ruled(t, "relative error 1e-4", located(1e-4*lambda, 63), agree)
	ruled(t, "a single draw", located(0, 0), inconclusive)
}
