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

// top is all ones where the top bit is set.
func top(x words) words { return x.BitsToInt64().Less(simd.Int64s{}).ToInt64s().ToBits() }

// ones is all ones where x is not 0.
func ones(x words) words { return x.NotEqual(words{}).ToInt64s().ToBits() }

// above is all ones where x > limit, both below 2⁶³.
func above(x, limit words) words {
	return x.BitsToInt64().Greater(limit.BitsToInt64()).ToInt64s().ToBits()
}

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

// nextWhere is next where mask is all ones, and leaves the states where it is 0.
func nextWhere(mask, s0, s1, s2, s3 words) (word, t0, t1, t2, t3 words) {
	word = s0.Add(s3).RotateAllLeft(23).Add(s0)
	x, y := s2.Xor(s0), s3.Xor(s1)
	t2 = s2.Xor(s0.Xor(s1.ShiftAllLeft(17)).And(mask))
	return word, s0.Xor(y.And(mask)), s1.Xor(x.And(mask)), t2, s3.Xor(s3.Xor(y.RotateAllLeft(45)).And(mask))
}

// compare is that of package draw.
func compare(less, open, word, threshold words) (words, words) {
	differs := open.And(word.Xor(threshold))
	return less.Or(differs.And(threshold)), open.Xor(differs)
}

// fields counts the bits of each 16 bits.
func fields(x words) words {
	a, b := wordsOf(0x5555555555555555), wordsOf(0x3333333333333333)
	x = x.Sub(x.ShiftAllRight(1).And(a))
	x = x.And(b).Add(x.ShiftAllRight(2).And(b))
	x = x.Add(x.ShiftAllRight(4)).And(wordsOf(0x0f0f0f0f0f0f0f0f))
	return x.Add(x.ShiftAllRight(8)).And(wordsOf(0x001f001f001f001f))
}

// count counts the bits of each element.
func count(x words) words {
	x = fields(x)
	x = x.Add(x.ShiftAllRight(32))
	return x.Add(x.ShiftAllRight(16)).And(wordsOf(0x7f))
}

// number returns x < 2⁵² as a float64.
func number(x words) floats {
	magic := floatsOf(0x1p52)
	return x.Or(magic.ToBits()).BitsToFloat64().Sub(magic)
}

// expansion returns the binary digits of draw.NewProbability of p in [0, 1], those of the last
// number below 1 where it is 1. Halves of p are rounded apart, and a tie is rounded up.
func expansion(p floats) words {
	magic, one := floatsOf(0x1.8p52), wordsOf(1)
	y := p.Min(floatsOf(1)).Mul(floatsOf(0x1p31))
	high := y.Add(magic)
	low := y.Sub(high.Sub(magic)).Mul(floatsOf(0x1p32))
	n := low.Add(magic)
	tie := low.Sub(n.Sub(magic)).Equal(floatsOf(0.5)).ToInt64s().ToBits().And(one)
	units := high.ToBits().Sub(magic.ToBits()).ShiftAllLeft(32).Add(n.ToBits().Sub(magic.ToBits())).Add(tie)
	return units.Add(top(units)).ShiftAllLeft(1)
}

// narrowDigits returns draw.narrowBits of an expansion.
func narrowDigits(rest, places words) (a, b words) {
	x := rest.ShiftAllRight(48)
	x = x.Or(x.ShiftAllLeft(16))
	x = x.Or(x.ShiftAllLeft(32))
	y := x.ReshapeToUint16s().Mul(places.ReshapeToUint16s())
	a = y.BitsToInt16().ShiftAllRight(15).ToBits().ReshapeToUint64s()
	return a, y.Add(y).BitsToInt16().ShiftAllRight(15).ToBits().ReshapeToUint64s()
}

// narrowCompare is that of package draw.
func narrowCompare(a, b, thresholdA, thresholdB words) (less, open words) {
	differsA, differsB := a.Xor(thresholdA), b.Xor(thresholdB)
	less = differsA.And(thresholdA).Or(differsB.And(thresholdB).AndNot(differsA))
	open = differsA.Or(differsB).Not()
	less = less.Or(open.And(less.ShiftAllRight(16)))
	open = open.And(open.ShiftAllRight(16))
	less = less.Or(open.And(less.ShiftAllRight(32)))
	return less, open.And(open.ShiftAllRight(32))
}
