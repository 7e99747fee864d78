package draw

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"
)

func TestNewProbability(t *testing.T) {
	for _, c := range []struct {
		p    float64
		want Probability
	}{
		{math.Inf(-1), 0}, {-1e-300, 0}, {0, 0}, {5e-324, 0},
		{math.Nextafter(0x1p-64, 0), 0}, {0x1p-64, 1}, {0x1p-63, 1}, {0x1p-60, 8},
		{0.5, 1 << 62}, {1 - 0x1p-53, 1<<63 - 1<<10},
		{1, 1 << 63}, {1 + 0x1p-52, 1 << 63}, {math.Inf(1), 1 << 63},
	} {
		if got := NewProbability(c.p); got != c.want {
			t.Errorf("NewProbability(%x) = %#x, want %#x", c.p, got, c.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		p := math.Ldexp(random.Float64(), -random.IntN(64))
		exact := new(big.Float).SetPrec(200).SetFloat64(p)
		exact.SetMantExp(exact, 63)
		got := new(big.Float).SetPrec(200).SetUint64(uint64(NewProbability(p)))
		if d := got.Sub(got, exact); d.Abs(d).Cmp(big.NewFloat(0.5)) > 0 {
			t.Fatalf("NewProbability(%x) is %v units off", p, d)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("NaN does not panic")
		}
	}()
	NewProbability(math.NaN())
}

// script is a source of given words, followed by noise.
type script struct {
	words []uint64
	noise rand.PCG
}

func (s *script) Uint64() uint64 {
	if len(s.words) == 0 {
		return s.noise.Uint64()
	}
	word := s.words[0]
	s.words = s.words[1:]
	return word
}

// spell returns words in which lane i reads the first n bits of the 63-bit
// fraction u[i], for lanes of which a word holds 64/width bits each.
func spell(u []uint64, n, width int) []uint64 {
	var spelt []uint64
	for bit := range n {
		slot := bit * width % 64
		if slot == 0 {
			spelt = append(spelt, 0)
		}
		for lane, fraction := range u {
			spelt[len(spelt)-1] |= fraction >> (62 - bit) & 1 << (slot + lane)
		}
	}
	return spelt
}

// widths are the ways lanes are laid out in words.
var widths = []int{16, 32, 64}

// All cases of a dyadic p: with the lanes reading each of the 2ᵇ strings of b
// bits once, exactly those below p succeed, for every p of b bits, whatever
// comes after them.
func TestLanesExhaustively(t *testing.T) {
	for _, width := range widths {
		b := bits.Len(uint(width)) - 1
		u := make([]uint64, width)
		for i := range u {
			u[i] = uint64(i) << (63 - b)
		}
		for j := range width + 1 {
			w := NewWords(filled{&script{words: spell(u, b, width)}})
			p := NewProbability(float64(j) / float64(width))
			want := uint64(1)<<j - 1 // j = 64: all
			if got := Lanes(w, ^uint64(0)>>(64-width), p); got != want {
				t.Errorf("%d lanes, p = %d/%d: %b, want %b", width, j, width, got, want)
			}
		}
	}
}

// A lane succeeds exactly where its number is below p: for any p and numbers that
// leave it late, or never, to the last of 63 bits.
func TestLanesCompare(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, width := range widths {
		for range 3000 {
			p := random.Uint64N(1 << 63)
			p = p &^ (1<<random.IntN(63) - 1) // some with a short expansion
			u := make([]uint64, width)
			var want uint64
			mask := random.Uint64() >> (64 - width)
			mask |= 1 << (width - 1) // keeps the width
			for i := range u {
				switch random.IntN(4) {
				case 0:
					u[i] = random.Uint64N(1 << 63)
				case 1:
					u[i] = p
				case 2:
					u[i] = p ^ 1<<random.IntN(63)
				case 3:
					u[i] = (p + 1<<63 - 1) % (1 << 63)
				}
				if u[i] < p {
					want |= 1 << i
				}
			}
			w := NewWords(filled{&script{words: spell(u, 63, width)}})
			// The 64th bit, where a layout has one, is noise; all are decided.
			if got := Lanes(w, mask, Probability(p)); got != want&mask {
				t.Fatalf("%d lanes, p = %#x: %b, want %b", width, p, got, want&mask)
			}
		}
	}
}

// Certainty and impossibility take no word; ½ takes one bit a lane.
func TestLanesTakeNoMoreWordsThanNeeded(t *testing.T) {
	for _, c := range []struct {
		p     float64
		mask  uint64
		words int
	}{
		{0, math.MaxUint64, 0}, {1, math.MaxUint64, 0}, {0.3, 0, 0}, {0.5, math.MaxUint64, 1}, {0.75, math.MaxUint64, 2},
	} {
		w := words(1)
		Lanes(w, c.mask, NewProbability(c.p))
		if int(w.next) != c.words {
			t.Errorf("p = %v, mask %x: %d words, want %d", c.p, c.mask, w.next, c.words)
		}
	}
}

// Lanes are independent of each other: the number of equal neighbours is
// binomial.
func TestLanesAreIndependent(t *testing.T) {
	const p = 0.3
	for _, width := range widths {
		for distance := range width - 1 {
			if distance > 4 && distance != 15 && distance != 31 {
				continue
			}
			w := words(uint64(width + 100*distance))
			mask := ^uint64(0) >> (64 - width)
			shift := distance + 1
			equal := sample(draws/10, func() int {
				l := Lanes(w, mask, NewProbability(p))
				return int(^(l ^ l>>shift) & 1)
			})
			if err := testMean(equal, p*p+(1-p)*(1-p), 2*p*(1-p)*(p*p+(1-p)*(1-p))); err != nil {
				t.Errorf("%d lanes, %d apart: %v", width, shift, err)
			}
		}
	}
}
