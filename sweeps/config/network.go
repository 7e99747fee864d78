package config

import (
	"cmp"
	"fmt"
	"slices"

	"grposim/option"
)

// Contexts holds section `bandit.contexts`: the questions that a network is asked.
type Contexts struct {
	Task   string  // "" for none
	Count  int     // C, of a task that does not fix it
	Inputs int     // numbers that describe a context of the task gaussian
	Noise  float64 // standard deviation of the pixels of the task digits
}

// Network holds section `policy.network`.
type Network struct {
	Kind        string  // "" for none
	Layers      int     // hidden layers of an MLP
	Width       int     // of each; numbers per position of a transformer
	Activation  string  // of an MLP
	Heads       int     // of a transformer
	Unembedding string  // of a transformer
	Seed        int     // of the first weights, and of what the task draws
	Right       float64 // probability of the right arm to which the reference is trained; 0: it is not
}

// Deep reports whether the policy is a network.
func (s *Settings) Deep() bool { return cmp.Or(s.Network.Kind, "none") != "none" }

// ContextCount returns C, the number of contexts of a network; of `addition` all pairs.
func (s *Settings) ContextCount() int {
	if arms := len(s.Bandit.Arms); s.Contexts.Task == addition {
		return arms * arms
	}
	return s.Contexts.Count
}

// Directions returns C(A−1), the number of differences of logits.
func (s *Settings) Directions() int { return s.ContextCount() * (len(s.Bandit.Arms) - 1) }

// WeightCount returns P, the number of weights of the network.
func (s *Settings) WeightCount() int {
	arms, d := len(s.Bandit.Arms), s.Network.Width
	affine := func(n, m int) int { return (n + 1) * m }
	// arms and the sign = in three places, three norms, attention, and a layer of 4d
	if s.Network.Kind == transformer {
		weights := (arms+1+3)*d + 3*2*d + affine(d, 3*d) + affine(d, d) + affine(d, 4*d) + affine(4*d, d)
		if s.Network.Unembedding != "tied" {
			weights += d * arms
		}
		return weights
	}
	inputs := s.Contexts.Inputs
	switch s.Contexts.Task {
	case addition:
		inputs = 2 * arms
	case "digits":
		inputs = 5 * 7
	}
	return affine(inputs, d) + (s.Network.Layers-1)*affine(d, d) + affine(d, arms)
}

// Bounds of the work of the theory of a network. A matrix of 1000 directions has 8 MB, and its
// spectrum takes 25·1000³ operations. Two Jacobians of 1e8 entries have 1.6 GB.
const (
	maxDirections = 1000
	maxJacobian   = 100_000_000
)

const (
	transformer = "transformer"
	addition    = "addition"
)

// claimsOfNetworks are the claims that can be made about cells with a network.
var claimsOfNetworks = []*Claim{OscillationOnset, StabilityThreshold, Stiffness, StationaryFluctuation, EdgeOfStability, RateOverThreshold, Arrival, TimeToLevel}

// networkRules say what is possible with a network.
var networkRules = func() []rule {
	const with = " with a network"
	tooMany := func(s *Settings) bool { return s.Directions() > maxDirections }
	return append(rulesWhere("policy.network.kind!=none", with,
		rule{when: "bandit.arms", want: "Bernoulli arms, all but the first equal," + with, and: func(s *Settings) bool {
			wrong := func(arm option.Arm) bool { return arm != s.Bandit.Arms[1] }
			return otherThanBernoulli(s) || slices.ContainsFunc(s.Bandit.Arms[2:], wrong)
		}},
		mustBeDefault("bandit.prompts.count", with), mustBeDefault("grpo.filter", with),
		rule{when: "policy.init", want: "fixed-point, or none for the reference," + with,
			and: func(s *Settings) bool { return isSet(s.Policy.Init.Logits) || s.Policy.Init.Offset != 0 }},
		rule{when: "policy.reference", want: "none" + with + ", which gives the reference",
			and: func(s *Settings) bool { return isSet(s.Policy.Reference) }},
		rule{when: "policy.network.heads policy.network.width policy.network.kind=transformer",
			want: "a divisor of {policy.network.width} (policy.network.width)",
			and:  func(s *Settings) bool { return s.Network.Width%s.Network.Heads != 0 }},
		rule{when: "bandit.contexts.task!=none|addition policy.network.kind=transformer",
			want: "addition, whose contexts are tokens, with a transformer"},
		rule{when: "bandit.contexts.task=digits bandit.arms bandit.contexts.count",
			got:  "digits with {arms} and {bandit.contexts.count} contexts",
			want: "10 arms and a multiple of 10 contexts (bandit.contexts.count; none given: 25)",
			and:  func(s *Settings) bool { return len(s.Bandit.Arms) != 10 || s.Contexts.Count%10 != 0 }},
		rule{when: "bandit.arms bandit.contexts.task=addition", got: "{arms}, with {directions}",
			want: fmt.Sprintf("at most %d with the task addition: the square of the arms times the arms less 1", maxDirections),
			and:  tooMany},
		rule{when: "bandit.contexts.count bandit.contexts.task!=addition bandit.arms",
			got:  "{bandit.contexts.count} of {arms}, with {directions}",
			want: fmt.Sprintf("at most %d with a network: the contexts times the arms less 1", maxDirections), and: tooMany},
		rule{when: "policy.network.width bandit.contexts.task bandit.contexts.count bandit.contexts.inputs policy.network.layers bandit.arms",
			got:  "{policy.network.width}, with {weights} and {directions}",
			want: fmt.Sprintf("a product of the two of at most %d", maxJacobian),
			and:  func(s *Settings) bool { return !tooMany(s) && s.WeightCount()*s.Directions() > maxJacobian }},
		rule{when: "grpo.importance.mode!=none|ratio", want: "none or ratio" + with},
		rule{when: "bandit.contexts.task=none", want: "addition, gaussian or digits" + with}),
		rule{when: "policy.network.kind=none bandit.contexts.task!=none", want: "mlp or transformer with the task {bandit.contexts.task}"})
}()
