package main

import (
	"strings"
	"testing"

	"grposim/tools/internal/tool"
)

// The tables have a row of each comparison.
func TestRun(t *testing.T) {
	var out, said strings.Builder
	if code := tool.Run(t.Context(), "bench", run, []string{"-rounds", "1", "-steps", "3000"}, &out, &said); code != 0 {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	text := out.String()
	if !strings.HasPrefix(text, "Measured on ") || strings.Count(text, "\n| ") != 2+len(compared)+4 {
		t.Errorf("the tables are\n%s", text)
	}
}
