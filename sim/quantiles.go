package sim

import (
	"math"
	"slices"
)

// QuantileLevels are the levels of Summary.Quantiles.
var QuantileLevels = [5]float64{0.05, 0.25, 0.5, 0.75, 0.95}

// quantiles returns the quantiles of values at QuantileLevels, interpolated linearly
// between order statistics, x_(1+(n−1)p) (Hyndman and Fan's type 7). It changes the
// order of values.
func quantiles(values []float64) (q [5]float64) {
	var ranks [2 * len(q)]int
	var shares [len(q)]float64
	last := len(values) - 1
	for i, level := range QuantileLevels {
		at := float64(float64(last) * level)
		below := int(at)
		shares[i] = at - float64(below)
		ranks[2*i], ranks[2*i+1] = below, min(below+1, last)
	}
	place(values, 0, ranks[:])
	for i := range q {
		below, above := values[ranks[2*i]], values[ranks[2*i+1]]
		q[i] = below + float64(shares[i]*(above-below))
	}
	return q
}

// place puts at each of some ranks, which increase, the value that sorting would put
// there; that of values[0] is first. Values are parted, and parts that have a rank are
// parted again (quickselect, of several ranks at once).
func place(values []float64, first int, ranks []int) {
	const small = 8
	for len(ranks) > 0 && len(values) > small {
		pivot := middle(values)
		cut := part(values, pivot)
		if cut == 0 { // nothing is less: what equals the pivot comes first, in its place
			cut = part(values, math.Nextafter(pivot, math.Inf(1)))
			ranks = ranks[ranksBelow(ranks, first+cut):]
		} else {
			n := ranksBelow(ranks, first+cut)
			place(values[:cut], first, ranks[:n])
			ranks = ranks[n:]
		}
		values, first = values[cut:], first+cut
	}
	if len(ranks) > 0 {
		slices.Sort(values)
	}
}

// ranksBelow counts the ranks below a limit.
func ranksBelow(ranks []int, limit int) int {
	n := 0
	for n < len(ranks) && ranks[n] < limit {
		n++
	}
	return n
}

// part puts the values less than a limit first, and counts them. It does not branch on
// them: no processor can tell which way.
func part(values []float64, limit float64) int {
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

// middle returns the median of three of the values, which is rarely one of the least.
func middle(values []float64) float64 {
	last := len(values) - 1
	a, b, c := values[0], values[last/2], values[last]
	return max(min(a, b), min(max(a, b), c))
}
