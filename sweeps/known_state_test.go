package sweeps

import (
	"math"
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// predictionOf returns the line of `grposim predict` of a plan of one cell.
func predictionOf(plan *plan.Plan) (line *theory.Prediction) {
	for _, p := range Predictions(plan) {
		line = p
	}
	return line
}

// The variance of J at rest is one number wherever it is shown.
func TestOneVariance(t *testing.T) {
	plan := planText(t, `
name: one-variance
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: fixed-point}
grpo: {group_size: 8, groups_per_step: 8, importance: {mode: clip, clip_low: 0.2, clip_high: 0.2}, kl: {coefficient: 0.3, gradient: k3}}
lag: {interval: 4}
optimizer: {kind: heavy-ball, momentum: 0.9, learning_rate: 0.1}
run: {steps: 6000, burn_in: 2000, replicas: 96}
checks: [{claim: stationary-fluctuation, margin: 0.1}]
`)
	p := predictionOf(plan)
	if p.Variance == nil {
		t.Fatal("predict has no variance")
	}
	o := outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardVariance, Mean: *p.Variance, StdErr: 1e-8, DF: 95})
	o.ID = plan.Cells[0].ID
	v := judged(t, plan, map[string]*store.Outcome{o.ID: &o})[0]
	// the run is not quite stationary at first
	if x := float64(v.Predicted); v.Verdict != agree || !(math.Abs(x / *p.Variance - 1) < 1e-4) {
		t.Errorf("the judge has %g: %v because %s; predict has %g", x, v.Verdict, v.Because, *p.Variance)
	}
}

// Of two equally good arms beside a bad one the fixed point is neutral in one direction. That is
// neither stable nor unstable, in the table and in a verdict.
func TestNeutralDirection(t *testing.T) {
	plan := planText(t, `
name: neutral
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9, count: 2}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8, groups_per_step: 8, kl: {coefficient: 0.02}}
optimizer: {learning_rate: 0.05}
run: {steps: 400, burn_in: 200, replicas: 4}
checks: [{claim: fixed-point, margin: 0.01}]
`)
	if p := predictionOf(plan); p.Regime != theory.Overdamped || p.Exact.Neutral != 1 {
		t.Errorf("regime %q with %d neutral directions, want overdamped with 1", p.Regime, p.Exact.Neutral)
	}
	o := outcomeOf(store.NamedEstimate{Name: sim.ExpectedRewardMean, Mean: 0.898, StdErr: 1e-5, DF: 3})
	o.ID = plan.Cells[0].ID
	v := judged(t, plan, map[string]*store.Outcome{o.ID: &o})[0]
	if v.Verdict != outOfScope || !strings.Contains(v.Because, "neutral") || strings.Contains(v.Because, "linear map is unstable") {
		t.Errorf("%v because %s, want out of scope since a direction is neutral", v.Verdict, v.Because)
	}
}
