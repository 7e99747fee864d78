package rom

import "math"

// lostMass bounds the probability outside the window of a binomial sum.
const lostMass = 1e-18

// binomial returns the outcomes k = first, first+1, … of Binomial(n, p) that
// carry all but lostMass of the probability, with their weights, which sum to
// 1. p + q = 1 are both given because either may be too small to be told from
// the other's rounding. At least the two neighbours of the peak are in the
// window, so that a sum over informative outcomes keeps its relative accuracy
// as p → 0 or 1.
//
// The terms grow from the peak by the ratio of neighbours,
// b(k+1)/b(k) = (n−k)p/((k+1)q), and are normalised by their own sum: no
// factorials, no logarithms, relative error below the window's width in units
// of rounding. buffer is overwritten and may be nil. A NaN is its caller's
// mistake: no outcome would be the peak.
func binomial(n int, p, q float64, buffer []float64) (first int, weights []float64) {
	if math.IsNaN(p) || math.IsNaN(q) {
		panic("rom: a binomial without a probability")
	}
	peak := min(int(float64(n+1)*p), n)
	weights = append(buffer[:0], 1)
	sum := 1.0
	// Downwards, in the order of decreasing k; turned round below.
	term := 1.0
	first = peak
	for k := peak; k > 0; k-- {
		ratio := float64(k) * q / (float64(n-k+1) * p)
		// Ratios only fall from here on, so the rest is below a geometric series.
		if ratio < 1 && term*ratio < lostMass*sum*(1-ratio) && peak-k >= 2 {
			break
		}
		term *= ratio
		weights = append(weights, term)
		sum += term
		first--
	}
	for i, j := 0, len(weights)-1; i < j; i, j = i+1, j-1 {
		weights[i], weights[j] = weights[j], weights[i]
	}
	term = 1
	for k := peak; k < n; k++ {
		ratio := float64(n-k) * p / (float64(k+1) * q)
		if ratio < 1 && term*ratio < lostMass*sum*(1-ratio) && k-peak >= 2 {
			break
		}
		term *= ratio
		weights = append(weights, term)
		sum += term
	}
	for i := range weights {
		weights[i] /= sum
	}
	return first, weights
}
