package draw

import (
	"slices"
	"testing"
)

// multinomial draws once.
func multinomial(counts []int, w *Words, n int, weights []float64) {
	m := NewMultinomial(len(weights))
	m.Set(weights)
	m.Draw(counts, w, n)
}

// jointLaw returns the multinomial probability of the counts among n samples of outcomes with
// probabilities p. Digit i of its argument, in base n + 1, is count i.
func jointLaw(n int, p []float64) func(code int) float64 {
	return func(code int) float64 {
		probability, i := 1., 0
		for _, p := range p {
			for j := range code % (n + 1) {
				i++
				probability *= float64(i) / float64(j+1) * p
			}
			code /= n + 1
		}
		return probability * one(i == n)
	}
}

// The joint law of all counts is multinomial. The test detects a planted fault, a
// dependence between arms.
func TestMultinomialJointly(t *testing.T) {
	const n = 6
	p := []float64{0.25, 0.25, 0.5}
	const base = n + 1
	law, w, counts := jointLaw(n, p), words(5), make([]int, 3)
	code := func() int { return counts[0] + base*(counts[1]+base*counts[2]) }
	joint := sample(draws, func() int {
		multinomial(counts, w, n, p)
		return code()
	})
	passes(t, "counts", testPMF(joint, 0, base*base*base-1, law))
	dependent := sample(draws, func() int {
		multinomial(counts, w, n, p)
		if counts[0] > counts[1] && Binomial(w, 1, 0.1) == 1 {
			counts[0], counts[1] = counts[1], counts[0] // makes k_0 ≤ k_1 more likely
		}
		return code()
	})
	if testPMF(dependent, 0, base*base*base-1, law) == nil {
		t.Error("a dependence is not detected")
	}
}

// For weights over 600 orders of magnitude, in random order, Multinomial does not panic. The counts
// sum to n, and arms of weight 0 have count 0.
func TestMultinomialRemainders(t *testing.T) {
	w := words(7)
	for range 20_000 {
		weights := randomWeights(w, 1+Binomial(w, 8, 0.5))
		if slices.Max(weights) == 0 {
			continue
		}
		counts := slices.Repeat([]int{-1}, len(weights))
		n := Binomial(w, 200, 0.5)
		multinomial(counts, w, n, weights)
		sum := 0
		for a, k := range counts {
			sum += k
			if k < 0 || k > 0 && weights[a] == 0 {
				t.Fatalf("weights %v: counts %v", weights, counts)
			}
		}
		if sum != n {
			t.Fatalf("weights %v: counts %v do not sum to %d", weights, counts, n)
		}
	}
}
