//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import "simd"

// Only this file imports package simd. What a method of it lacks is made here.
type (
	floats = simd.Float64s
	words  = simd.Uint64s
)

// available reports whether there are vectors, or package simd would emulate them.
func available() bool { return !simd.Emulated() }

// width returns the number of elements of a vector.
func width() int { return simd.VectorBitSize() / 64 }

func floatsOf(x float64) floats { return simd.BroadcastFloat64s(x) }

func wordsOf(x uint64) words { return simd.BroadcastUint64s(x) }

func load(s []uint64) words { return simd.LoadUint64s(s) }

func loadFloats(s []float64) floats { return simd.LoadFloat64s(s) }

// shortsOf returns the bits of x as elements of 16 bits.
func shortsOf(x words) simd.Int16s { return x.ReshapeToUint16s().BitsToInt16() }

// where returns yes where x < y and no elsewhere, also where one is NaN.
func where(x, y, yes, no floats) floats { return yes.IfElse(x.Less(y), no) }

// below is all ones where x < y.
func below(x, y floats) words { return x.Less(y).ToInt64s().ToBits() }

// differ is all ones where x ≠ y.
func differ(x, y floats) words { return x.NotEqual(y).ToInt64s().ToBits() }

// instead returns yes where mask is all ones and no where it is 0.
func instead(mask words, yes, no floats) floats { return yes.IfElse(mask.BitsToInt64().ToMask(), no) }

// masked returns x where mask is all ones, and 0 where it is 0.
func masked(x floats, mask words) floats { return x.ToBits().And(mask).BitsToFloat64() }

// any reports whether an element is not 0. The space is scratch.
func any(x words, space *[8]uint64) bool {
	x.Store(space[:])
	bits := space[0] | space[1]
	if x.Len() > 2 {
		bits |= space[2] | space[3]
	}
	if x.Len() > 4 {
		bits |= space[4] | space[5] | space[6] | space[7]
	}
	return bits != 0
}

// next is a step of draw.Xoshiro in every element.
func next(s0, s1, s2, s3 words) (word, t0, t1, t2, t3 words) {
	word = s0.Add(s3).RotateAllLeft(23).Add(s0)
	t := s1.ShiftAllLeft(17)
	s2 = s2.Xor(s0)
	s3 = s3.Xor(s1)
	s1 = s1.Xor(s2)
	s0 = s0.Xor(s3)
	return word, s0, s1, s2.Xor(t), s3.RotateAllLeft(45)
}

// number returns x < 2⁵² as a float64.
func number(x words) floats {
	magic := floatsOf(0x1p52)
	return x.Or(magic.ToBits()).BitsToFloat64().Sub(magic)
}
