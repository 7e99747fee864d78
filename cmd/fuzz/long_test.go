//go:build long

package main

import (
	"testing"
)

// No configuration of 300 panics, hangs, or gives verdicts that change, and none is found to
// disagree with another seed and four times the data.
func TestLongFuzz(t *testing.T) {
	s, err := fuzz(t.Context(), 4, 300, 2, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s)
	for _, r := range s {
		for _, found := range r.findings {
			if !found.confirmed {
				continue
			}
			t.Errorf("%v: `make fuzz-theory N=300 SEEDS=4` writes the file", found)
		}
	}
}
