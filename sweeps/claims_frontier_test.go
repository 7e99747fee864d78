package sweeps

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/rom/paper"
	"grposim/sim/measure"
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
  - {claim: %s, displacement: 0.001, draws: 1, locate: {param: lag.interval, from: 0.1, to: 8, tolerance: 0.01}, %s}
`

// judgeFrontiers judges the three bandits with frontiers at the given multiples of the
// paper's line, +Inf: not found up to ten times the line.
func judgeFrontiers(t *testing.T, claim, check string, multiples [3]float64) []judge.Verdict {
	t.Helper()
	p := planText(t, fmt.Sprintf(frontiers, claim, check))
	outcomes := make(map[string]*store.Outcome)
	for i := range p.Cells {
		c := &p.Cells[i]
		p := rom.Predict(theory.Params(&c.Settings, rom.Unit))
		line := *p.PaperRule.CriticalRefreshInterval
		o := &store.Outcome{ID: c.ID, Status: store.CellOK}
		add := func(name string, x float64) {
			o.Estimates = append(o.Estimates, store.NamedEstimate{Name: name, Mean: x, DF: measure.Exactly})
		}
		add(probe.LocatedEnd, 10*line)
		if m := multiples[i]; math.IsInf(m, 1) {
			add(probe.LocatedLow, 10*line)
		} else {
			add(probe.LocatedLow, m*line)
			add(probe.LocatedHigh, m*line)
		}
		add(plan.StiffnessFresh, 0)
		add(plan.StiffnessTotal, p.Stiffness.Total)
		add(plan.StiffnessStale, p.Stiffness.Total)
		outcomes[c.ID] = o
	}
	return judged(t, p, outcomes)
}

func TestJudgeFrontiers(t *testing.T) {
	inf := math.Inf(1)
	line := "margin: 0.25, control: {scale: {stiffness: 2}}"
	for _, c := range []struct {
		claim, check string
		multiples    [3]float64
		want         [3]judge.Ruling
	}{
		{"visible-frontier", line, [3]float64{1, 1.3, inf}, [3]judge.Ruling{agree, disagree, disagree}},
		{"visible-frontier", line + ", expect: fails", [3]float64{1, 1.3, inf}, [3]judge.Ruling{disagree, agree, agree}},
		{"frontier-above-onset", line, [3]float64{1, 1e-3, inf}, [3]judge.Ruling{agree, disagree, agree}},
	} {
		for i, v := range judgeFrontiers(t, c.claim, c.check, c.multiples) {
			if v.Verdict != c.want[i] || v.PredictionKind != rom.PaperRule {
				t.Errorf("%s at %g times the line: %v by %s, want %v", c.claim, c.multiples[i], v.Verdict, v.PredictionKind, c.want[i])
			}
		}
	}
}

// The median deviation of three bandits is that of the second in order; one without a
// frontier counts as the farthest.
func TestJudgeMedianFrontier(t *testing.T) {
	const check = "over: bandit.arms, absolute_margin: 0.25"
	for _, c := range []struct {
		check     string
		multiples [3]float64
		measured  float64
		want      judge.Ruling
		control   judge.Ruling
	}{
		{check + ", control: {scale: {stiffness: 2}}", [3]float64{1.1, 0.5, 0.9}, 0.1, agree, disagree},
		{check + ", control: {scale: {stiffness: 2}}", [3]float64{0.6, 0.5, 1}, 0.4, disagree, agree},
		{check + ", expect: fails", [3]float64{0.6, 0.5, math.Inf(1)}, 0.5, agree, disagree},
	} {
		v := judgeFrontiers(t, "median-frontier", c.check, c.multiples)[0]
		if v.Verdict != c.want || math.Abs(float64(v.Measured)-c.measured) > 1e-9 || v.Control == nil || v.Control.Verdict != c.control {
			t.Errorf("frontiers at %v: %v, measured %v, control %+v", c.multiples, v.Verdict, v.Measured, v.Control)
		}
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
  - {claim: %s, over: optimizer.learning_rate, displacement: 0.001, draws: 1, locate: {param: lag.interval, from: 0.1, to: 8, tolerance: 0.01}, %s}
`

