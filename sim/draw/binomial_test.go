package draw

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

var (
	trials        = []int{0, 1, 2, 15, 16, 17, 32, 33, 63, 64, 65, 1000, 65536, 1 << 31}
	probabilities = []float64{0, 0x1p-60, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.999, 1 - 0x1p-53, 1}
)

// testBinomial tests a histogram against the binomial law, within a range that holds
// all but a negligible part of it.
func testBinomial(histogram map[int]int, n int, p float64) error {
	mean, variance := float64(n)*p, float64(n)*p*(1-p)
	// By Bernstein's inequality all but 1e-17 of the law lies within
	// √(2·40·variance) + 40·2/3 of the mean.
	reach := math.Sqrt(80*variance) + 27
	low, high := int(max(0, mean-reach)), int(min(float64(n), mean+reach))
	law := distuv.Binomial{N: float64(n), P: p}
	pmf := func(k int) float64 {
		switch { // gonum's Prob would compute 0·ln 0
		case p == 0:
			return one(k == 0)
		case p == 1:
			return one(k == n)
		}
		return law.Prob(float64(k))
	}
	if err := testPMF(histogram, low, high, pmf); err != nil {
		return err
	}
	if mean < minExpected/float64(draws) || float64(n)-mean < minExpected/float64(draws) {
		return nil // too few successes, or failures, for the normal law
	}
	return testMean(histogram, mean, variance)
}

func one(indicator bool) float64 {
	if indicator {
		return 1
	}
	return 0
}

func TestBinomial(t *testing.T) {
	for i, n := range trials {
		// The p at the boundary between inversion and rejection, and the next smaller one.
		boundary := rejectionMean / float64(max(n, 2*rejectionMean))
		for j, p := range append([]float64{boundary, math.Nextafter(boundary, 0)}, probabilities...) {
			if (i+j)%thin != 0 || p == 1-0x1p-53 && n == 1<<31 || p == 0x1p-60 && n == 1<<31 {
				continue // a few draws differ from the common value: see TestBinomialRare
			}
			w := words(uint64(100*i + j))
			histogram := sample(draws, func() int { return Binomial(w, n, p) })
			passes(t, fmt.Sprintf("n = %d, p = %v", n, p), testBinomial(histogram, n, p))
		}
	}
}

// At p = 2⁻⁶⁰ and 1 − 2⁻⁵³ with 2³¹ trials a draw differs from 0 and n with probability 2⁻²⁹ and
// 2⁻²². That is too rare to count. But inversion is a step function of its word. Its steps are
// found by bisection and must be at P(0) and P(≤ 1), to the 2⁻⁵² of a uniform number.
func TestBinomialRare(t *testing.T) {
	const n = 1 << 31
	for _, p := range []float64{0x1p-60, 0x1p-53} {
		mean := n * p
		for k, want := range []float64{math.Exp(-mean), math.Exp(-mean) * (1 + mean)} {
			low, high := uint64(0), uint64(1<<52) // the least word>>12 that gives more than k
			for low < high {
				middle := low + (high-low)/2
				w := NewWords(filled{&script{words: []uint64{middle << 12}}})
				if quantile(Uniform(w), n, p) > k {
					high = middle
				} else {
					low = middle + 1
				}
			}
			// One step of the grid of 2⁻⁵² and two roundings of probabilities.
			if got := float64(low) * 0x1p-52; math.Abs(got-want) > 2*0x1p-52 {
				t.Errorf("p = %v: P(≤ %d) is %g off", p, k, got-want)
			}
		}
	}
}

// walk calls visit for laws over the whole range of transformed rejection. In each it does for
// numbers of successes up to 12 standard deviations from the mode.
func walk(visit func(n int, p, k, mode float64)) {
	for _, n := range []int{65, 66, 70, 80, 101, 128, 200, 500, 1000, 5000, 65536, 1 << 20, 1 << 31} {
		least := rejectionMean / float64(n)
		for i := range 61 {
			p := min(0.5, least*math.Pow(0.5/least, float64(i)/60)*(1+0x1p-50))
			sd := math.Sqrt(float64(n) * p * (1 - p))
			mode := math.Floor(float64(n+1) * p)
			step := max(1, math.Floor(sd/20))
			for k := max(0, mode-math.Floor(12*sd)); k <= min(float64(n), mode+12*sd); k += step {
				visit(n, p, k, mode)
			}
		}
	}
}

// edges returns the least and the greatest u that give k.
func (t *transform) edges(k float64) [2]float64 {
	var ends [2]float64
	for i := range ends {
		low, high := -0.5, 0.5
		for range 60 { // bisection; at increases with u
			middle := (low + high) / 2
			if t.at(middle, 0.5-math.Abs(middle)) < k+float64(i) {
				low = middle
			} else {
				high = middle
			}
		}
		ends[i] = (low + high) / 2
	}
	return ends
}

// checkHat returns an error unless the acceptance probability of k is at most 1 and,
// for d ≥ squeezeFrom, at least squeeze. Its extremes for one k are at the edges.
func (t *transform) checkHat(n int, p, k, mode, squeeze float64) error {
	ratio := math.Exp(logRatio(n, p, k, mode))
	for _, u := range t.edges(k) {
		d := 0.5 - math.Abs(u)
		if d < 1e-9 {
			continue // smaller than any d of a uniform number
		}
		acceptance := ratio / t.threshold(d)
		if acceptance > 1 {
			return fmt.Errorf("acceptance %g", acceptance)
		}
		if d >= squeezeFrom && squeeze > acceptance {
			return fmt.Errorf("acceptance %g, squeeze %g", acceptance, squeeze)
		}
	}
	return nil
}

