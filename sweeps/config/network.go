package config

import (
	"cmp"
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

const (
	transformer = "transformer"
	addition    = "addition"
)
