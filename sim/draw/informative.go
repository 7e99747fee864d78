package draw

import (
	"math/bits"
	"sort"
)

// Informative draws groups of G rewards of 0 or 1 that are not all equal (docs/theory-trainers.md
// §11.3). A draw takes 1 + G words, whatever the probability of such a group.
type Informative struct {
	means            []float64 // reward probability of each arm
	size             int       // G
	rewarded, others []float64 // running sums over the arms of π_a m_a and π_a(1−m_a)
}

// NewInformative returns the groups of size ≥ 2 of arms with the given mean rewards.
func NewInformative(size int, means []float64) *Informative {
	return &Informative{means, size, make([]float64, len(means)), make([]float64, len(means))}
}

// Draw draws a group from the policy probs: how many samples each arm has and how many of them are
// rewarded. It reports false, and draws nothing, where no group can have both rewards.
//
// S rewarded samples, or G − S where failures are rarer, are drawn by inversion from 1 upwards.
// There P(s+1)/P(s) = (G−s)/(s+1) · J/(1−J). The arms of the rewarded samples have the
// probabilities π_a m_a/J, those of the others π_a(1−m_a)/(1−J).
func (x *Informative) Draw(w *Words, probs []float64, counts, successes []int) (ok bool) {
	up, down := 0.0, 0.0
	for a, p := range probs {
		up += float64(p * x.means[a])
		down += float64(p * (1 - x.means[a]))
		x.rewarded[a], x.others[a] = up, down
	}
	if !(up > 0 && down > 0) {
		return false
	}
	rare := x.rare(uniform(w.Next()), min(up, down)/max(up, down))
	rewarded := rare
	if up > down {
		rewarded = x.size - rare
	}
	clear(counts)
	clear(successes)
	for n := range x.size {
		sums := x.others
		if n < rewarded {
			sums = x.rewarded
		}
		u, a := float64(uniform(w.Next())*sums[len(sums)-1]), 0
		for u >= sums[a] && a < len(sums)-1 {
			a++
		}
		counts[a]++
		if n < rewarded {
			successes[a]++
		}
	}
	return true
}

// rare returns the number s of samples of the rarer reward, of the given odds ≤ 1. It is the least
// whose distribution function on 1 … G−1 exceeds u.
func (x *Informative) rare(u, odds float64) int {
	total, mass := 0.0, 1.0
	for s := 1; s < x.size && mass > 0x1p-60*total; s++ { // beyond the mode masses decrease
		total += mass
		mass *= float64(growth(x.size, s) * odds)
	}
	u *= total
	s := 1
	for mass := 1.0; u >= mass && s < x.size-1; s++ {
		u -= mass
		mass *= float64(growth(x.size, s) * odds)
	}
	return s
}

// Chance returns the probability that the rewards of a group of the policy probs differ.
//
//	1 − J^G − (1−J)^G = y·(Σ_{k<G} x^k − y^(G−1)),  x = max(J, 1−J), y = min(J, 1−J).
//
// No digits cancel: J and 1−J are sums of the terms π_a m_a and π_a(1−m_a).
func (x *Informative) Chance(probs []float64) float64 {
	up, down := 0.0, 0.0
	for a, p := range probs {
		up += float64(p * x.means[a])
		down += float64(p * (1 - x.means[a]))
	}
	frequent, rare := max(up, down), min(up, down)
	sum, power, rares := 1.0, frequent, 1.0 // Σ_{k<n} x^k, x^n and y^(n−1), n the first bits of G
	for bit := bits.Len(uint(x.size)) - 2; bit >= 0; bit-- {
		sum += float64(sum * power)
		power = float64(power * power)
		rares = float64(rares * float64(rares*rare))
		if x.size>>bit&1 == 1 {
			sum += power
			power = float64(power * frequent)
			rares = float64(rares * rare)
		}
	}
	return float64(rare * (sum - rares))
}

// Index returns the index that a random word chooses, by running sums of weights. The last sum must
// be positive.
func Index(word uint64, sums []float64) int {
	total := sums[len(sums)-1]
	u := float64(uniform(word) * total)
	return sort.Search(len(sums), func(i int) bool { return sums[i] > u || sums[i] == total })
}

// growth returns P(s+1)/P(s) at odds of 1 among n samples.
func growth(n, s int) float64 { return float64(n-s) * reciprocal(s+1) }

// uniform returns the number in [0, 1) of a random word. Its product with x > 0 is less than x.
func uniform(word uint64) float64 { return float64(float64(int64(word>>12)) * 0x1p-52) }
