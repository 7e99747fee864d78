package draw

// MaxLanes is the number of bits of a word.
const MaxLanes = 64

// Probability is a probability in units of 2⁻⁶³, from 0 to certain = 2⁶³.
type Probability uint64

const certain Probability = 1 << 63

// NewProbability returns the Probability nearest to p. It is exactly p if p is a multiple of 2⁻⁶³,
// as every float64 p ≥ 2⁻¹⁰ is, else its error is at most 2⁻⁶⁴. It returns 0 for p < 0 and certain
// for p > 1. It panics if p is NaN.
func NewProbability(p float64) Probability {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return certain
	case p != p:
		panic("draw: NewProbability: p is NaN")
	}
	units := float64(p * 0x1p63) // exact
	whole := int64(units)
	if units-float64(whole) >= 0.5 {
		whole++
	}
	return Probability(whole)
}

// Lanes returns a subset of the bits of mask that contains each of them
// independently with probability p.
//
// A lane is one bit position of a word. Each lane compares a uniform number U, whose binary digits
// are its bits of successive words, with p and succeeds if U < p. The first bit in which the two
// differ decides, so all of n lanes are decided after about log₂ n + 1.3 bits. If all further bits
// of p are 0, the undecided lanes cannot fall below p, and fail.
func Lanes(w *Words, mask uint64, p Probability) uint64 {
	if p >= certain || mask == 0 {
		return mask
	}
	rest := uint64(p) << 1 // the remaining binary digits of p, next bit first
	below, undecided := compareFirst(nextBits(w, mask), mask, rest)
	return finish(w, below, undecided, rest)
}

// finish returns the lanes below an expansion. Given are the lanes that are below it by their first
// bits and the lanes that these bits leave undecided.
func finish(w *Words, below, undecided, rest uint64) uint64 {
	for rest <<= firstBits; undecided != 0 && rest != 0; rest <<= 1 {
		below, undecided = compare(below, undecided, w.Next(), topBit(rest))
	}
	return below
}

// firstBits is the number of bits of each lane that are compared before the first test
// whether any lane is undecided. With fewer bits the branch on that test would be
// unpredictable; after eight, one lane in 256 is undecided.
const firstBits = 8

// narrow is the largest number of lanes of which one word holds four bits each.
const narrow = 16

// nextBits returns the next firstBits bits of the lanes in mask: element b holds bit b of every
// lane. A word gives four bits of each of at most 16 lanes, or one bit of each of up to 64. The
// bits of lanes outside mask are arbitrary. The result is valid until the next word is taken.
func nextBits(w *Words, mask uint64) *[firstBits]uint64 {
	if mask >= 1<<narrow {
		return w.nextEight()
	}
	a, b := w.Next(), w.Next()
	w.spread = [firstBits]uint64{a, b, a >> 16, b >> 16, a >> 32, b >> 32, a >> 48, b >> 48}
	return &w.spread
}

// compareFirst compares the first bits of the lanes in mask with an expansion. It returns the lanes
// that are below it and the lanes that are undecided.
func compareFirst(b *[firstBits]uint64, mask, rest uint64) (below, undecided uint64) {
	below, undecided = compare(0, mask, b[0], topBit(rest))
	below, undecided = compare(below, undecided, b[1], topBit(rest<<1))
	below, undecided = compare(below, undecided, b[2], topBit(rest<<2))
	below, undecided = compare(below, undecided, b[3], topBit(rest<<3))
	below, undecided = compare(below, undecided, b[4], topBit(rest<<4))
	below, undecided = compare(below, undecided, b[5], topBit(rest<<5))
	below, undecided = compare(below, undecided, b[6], topBit(rest<<6))
	return compare(below, undecided, b[7], topBit(rest<<7))
}

// compare compares one bit of each undecided lane, in word, with the bit of its
// threshold, and returns the updated lanes below and undecided.
func compare(below, undecided, word, threshold uint64) (uint64, uint64) {
	differs := undecided & (word ^ threshold)
	return below | differs&threshold, undecided ^ differs
}

// topBit returns a word whose bits all equal the top bit of rest.
func topBit(rest uint64) uint64 { return uint64(int64(rest) >> 63) }
