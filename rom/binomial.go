package rom

import "math"

// lostMass bounds the probability outside the window of a binomial sum.
const lostMass = 1e-18

// smoothWidth is the standard deviation beyond which a binomial is sampled
// instead of summed.
const smoothWidth = 1000

// binomial returns the outcomes k = first, first + stride, … of Binomial(n, p) that
// carry all but lostMass of the probability, with their weights, which sum to
// 1. p + q = 1 are both given because either may be too small to be told from
// the other's rounding. At least the two neighbours of the peak are in the
// window, so that a sum over informative outcomes keeps its relative accuracy
// as p → 0 or 1.
//
// The terms grow from the peak by the ratio of neighbours,
// b(k+1)/b(k) = (n−k)p/((k+1)q), and are normalised by their own sum: no
// factorials, no logarithms, relative error below the window's width in units
// of rounding. Beyond smoothWidth the outcomes are a quarter of a standard
// deviation apart, see sampled; else stride is 1. buffer is overwritten and may be nil. A NaN is its caller's
// mistake: no outcome would be the peak.
func binomial(n int, p, q float64, buffer []float64) (first, stride int, weights []float64) {
	if math.IsNaN(p) || math.IsNaN(q) {
		panic("rom: a binomial without a probability")
	}
	if width := math.Sqrt(float64(n) * p * q); width > smoothWidth {
		return sampled(n, p, q, width, buffer)
	}
	return summed(n, p, q, buffer)
}

// summed is binomial with the stride 1.
func summed(n int, p, q float64, buffer []float64) (first, stride int, weights []float64) {
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
	return first, 1, weights
}

// sampled is binomial for a large standard deviation: the sum of a smooth
// function over all outcomes is, by Poisson's summation, that over every s-th
// one times s up to exp(−2π²(σ/s)²), 1e-137 at s = σ/4. Nine σ leave 1e-18 on
// each side. Weights are Stirling's,
//
//	b(k) ∝ exp(−np h(k/np − 1) − nq h((n−k)/nq − 1))/√(k(n−k)), h(u) = (1+u)ln(1+u) − u,
//
// whose next term, 1/12k, is below 1e-7 and varies by 1e-10 over a standard
// deviation.
func sampled(n int, p, q, width float64, buffer []float64) (first, stride int, weights []float64) {
	stride = int(width / 4)
	up, down := float64(n)*p, float64(n)*q
	first = int(up) - 36*stride
	weights = buffer[:0]
	sum := 0.0
	for i := range 73 {
		k := first + i*stride
		// Both deviations from the smaller side, where they are not rounded.
		deviation := float64(k) - up
		if q < p {
			deviation = down - float64(n-k)
		}
		w := math.Exp(-up*entropy(deviation/up)-down*entropy(-deviation/down)) / math.Sqrt(float64(k)/up*(float64(n-k)/down))
		weights = append(weights, w)
		sum += w
	}
	for i := range weights {
		weights[i] /= sum
	}
	return first, stride, weights
}

// entropy returns (1+u)ln(1+u) − u of |u| < 0.01, Σ_{j≥2} (−u)^j/(j(j−1)).
func entropy(u float64) float64 {
	sum, power := 0.0, u*u
	for j := 2; j < 12; j++ {
		sum += power / float64(j*(j-1))
		power *= -u
	}
	return sum
}
