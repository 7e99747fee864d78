package measure

import (
	"math"
	"slices"
)

// VisibleShare is the share of a curve's range that a turn or a passage must exceed to count as
// visible. At G = ∞ J is recorded up to rounding. Any share from 1e-12 to 1e-3 gives the cells of
// the stand-in of docs/theory.md §9 at η = 0.3 the same classes.
const VisibleShare = 1e-3

// Spread returns max − min of the values, 0 for none.
func Spread(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Max(values) - slices.Min(values)
}

// Passages counts how often a curve passes from one side of its last value to the other.
// Values within the tolerance of the last one are on neither side.
func Passages(curve []float64, tolerance float64) int {
	level := curve[len(curve)-1]
	n, side := 0, 0.0
	for _, v := range curve {
		if math.Abs(v-level) <= tolerance {
			continue
		}
		if now := math.Copysign(1, v-level); now != side {
			if side != 0 {
				n++
			}
			side = now
		}
	}
	return n
}
