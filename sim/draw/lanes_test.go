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

// script is a source of the given words, followed by random words.
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

// layout is the place of the first bits of the lanes in the words that nextBits takes.
// Any layout is valid that uses each bit once.
type layout struct {
	words int                // number of words taken
	at    [firstBits][64]int // [bit][lane]: index of the bit in these words, 64 per word
}

var narrowLayout, wideLayout = newLayout(narrow), newLayout(64)

// newLayout finds the layout for the given number of lanes.
func newLayout(lanes int) *layout {
	l := &layout{words: firstBits * lanes / 64}
	for position := range 64 * l.words {
		words := make([]uint64, l.words)
		words[position/64] = 1 << (position % 64)
		for bit, b := range nextBits(NewWords(filled{&script{words: words}}), lowest(lanes)) {
			for lane := range lanes {
				if b>>lane&1 == 1 {
					l.at[bit][lane] += position + 1
				}
			}
		}
	}
	for bit := range l.at {
		for lane := range lanes {
			l.at[bit][lane]--
		}
	}
	return l
}

func layoutOf(lanes int) *layout {
	if lanes <= 16 {
		return narrowLayout
	}
	return wideLayout
}

// The first bits of up to 16 lanes come from two words, of up to 64 lanes from eight. 16 and 64
// lanes use each bit once.
func TestLayouts(t *testing.T) {
	for lanes, words := range map[int]int{1: 2, 16: 2, 17: 8, 64: 8} {
		w := NewWords(filled{new(script)})
		nextBits(w, lowest(lanes))
		if got := w.taken(); got != uint64(words) || layoutOf(lanes).words != words {
			t.Errorf("%d lanes take %d words, want %d", lanes, got, words)
		}
	}
	for lanes, l := range map[int]*layout{16: narrowLayout, 64: wideLayout} {
		used := map[int]bool{}
		for bit := range l.at {
			for _, position := range l.at[bit][:lanes] {
				if position < 0 || position >= 64*l.words || used[position] {
					t.Fatalf("bit %d of a lane is at %d", bit, position)
				}
				used[position] = true
			}
		}
	}
}

// spell returns the words from which lane i reads the first n ≥ 8 bits of the 63-bit fraction u[i].
// The first eight have their layout, then there is one bit a word.
func spell(u []uint64, n int) []uint64 {
	l := layoutOf(len(u))
	spelt := make([]uint64, l.words+n-firstBits)
	for lane, fraction := range u {
		for bit := range n {
			position := 64*(l.words+bit-firstBits) + lane
			if bit < firstBits {
				position = l.at[bit][lane]
			}
			spelt[position/64] |= fraction >> (62 - bit) & 1 << (position % 64)
		}
	}
	return spelt
}

// lowest returns the lowest n lanes.
func lowest(n int) uint64 { return ^uint64(0) >> (64 - n) }

// near returns a 63-bit fraction that is likely to differ from p in a late bit only, or
// to equal p.
func near(random *rand.Rand, p uint64) uint64 {
	switch random.IntN(4) {
	case 0:
		return p
	case 1:
		return p ^ 1<<random.IntN(63)
	case 2:
		return (p + 1<<63 - 1) % (1 << 63)
	}
	return random.Uint64N(1 << 63)
}

// differ returns the number, from 1, of the first bit in which two 63-bit fractions
// differ, and 64 if they are equal.
func differ(u, p uint64) int { return 64 - bits.Len64(u^p) }

// widths are numbers of lanes around the limits of the layouts.
var widths = []int{1, 2, 15, 16, 17, 32, 63, 64}

// A lane succeeds exactly if its number is below p, also for numbers that agree with p up to any of
// 63 bits. No more words are taken than needed. After those of the first bits it is one a bit,
// until no undecided lane can fall below p.
func TestLanesCompare(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, width := range widths {
		for range 3000 {
			p := random.Uint64N(1 << 63)
			p = p &^ (1<<random.IntN(64) - 1) // some with a short expansion
			expansion := 63 - min(63, bits.TrailingZeros64(p))
			u := make([]uint64, width)
			mask := random.Uint64() & lowest(width)
			mask |= 1 << (width - 1) // so that the mask has this width
			var want uint64
			words := layoutOf(width).words
			for i := range u {
				u[i] = near(random, p)
				if mask>>i&1 == 0 {
					continue
				}
				if u[i] < p {
					want |= 1 << i
				}
				words = max(words, layoutOf(width).words+min(differ(u[i], p), expansion)-firstBits)
			}
			w := NewWords(filled{&script{words: spell(u, 63)}}) // then random ones
			if got := Lanes(w, mask, Probability(p)); got != want {
				t.Fatalf("%d lanes, p = %#x: %b, want %b", width, p, got, want)
			}
			if got := w.taken(); got != uint64(words) {
				t.Fatalf("%d lanes, p = %#x: %d words, want %d", width, p, got, words)
			}
		}
	}
}
