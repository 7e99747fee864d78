package theory

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/linear"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
)

// ofNetwork reports whether a key says which network and contexts a cell has.
func ofNetwork(k config.Key) bool {
	return strings.HasPrefix(k.Path, "bandit.contexts.") || strings.HasPrefix(k.Path, "policy.network.")
}

const withNetwork = `
name: network
seed: 1
bandit:
  arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2, count: 2}]
  contexts: {task: gaussian, count: 6, inputs: 5}
policy: {init: fixed-point, network: {kind: mlp, layers: 1, width: 12}}
grpo: {group_size: inf, advantage: {scale: none}, importance: {mode: ratio},
  kl: {coefficient: 0.5, gradient: k3}}
lag: {interval: 2}
optimizer: {learning_rate: 0.1}
run: {steps: 10}
`

// Every key of a network changes what the simulator gets if, and only if, the network has the key.
func TestNetworkKeys(t *testing.T) {
	for _, kind := range []string{"mlp", "transformer"} {
		base := settingsOf(t, withNetwork)
		if base.Network.Kind = kind; kind == "transformer" {
			base.Contexts.Task = "addition"
		}
		input := func(s config.Settings) sim.Network {
			n := *NewCache().Network(&s)
			n.New = nil
			return n
		}
		for _, k := range config.Keys {
			if !ofNetwork(k) || k.Path == "policy.network.kind" || k.Path == "bandit.contexts.task" {
				continue
			}
			s := base
			values := differentValues(t, k)
			switch k.Path {
			case "policy.network.heads":
				values = []any{1, 4}
			case "policy.network.width":
				values = []any{12, 14}
			case "policy.network.layers":
				values = []any{2, 3}
			}
			if err := k.Set(&s, values[0]); err != nil {
				t.Fatal(err)
			}
			before := input(s)
			if err := k.Set(&s, values[1]); err != nil {
				t.Fatal(err)
			}
			if same := reflect.DeepEqual(before, input(s)); same != k.IdleIn(&s) {
				t.Errorf("%s = %v and %v of a %s: the same: %t", k.Path, values[0], values[1], kind, same)
			}
		}
	}
}

// At the weights of the fixed point every context has the policy of its own fixed point, at which
// the simulator's force vanishes.
func TestNetworkAtRest(t *testing.T) {
	s := settingsOf(t, withNetwork)
	n := NewCache().FixedNetwork(&s)
	net, arms := n.New(), len(s.Bandit.Arms)
	logits := make([]float64, net.Contexts()*arms)
	net.Logits(n.Weights, logits)
	for x, means := range n.Means {
		bandit := s.Bandit
		bandit.Arms = slices.Clone(bandit.Arms)
		for a, m := range means {
			bandit.Arms[a].Mean = m
		}
		policy, g := grpo.NewPolicy(logits[x*arms:][:arms]), make([]float64, arms)
		grpo.NewForce(s.Estimator, n.Reference[x]).Expected(g, &bandit, policy, policy)
		for _, u := range g {
			if math.Abs(u) > 1e-11 {
				t.Errorf("context %d: force %v at rest", x, g)
			}
		}
	}
}

// A stiffness factor divides the critical rate, and a clip, which does not act on a small
// deviation, leaves it. Only a network of which all contexts have a fixed point has one.
func TestNetworkPrediction(t *testing.T) {
	s, cache := settingsOf(t, withNetwork), NewCache()
	twice := cache.At(&s, config.Scaled("stiffness", 2), nil, Whole(&s))
	p := cache.Predict(&s, rom.Unit)
	critical := *p.Exact.CriticalLearningRate
	near(t, "twice the stiffness", *twice.Exact.CriticalLearningRate/critical, 0.5, 5e-13)
	near(t, "ηλ_f of K = 2, ratio and k3", critical*p.Stiffness.Fresh, 2, 2e-6)
	s.Estimator.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.3}
	near(t, "a clip", *cache.Predict(&s, rom.Unit).Exact.CriticalLearningRate, critical, 1e-12)
	s.Optimizer.LearningRate = 1.1 * *p.Exact.CriticalLearningRate
	// a block of 1 has λ < λ_f
	k := cache.At(&s, rom.Unit, nil, rest.CriticalInterval).Exact.CriticalRefreshInterval
	if k == nil || *k != 2 {
		t.Errorf("critical interval %v at 1.1 of the critical rate of 2, want 2", k)
	}
	s.Estimator.KL.Coefficient = 0
	if p := cache.Predict(&s, rom.Unit); p.FixedPoint != nil || cache.FixedNetwork(&s) != nil {
		t.Errorf("a fixed point without a penalty: %+v", p.FixedPoint)
	}
	p = cache.At(&s, config.Scaled("stiffness", 2), nil, rest.StationaryLaw)
	if !p.Noise.Because.Is(scope.NotReached) {
		t.Errorf("without a penalty at twice the stiffness: %q", p.Noise.Because)
	}
}

