package sweeps

import (
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sweeps/plan"
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
grpo: {group_size: 8, groups_per_step: 8, importance: {mode: clip},
  kl: {coefficient: 0.3, gradient: k3}}
lag: {interval: 4}
optimizer: {kind: heavy-ball, momentum: 0.9, learning_rate: 0.1}
run: {steps: 6000, burn_in: 2000, replicas: 96}
checks: [{claim: stationary-fluctuation, margin: 0.1}]
`)
	p := predictionOf(plan)
	if p.Variance == nil {
		t.Fatal("predict has no variance")
	}
	v := judgeCell(t, plan, outcomeOf(estimate(sim.ExpectedRewardVariance, *p.Variance, 1e-8, 95)))[0]
	ruled(t, "variance", v, agree)
	// the run is not quite stationary at first
	near(t, "judged and predicted", float64(v.Predicted) / *p.Variance, 1, 1e-4)
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
		t.Errorf("regime %q, %d neutral directions, want overdamped with 1", p.Regime, p.Exact.Neutral)
	}
	v := judgeCell(t, plan, outcomeOf(estimate(sim.ExpectedRewardMean, 0.898, 1e-5, 3)))[0]
	ruledBecause(t, "neutral", v, outOfScope, "neutral")
	if strings.Contains(v.Because, "linear map is unstable") {
		t.Error(told(v))
	}
}
