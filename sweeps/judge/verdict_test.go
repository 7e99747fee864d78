package judge

import (
	"math"
	"testing"

	"grposim/sweeps/claim"
	"grposim/sweeps/config"
)

func TestCompare(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		lo, hi, predicted, margin float64
		holds, fails              Ruling
	}{
		{0.99, 1.01, 1, 0.02, Agree, Disagree},
		{0.98, 1.02, 1, 0.02, Agree, Disagree}, // as wide as the margin: inside
		{0.97, 1.01, 1, 0.02, Inconclusive, Inconclusive},
		{0.9, 1.1, 1, 0.02, Inconclusive, Inconclusive}, // wider than the margin
		{1.03, 1.05, 1, 0.02, Disagree, Agree},
		{0.9, 0.97, 1, 0.02, Disagree, Agree},
		{1.02, 1.05, 1, 0.02, Inconclusive, Inconclusive}, // touches the margin from outside
		{-inf, inf, 1, 0.02, Inconclusive, Inconclusive},
		{nan, nan, 1, 0.02, Inconclusive, Inconclusive},
		{1, 1, nan, nan, Inconclusive, Inconclusive},
		{0, 0, 0, 0, Agree, Disagree},
	} {
		if got := Compare(c.lo, c.hi, c.predicted, c.margin, claim.FromBothSides,
			config.Holds); got != c.holds {
			t.Errorf("[%g, %g] against %g ± %g: %v, want %v", c.lo, c.hi, c.predicted, c.margin, got,
				c.holds)
		}
		if got := Compare(c.lo, c.hi, c.predicted, c.margin, claim.FromBothSides,
			config.Fails); got != c.fails {
			t.Errorf("[%g, %g] against %g ± %g, expected to fail: %v, want %v", c.lo, c.hi, c.predicted,
				c.margin, got, c.fails)
		}
	}
}

// FromBelow compares without margin, and only a measurement below the prediction
// disagrees. Beyond agrees with every prediction of at least lo.
func TestCompareSides(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		lo, hi, predicted, margin float64
		side                      claim.Side
		holds, fails              Ruling
	}{
		{2, 2.1, 1, 0.02, claim.FromBelow, Agree, Disagree},
		{1, 1.01, 1, 0.02, claim.FromBelow, Agree, Disagree},
		// within the margin, which does not count
		{0.99, 1.01, 1, 0.02, claim.FromBelow, Inconclusive, Inconclusive},
		{0.9, 1.1, 1, 0.02, claim.FromBelow, Inconclusive, Inconclusive},
		{0.8, 0.9, 1, 0.02, claim.FromBelow, Disagree, Agree},
		{2, inf, 1, 0.02, claim.FromBelow, Agree, Disagree},
		{nan, nan, 1, 0.02, claim.FromBelow, Inconclusive, Inconclusive},
		{20, inf, inf, 0, claim.Unfound, Agree, Disagree},
		{20, inf, 25, 0, claim.Unfound, Agree, Disagree},
		{20, inf, 5, 0.5, claim.Unfound, Disagree, Agree},
		{20, inf, 19.8, 0.5, claim.Unfound, Inconclusive, Inconclusive},
		{nan, inf, 19.8, 0.5, claim.Unfound, Inconclusive, Inconclusive},
		{4, 4, inf, 0, claim.FromBothSides, Disagree, Agree}, // located, where none is predicted
	} {
		if got := Compare(c.lo, c.hi, c.predicted, c.margin, c.side, config.Holds); got != c.holds {
			t.Errorf("[%g, %g] against %g ± %g from side %d: %v, want %v", c.lo, c.hi, c.predicted, c.margin,
				c.side, got, c.holds)
		}
		if got := Compare(c.lo, c.hi, c.predicted, c.margin, c.side, config.Fails); got != c.fails {
			t.Errorf("[%g, %g] against %g ± %g from side %d, expected to fail: %v, want %v", c.lo, c.hi,
				c.predicted, c.margin, c.side, got, c.fails)
		}
	}
}
