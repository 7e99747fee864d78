package group

import (
	"fmt"
	"math"
	"slices"

	"grposim/fp"
)

// lostMass bounds the probability outside the window of outcomes that a binomial sum covers.
const lostMass = 1e-18

// smoothWidth is the standard deviation beyond which a binomial sum takes every
// s-th outcome (sampled) instead of all of them (summed).
const smoothWidth = 1000

// Binomial is a law of a number, by outcomes First, First + Stride, … with their weights, which sum
// to 1.
type Binomial struct {
	First, Stride int
	Weights       []float64
}

// At returns the outcome of Weights[i].
func (b *Binomial) At(i int) int { return b.First + i*b.Stride }

// Mean returns E f(k).
func (b Binomial) Mean(f func(k int) float64) (sum float64) {
	for i, w := range b.Weights {
		sum += w * f(b.First+i*b.Stride)
	}
	return sum
}

// NewBinomial returns the outcomes of Binomial(n, p) that carry all but lostMass of the
// probability. The caller gives both p and q = 1 − p: the smaller would be lost in the rounding of
// 1 minus the other. The window has at least two outcomes on either side of the peak, if there are
// so many. So a sum over informative outcomes keeps its relative accuracy as p → 0 or 1.
//
// The terms grow from the peak by the ratio of neighbours, b(k+1)/b(k) = (n−k)p/((k+1)q). They are
// normalised by their own sum: the relative error is below the window's width in units of rounding.
// Beyond smoothWidth the outcomes are a quarter of a standard deviation apart (see sampled), else
// stride is 1. buffer is overwritten and may be nil. It panics if p or q is NaN.
func NewBinomial(n int, p, q float64, buffer []float64) Binomial {
	if math.IsNaN(p) || math.IsNaN(q) {
		panic(fmt.Sprintf("rom/group: binomial with p = %v, 1 − p = %v", p, q))
	}
	if width := math.Sqrt(float64(n) * p * q); width > smoothWidth {
		return sampled(n, p, q, width, buffer)
	}
	return summed(n, p, q, buffer)
}

// summed is NewBinomial with stride 1: every outcome of the window.
func summed(n int, p, q float64, buffer []float64) Binomial {
	peak := min(int(float64(n+1)*p), n)
	weights := append(buffer[:0], 1)
	sum := 1.0
	// From the peak downwards, in the order of decreasing k; reversed below.
	term := 1.0
	first := peak
	for k := peak; k > 0; k-- {
		ratio := float64(k) * q / (float64(n-k+1) * p)
		// Ratios decrease from here on, so a geometric series bounds the rest.
		if ratio < 1 && term*ratio < lostMass*sum*(1-ratio) && peak-k >= 2 {
			break
		}
		term *= ratio
		weights = append(weights, term)
		sum += term
		first--
	}
	slices.Reverse(weights)
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
	return Binomial{first, 1, weights}
}

// sampled is NewBinomial for a large standard deviation σ (width). By Poisson's summation formula
// the sum of a smooth function is s times its sum over every s-th outcome. The error is
// exp(−2π²(σ/s)²), 1e-137 at s = σ/4. The window reaches nine σ to each side and leaves out a
// probability of 1e-18 on each. The weights are Stirling's approximation
//
//	b(k) ∝ exp(−np h(k/np − 1) − nq h((n−k)/nq − 1))/√(k(n−k)), h(u) = (1+u)ln(1+u) − u.
//
// Its next term, 1/12k, is below 1e-7 and varies by 1e-10 over a standard deviation.
func sampled(n int, p, q, width float64, buffer []float64) Binomial {
	stride := int(width / 4)
	up, down := float64(n)*p, float64(n)*q
	first := int(up) - 36*stride
	weights := buffer[:0]
	sum := 0.0
	for i := range 73 {
		k := first + i*stride
		// Taken from the smaller of up and down, where rounding is smallest.
		deviation := float64(k) - up
		if q < p {
			deviation = down - float64(n-k)
		}
		w := fp.MathExp(-up*entropy(deviation/up)-down*entropy(-deviation/down)) / math.Sqrt(float64(k)/up*(float64(n-k)/down))
		weights = append(weights, w)
		sum += w
	}
	for i := range weights {
		weights[i] /= sum
	}
	return Binomial{first, stride, weights}
}

// entropy returns (1+u)ln(1+u) − u for |u| < 0.01, by the series Σ_{j≥2} (−u)^j/(j(j−1)).
func entropy(u float64) float64 {
	sum, power := 0.0, u*u
	for j := 2; j < 12; j++ {
		sum += power / float64(j*(j-1))
		power *= -u
	}
	return sum
}
