package theory

import (
	"math"
	"testing"

	"grposim/sim"
)

// The mean of J is that of the fixed point within its size and 5 standard errors, without Var J:
// where the noise under Adam is too large, and where prompts that share a policy come by epochs.
func TestMeanWithoutItsVariance(t *testing.T) {
	rest := "run: {steps: 1500, burn_in: 500, replicas: 64}\npolicy: {init: fixed-point}\n"
	for name, document := range map[string]string{
		"rare failures": `
bandit: {arms: [{reward: bernoulli, mean: 0}, {reward: bernoulli, mean: 1}]}
grpo: {group_size: 4, groups_per_step: 2, advantage: {scale: mean}, importance: {mode: clip, clip_low: 0.2, clip_high: 0.2}, kl: {coefficient: 0.04, gradient: k3}}
lag: {interval: 4, samples: reused}
optimizer: {kind: adam, learning_rate: 0.005}`,
		"wide noise": `
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0}, {reward: bernoulli, mean: 0.1}]}
grpo: {group_size: 16, groups_per_step: 8, kl: {coefficient: 0.03, gradient: k3}}
optimizer: {kind: adam, learning_rate: 0.05, beta2: 0.99}`,
		"epochs": `
bandit: {arms: [{reward: bernoulli, mean: 0.3}, {reward: bernoulli, mean: 0.6}], prompts: {count: 16, parameters: shared, order: shuffled, means: {alpha: 1, beta: 1}}}
grpo: {group_size: 8, groups_per_step: 4, kl: {coefficient: 0.1}}
optimizer: {learning_rate: 0.2}`,
	} {
		s := settingsOf(t, "name: noisy\nseed: 5"+document+"\n"+rest)
		at := NewCache().Stationary(&s)
		mean, variance := at.Mean(""), at.Variance()
		if mean.Out() || !variance.Out() {
			t.Errorf("%s: mean %q, variance %q", name, mean.Because, variance.Because)
			continue
		}
		runs := simulated(t, &s).Estimates[0]
		if runs.Name != sim.ExpectedRewardMean {
			t.Fatalf("the first estimate is %s", runs.Name)
		}
		if d := math.Abs(runs.Mean - mean.Value); !(d <= mean.Size()+5*runs.StdErr) {
			t.Errorf("%s: predicted %.6g, leaves out %.2g; simulated %.6g ± %.2g", name, mean.Value,
				mean.Size(), runs.Mean, runs.StdErr)
		}
	}
}

// Without noise Adam's steps do not shrink with the force: at K = 8 runs swing about another mean.
func TestAdamWithoutNoiseIsNotPredicted(t *testing.T) {
	s := settingsOf(t, `name: swings
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, kl: {coefficient: 0.5}}
lag: {interval: 8}
optimizer: {kind: adam, learning_rate: 0.05}
run: {steps: 20000, burn_in: 10000}`)
	if mean := NewCache().Stationary(&s).Mean(""); !mean.Out() {
		t.Errorf("J %g, want none: it is simulated as %v", mean.Value, simulated(t, &s).Estimates[0].Mean)
	}
}
