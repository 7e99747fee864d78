package sweeps

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/rom/paper"
	"grposim/sim/probe"
	"grposim/sweeps/claim"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// frontiers is a configuration of three bandits whose visible frontier is located.
const frontiers = `
name: frontiers
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, advantage: {scale: none}, kl: {coefficient: 0.5, at: snapshot}}
lag: {kind: delay}
optimizer: {learning_rate: 0.1, momentum: 0.9}
run: {steps: 1000}
sweep:
  - param: bandit.arms
    values:
      - [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]
      - [{reward: bernoulli, mean: 0.8}, {reward: bernoulli, mean: 0.2}]
      - [{reward: bernoulli, mean: 0.7}, {reward: bernoulli, mean: 0.2}]
checks:
  - {claim: %s, %s, displacement: 0.001, draws: 1,
     locate: {param: lag.interval, from: 0.1, to: 8, tolerance: 0.01}}
`

// frontierAt is a frontier located in a search up to an end, +Inf: not found.
func frontierAt(at, end, stiffness float64) store.Outcome {
	o := outcomeOf(exactly(probe.LocatedLow, min(at, end)), exactly(probe.LocatedEnd, end),
		exactly(plan.StiffnessFresh, 0), exactly(plan.StiffnessTotal, stiffness),
		exactly(plan.StiffnessStale, stiffness))
	if !math.IsInf(at, 1) {
		o.Estimates = append(o.Estimates, exactly(probe.LocatedHigh, at))
	}
	return o
}

// judgeFrontiers judges the three bandits with frontiers at the given multiples of the
// paper's line, +Inf: not found up to ten times the line.
func judgeFrontiers(t *testing.T, claim, check string, multiples [3]float64) []judge.Verdict {
	t.Helper()
	p := planText(t, fmt.Sprintf(frontiers, claim, check))
	return must(Judge(p, outcomesOf(p, func(i int) store.Outcome {
		p := rom.Predict(theory.Params(&p.Cells[i].Settings, rom.Unit))
		line := *p.PaperRule.CriticalRefreshInterval
		return frontierAt(multiples[i]*line, 10*line, p.Stiffness.Total)
	})))
}

func TestJudgeFrontiers(t *testing.T) {
	multiples := [3]float64{1, 1.3, math.Inf(1)}
	line := "margin: 0.25, control: {scale: {stiffness: 2}}"
	for _, c := range []struct {
		claim, check string
		multiples    [3]float64
		want         [3]ruling
	}{
		{"visible-frontier", line, multiples, [3]ruling{agree, disagree, disagree}},
		{"visible-frontier", line + ", expect: fails", multiples, [3]ruling{disagree, agree, agree}},
		{"frontier-above-onset", line, [3]float64{1, 1e-3, math.Inf(1)}, [3]ruling{agree, disagree, agree}},
	} {
		for i, v := range judgeFrontiers(t, c.claim, c.check, c.multiples) {
			ruled(t, c.check, v, c.want[i])
			if v.PredictionKind != rom.PaperRule {
				t.Error(told(v))
			}
		}
	}
}

// The median deviation of three bandits is that of the second in order; one without a
// frontier counts as the farthest.
func TestJudgeMedianFrontier(t *testing.T) {
	const check = "over: bandit.arms, absolute_margin: 0.25"
	const doubled = check + ", control: {scale: {stiffness: 2}}"
	for _, c := range []struct {
		check     string
		multiples [3]float64
		measured  float64
		want      ruling
		control   ruling
	}{
		{doubled, [3]float64{1.1, 0.5, 0.9}, 0.1, agree, disagree},
		{doubled, [3]float64{0.6, 0.5, 1}, 0.4, disagree, agree},
		{check + ", expect: fails", [3]float64{0.6, 0.5, math.Inf(1)}, 0.5, agree, disagree},
	} {
		v := judgeFrontiers(t, "median-frontier", c.check, c.multiples)[0]
		ruled(t, c.multiples, v, c.want, c.control)
		near(t, c.multiples, float64(v.Measured), c.measured, 1e-9)
		if !strings.Contains(v.Quantity, "of 3 bandits within the margin") {
			t.Errorf("quantity %q", v.Quantity)
		}
	}
}

// frontiersOverRate is a configuration with a check over three learning rates.
const frontiersOverRate = `
name: gap
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, advantage: {scale: none}, kl: {coefficient: 0.5, at: snapshot}}
lag: {kind: delay}
optimizer: {learning_rate: 0.1, momentum: 0.5}
run: {steps: 1000}
sweep: [{param: optimizer.learning_rate, values: [0.05, 0.025, 0.1]}]
checks:
  - {claim: %s, %s, over: optimizer.learning_rate, displacement: 0.001, draws: 1,
     locate: {param: lag.interval, from: 0.1, to: 8, tolerance: 0.01}}
`

