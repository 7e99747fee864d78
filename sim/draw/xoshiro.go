package draw

import "math/bits"

// Xoshiro is the generator xoshiro256++ 1.0 of D. Blackman and S. Vigna, Scrambled linear
// pseudorandom number generators, ACM Transactions on Mathematical Software 47 (2021) 36. Its
// period is 2²⁵⁶ − 1. In it every 64-bit word except 0 occurs 2¹⁹² times and 0 once less. A word
// takes about a nanosecond. The state must not be all zeros. Its words should be random themselves,
// since nearly equal states give similar words at first.
type Xoshiro [4]uint64

// Fill implements Source, with rotl a rotation to the left.
//
//	word = rotl(s₀ + s₃, 23) + s₀.
//	t = s₁ << 17, s₂ ⊕= s₀, s₃ ⊕= s₁, s₁ ⊕= s₂, s₀ ⊕= s₃, s₂ ⊕= t, s₃ = rotl(s₃, 45).
func (x *Xoshiro) Fill(words []uint64) {
	s0, s1, s2, s3 := x[0], x[1], x[2], x[3]
	for i := range words {
		words[i] = bits.RotateLeft64(s0+s3, 23) + s0
		t := s1 << 17
		s2 ^= s0
		s3 ^= s1
		s1 ^= s2
		s0 ^= s3
		s2 ^= t
		s3 = bits.RotateLeft64(s3, 45)
	}
	*x = Xoshiro{s0, s1, s2, s3}
}
