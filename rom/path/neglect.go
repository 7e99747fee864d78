package path

import (
	"math"
	"slices"

	"grposim/rom/cell"
	"grposim/rom/force"
)

// ofShift is the share of a shift by noise that its second order leaves out in any case. It is
// measured: see docs/theory-neglected.md §6.4.
const ofShift = 0.06

// neglectedShift returns the size of what a shift S by noise leaves out. Near a bound at which a
// weight drops to 0, S has no order, and force.BoundReach deviations of the observable are added.
func (o *observable) neglectedShift(p *cell.Params, by *shifted) float64 {
	size, span := (ofShift+min(by.variance, 1))*math.Abs(by.shift), o.span(p)
	if by.nearBound {
		size += force.BoundReach * by.deviation
	}
	return min(size, span) + min(o.cumulants(p, by.variance), span)
}

// cumulants returns a bound on f⁗V²/8 of an observable, V the variance of a gap of two logits, a
// quarter of which is added: both closures know the fourth cumulant of a normal law only.
func (o *observable) cumulants(p *cell.Params, variance float64) float64 {
	return o.fourth(p) * variance * variance / 4
}

// Some runs leave a plateau before the mean field, and what it cannot know of them it cannot know
// of itself when it leaves. Where the variance of a gap of two logits has exceeded narrow, the
// largest size up to lookAhead times the step counts. After the last step asked for the run is
// followed while that variance grows.
const (
	narrow    = 0.05
	lookAhead = 3
)

// sampled returns the steps at which sizes are computed: at, and others that are at most 1.25 times
// the one before, up to lookAhead times the last, if the policies of as many steps can be kept.
func sampled(p *cell.Params, at []int) []int {
	end := lookAhead * at[len(at)-1]
	if noSpread(p, end).Out() {
		end = at[len(at)-1]
	}
	steps := append(slices.Clone(at), end)
	for t := 1.0; t < float64(end); t *= 1.25 {
		steps = append(steps, int(math.Ceil(t)))
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// ahead returns the largest size that counts at each of the steps at, of sizes at the given steps,
// with the variances of a gap of two logits there. Where runs are lost and a size is NaN, +Inf
// counts, and before it the span of the number.
func ahead(steps, at []int, span float64, of func(n int) (size, variance float64)) (
	largest []float64) {
	next, sum, wide, lost := 0, 0.0, false, math.MaxInt
	take := func(until int) {
		for ; next < len(steps) && steps[next] <= until; next++ {
			size, variance := of(next)
			if math.IsNaN(size) {
				size, lost = span, min(lost, steps[next])
			}
			sum, wide = max(sum, size), wide || !(variance <= narrow)
		}
	}
	for _, t := range at {
		if take(t); wide {
			take(lookAhead * t)
		}
		if t >= lost {
			sum = math.Inf(1)
		}
		largest = append(largest, sum)
	}
	return largest
}

// addLargest adds the largest size up to each step, +Inf from a NaN on.
func addLargest(sum []float64, size func(n int) float64) {
	largest := 0.0
	for n := range sum {
		if x := size(n); math.IsNaN(x) {
			largest = math.Inf(1)
		} else {
			largest = max(largest, x)
		}
		sum[n] += largest
	}
}
