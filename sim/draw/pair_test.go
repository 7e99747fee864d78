package draw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// checkPair returns an error unless p, of two arms, draws in a straight line the
// lanes that q draws as one of any number of arms from the same words, and takes as
// many.
func checkPair(p, q *Pack, one, other *Words, samples int) error {
	p.drawPair(one, uint64(1)<<samples-1)
	first, second, rewarded := p.Arms[0], p.Arms[1], p.Rewarded
	straight := q.pair
	q.pair = nil
	q.Draw(other, samples)
	q.pair = straight
	if first != q.Arms[0] || second != q.Arms[1] || rewarded != q.Rewarded {
		return fmt.Errorf("%d samples: %b and %b, %b rewarded; want %b, %b rewarded", samples, first, second, rewarded, q.Arms, q.Rewarded)
	}
	if got, want := one.taken(), other.taken(); got != want {
		return fmt.Errorf("%d samples: %d words taken, want %d", samples, got, want)
	}
	return nil
}

// pairMean returns a mean reward below 1 with a long expansion or a short one.
func pairMean(random *rand.Rand) float64 {
	switch random.IntN(4) {
	case 0:
		return 0
	case 1:
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
		for a := range means {
			means[a] = min(means[a], 1-0x1p-53)
		}
		p := NewPack(2, means)
		p.aim(bounds)
		needed := f.needed(bounds)
		if err := checkPair(p, p, f.words(needed), f.words(needed), samples); err != nil {
			t.Fatalf("bounds %#x, means %v, %v", bounds, means, err)
		}
	}
}

// And draw after draw from one stream, over the ends of the buffer.
func TestDrawPairInSequence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one, other := NewWords(&Xoshiro{1, 2, 3, 4}), NewWords(&Xoshiro{1, 2, 3, 4})
	for range 1000 {
		p := NewPack(2, []float64{pairMean(random), pairMean(random)})
		u := math.Ldexp(random.Float64(), -random.IntN(20))
		p.Aim([]float64{u, 1 - u})
		for range 100 {
			if err := checkPair(p, p, one, other, random.IntN(65)); err != nil {
				t.Fatalf("bound %#x, means %v, %v", p.bounds[0].probability, p.means, err)
			}
		}
	}
}

// So too for policies with short expansions, as that of equal logits: a lane that
// agrees with all bits that are not 0 is on the second arm, and what it reads on
// is the same.
func TestDrawPairDyadic(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, weights := range [][]float64{{0.5, 0.5}, {0.25, 0.75}, {0x1p-9, 1 - 0x1p-9}, {3. / 1024, 1021. / 1024}, {0, 1}} {
		one, other := NewWords(&Xoshiro{1, 2, 3, 4}), NewWords(&Xoshiro{1, 2, 3, 4})
		p := NewPack(2, []float64{pairMean(random), pairMean(random)})
		p.Aim(weights)
		for i := range 1000 {
			if err := checkPair(p, p, one, other, 1+random.IntN(64)); err != nil {
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
			right, wrong := NewPack(2, means), NewPack(2, means)
			right.aim(bounds)
			f.arm[0], f.arm[1] = bounds[0]-1, bounds[0]
			words := func() *Words { return f.words(f.needed(bounds)) }
			for bit := range 63 {
				wrong.aim([]uint64{bounds[0] ^ 1<<bit})
				if checkPair(wrong, right, words(), words(), samples) == nil {
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
					wrong := NewPack(2, flipped)
					wrong.aim(bounds)
					if checkPair(wrong, right, words(), words(), samples) == nil {
						t.Fatalf("%d samples: a mean wrong in bit %d is not noticed", samples, bit)
					}
				}
			}
		}
	}
}