// Transformed rejection is exact if its hat is nowhere below the law and its squeeze
// nowhere above it.
func TestHatAndSqueeze(t *testing.T) {
	tooGreedy := 0
	walk(func(n int, p, k, mode float64) {
		tr := transformOf(n, p)
		if err := tr.checkHat(n, p, k, mode, tr.squeeze()); err != nil {
			t.Fatalf("n = %d, p = %v, k = %v: %v", n, p, k, err)
		}
		if tr.checkHat(n, p, k, mode, tr.squeeze()+0.02) != nil {
			tooGreedy++
		}
	})
	if tooGreedy == 0 {
		t.Error("a squeeze 0.02 higher is not detected")
	}
}

// accepts compares a height with P(k)/P(mode), to the rounding of logMass, whether or
// not its bounds decide, and rejects k outside [0, n].
func TestAccepts(t *testing.T) {
	const rounding = 1e-8
	walk(func(n int, p, k, mode float64) {
		tr := transformOf(n, p)
		ratio := math.Exp(logRatio(n, p, k, mode))
		for _, c := range []struct {
			factor float64
			want   bool
		}{{1e-3, true}, {0.9, true}, {1 - rounding, true}, {1 + rounding, false}, {1.1, false}, {1e3, false}} {
			if got := tr.accepts(n, p, k, c.factor*ratio); got != c.want {
				t.Fatalf("n = %d, p = %v, k = %v: accepts(%v P(k)/P(mode)) = %v", n, p, k, c.factor, got)
			}
		}
		if tr.accepts(n, p, -1, 1e-300) || tr.accepts(n, p, float64(n)+1, 1e-300) {
			t.Fatalf("n = %d, p = %v: accepts k outside [0, n]", n, p)
		}
	})
}

// The squeeze only saves work: with and without it, rejection gives the same draws and
// takes the same words.
func TestSqueezeSavesWork(t *testing.T) {
	for _, n := range []int{65, 100, 1000, 65536, 1 << 31} {
		for _, p := range []float64{rejectionMean / float64(n) * (1 + 0x1p-50), 0.2, 0.5} {
			w, x := words(uint64(n)), words(uint64(n))
			tr := transformOf(n, p)
			mode := math.Floor(float64(n+1) * p)
			for range 2000 {
				got := Binomial(w, n, p)
				for {
					u, v := Uniform(x)-0.5, Uniform(x)
					d := 0.5 - math.Abs(u)
					k := math.Floor(tr.at(u, d))
					if k < 0 || k > float64(n) {
						continue
					}
					if v*tr.threshold(d) <= math.Exp(logRatio(n, p, k, mode)) {
						if float64(got) != k {
							t.Fatalf("n = %d, p = %v: %d, want %v", n, p, got, k)
						}
						break
					}
				}
				if w.taken() != x.taken() {
					t.Fatalf("n = %d, p = %v: %d words, want %d", n, p, w.taken(), x.taken())
				}
			}
		}
	}
}

// A law that is set again draws the same as a new one.
func TestBinomialLawIsSetAgain(t *testing.T) {
	w, x := words(1), words(1)
	var law BinomialLaw
	for i := range 50 * len(trials) * len(probabilities) {
		n, p := trials[i*5%len(trials)], probabilities[i*7%len(probabilities)]
		law.Set(n, p)
		for range 3 {
			if got, want := law.Draw(w), Binomial(x, n, p); got != want || w.taken() != x.taken() {
				t.Fatalf("n = %d, p = %v: %d, want %d; %d words, not %d", n, p, got, want, w.taken(), x.taken())
			}
		}
	}
}

// logMass against 300-bit arithmetic.
func TestLogMass(t *testing.T) {
	real := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	for _, c := range []struct{ n, p float64 }{{65, 0.25}, {100, 0.1}, {1000, 0.3}, {4000, 0.0025}, {4000, 0.5}} {
		odds := real(c.p)
		odds.Quo(odds, real(1-c.p))
		mode := math.Floor((c.n + 1) * c.p)
		ratio := real(1) // P(k)/P(mode)
		for k := mode; k < min(c.n, 3*mode); {
			ratio.Mul(ratio, odds).Mul(ratio, real(c.n-k)).Quo(ratio, real(k+1))
			k++
			fraction := new(big.Float)
			exponent := ratio.MantExp(fraction)
			f, _ := fraction.Float64()
			want := math.Log(f) + float64(exponent)*math.Ln2
			got := logMass(c.n, c.p, k) - logMass(c.n, c.p, mode)
			// The omitted term of four Stirling series, and a few roundings of
			// deviances and their terms, whose size is at most k or the result.
			tolerance := 4*2e-14 + 8*0x1p-53*max(k, math.Abs(want))
			if math.Abs(got-want) > tolerance {
				t.Fatalf("n = %v, p = %v: ln P(%v)/P(%v) is %g off", c.n, c.p, k, mode, got-want)
			}
		}
	}
}

func transformOf(n int, p float64) (t transform) {
	t.set(n, p)
	return t
}
