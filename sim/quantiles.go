package sim

import (
	"math"
	"slices"
)

// QuantileLevels are the probability levels of Summary.Quantiles.
var QuantileLevels = [5]float64{0.05, 0.25, 0.5, 0.75, 0.95}

// quantiles returns the quantiles of values at QuantileLevels, interpolated linearly
// between order statistics, x_(1+(n−1)p) (Hyndman and Fan's type 7). It changes the
// order of values. A NaN among them has no order: then all quantiles are NaN.
func quantiles(values []float64) (q [5]float64) {
	if slices.ContainsFunc(values, math.IsNaN) {
		return [5]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	var ranks [2 * len(QuantileLevels)]int  // from 0, of the order statistics about each quantile
	var shares [len(QuantileLevels)]float64 // of the way from the lower to the upper
	for i, level := range QuantileLevels {
		at := float64(float64(len(values)-1) * level)
		below := int(at)
		shares[i] = at - float64(below)
		ranks[2*i], ranks[2*i+1] = below, min(below+1, len(values)-1)
	}
	placeRanks(values, 0, ranks[:])
	for i := range q {
		q[i] = interpolate(values[ranks[2*i]], values[ranks[2*i+1]], shares[i])
	}
	return q
}

// interpolate returns below + share·(above − below), for a share in [0, 1). An infinite value is
// its own quantile where both are it. The result is never −0, which sorting does not tell from 0.
func interpolate(below, above, share float64) float64 {
	if below == above || share == 0 {
		return below + 0
	}
	return below + float64(share*(above-below))
}

// placeRanks reorders values so that each of the given ranks holds the value that sorting would put
// there. Ranks increase and count from first, the rank of values[0]. It is quickselect for several
// ranks at once: values are partitioned, and parts that contain a rank are partitioned again.
func placeRanks(values []float64, first int, ranks []int) {
	const small = 8
	for len(ranks) > 0 && len(values) > small {
		pivot := medianOfThree(values)
		cut := partition(values, pivot)
		if cut == 0 { // the pivot is the least value: its copies come first, already in place
			if math.IsInf(pivot, 1) {
				return // all values are +Inf, above which no limit is
			}
			cut = partition(values, math.Nextafter(pivot, math.Inf(1)))
		} else {
			below, _ := slices.BinarySearch(ranks, first+cut)
			placeRanks(values[:cut], first, ranks[:below])
		}
		below, _ := slices.BinarySearch(ranks, first+cut)
		values, first, ranks = values[cut:], first+cut, ranks[below:]
	}
	if len(ranks) > 0 {
		slices.Sort(values)
	}
}

// partition puts the values below a limit first and returns their number. It has no
// branch that depends on a value, because processors cannot predict one.
func partition(values []float64, limit float64) int {
	count := 0
	for i, x := range values {
		values[i] = values[count]
		values[count] = x
		less := 0
		if x < limit {
			less = 1
		}
		count += less
	}
	return count
}

// medianOfThree returns the median of the first, the middle and the last value.
func medianOfThree(values []float64) float64 {
	last := len(values) - 1
	a, b, c := values[0], values[last/2], values[last]
	return max(min(a, b), min(max(a, b), c))
}
