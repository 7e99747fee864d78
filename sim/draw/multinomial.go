package draw

// Multinomial sets counts[a] to the number of n draws that fall on arm a, of
// probability weights[a]/Σ weights. The weights are one an arm, not negative, and
// sum to 1 up to rounding.
//
// Arms are drawn one after another, each a binomial draw of what the arms before
// it left, with its share of the weight they left; the last arm of positive
// weight gets the rest. An arm of weight 0 never gets a count.
//
// It panics if the lengths differ, n < 0, a weight is negative or NaN, or n > 0
// draws have no arm to fall on.
func Multinomial(counts []int, w *Words, n int, weights []float64) {
	if len(counts) != len(weights) {
		panic("draw: counts and weights differ in length")
	}
	if n < 0 {
		panic("draw: negative number of draws")
	}
	left, last := 0., -1
	for a, weight := range weights {
		if !(weight >= 0) {
			panic("draw: a weight is negative or NaN")
		}
		if weight > 0 {
			last = a
		}
		left += weight
	}
	if n > 0 && last < 0 {
		panic("draw: all weights are 0")
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

// share returns how many of n draws fall on an arm that has weight of the weight
// left. By rounding, left may come out smaller than weight, and not positive
// after the last arm.
func share(w *Words, n int, weight, left float64) int {
	switch {
	case n == 0 || weight == 0:
		return 0
	case weight >= left:
		return n
	}
	return Binomial(w, n, weight/left)
}
