package draw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// generalPack returns a Pack of two arms that draws them as one of any number.
func generalPack(means []float64) *Pack {
	p := NewPack(2, means)
	p.pair = nil
	return p
}

// checkPair returns an error unless a Pair draws the lanes that p draws in the
// general way from the same words, and takes as many. Of at most 16 samples it reads
// four words of one buffer, the general way two and two.
func checkPair(pair *Pair, bound Probability, p *Pack, one, other *Words, samples int) error {
	if samples <= narrow && other.next > bufferSize-4 {
		other.next = 0
	}
	first, rewarded := pair.Draw(one, uint64(1)<<samples-1, bound)
	p.Draw(other, samples)
	if first != p.Arms[0] || rewarded != p.Rewarded {
		return fmt.Errorf("%d samples: %b on the first arm, %b rewarded; want %b, %b rewarded", samples, first, rewarded, p.Arms, p.Rewarded)
	}
	if got, want := one.taken(), other.taken(); got != want {
		return fmt.Errorf("%d samples: %d words taken, want %d", samples, got, want)
	}
	return nil
}

// pairMean returns a mean reward with a long expansion or a short one.
func pairMean(random *rand.Rand) float64 {
	switch random.IntN(5) {
	case 0:
		return 0
	case 1:
		return 1
	case 2:
		return float64(random.IntN(1024)) / 1024
	}
	return math.Ldexp(random.Float64(), -random.IntN(64))
}

// Two arms in a straight line are two arms: for words that leave the arm's number
// and the reward's undecided to the last of 63 bits.
func TestDrawPairLate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		samples := 1 + random.IntN(64)
		f, bounds, means := lateFates(random, samples, 2)
		p := generalPack(means)
		p.aim(bounds)
		needed := f.needed(bounds)
		if err := checkPair(NewPair(means[0], means[1]), Probability(bounds[0]), p, f.words(needed), f.words(needed), samples); err != nil {
			t.Fatalf("bounds %#x, means %v, %v", bounds, means, err)
		}
	}
}

// And draw after draw from one stream, over the ends of the buffer.
func TestDrawPairInSequence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one, other := NewWords(&Xoshiro{1, 2, 3, 4}), NewWords(&Xoshiro{1, 2, 3, 4})
	for range 1000 {
		means := []float64{pairMean(random), pairMean(random)}
		pair, p := NewPair(means[0], means[1]), generalPack(means)
		u := math.Ldexp(random.Float64(), -random.IntN(20))
		p.Aim([]float64{u, 1 - u})
		for range 100 {
			if err := checkPair(pair, Bound(u, 1-u), p, one, other, random.IntN(65)); err != nil {
				t.Fatalf("u = %g, means %v, %v", u, means, err)
			}
		}
	}
}

// So too for policies with short expansions, as that of equal logits: a lane that
// agrees with all bits that are not 0 is on the second arm, and what it reads on
// is the same. And for policies that draw one arm only, or almost only.
func TestDrawPairDyadic(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, weights := range [][]float64{{0.5, 0.5}, {0.25, 0.75}, {0x1p-9, 1 - 0x1p-9}, {3. / 1024, 1021. / 1024}, {0, 1}, {1, 0}, {1, 0x1p-80}, {0x1p-80, 1}} {
		one, other := NewWords(&Xoshiro{1, 2, 3, 4}), NewWords(&Xoshiro{1, 2, 3, 4})
		means := []float64{pairMean(random), pairMean(random)}
		pair, p := NewPair(means[0], means[1]), generalPack(means)
		p.Aim(weights)
		for i := range 1000 {
			if err := checkPair(pair, Bound(weights[0], weights[1]), p, one, other, 1+random.IntN(64)); err != nil {
				t.Errorf("policy %v, draw %d: %v", weights, i, err)
				break
			}
		}
	}
}

// Any one bit wrong of the policy or, among the first bits, of a mean is noticed
// by lanes just below and at them.
func TestDrawPairTestsHavePower(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, samples := range widths[1:] {
		for range 8 {
			f, bounds, _ := lateFates(random, samples, 2)
			means := []float64{float64(1+random.IntN(255)) / 256, float64(1+random.IntN(255)) / 256}
			pair, right := NewPair(means[0], means[1]), generalPack(means)
			right.aim(bounds)
			f.arm[0], f.arm[1] = bounds[0]-1, bounds[0]
			words := func() *Words { return f.words(f.needed(bounds)) }
			for bit := range 63 {
				if checkPair(pair, Probability(bounds[0]^1<<bit), right, words(), words(), samples) == nil {
					t.Fatalf("%d samples: a bound wrong in bit %d is not noticed", samples, bit)
				}
			}
			for a := range means {
				f.arm[0] = []uint64{bounds[0] - 1, bounds[0]}[a]
				f.arm[1] = f.arm[0]
				f.reward[0] = uint64(NewProbability(means[a]))
				f.reward[1] = f.reward[0] - 1
				for bit := range 8 {
					flipped := []float64{means[0], means[1]}
					flipped[a] = float64(int(256*means[a])^1<<bit) / 256
					wrong := NewPair(flipped[0], flipped[1])
					if checkPair(wrong, Probability(bounds[0]), right, words(), words(), samples) == nil {
						t.Fatalf("%d samples: a mean wrong in bit %d is not noticed", samples, bit)
					}
				}
			}
		}
	}
}