// judgeOverRate judges frontiers at the given intervals for the rates 0.05, 0.025 and 0.1,
// +Inf: not found. onsets are the rates at which ζ = 1 at those intervals.
func judgeOverRate(t *testing.T, claim, check string, intervals [3]float64) (v judge.Verdict, onsets [3]float64) {
	t.Helper()
	p := planText(t, fmt.Sprintf(frontiersOverRate, claim, check))
	outcomes := make(map[string]*store.Outcome)
	for i := range p.Cells {
		cell := &p.Cells[i]
		p := rom.Predict(theory.Params(&cell.Settings, rom.Unit))
		o := &store.Outcome{ID: cell.ID, Status: store.CellOK}
		for name, x := range map[string]float64{
			plan.StiffnessFresh: 0, plan.StiffnessTotal: p.Stiffness.Total, plan.StiffnessStale: p.Stiffness.Total,
			probe.LocatedLow: min(intervals[i], 1e4), probe.LocatedHigh: intervals[i], probe.LocatedEnd: 1e4,
		} {
			if !math.IsInf(x, 1) {
				o.Estimates = append(o.Estimates, store.NamedEstimate{Name: name, Mean: x, DF: measure.Exactly})
			}
		}
		outcomes[cell.ID] = o
		onsets[i] = paper.Onset(0.5, math.Floor(min(intervals[i], 1e4))) / *p.PaperRule.Stiffness
	}
	return judged(t, p, outcomes)[0], onsets
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
			gap, ratio judge.Ruling
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
			v, onsets := judgeOverRate(t, claim, "margin: 0.25, control: {scale: {stiffness: 0.1}}", c.intervals)
			want := map[string]judge.Ruling{"frontier-gap": c.gap, "frontier-ratio": c.ratio}[claim]
			if v.Verdict != want {
				t.Errorf("%s, frontiers at K_ref = %v: %v (%s), want %v", claim, c.intervals, v.Verdict, v.Because, want)
			}
			small, middle, large := between(0.025, onsets[1]), between(0.05, onsets[0]), between(0.1, onsets[2])
			least := min(small, middle-small, large-middle) / max(math.Abs(small), math.Abs(middle), math.Abs(large))
			if want != inconclusive && math.Abs(float64(v.Measured)-least) > 1e-2*math.Abs(least) {
				t.Errorf("%s, frontiers at K_ref = %v: measured %v, want %v", claim, c.intervals, v.Measured, least)
			}
		}
	}
}

// Frontiers at 40, 80 and 20 for rates of 0.05, 0.025 and 0.1 have one ηK_ref. A line that is
// the same at every rate is caught.
func TestJudgeFrontierConstant(t *testing.T) {
	for _, c := range []struct {
		check     string
		intervals [3]float64
		measured  float64
		want      judge.Ruling
	}{
		{"control: {set: {optimizer.learning_rate: 0.05}}", [3]float64{40, 80, 20}, 0, agree},
		{"control: {set: {optimizer.learning_rate: 0.05}}", [3]float64{40, 80, 40}, math.Pow(2, 2./3) - 1, disagree},
		{"expect: fails", [3]float64{40, 80, 40}, math.Pow(2, 2./3) - 1, agree},
		// it is far beyond the others
		{"expect: fails", [3]float64{40, 80, math.Inf(1)}, math.NaN(), agree},
	} {
		v, _ := judgeOverRate(t, "frontier-constant", "absolute_margin: 0.25, "+c.check, c.intervals)
		if v.Verdict != c.want || math.Abs(float64(v.Measured)-c.measured) > 1e-9 {
			t.Errorf("frontiers at %v: %v, measured %v; want %v, %v", c.intervals, v.Verdict, v.Measured, c.want, c.measured)
		}
		if c.want == agree && v.Control.Verdict != disagree {
			t.Errorf("frontiers at %v: control %+v", c.intervals, v.Control)
		}
	}
}

