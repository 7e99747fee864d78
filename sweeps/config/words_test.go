package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// Every name of a trainer that the table of docs/trainers.md puts beside a key brings up this key,
// and every name of ofTrainers stands for something that exists.
func TestNamesOfTrainers(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "trainers.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([a-z0-9_.-]+)`")
	names := func(cell string) []string {
		var found []string
		for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
			found = append(found, match[1])
		}
		return found
	}
	tested := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || len(names(cells[1])) == 0 { // the other tables have other numbers of columns
			continue
		}
		keys := names(cells[1])
		key, known := LookupKey(keys[0])
		if !known {
			t.Errorf("%s is not a key", keys[0])
			continue
		}
		for _, trainer := range cells[2:4] {
			for i, name := range names(trainer) {
				isName := i == 0 || len(keys) == 2 && strings.HasPrefix(name, "adam_")
				if !isName || slices.Contains(key.Words, name) || key.Path == "policy.reference" || name == "sample" {
					continue // a value, or a remark
				}
				tested++
				want := keys[min(i, len(keys)-1)]
				if got := meantKey(name, keyPaths()); got != want {
					t.Errorf("%s: got %q, want %s", name, got, want)
				}
			}
		}
	}
	if tested < 25 {
		t.Errorf("%d names in the table, want at least 25", tested)
	}
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

// The key that a word of the command line names; words of other programs name none.
func TestNamedKey(t *testing.T) {
	for word, want := range map[string]string{
		"seed": SeedKey, "steps": StepsKey, "run.steps": StepsKey, "group-size": GroupSizeKey, "group_sizes": GroupSizeKey, "G": GroupSizeKey,
		"lr": LearningRateKey, "learning-rate": LearningRateKey, "beta": "grpo.kl.coefficient", "max-grad-norm": "optimizer.max_norm", "momentum": MomentumKey,
		"confidence": "confidence", "name": "name",
		"frobnicate": "", "file": "", "config": "", "verbose": "", "format": "", "": "", "claim": "",
	} {
		if got := NamedKey(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
