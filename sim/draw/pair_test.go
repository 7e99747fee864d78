package draw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// generalPack returns a Pack of two arms that uses the code for any number of arms.
func generalPack(means []float64) *Pack {
	p := NewPack(2, means)
	p.pair = nil
	return p
}

// checkPair returns an error unless a Pair draws the same lanes as the general code of
// p and takes as many words. For at most 16 samples a Pair reads four words of one
// buffer, the general code twice two.
func checkPair(pair *Pair, bound Probability, p *Pack, one, other *Words, samples int) error {
	if samples <= Narrow && other.next > BufferSize-4 {
		other.next = 0
	}
	first, rewarded := pair.Draw(one, uint64(1)<<samples-1, bound)
	p.Draw(other, samples)
	if first != p.Arms[0] || rewarded != p.Rewarded {
		return fmt.Errorf("%d samples: %b on the first arm, %b rewarded; want %b, %b rewarded",
			samples, first, rewarded, p.Arms, p.Rewarded)
	}
	if got, want := one.taken(), other.taken(); got != want {
		return fmt.Errorf("%d samples: %d words taken, want %d", samples, got, want)
	}
	return nil
}

// A Pair draws the same as the general code if numbers agree with the bound and the
// means up to any of 63 bits.
func TestDrawPairLate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		samples := 1 + random.IntN(64)
		f, bounds, means := lateNumbers(random, samples, 2)
		p := generalPack(means)
		p.aim(bounds)
		needed := f.needed(bounds)
		if err := checkPair(NewPair(means[0], means[1]), Probability(bounds[0]), p, f.words(needed),
			f.words(needed), samples); err != nil {
			t.Fatalf("bounds %#x, means %v, %v", bounds, means, err)
		}
	}
}

// A Pair draws the same as the general code in successive draws, across refills of the
// buffer.
func TestDrawPairInSequence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one, other := NewWords(&Xoshiro{1, 2, 3, 4}), NewWords(&Xoshiro{1, 2, 3, 4})
	for range 1000 {
		means := []float64{anyMean(random), anyMean(random)}
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

// spellFew returns the words from which the eight lanes of DrawGroup read n bits of 63-bit
// fractions. Two are of the first sixteen bits, then there is one for each bit.
func spellFew(u [few]uint64, n int) []uint64 {
	spelt := make([]uint64, 2+n-2*firstBits)
	for lane, fraction := range u {
		for bit := range n {
			word, place := 2+bit-2*firstBits, lane
			if bit < 2*firstBits {
				word, place = bit%2, bit%8/2*16+bit/8*8+lane
			}
			spelt[word] |= fraction >> (62 - bit) & 1 << place
		}
	}
	return spelt
}

// DrawGroup gives at most eight samples the arms and rewards of the numbers that they read,
// whatever the other lanes read. The numbers agree with the bound and the means up to any of 63
// bits. The arms take no more words than needed to decide them.
func TestDrawGroupOfFew(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		samples := 1 + random.IntN(few)
		f, bounds, means := lateNumbers(random, samples, 2)
		needed := max(f.needed(bounds), 2*firstBits)
		var arm, reward [few]uint64
		for i := range arm {
			arm[i], reward[i] = random.Uint64N(1<<63), random.Uint64N(1<<63)
		}
		copy(arm[:], f.arm)
		copy(reward[:], f.reward)
		arms, rewards := spellFew(arm, needed), spellFew(reward, 63)
		w := NewWords(filled{&script{words: slices.Concat(arms[:2], rewards[:2], arms[2:], rewards[2:])}})
		first, rewarded := NewPair(means[0], means[1]).DrawGroup(w, lowest(samples), Probability(bounds[0]))
		if wantArms, want := f.lanes(bounds, means); first != wantArms[0] || rewarded != want {
			t.Fatalf("%d samples, bounds %#x, means %v: %b on the first arm, %b rewarded; want %b, %b",
				samples, bounds, means, first, rewarded, wantArms[0], want)
		}
	}
}

// Of at most eight samples all are on the first arm if its probability is 1. Where the rest of a
// bound is 0, samples that agree with it so far are on the second arm.
func TestDrawGroupOfFewDyadic(t *testing.T) {
	for _, test := range []struct {
		bound  Probability
		number uint64
		want   uint64
	}{{Bound(1, 0), 1<<63 - 1, 0xff}, {Bound(0.5, 0.5), 1 << 62, 0},
		{Bound(0.5, 0.5), 1<<62 - 1, 0xff}, {Bound(0x1p-20, 1), 1 << 43, 0}, {Bound(0, 1), 0, 0}} {
		words := spellFew([few]uint64(slices.Repeat([]uint64{test.number}, few)), 63)
		w := NewWords(filled{&script{words: slices.Concat(words[:2], words[:2], words[2:])}})
		first, rewarded := NewPair(0, 1).DrawGroup(w, 0xff, test.bound)
		if first != test.want || rewarded != 0xff&^first {
			t.Errorf("bound %#x, numbers %#x: %x on the first arm, %x rewarded, want %x", test.bound, test.number, first, rewarded, test.want)
		}
		if late := uint64(test.bound)<<17 != 0 && test.bound != certain; w.taken() != 4 && !late {
			t.Errorf("bound %#x, numbers %#x: %d words, want 4", test.bound, test.number, w.taken())
		}
	}
}
