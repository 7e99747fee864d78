//go:build long

package main

import (
	"os"
	"slices"
	"testing"
	"time"
)

// No configuration of 100 panics, hangs, or gives verdicts that change. Confirmed
// disagreements are logged, and do not fail the test: `make fuzz-theory`, which does
// fail, still finds one in about a hundred configurations.
func TestLongFuzz(t *testing.T) {
	s, err := fuzz(t.Context(), 1, 0, 100, 2, time.Minute, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s)
	for _, r := range s.results {
		if i := slices.IndexFunc(r.findings, func(x finding) bool { return x.failure != "" }); i >= 0 {
			t.Errorf("%v: `go run ./cmd/fuzz --n 100` writes the file", r.findings[i])
		}
	}
}
