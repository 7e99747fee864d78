//go:build goexperiment.simd && amd64

package draw

import (
	"simd/archsimd"

	"grposim/grpo/fp"
)

// compareNarrow is compareArms for at most 16 lanes, with four arms at once, one in each quarter
// of an element.
func (p *Packs) compareNarrow(all vector) {
	zero := fp.Integers(0)
	late, open, everywhere := p.late[:0], zero, all.Or(all.ShiftAllLeft(narrow))
	everywhere = everywhere.Or(everywhere.ShiftAllLeft(2 * narrow))
	quarter := archsimd.LoadUint64x8(&firstQuarter).AsInt8x64()
	for i := range p.armBits {
		archsimd.LoadUint64x8(&p.armBits[i]).AsUint8x64().PermuteOrZeroGrouped(quarter).AsUint64x8().Store(&p.armBits[i])
	}
	quarterBits, above, firstDigits := fp.Integers(narrow), fp.Integers(MaxLanes-narrow), fp.Integers(firstBits)
	for first := 0; first < len(p.bounds); first += 4 {
		bounds, digits := p.bounds[first:min(first+4, len(p.bounds))], zero
		for i := len(bounds) - 1; i >= 0; i-- {
			digits = digits.ShiftLeft(quarterBits).Or(archsimd.LoadUint64x8(&bounds[i]).ShiftRight(above))
		}
		below, undecided := compareQuarters(&p.armBits, everywhere, digits)
		for i := range bounds {
			rest := archsimd.LoadUint64x8(&bounds[i]).ShiftLeft(firstDigits)
			var left vector
			left, late = p.setFirst(late, first+i, below.And(all), undecided.And(all), rest)
			open = open.Or(left)
			below, undecided = below.ShiftRight(quarterBits), undecided.ShiftRight(quarterBits)
		}
	}
	p.late = late
	open.Store(&p.open)
}

// firstQuarter is the permutation of bytes that puts the first quarter of an element in the place of
// all four.
var firstQuarter = Vector{
	0x0100010001000100, 0x0908090809080908, 0x0100010001000100, 0x0908090809080908,
	0x0100010001000100, 0x0908090809080908, 0x0100010001000100, 0x0908090809080908,
}

// compareQuarters is compareFirstVectors for every quarter of an element, whose expansion has 16
// digits. Those that are shifted into it from the quarter below are not reached.
func compareQuarters(words *[firstBits]Vector, all, rest vector) (below, undecided vector) {
	below, undecided = compareVectors(fp.Integers(0), all, archsimd.LoadUint64x8(&words[0]), topBitsOfQuarters(rest))
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[1]), topBitsOfQuarters(rest.ShiftAllLeft(1)))
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[2]), topBitsOfQuarters(rest.ShiftAllLeft(2)))
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[3]), topBitsOfQuarters(rest.ShiftAllLeft(3)))
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[4]), topBitsOfQuarters(rest.ShiftAllLeft(4)))
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[5]), topBitsOfQuarters(rest.ShiftAllLeft(5)))
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[6]), topBitsOfQuarters(rest.ShiftAllLeft(6)))
	return compareVectors(below, undecided, archsimd.LoadUint64x8(&words[7]), topBitsOfQuarters(rest.ShiftAllLeft(7)))
}

// topBitsOfQuarters is topBits for every quarter of an element.
func topBitsOfQuarters(rest vector) vector { return rest.AsInt16x32().ShiftAllRight(15).AsUint64x8() }