// judgeOverRate judges frontiers at the given intervals for the rates 0.05, 0.025 and 0.1,
// +Inf: not found. onsets are the rates at which ζ = 1 at those intervals.
func judgeOverRate(t *testing.T, claim, check string, intervals [3]float64) (_ judge.Verdict, onsets [3]float64) {
	t.Helper()
	p := planText(t, fmt.Sprintf(frontiersOverRate, claim, check))
	return must(Judge(p, outcomesOf(p, func(i int) store.Outcome {
		p := rom.Predict(theory.Params(&p.Cells[i].Settings, rom.Unit))
		onsets[i] = paper.Onset(0.5, math.Floor(min(intervals[i], 1e4))) / *p.PaperRule.Stiffness
		return frontierAt(intervals[i], 1e4, p.Stiffness.Total)
	})))[0], onsets
}

// The gap of a frontier from ζ = 1 is measured at the K_ref of the frontier, and has to have
// the paper's sign and to grow with the learning rate. A frontier at the smallest K_ref, or
// none, decides nothing.
func TestJudgeFrontierGap(t *testing.T) {
	for claim, between := range map[string]func(frontier, onset float64) float64{
		"frontier-gap":   func(frontier, onset float64) float64 { return frontier - onset },
		"frontier-ratio": func(frontier, onset float64) float64 { return math.Log(frontier / onset) },
	} {
		for _, c := range []struct {
			intervals  [3]float64
			gap, ratio ruling
		}{
			// the frontier comes nearer to ζ = 1 in proportion, not in distance
			{[3]float64{36, 80, 16}, agree, disagree},
			// a hyperbola: ζ = 1 is flatter than one at small K_ref
			{[3]float64{40, 80, 20}, agree, agree},
			{[3]float64{40, 2, 8}, disagree, disagree}, // the wrong sign at the smallest rate
			{[3]float64{2, 80, 20}, disagree, disagree},
			{[3]float64{40, 80, 1}, inconclusive, inconclusive},
			{[3]float64{40, math.Inf(1), 20}, inconclusive, inconclusive},
		} {
			const check = "margin: 0.25, control: {scale: {stiffness: 0.1}}"
			v, onsets := judgeOverRate(t, claim, check, c.intervals)
			want := map[string]ruling{"frontier-gap": c.gap, "frontier-ratio": c.ratio}[claim]
			ruled(t, c.intervals, v, want)
			small, middle, large := between(0.025, onsets[1]), between(0.05, onsets[0]), between(0.1, onsets[2])
			size := max(math.Abs(small), math.Abs(middle), math.Abs(large))
			least := min(small, middle-small, large-middle) / size
			if want != inconclusive {
				near(t, c.intervals, float64(v.Measured), least, 1e-2*math.Abs(least))
			}
		}
	}
}

// Frontiers at 40, 80 and 20 for rates of 0.05, 0.025 and 0.1 have one ηK_ref. A line that is
// the same at every rate is caught.
func TestJudgeFrontierConstant(t *testing.T) {
	const same = "control: {set: {optimizer.learning_rate: 0.05}}"
	for _, c := range []struct {
		check     string
		intervals [3]float64
		measured  float64
		want      ruling
	}{
		{same, [3]float64{40, 80, 20}, 0, agree},
		{same, [3]float64{40, 80, 40}, math.Pow(2, 2./3) - 1, disagree},
		{"expect: fails", [3]float64{40, 80, 40}, math.Pow(2, 2./3) - 1, agree},
		// it is far beyond the others
		{"expect: fails", [3]float64{40, 80, math.Inf(1)}, math.NaN(), agree},
	} {
		v, _ := judgeOverRate(t, "frontier-constant", "absolute_margin: 0.25, "+c.check, c.intervals)
		ruled(t, c, v, c.want)
		if !math.IsNaN(c.measured) {
			near(t, c, float64(v.Measured), c.measured, 1e-9)
		}
		if c.want == agree && v.Control.Verdict != disagree {
			t.Errorf("frontiers at %v: control %+v", c.intervals, v.Control)
		}
	}
}

// classes is a cell whose class is asked for at several intervals.
const classes = `
name: classes
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, kl: {coefficient: 0.5}}
lag: {kind: delay}
optimizer: {learning_rate: 0.1}
run: {steps: 600}
`

