package sweeps

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/store"
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
func judgeFrontiers(t *testing.T, claim, check string, multiples [3]float64) []Verdict {
	t.Helper()
	plan := planText(t, fmt.Sprintf(frontiers, claim, check))
	outcomes := make(map[string]*store.Outcome)
	for i := range plan.Cells {
		c := &plan.Cells[i]
		p := rom.Predict(Params(&c.Settings, rom.Unit))
		line := *p.PaperRule.CriticalRefreshInterval
		o := &store.Outcome{ID: c.ID, Status: store.CellOK}
		add := func(name string, x float64) {
			o.Estimates = append(o.Estimates, store.NamedEstimate{Name: name, Mean: x, DF: measure.Exactly})
		}
		add(sim.LocatedEnd, 10*line)
		if m := multiples[i]; math.IsInf(m, 1) {
			add(sim.LocatedLow, 10*line)
		} else {
			add(sim.LocatedLow, m*line)
			add(sim.LocatedHigh, m*line)
		}
		add(stiffnessFresh, 0)
		add(stiffnessTotal, p.Stiffness.Total)
		add(stiffnessStale, p.Stiffness.Total)
		outcomes[c.ID] = o
	}
	return judged(t, plan, outcomes)
}

func TestJudgeFrontiers(t *testing.T) {
	inf := math.Inf(1)
	line := "margin: 0.25, control: {scale: {stiffness: 2}}"
	for _, c := range []struct {
		claim, check string
		multiples    [3]float64
		want         [3]Ruling
	}{
		{"visible-frontier", line, [3]float64{1, 1.3, inf}, [3]Ruling{Agree, Disagree, Disagree}},
		{"visible-frontier", line + ", expect: fails", [3]float64{1, 1.3, inf}, [3]Ruling{Disagree, Agree, Agree}},
		{"frontier-above-onset", line, [3]float64{1, 1e-3, inf}, [3]Ruling{Agree, Disagree, Agree}},
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
		want      Ruling
		control   Ruling
	}{
		{check + ", control: {scale: {stiffness: 2}}", [3]float64{1.1, 0.5, 0.9}, 0.1, Agree, Disagree},
		{check + ", control: {scale: {stiffness: 2}}", [3]float64{0.6, 0.5, 1}, 0.4, Disagree, Agree},
		{check + ", expect: fails", [3]float64{0.6, 0.5, math.Inf(1)}, 0.5, Agree, Disagree},
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
