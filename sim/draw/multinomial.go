package draw

// Multinomial sets counts[a] to the number of n samples that fall on arm a, of
// probability weights[a]/Σ weights. The weights, one per arm, are not negative and
// sum to 1 up to rounding.
//
// The count of each arm in turn is a binomial draw: of the samples that the arms
// before it have left, with its share of the weight that they have left. The last arm
// of positive weight gets the remaining samples. An arm of weight 0 gets none.
//
// It panics if the lengths differ, n < 0, a weight is negative or NaN, or n > 0 and
// all weights are 0.
func Multinomial(counts []int, w *Words, n int, weights []float64) {
	if len(counts) != len(weights) {
		panic("draw: Multinomial: counts and weights differ in length")
	}
	if n < 0 {
		panic("draw: Multinomial: n is negative")
	}
	left, last := 0., -1
	for a, weight := range weights {
		if !(weight >= 0) {
			panic("draw: Multinomial: a weight is negative or NaN")
		}
		if weight > 0 {
			last = a
		}
		left += weight
	}
	if n > 0 && last < 0 {
		panic("draw: Multinomial: all weights are 0")
	}
	for a, weight := range weights {
		k := n
		if a != last {
			k = share(w, n, weight, left)
		}
		counts[a] = k
		n -= k
		left -= weight
	}
}

// share returns the number of n samples that fall on an arm with the given part,
// weight, of the weight left. By rounding, left may be smaller than weight, and after
// the last arm zero or negative.
func share(w *Words, n int, weight, left float64) int {
	switch {
	case n == 0 || weight == 0:
		return 0
	case weight >= left:
		return n
	}
	return Binomial(w, n, weight/left)
}