// The variance is that of the law where a run starts, to leading order, and thresholds are given
// too. It is declined of other runs.
func TestNetworkNoise(t *testing.T) {
	s, cache := settingsOf(t, withNetwork), NewCache()
	s.Estimator.GroupSize, s.Optimizer.LearningRate = 8, 0.01
	p := cache.Predict(&s, rom.Unit)
	if p.Exact.CriticalLearningRate == nil || p.Exact.SpectralRadius == nil {
		t.Error("no threshold of finite groups")
	}
	at := cache.AtRest(&s, p, rom.Unit)
	exact, law := at.RunVariance(rom.Exact), at.RunVariance(rom.LeadingOrder)
	if !exact.Out() || law.Out() || law.Value != *p.LeadingOrder.StationaryVariance.ExpectedReward {
		t.Errorf("got %+v, and %+v to leading order", exact, law)
	}
	s.Policy.Init = config.Init{}
	if p := cache.Predict(&s, rom.Unit); !p.Noise.Because.Is(scope.Networks) ||
		p.LeadingOrder.StationaryVariance.ExpectedReward != nil {
		t.Errorf("from the reference: %+v", p.Noise)
	}
	s.Estimator.Importance = option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.3}
	if p := cache.Predict(&s, rom.Unit); !p.Exact.Scope.Because.Is(scope.Networks) {
		t.Errorf("with a clip: %+v", p.Exact.Scope)
	}
}

// Weights too few for the fixed points of all contexts are not a missing fixed point.
func TestTooFewWeights(t *testing.T) {
	s := settingsOf(t, withNetwork)
	s.Network.Width, s.Contexts.Count = 2, 24
	p := NewCache().Predict(&s, rom.Unit)
	because := p.Exact.Scope.Because
	if !because.Is(scope.Networks) || !strings.Contains(because.String(), "misses its target by") {
		t.Errorf("%q", because)
	}
}

// The counts of contexts and weights, which are known without a network, are those of the network.
func TestNetworkCounts(t *testing.T) {
	for _, set := range []func(s *config.Settings){
		func(s *config.Settings) {},
		func(s *config.Settings) { s.Contexts.Task, s.Network.Layers = "addition", 2 },
		func(s *config.Settings) { s.Contexts.Task, s.Contexts.Count, s.Network.Layers = "digits", 20, 3 },
		func(s *config.Settings) { s.Contexts.Task, s.Network.Kind = "addition", "transformer" },
		func(s *config.Settings) {
			s.Contexts.Task, s.Network.Kind, s.Network.Unembedding = "addition", "transformer", "tied"
		},
	} {
		s := settingsOf(t, withNetwork)
		if set(&s); s.Contexts.Task == "digits" {
			s.Bandit.Arms = slices.Repeat(s.Bandit.Arms[1:2], 10)
		}
		net, _ := build(&s, taskOf(&s))
		if net.Contexts() != s.ContextCount() || net.Weights() != s.WeightCount() {
			t.Errorf("%v of %v: %d contexts and %d weights", s.Network, s.Contexts, net.Contexts(), net.Weights())
		}
	}
}

// A long delay of a partly fresh gradient is declined, one of a stale gradient, whose modes do not
// mix, is not.
func TestNetworkLongDelay(t *testing.T) {
	s, cache := settingsOf(t, withNetwork), NewCache()
	s.Lag = option.Lag{Kind: option.Delay, Interval: 1000}
	p := cache.Predict(&s, rom.Unit)
	if !p.Exact.Scope.Because.Is(scope.Networks) || !p.LeadingOrder.Scope.Because.Is(scope.Networks) {
		t.Errorf("a thousand steps: %+v", p.Exact.Scope)
	}
	s.Lag.Interval, s.Estimator.Importance.Mode = 20, option.NoImportance
	s.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	if p := cache.Predict(&s, rom.Unit); !p.Exact.Scope.In {
		t.Errorf("stale: %+v", p.Exact.Scope)
	}
}

// Where the whole force is stale the stiffest mode is the first to oscillate, and at twice the
// stiffness it does at half the rate. Of modes that mix nothing is said.
func TestNetworkOnset(t *testing.T) {
	s, cache := settingsOf(t, withNetwork), NewCache()
	if at := cache.At(&s, rom.Unit, nil, rest.Onset); at.Exact.OscillationLearningRate != nil {
		t.Errorf("onset %v of modes that mix", *at.Exact.OscillationLearningRate)
	}
	s.Estimator.Importance.Mode = option.NoImportance
	s.Estimator.KL = option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	for _, factor := range []float64{1, 2} {
		p := cache.At(&s, config.Scaled("stiffness", factor), nil, rest.Onset)
		o, rate := s.Optimizer, *p.Exact.OscillationLearningRate
		want := linear.FrozenBlock(linear.OnsetRate, o.Kind, o.Momentum, s.Lag.Interval)
		near(t, factor, rate*p.Stiffness.Total, want, 1e-9*want)
	}
}