// Of three runs, the first never turns back, the second overshoots and the third swings
// twice (see TestClasses).
func TestJudgeClassOccurs(t *testing.T) {
	const text = `
name: classes
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, kl: {coefficient: 0.5}}
lag: {kind: delay}
optimizer: {learning_rate: 0.1}
run: {steps: 600}
sweep: [{param: lag.interval, values: [1, 2, 3]}]
checks:
  - {claim: class-occurs, over: lag.interval, margin: 0.25, class: %s, control: {class: %s}%s}
`
	rising := func(t float64) float64 { return 1 - math.Exp(-t/50) }
	overshoots, swings := oscillator(0.8, 0.2), oscillator(0.6, 0.2)
	for _, c := range []struct {
		curves         [3]func(float64) float64
		class, another string
		measured       float64
		holds, control judge.Ruling // with expect: holds
	}{
		{[3]func(float64) float64{rising, overshoots, swings}, "monotone", "overshooting", 1, agree, agree},
		{[3]func(float64) float64{overshoots, overshoots, swings}, "overshooting", "monotone", 2, agree, disagree},
		{[3]func(float64) float64{overshoots, overshoots, swings}, "monotone", "oscillatory", 0, disagree, agree},
		{[3]func(float64) float64{rising, nil, swings}, "monotone", "overshooting", math.NaN(), inconclusive, inconclusive},
	} {
		for _, expect := range []string{"", ", expect: fails"} {
			plan := planText(t, fmt.Sprintf(text, c.class, c.another, expect))
			outcomes := make(map[string]*store.Outcome)
			for i, curve := range c.curves {
				o := &store.Outcome{Status: store.CellOK} // nothing recorded
				if curve != nil {
					_, o = record(600, 1, curve, 0.6)
				}
				o.ID = plan.Cells[i].ID
				outcomes[o.ID] = o
			}
			v := judged(t, plan, outcomes)[0]
			opposite := map[judge.Ruling]judge.Ruling{agree: disagree, disagree: agree, inconclusive: inconclusive}
			want, control := c.holds, c.control
			if expect != "" {
				want, control = opposite[want], opposite[control]
			}
			if v.Verdict != want || v.Control.Verdict != control || !(float64(v.Measured) == c.measured || math.IsNaN(c.measured)) {
				t.Errorf("%s%s: %v runs, %v, control %v; want %v runs, %v, control %v", c.class, expect, v.Measured, v.Verdict, v.Control.Verdict, c.measured, want, control)
			}
		}
	}
}

// A bandit is of a class if it is so at one of its refresh intervals; the claim is about all
// bandits, and over refresh intervals about all of them.
func TestJudgeClassThroughout(t *testing.T) {
	const bandits = `
name: classes
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, kl: {coefficient: 0.5}}
lag: {kind: delay}
optimizer: {learning_rate: 0.1}
run: {steps: 600}
sweep:
  - {param: lag.interval, values: [1, 2, 3]}
  - {param: bandit.arms, values: [[{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}], [{reward: bernoulli, mean: 0.8}, {reward: bernoulli, mean: 0.2}], [{reward: bernoulli, mean: 0.7}, {reward: bernoulli, mean: 0.2}]]}
checks:
  - {claim: class-throughout, over: bandit.arms, margin: 0.25, class: monotone, %s}
`
	overIntervals := strings.Replace(bandits, "over: bandit.arms", "over: lag.interval", 1)
	rising := func(t float64) float64 { return 1 - math.Exp(-t/50) }
	swings := oscillator(0.6, 0.2)
	for _, c := range []struct {
		text    string
		rises   func(interval int, mean float64) bool // whether the run rises; else it swings
		number  float64
		bandits *claim.Tally
		want    judge.Ruling // with expect: holds
	}{
		{bandits, func(interval int, _ float64) bool { return interval == 2 }, 3, &claim.Tally{Holds: 3, Of: 3}, agree},
		{bandits, func(interval int, mean float64) bool { return interval == 2 && mean > 0.75 }, 2, &claim.Tally{Holds: 2, Of: 3}, disagree},
		{bandits, func(int, float64) bool { return false }, 0, &claim.Tally{Holds: 0, Of: 3}, disagree},
		{overIntervals, func(int, float64) bool { return true }, 3, nil, agree},
		{overIntervals, func(interval int, _ float64) bool { return interval < 3 }, 2, nil, disagree},
	} {
		for expect, want := range map[string]judge.Ruling{"control: {class: oscillatory}": c.want, "expect: fails": agree + disagree - c.want} {
			plan := planText(t, fmt.Sprintf(c.text, expect))
			outcomes := make(map[string]*store.Outcome)
			for i := range plan.Cells {
				s := &plan.Cells[i].Settings
				curve := swings
				if c.rises(s.Lag.Interval, s.Bandit.Arms[0].Mean) {
					curve = rising
				}
				_, o := record(600, 1, curve, 0.6)
				o.ID = plan.Cells[i].ID
				outcomes[o.ID] = o
			}
			v := judged(t, plan, outcomes)[0]
			if v.Verdict != want || float64(v.Measured) != c.number || v.Predicted != 3 {
				t.Errorf("%s, %s: %v of %v, %v; want %v, %v", v.Cell, expect, v.Measured, v.Predicted, v.Verdict, c.number, want)
			}
			if (v.Bandits == nil) != (c.bandits == nil) || v.Bandits != nil && *v.Bandits != *c.bandits {
				t.Errorf("%s: bandits %v, want %v", v.Cell, v.Bandits, c.bandits)
			}
			if expect == "expect: fails" && v.Verdict == agree && v.Control.Verdict != disagree {
				t.Errorf("%s: the control that all are of the class is %v", v.Cell, v.Control.Verdict)
			}
		}
	}
}
