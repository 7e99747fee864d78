package main

import (
	"regexp"
	"strings"
	"testing"
)

// A question of one's own in ten lines of YAML and two commands (docs/primer.md): the
// slope of the variance over the group size with its verdict against −1.
func TestQuestion(t *testing.T) {
	primer := string(readDocument(t, moduleRoot(t), "docs", "primer.md"))
	t.Chdir(t.TempDir())
	slope := regexp.MustCompile(`slope of log variance of expected reward (-0\.[67]\d? \[-0\.[78]\d?, -0\.[56]\d?\]) +-1 \(hypothesis\) .*: (-1 ± 0\.1 is refuted; the theory predicts -0\.717\d, and neglects about 0\.\d+)`)
	got, _ := grposim(t, exitDisagree, "sweep", "question")
	answer := slope.FindStringSubmatch(strings.Join(strings.Fields(got), " "))
	if answer == nil {
		t.Fatalf("%s\nwant %s", got, slope)
	}
	for _, said := range answer[1:] {
		if !strings.Contains(primer, said) {
			t.Errorf("docs/primer.md does not say %s", said)
		}
	}
}
