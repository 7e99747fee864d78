package sweeps

import (
	"strings"
	"testing"

	"grposim/rom/scope"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// The stiffness at which training ends is that of one number, and is declined where a part of the gradient is fresh within a block, and below the threshold of
// the nearest fixed point, from which nothing drives a run.
func TestNetworkEdge(t *testing.T) {
	const text = `
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
checks: [{claim: edge-of-stability, margin: 0.1}]
`
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
