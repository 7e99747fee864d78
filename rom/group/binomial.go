package group

import (
	"fmt"
	"math"
	"slices"
)

// lostMass bounds the probability outside the window of outcomes that a binomial sum covers.
const lostMass = 1e-18

// Binomial is a law of a number, by outcomes First, First + 1, … with their weights, which sum to 1.
type Binomial struct {
	First   int
	Weights []float64
}

// At returns the outcome of Weights[i].
func (b *Binomial) At(i int) int { return b.First + i }

// Mean returns E f(k).
func (b Binomial) Mean(f func(k int) float64) (sum float64) {
	for i, w := range b.Weights {
		sum += w * f(b.First+i)
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
// buffer is overwritten and may be nil. It panics if p or q is NaN.
func NewBinomial(n int, p, q float64, buffer []float64) Binomial {
	if math.IsNaN(p) || math.IsNaN(q) {
		panic(fmt.Sprintf("rom/group: binomial with p = %v, 1 − p = %v", p, q))
	}
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
	return Binomial{first, weights}
}
