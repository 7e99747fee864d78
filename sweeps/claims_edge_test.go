package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

const edgeText = `
name: edge
seed: 1
bandit:
  arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2, count: 2}]
  contexts: {task: gaussian, count: 6, inputs: 5}
policy: {network: {kind: mlp, layers: 1, width: 12}}
grpo: {group_size: inf, advantage: {scale: none}, kl: {coefficient: 0.5, at: snapshot}}
lag: {interval: 4}
optimizer: {learning_rate: 4}
run: {steps: 10}
`

// The stiffness at which training ends is that of one number, and is declined where a part of the
// gradient is fresh within a block, and below the threshold of the nearest fixed point, from which
// nothing drives a run.
func TestNetworkEdge(t *testing.T) {
	text := edgeText + "checks: [{claim: edge-of-stability, margin: 0.1}]\n"
	fresh := strings.Replace(text, "kl: {coefficient: 0.5, at: snapshot}", "importance: {mode: ratio}, kl: {coefficient: 0.5}", 1)
	for _, c := range []struct {
		text     string
		declined bool
	}{{text, false}, {fresh, true}, {strings.Replace(fresh, "interval: 4", "interval: 1", 1), false},
		{strings.Replace(text, "learning_rate: 4", "learning_rate: 0.1", 1), true}} {
		plan := planText(t, c.text)
		check := plan.Checks[0].Check
		n := (&model{check, check.Prediction, config.NoFault, theory.NewCache()}).edge(&plan.Cells[0])
		if n.Because.Is(scope.Networks) != c.declined || c.declined == (n.Value > 0) {
			t.Errorf("%s: %v because %q", c.text, n.Value, n.Because)
		}
	}
}

// The margin along a run is that of the stiffest place after the burn-in, and is not known of a run
// that did not record it.
func TestJudgeRateOverThreshold(t *testing.T) {
	plan := planText(t, strings.Replace(edgeText, "run: {steps: 10}", "run: {steps: 1000, burn_in: 500, record: [stiffness]}", 1)+
		"checks: [{claim: rate-over-threshold, about: exact-theory, margin: 0.1, control: {set: {optimizer.momentum: 0.9}}}]\n")
	c := &plan.Cells[0]
	critical := criticalStiffness(theory.NewCache(), c)
	for _, of := range []struct {
		early, late float64
		want        Ruling
	}{{3, 1.02, Agree}, {0.3, 0.97, Agree}, {0.3, 0.8, Disagree}, {1, 1.2, Disagree}} {
		o := &store.Outcome{ID: c.ID, Status: store.CellOK}
		o.SetTrajectory(noiselessSeries(c, sim.Stiffest, func(step int) float64 {
			switch {
			case step < 500:
				return of.early * critical
			case step == 1000:
				return of.late * critical
			}
			return 0.5 * critical
		}))
		v := judged(t, plan, map[string]*store.Outcome{c.ID: o})[0]
		if v.Verdict != of.want || math.Abs(float64(v.Measured)-of.late) > 1e-12 {
			t.Errorf("%+v: %s, measured %v because %q", of, v.Verdict, v.Measured, v.Because)
		}
		if of.want == Agree && v.Control.Verdict != Disagree {
			t.Errorf("%+v: the fault is not caught: %+v", of, v.Control)
		}
	}
	for unknown, want := range map[int]Ruling{400: Agree, 800: Inconclusive, 1000: Inconclusive} {
		o := &store.Outcome{ID: c.ID, Status: store.CellOK}
		o.SetTrajectory(noiselessSeries(c, sim.Stiffest, func(step int) float64 {
			if step == unknown {
				return math.NaN()
			}
			return 0.97 * critical
		}))
		if v := judged(t, plan, map[string]*store.Outcome{c.ID: o})[0]; v.Verdict != want {
			t.Errorf("not known at step %d: %s, want %s", unknown, v.Verdict, want)
		}
	}
	if v := judged(t, plan, map[string]*store.Outcome{c.ID: {ID: c.ID, Status: store.CellOK}})[0]; v.Verdict != Inconclusive {
		t.Errorf("not recorded: %s", v.Verdict)
	}
}
