package config

import (
	"cmp"
	"fmt"
	"slices"

	"grposim/option"
)

// Contexts holds section `bandit.contexts`: the questions that a network is asked.
type Contexts struct {
	Task   string  // one of Tasks
	Count  int     // C, of a task that does not fix it
	Inputs int     // numbers that describe a context of the task gaussian
	Noise  float64 // standard deviation of the pixels of the task digits
}

// Network holds section `policy.network`.
type Network struct {
	Kind        string  // one of NetworkKinds
	Layers      int     // hidden layers of an MLP
	Width       int     // of each; numbers per position of a transformer
	Activation  string  // of an MLP
	Heads       int     // of a transformer
	Unembedding string  // of a transformer
	Seed        int     // of the first weights, and of what the task draws
	Right       float64 // probability of the right arm to which the reference is trained; 0: it is not
}

// Words of the sections. The first of each is the default; of tasks and networks it means none.
var (
	Tasks        = []string{"none", "addition", "gaussian", "digits"}
	NetworkKinds = []string{"none", "mlp", "transformer"}
	Activations  = []string{"tanh", "relu", "gelu"}
	Unembeddings = []string{"untied", "tied"}
)

// Deep reports whether the policy is a network.
func (s *Settings) Deep() bool { return cmp.Or(s.Network.Kind, NetworkKinds[0]) != NetworkKinds[0] }

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
	// of pixels that are 0 or 1: ten noisier digits are no digits, and the products of a Jacobian stay
	// finite
	maxNoise = 1000
)

const (
	transformer = "transformer"
	addition    = "addition"
)

// contextKeys are the rows of section `bandit.contexts`.
var contextKeys = []Key{
	textKey("bandit.contexts.task", Tasks, "With `policy.network`: contexts with a right answer each, which has the reward of the first of `bandit.arms`, and all others that of the second. `addition`: a + b modulo the number of arms, for all pairs, given as two one-hot vectors; `gaussian`: right answers and normal inputs drawn by the network's seed; `digits`: pictures of the ten digits, of 5 × 7 pixels with normal noise, for 10 arms. J is the mean over all contexts, and every step draws `grpo.groups_per_step` groups in each.",
		func(s *Settings) *string { return &s.Contexts.Task }),
	integerKey("bandit.contexts.count", between(2, maxPrompts), 25, "Number C of contexts; that of `addition` is the square of the number of arms, that of `digits` a multiple of 10.",
		func(s *Settings) *int { return &s.Contexts.Count }).idle("bandit.contexts.task", Tasks[0], addition),
	integerKey("bandit.contexts.inputs", between(1, 1024), 10, "Numbers that describe a context.",
		func(s *Settings) *int { return &s.Contexts.Inputs }).idle("bandit.contexts.task", Tasks[0], addition, "digits"),
	numberKey("bandit.contexts.noise", Range{Low: 0, High: maxNoise}, 0.0, "Standard deviation of the pixels of `digits`.",
		func(s *Settings) *float64 { return &s.Contexts.Noise }).idle("bandit.contexts.task", Tasks[0], addition, "gaussian"),
}

// networkKeys are the rows of section `policy.network`.
var networkKeys = []Key{
	textKey("policy.network.kind", NetworkKinds, "What gives the logits of all contexts from shared weights: a multilayer perceptron (`mlp`), or one block of a causal transformer in the form of GPT-2 with a hidden layer of four times `width`, read at the last token (`transformer`). Its first weights are drawn by `seed` and make the reference policy, unless `right` trains them.",
		func(s *Settings) *string { return &s.Network.Kind }),
	integerKey("policy.network.layers", between(1, 3), 2, "Number of hidden layers of an `mlp`.",
		func(s *Settings) *int { return &s.Network.Layers }).idle("policy.network.kind", NetworkKinds[0], transformer),
	integerKey("policy.network.width", between(2, 4096), 16, "Width of each; of a `transformer` the numbers per position.",
		func(s *Settings) *int { return &s.Network.Width }).idle("policy.network.kind", NetworkKinds[0]),
	textKey("policy.network.activation", Activations, "What a hidden layer of an `mlp` applies to its sums.",
		func(s *Settings) *string { return &s.Network.Activation }).idle("policy.network.kind", NetworkKinds[0], transformer),
	integerKey("policy.network.heads", between(1, 64), 2, "Heads of attention of a `transformer`, a divisor of `width`.",
		func(s *Settings) *int { return &s.Network.Heads }).idle("policy.network.kind", NetworkKinds[0], "mlp"),
	textKey("policy.network.unembedding", Unembeddings, "Whether the logits of a `transformer` have a matrix of their own, or the embeddings of the answers (`tied`).",
		func(s *Settings) *string { return &s.Network.Unembedding }).idle("policy.network.kind", NetworkKinds[0], "mlp"),
	integerKey("policy.network.seed", atLeast(0), 1, "Seed of the weights, and of what the task draws: of a run only the groups depend on `seed`.",
		func(s *Settings) *int { return &s.Network.Seed }).idle("policy.network.kind", NetworkKinds[0]),
	numberKey("policy.network.right", belowOne, 0.0, "Probability of the right arm to which the reference is trained before the run, by supervision, all others alike, as far as the network can; 0: it is not trained.",
		func(s *Settings) *float64 { return &s.Network.Right }).idle("policy.network.kind", NetworkKinds[0]),
}

// textKey is the row of a key of words that no other package has, by default the first.
func textKey(path string, words []string, doc string, field func(*Settings) *string) Key {
	k := rowOf(Key{Path: path, Kind: WordValue, Default: words[0], Words: words, Doc: doc}, field)
	k.get = func(s *Settings) any { return cmp.Or(*field(s), words[0]) }
	return k
}

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
