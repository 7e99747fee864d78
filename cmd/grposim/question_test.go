package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// A question of one's own in ten lines of YAML and two commands (docs/primer.md): the
// slope of the variance over the group size with its verdict against −1, and the largest
// refresh interval that arrives with the end of the search, or its bracket where there is a limit.
func TestQuestion(t *testing.T) {
	primer := string(readDocument(t, moduleRoot(t), "docs", "primer.md"))
	t.Chdir(t.TempDir())
	ask := func(code int, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), args, &stdout, &stderr); got != code {
			t.Fatalf("%v: exit code %d, want %d\n%s", args, got, code, &stderr)
		}
		return stdout.String() + stderr.String()
	}
	slope := regexp.MustCompile(`slope of log variance of expected reward (-0\.[67]\d? \[-0\.[78]\d?, -0\.[56]\d?\]) +-1 \(hypothesis\) .*: (-1 ± 0\.1 is refuted; the theory predicts -0\.717\d, and neglects about 0\.\d+)`)
	got := ask(exitDisagree, "sweep", "question")
	answer := slope.FindStringSubmatch(strings.Join(strings.Fields(got), " "))
	if answer == nil {
		t.Fatalf("%s\nwant %s", got, slope)
	}
	for _, said := range answer[1:] {
		if !strings.Contains(primer, said) {
			t.Errorf("docs/primer.md does not say %s", said)
		}
	}
	got = ask(0, "advise", "question", "--simulate", "--set", "run.steps=300", "--set", "run.burn_in=0", "--set", "grpo.group_size=16")
	if !strings.Contains(strings.Join(strings.Fields(got), " "), "refresh intervals that arrive all up to 32; not searched beyond") || !strings.HasPrefix(strings.SplitAfterN(got, "grposim: simulation", 2)[1], ": 1 cells, at most ") {
		t.Errorf("%s\nwant no limit of the refresh interval, and the cost", got)
	}
	if !strings.Contains(got, "suggestion (simulated): keep η = 0.02 and K = 1: ") || !strings.Contains(got, "; K may grow to 16, half of 32,") {
		t.Errorf("%s\nwant the present ones, and half of what was searched", got)
	}
	// Without the clip and with a stale penalty there is one.
	got = ask(0, "advise", "question", "--simulate", "--set", "run.steps=300", "--set", "run.burn_in=0", "--set", "grpo.group_size=16", "--set", "grpo.importance.mode=none", "--set", "grpo.kl.at=snapshot", "--set", "optimizer.learning_rate=0.2")
	if bracket := regexp.MustCompile(`refresh intervals that arrive +up to \d steps; \d does not +simulated`); !bracket.MatchString(got) {
		t.Errorf("%s\nwant a bracket", got)
	}
}
