package draw

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The numbers of samples of each arm and of rewarded ones have the conditional law of a group that
// is redrawn until its rewards differ. The law exceeds this chi-square over all outcomes with
// probability 1e-6.
func TestInformativeLaw(t *testing.T) {
	const draws = 200_000
	type outcome struct{ n0, k0, k1 int }
	for _, test := range []struct{ mean0, mean1, p float64 }{{0.9, 0.2, 0.5}, {1, 0, 0.99}, {1, 0, 0.01}, {0.3, 0.3, 0.7}} {
		const size = 4
		want, whole := map[outcome]float64{}, 0.0
		for code := range 1 << (2 * size) { // arm and reward of each sample
			o, chance, s := outcome{}, 1.0, 0
			for i := range size {
				arm, reward := code>>(2*i)&1, code>>(2*i+1)&1
				p, m := test.p, test.mean0
				if arm == 1 {
					p, m = 1-p, test.mean1
				} else {
					o.n0++
				}
				if reward == 0 {
					m = 1 - m
				} else if s++; arm == 0 {
					o.k0++
				} else {
					o.k1++
				}
				chance *= p * m
			}
			if s > 0 && s < size {
				want[o] += chance
				whole += chance
			}
		}
		x, w := NewInformative(size, []float64{test.mean0, test.mean1}), NewWords(&Xoshiro{1, 2, 3, 4})
		got := map[outcome]int{}
		counts, successes := make([]int, 2), make([]int, 2)
		for range draws {
			if !x.Draw(w, []float64{test.p, 1 - test.p}, counts, successes) {
				t.Fatal("no group")
			}
			got[outcome{counts[0], successes[0], successes[1]}]++
		}
		square, cells, rest := 0.0, 0.0, 0.0
		for o, chance := range want {
			if expected := draws * chance / whole; expected > 5 {
				square += math.Pow(float64(got[o])-expected, 2) / expected
				cells++
			} else {
				rest += expected
			}
			got[o] = 0
		}
		for o, n := range got {
			if n > 0 {
				t.Errorf("%+v: %d draws of %+v, which is impossible", test, n, o)
			}
		}
		if limit := cells + 4.9*math.Sqrt(2*cells) + 10; square > limit+rest {
			t.Errorf("%+v: chi-square %.1f of %v outcomes, want at most %.1f", test, square, cells, limit)
		}
	}
}

// In the limits J → 0 and J → 1 one sample has the rarer reward, and no draw depends on how rare it
// is. Where no reward can differ nothing is drawn.
func TestInformativeLimits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	counts, successes := make([]int, 2), make([]int, 2)
	for _, size := range []int{2, 16, 100_000} {
		x := NewInformative(size, []float64{1, 0})
		for range 20 {
			w := NewWords(&Xoshiro{random.Uint64(), 1, 2, 3})
			for _, p := range []float64{1e-300, 1e-30} {
				if x.Draw(w, []float64{p, 1}, counts, successes); successes[0] != 1 || counts[0] != 1 || counts[1] != size-1 {
					t.Fatalf("p = %v: %v samples, %v rewarded, want one of the first arm", p, counts, successes)
				}
				if x.Draw(w, []float64{1, p}, counts, successes); successes[0] != size-1 || counts[1] != 1 {
					t.Fatalf("1 − p = %v: %v samples, %v rewarded, want one of the second", p, counts, successes)
				}
			}
		}
		if x.Draw(nil, []float64{1, 0}, counts, successes) || x.Draw(nil, []float64{0, 1}, counts, successes) {
			t.Error("a group was drawn although all rewards are equal")
		}
	}
}

// Chance is the sum of the binomial probabilities of the groups whose rewards differ, to a few
// roundings, however rare one of the rewards is.
func TestInformativeChance(t *testing.T) {
	for _, size := range []int{2, 3, 4, 7, 8, 16, 63, 64, 65, 100, 999} {
		x := NewInformative(size, []float64{1, 0})
		for _, rare := range []float64{0.5, 0.3, 0.01, 1e-3, 1e-12, 1e-300} {
			want, term := 0.0, math.Pow(1-rare, float64(size)) // of s = 0
			for s := 1; s < size; s++ {
				term *= float64(size-s+1) / float64(s) * rare / (1 - rare)
				want += term
			}
			for _, probs := range [][]float64{{rare, 1 - rare}, {1 - rare, rare}} {
				if got := x.Chance(probs); !(math.Abs(got-want) <= 1e-12*want) {
					t.Errorf("G = %d, probs = %v: got %v, want %v", size, probs, got, want)
				}
			}
		}
		for _, probs := range [][]float64{{1, 0}, {0, 1}} {
			if got := x.Chance(probs); got != 0 {
				t.Errorf("G = %d, probs = %v: got %v, want 0", size, probs, got)
			}
		}
	}
	x := NewInformative(3, []float64{0.9, 0.2}) // J = 0.9·0.25 + 0.2·0.75 = 0.375
	if got, want := x.Chance([]float64{0.25, 0.75}), 3*0.375*0.625; math.Abs(got-want) > 1e-15 {
		t.Errorf("G = 3, J = 0.375: got %v, want 3·J·(1−J) = %v", got, want)
	}
}

// Index draws no index of probability 0, also at extreme words and with subnormal sums. It draws
// the others at the words that bound them.
func TestIndex(t *testing.T) {
	const quarter = 1 << 62
	for _, unit := range []float64{1, 1e-320, 5e-324, 1e300} {
		sums := []float64{0, unit, unit, 4 * unit, 4 * unit} // 0, 1, 0, 3, 0
		for _, test := range []struct {
			word uint64
			want int
		}{{0, 1}, {quarter - 1<<12, 1}, {quarter, 3}, {math.MaxUint64, 3}} {
			if got := Index(test.word, sums); got != test.want && (unit > 1e-300 || test.word%quarter == 0) {
				t.Errorf("sums %v, word %x: got %d, want %d", sums, test.word, got, test.want)
			} else if got != 1 && got != 3 {
				t.Errorf("sums %v, word %x: got %d, which has probability 0", sums, test.word, got)
			}
		}
	}
}
