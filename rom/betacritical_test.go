package rom

import (
	"math"

	"grposim/rom/linear"
)

// BetaCritical returns β_c(z_ref), the smallest penalty with an interior fixed point
// of two arms with the constant rewards 0 and 1 under StdScale, exact KL and G = ∞
// (docs/theory.md §3). refGap is z_ref, the reference's logit of the better arm
// minus that of the other, finite. The fixed points solve
// 2cosh(L/2) = β(L − L_ref), so β_c is the minimum of 2cosh(L/2)/(L − L_ref):
// sinh(L/2) at the root of (L − L_ref)tanh(L/2) = 2.
func BetaCritical(refGap float64) float64 {
	f := func(l float64) float64 { return (l-refGap)*math.Tanh(l/2) - 2 }
	low := max(refGap, 0)
	high := low + 2
	for step := 2.0; f(high) < 0; step *= 2 {
		high += step
	}
	return math.Sinh(linear.Root(f, low, high, f(low)) / 2)
}
