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
//
// At most 16 lanes take eight bits at once, from two words; at most 32 lanes as
// many from four; more take a word a bit. (Whether lanes are still undecided is a
// branch that no processor can predict where it is about as likely as not.)
func Lanes(w *Words, mask uint64, p Probability) uint64 {
	if p >= certain {
		return mask
	}
	rest := uint64(p) << 1 // the binary expansion of p, next bit first
	undecided := mask
	var below uint64
	switch {
	case mask < 1<<16:
		for undecided != 0 && rest != 0 {
			word := w.Next()
			below, undecided = compare(below, undecided, word, rest)
			below, undecided = compare(below, undecided, word>>16, rest<<1)
			below, undecided = compare(below, undecided, word>>32, rest<<2)
			below, undecided = compare(below, undecided, word>>48, rest<<3)
			word = w.Next()
			below, undecided = compare(below, undecided, word, rest<<4)
			below, undecided = compare(below, undecided, word>>16, rest<<5)
			below, undecided = compare(below, undecided, word>>32, rest<<6)
			below, undecided = compare(below, undecided, word>>48, rest<<7)
			rest <<= 8
		}
	case mask < 1<<32:
		for undecided != 0 && rest != 0 {
			for range 4 {
				word := w.Next()
				below, undecided = compare(below, undecided, word, rest)
				below, undecided = compare(below, undecided, word>>32, rest<<1)
				rest <<= 2
			}
		}
	default:
		for undecided != 0 && rest != 0 {
			below, undecided = compare(below, undecided, w.Next(), rest)
			rest <<= 1
		}
	}
	return below
}

// compare compares one bit of each lane with the top bit of rest. It does not
// branch on that bit either.
func compare(below, undecided, word, rest uint64) (uint64, uint64) {
	bit := uint64(int64(rest) >> 63) // in every lane
	differs := undecided & (word ^ bit)
	return below | differs&bit, undecided &^ differs
}