// Of three runs, the first never turns back, the second overshoots and the third swings
// twice (see TestClasses).
func TestJudgeClassOccurs(t *testing.T) {
	const text = classes + `sweep: [{param: lag.interval, values: [1, 2, 3]}]
checks:
  - {claim: class-occurs, over: lag.interval, margin: 0.25, class: %s, control: {class: %s}%s}
`
	rising := func(t float64) float64 { return 1 - math.Exp(-t/50) }
	overshoots, swings := oscillator(0.8, 0.2), oscillator(0.6, 0.2)
	for _, c := range []struct {
		curves         [3]curve
		class, another string
		measured       float64
		holds, control ruling // with expect: holds
	}{
		{[3]curve{rising, overshoots, swings}, "monotone", "overshooting", 1, agree, agree},
		{[3]curve{overshoots, overshoots, swings}, "overshooting", "monotone", 2, agree, disagree},
		{[3]curve{overshoots, overshoots, swings}, "monotone", "oscillatory", 0, disagree, agree},
		{[3]curve{rising, nil, swings}, "monotone", "overshooting", math.NaN(), inconclusive, inconclusive},
	} {
		for _, expect := range []string{"", ", expect: fails"} {
			plan := planText(t, fmt.Sprintf(text, c.class, c.another, expect))
			v := must(Judge(plan, outcomesOf(plan, func(i int) store.Outcome {
				if c.curves[i] == nil {
					return outcomeOf() // nothing recorded
				}
				_, o := record(600, 1, c.curves[i], 0.6)
				return *o
			})))[0]
			opposite := map[ruling]ruling{agree: disagree, disagree: agree, inconclusive: inconclusive}
			want, control := c.holds, c.control
			if expect != "" {
				want, control = opposite[want], opposite[control]
			}
			ruled(t, c.class+expect, v, want, control)
			if !math.IsNaN(c.measured) {
				near(t, c.class+expect, float64(v.Measured), c.measured, 0)
			}
		}
	}
}

// A bandit is of a class if it is so at one of its refresh intervals; the claim is about all
// bandits, and over refresh intervals about all of them.
func TestJudgeClassThroughout(t *testing.T) {
	const bandits = classes + `sweep:
  - {param: lag.interval, values: [1, 2, 3]}
  - param: bandit.arms
    values:
      - [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]
      - [{reward: bernoulli, mean: 0.8}, {reward: bernoulli, mean: 0.2}]
      - [{reward: bernoulli, mean: 0.7}, {reward: bernoulli, mean: 0.2}]
checks:
  - {claim: class-throughout, over: bandit.arms, margin: 0.25, class: monotone, %s}
`
	overIntervals := strings.Replace(bandits, "over: bandit.arms", "over: lag.interval", 1)
	rising := func(t float64) float64 { return 1 - math.Exp(-t/50) }
	swings := oscillator(0.6, 0.2)
	for _, c := range []struct {
		text    string
		rises   func(k int, mean float64) bool // whether the run rises; else it swings
		number  float64
		bandits bool   // whether they are counted
		want    ruling // with expect: holds
	}{
		{bandits, func(k int, _ float64) bool { return k == 2 }, 3, true, agree},
		{bandits, func(k int, mean float64) bool { return k == 2 && mean > 0.75 }, 2, true, disagree},
		{bandits, func(int, float64) bool { return false }, 0, true, disagree},
		{overIntervals, func(int, float64) bool { return true }, 3, false, agree},
		{overIntervals, func(k int, _ float64) bool { return k < 3 }, 2, false, disagree},
	} {
		for expect, want := range map[string]ruling{
			"control: {class: oscillatory}": c.want, "expect: fails": map[ruling]ruling{agree: disagree, disagree: agree}[c.want],
		} {
			plan := planText(t, fmt.Sprintf(c.text, expect))
			v := must(Judge(plan, outcomesOf(plan, func(i int) store.Outcome {
				s := &plan.Cells[i].Settings
				curve := swings
				if c.rises(s.Lag.Interval, s.Bandit.Arms[0].Mean) {
					curve = rising
				}
				_, o := record(600, 1, curve, 0.6)
				return *o
			})))[0]
			ruled(t, expect, v, want)
			if float64(v.Measured) != c.number || v.Predicted != 3 {
				t.Errorf("%s, want %v of 3", told(v), c.number)
			}
			tally := claim.Tally{Holds: int(c.number), Of: 3}
			if (v.Bandits != nil) != c.bandits || c.bandits && *v.Bandits != tally {
				t.Errorf("%s: bandits %v, want %v", v.Cell, v.Bandits, tally)
			}
			if expect == "expect: fails" && v.Verdict == agree && v.Control.Verdict != disagree {
				t.Errorf("%s: the control that all are of the class is %v", v.Cell, v.Control.Verdict)
			}
		}
	}
}
