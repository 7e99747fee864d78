package draw

// Probability is a probability in units of 2⁻⁶³: certain is 2⁶³.
type Probability uint64

const certain Probability = 1 << 63

// NewProbability returns the Probability nearest to p: exactly p where p is a
// multiple of 2⁻⁶³, as it is from 2⁻¹⁰ on, else at most 2⁻⁶⁴ off. Below 0 it is
// 0, above 1 it is 1. It panics if p is NaN.
func NewProbability(p float64) Probability {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return certain
	case p != p:
		panic("draw: probability is NaN")
	}
	units := float64(p * 0x1p63) // exact
	whole := int64(units)
	if units-float64(whole) >= 0.5 {
		whole++
	}
	return Probability(whole)
}

// Lanes returns a subset of the bits of mask, each of them independently with
// probability p.
//
// Each lane compares a uniform number U, made of its bits of successive words,
// with p and succeeds where U < p. It is decided by the first bit in which the
// two differ, so all of n lanes are after about log₂ n + 1.3 bits. Where the rest
// of p is zero the undecided lanes cannot go below it and fail.
func Lanes(w *Words, mask uint64, p Probability) uint64 {
	if p >= certain || mask == 0 {
		return mask
	}
	rest := uint64(p) << 1 // the binary expansion of p, next bit first
	below, undecided := compareFirst(nextBits(w, mask), mask, rest)
	return finish(w, below, undecided, rest)
}

// finish returns the lanes below an expansion, given those that are by their first
// bits and those that are undecided by them.
func finish(w *Words, below, undecided, rest uint64) uint64 {
	for rest <<= firstBits; undecided != 0 && rest != 0; rest <<= 1 {
		below, undecided = compare(below, undecided, w.Next(), topBit(rest))
	}
	return below
}

// firstBits is how many bits of each lane are compared without looking whether
// any lane is still undecided: with fewer that would be a branch that no processor
// can predict; after eight one lane in 256 is.
const firstBits = 8

// narrow is the number of lanes up to which a word holds four bits of each.
const narrow = 16

// nextBits returns the next bits of the lanes in mask: four of at most 16 lanes
// from a word, one of more. Other lanes get anything. What it returns is valid
// until the next word is taken.
func nextBits(w *Words, mask uint64) *[firstBits]uint64 {
	if mask >= 1<<narrow {
		return w.nextEight()
	}
	a, b := w.Next(), w.Next()
	w.spread = [firstBits]uint64{a, b, a >> 16, b >> 16, a >> 32, b >> 32, a >> 48, b >> 48}
	return &w.spread
}

// compareFirst compares the first bits of the lanes in mask with an expansion, and
// returns which lanes are below it and which still undecided.
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

// compare compares one bit of each lane with that of its threshold.
func compare(below, undecided, word, threshold uint64) (uint64, uint64) {
	differs := undecided & (word ^ threshold)
	return below | differs&threshold, undecided ^ differs
}

// topBit returns the top bit of rest in every lane.
func topBit(rest uint64) uint64 { return uint64(int64(rest) >> 63) }
