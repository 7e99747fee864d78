package report

import (
	"testing"

	"grposim/sweeps"
)

// Rulings are sorted by how much they need attention: disagreements first, then what is
// inconclusive, out of scope, and agreements last.
func TestOrderOfRulings(t *testing.T) {
	for i, ruling := range []sweeps.Ruling{sweeps.Disagree, sweeps.Inconclusive, sweeps.OutOfScope, sweeps.Agree} {
		if got := (badge{ruling}).Order(); got != i {
			t.Errorf("%v has place %d, want %d", ruling, got, i)
		}
	}
}
