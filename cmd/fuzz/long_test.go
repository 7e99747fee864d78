//go:build long

package main

import (
	"os"
	"testing"
	"time"
)

// No configuration of 300 is refuted, panics, hangs, or gives verdicts that change.
func TestFuzz(t *testing.T) {
	s, err := fuzz(t.Context(), 1, 0, 300, 2, time.Minute, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s)
	if s.found() {
		t.Error("found something: `go run ./cmd/fuzz --n 300` writes the files")
	}
}
