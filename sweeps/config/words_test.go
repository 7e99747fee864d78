package config

import (
	"slices"
	"testing"
)

func TestDidYouMean(t *testing.T) {
	for _, tt := range []struct {
		word  string
		known []string
		want  string
	}{
		{"optimizer.lr", keyPaths(), LearningRateKey},
		{"lr", sectionNames("optimizer"), LearningRateKey},
		{"learning_rat", sectionNames("optimizer"), "learning_rate"},
		{"beta", sectionNames("optimizer"), "beta1"},
		{"optimizer.beta", keyPaths(), "optimizer.beta1"},
		{"grpo.beta", keyPaths(), "grpo.kl.coefficient"},
		{"beta", sectionNames("grpo.kl"), "grpo.kl.coefficient"},
		{"grpo.epsilon", keyPaths(), "grpo.importance.clip_low"},
		{"epsilon", sectionNames("grpo"), "grpo.importance.clip_low"},
		{"grpo.advantages.epsilon", keyPaths(), "grpo.advantage.epsilon"},
		{"optimiser.epsilon", keyPaths(), "optimizer.epsilon"},
		{"num_generations", sectionNames(""), GroupSizeKey},
		{"actor_rollout_ref.rollout.n", keyPaths(), GroupSizeKey},
		{"loo", []string{"mean", "leave-one-out"}, "leave-one-out"},
		{"const", []string{"bernoulli", "constant", "normal"}, "constant"},
		{"burnin", sectionNames("run"), "burn_in"},
		{"stpes", sectionNames("run"), "steps"},
		{"group_size", sectionNames(""), GroupSizeKey},
		{"k4", []string{"exact", "k2", "k3"}, ""},
		{"K", sectionNames("lag"), LagIntervalKey},
		{"G", keyPaths(), GroupSizeKey},
		{"η", keyPaths(), LearningRateKey},
		{"temperature", sectionNames(""), ""},
		{"", sectionNames(""), ""},
	} {
		if got := meantKey(tt.word, tt.known); got != tt.want {
			t.Errorf("%q among %s: got %q, want %q", tt.word, listWords(tt.known), got, tt.want)
		}
	}
}

// Every name of ofTrainers stands for something that exists.
func TestNamesOfTrainers(t *testing.T) {
	var words []string
	for _, k := range Keys {
		words = append(words, k.Words...)
	}
	for name, meant := range ofTrainers {
		if !slices.Contains(keyPaths(), meant) && !slices.Contains(words, meant) {
			t.Errorf("%s stands for %s, which does not exist", name, meant)
		}
	}
}
