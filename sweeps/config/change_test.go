package config

import (
	"strings"
	"testing"

	"grposim/option"
)

// A change sets its keys alone, in a copy, and says which rule between keys it breaks.
func TestChange(t *testing.T) {
	spec := must(Load("f.yaml", []byte(`name: f
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8, kl: {coefficient: 0.1, gradient: k3}}
lag: {kind: delay, interval: 3}
optimizer: {learning_rate: 0.1}
run: {steps: 10}
`)))(t)
	for point := range spec.EachPoint {
		s := point.Settings
		changed, broken := Change(s, Assignment{"grpo.kl.gradient", "exact"},
			Assignment{"lag.interval", 1})
		if broken != "" || changed.Estimator.KL.Gradient != option.ExactKL || changed.Lag.Interval != 1 ||
			s.Lag.Interval != 3 {
			t.Errorf("%+v, %q", changed, broken)
		}
		if _, broken := Change(s, Assignment{"lag.samples", "reused"}); !strings.Contains(broken,
			"lag.samples: got reused, want fresh") {
			t.Errorf("%q, want the rule that only blocks reuse samples", broken)
		}
	}
}
