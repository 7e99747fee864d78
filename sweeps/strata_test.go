package sweeps

import (
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sweeps/plan"
)

// difficult has 32 prompts with a policy each that start between J = 0.01 and 0.9, drawn in
// shuffled epochs, to be completed by checks.
const difficult = `
name: difficult
seed: 5
bandit:
  arms: [{reward: bernoulli, mean: 1}, {reward: bernoulli, mean: 0}]
  prompts: {count: 32, order: shuffled, start: {alpha: 1.5, beta: 3}}
grpo: {group_size: 16, groups_per_step: 8, advantage: {scale: none}, kl: {coefficient: 0}}
lag: {interval: 1}
optimizer: {learning_rate: 2}
run: {steps: 240, replicas: 512, record: [strata]}
checks:
`

// The runs of prompts of different difficulty follow the predicted path of each stratum, which a
// theory with 1.1 times the force does not, and their hardest quarter is half solved long after the
// easiest is solved. With nine verdicts at the usual confidence of 99 % one seed in 100 gives
// another one.
func TestStrataAreJudged(t *testing.T) {
	var checks strings.Builder
	for k := 1; k <= sim.MaxStrata; k++ {
		checks.WriteString("  - {claim: trajectory, quantity: " + string(sim.StratumReward(k)) + ", absolute_margin: 0.02, control: {set: {bandit.prompts.start.beta: 3.6}}}\n")
		checks.WriteString("  - {claim: time-to-level, quantity: " + string(sim.StratumReward(k)) + ", level: 0.6, margin: 0.03, control: {scale: {stiffness: 1.1}}}\n")
	}
	p := planText(t, difficult+checks.String()+"  - {claim: time-to-level, quantity: reward_of_stratum_1, level: 0.6, at_least: 60}\n")
	outcomes := must(plan.Simulate(t.Context(), p, 2))
	for _, v := range judged(t, p, outcomes) {
		t.Logf("%s: %v, measured %.4g [%.4g, %.4g], predicted %.4g, control %+v", v.Quantity, v.Verdict, float64(v.Measured), float64(v.Lo), float64(v.Hi), float64(v.Predicted), v.Control)
		if v.Verdict != agree || v.Control != nil && v.Control.Verdict != disagree {
			t.Errorf("%s: %v because %q, control %v", v.Quantity, v.Verdict, v.Because, v.Control)
		}
	}
}
