package fit

import (
	"math"
	"slices"

	"grposim/fp"
)

// chi90 is the 90 % quantile of the χ² law with one degree of freedom. At the end of a parameter's
// 90 % interval by likelihood the best sum of squares is larger by the factor e^{chi90/n}.
const chi90 = 2.705543454095404

// interval returns the 90 % interval of a parameter by profile likelihood. It has the values at
// which the best fit of the others keeps n ln(SSE/SSE_min) ≤ chi90, for n independent rows. An end
// that is not reached within the parameter's bounds is ±Inf.
func (p *problem) interval(best solution, which held, n float64) (lo, hi float64) {
	limit := best.sse * fp.MathExp(chi90/max(1, n-float64(len(best.shape)+2)))
	from, reach := p.scale(best, which)
	end := func(direction float64) float64 {
		warm := best.shape
		over := func(step float64) bool {
			s := p.search(warm, hold{which, from(direction * step)})
			if s.sse <= limit {
				warm = s.shape
			}
			return s.sse > limit
		}
		return from(direction * crossing(over, 0.01, reach, 0.02))
	}
	return end(-1), end(1)
}

// crossing returns where a condition begins to hold, within a share of the way to it. It is looked
// for from a first distance on. It is +Inf if that is beyond the largest.
func crossing(holds func(x float64) bool, first, largest, within float64) float64 {
	x, inside := first, 0.0
	for !holds(x) {
		inside = x
		if x *= 1.7; x > largest {
			return math.Inf(1)
		}
	}
	for x-inside > within*x {
		if middle := (inside + x) / 2; holds(middle) {
			x = middle
		} else {
			inside = middle
		}
	}
	return x
}

// scale returns the parameter as a function of a step from its best value, and the largest step
// that is tried. Steps are in the logarithm for shapes, which are positive, and in units of the
// curve's range for start and plateau.
func (p *problem) scale(best solution, which held) (from func(step float64) float64, reach float64) {
	if which >= firstShape {
		x := best.shape[which-firstShape]
		return func(step float64) float64 {
			switch {
			case math.IsInf(step, -1):
				return 0
			case math.IsInf(step, 1):
				return step
			}
			return x * fp.MathExp(step)
		}, 7
	}
	x := best.start
	if which == plateauHeld {
		x = best.plateau
	}
	width := max(slices.Max(p.b.y)-slices.Min(p.b.y), rounding)
	return func(step float64) float64 { return x + step*width }, 30
}
