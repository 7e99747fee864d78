//go:build goexperiment.simd && amd64 && !go1.27

package draw

import (
	"simd/archsimd"

	"grposim/fp"
)

// readNarrow takes two words from every stream, which hold the first bits of at most 16 lanes. It
// puts each bit into all four quarters of an element of p.armBits, and keeps the words of the
// rewards. See nextBits.
func (p *Packs) readNarrow() {
	s0, s1, s2, s3 := p.load()
	a, s0, s1, s2, s3 := next(s0, s1, s2, s3)
	b, s0, s1, s2, s3 := next(s0, s1, s2, s3)
	if p.rewards {
		var c, d vector
		c, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		d, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		c.Store(&p.meanBits[0])
		d.Store(&p.meanBits[1])
		p.count(fp.Integers(2))
	}
	p.store(s0, s1, s2, s3)
	p.count(fp.Integers(2))
	for i := range quarters {
		inQuarter(a, i).Store(&p.armBits[2*i])
		inQuarter(b, i).Store(&p.armBits[2*i+1])
	}
}

// compareNarrow is compareArms for at most 16 lanes, with four arms at once, one in each quarter
// of an element.
func (p *Packs) compareNarrow(all vector) {
	zero := fp.Integers(0)
	late, open, everywhere := p.late[:0], zero, inQuarter(all, 0)
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

// drawNarrowRewards is drawRewards for at most 16 lanes.
func (p *Packs) drawNarrowRewards(all vector) {
	evens, odds := fp.Integers(0), fp.Integers(0)
	for a := range p.narrow {
		lanes := inQuarter(archsimd.LoadUint64x8(&p.Arms[a]), 0)
		evens = evens.Or(lanes.And(archsimd.LoadUint64x8(&p.narrow[a][0])))
		odds = odds.Or(lanes.And(archsimd.LoadUint64x8(&p.narrow[a][1])))
	}
	always := p.union(p.always)
	below, undecided := narrowFold(archsimd.LoadUint64x8(&p.meanBits[0]), archsimd.LoadUint64x8(&p.meanBits[1]), evens, odds, all.AndNot(always))
	p.finishMeans(always.Or(below), undecided)
}

// inQuarter returns a quarter of each element in the place of all four.
func inQuarter(x vector, quarter int) vector {
	return x.AsUint8x64().PermuteOrZeroGrouped(archsimd.LoadUint64x8(&quarters[quarter]).AsInt8x64()).AsUint64x8()
}

// quarters holds the permutation of bytes that puts a quarter of an element in the place of all.
var quarters = [4]Vector{
	{0x0100010001000100, 0x0908090809080908, 0x0100010001000100, 0x0908090809080908, 0x0100010001000100, 0x0908090809080908, 0x0100010001000100, 0x0908090809080908},
	{0x0302030203020302, 0x0b0a0b0a0b0a0b0a, 0x0302030203020302, 0x0b0a0b0a0b0a0b0a, 0x0302030203020302, 0x0b0a0b0a0b0a0b0a, 0x0302030203020302, 0x0b0a0b0a0b0a0b0a},
	{0x0504050405040504, 0x0d0c0d0c0d0c0d0c, 0x0504050405040504, 0x0d0c0d0c0d0c0d0c, 0x0504050405040504, 0x0d0c0d0c0d0c0d0c, 0x0504050405040504, 0x0d0c0d0c0d0c0d0c},
	{0x0706070607060706, 0x0f0e0f0e0f0e0f0e, 0x0706070607060706, 0x0f0e0f0e0f0e0f0e, 0x0706070607060706, 0x0f0e0f0e0f0e0f0e, 0x0706070607060706, 0x0f0e0f0e0f0e0f0e},
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

// narrowDigits is narrowBits for every element.
func narrowDigits(digits vector) (evens, odds vector) {
	shifted := inQuarter(digits, 3).AsInt16x32().ShiftLeft(fp.Integers(0x0006000400020000).AsInt16x32())
	return shifted.ShiftAllRight(15).AsUint64x8(), shifted.ShiftAllLeft(1).ShiftAllRight(15).AsUint64x8()
}

// narrowCompareVectors is narrowCompare of the given lanes of every element with binary digits.
func narrowCompareVectors(a, b, digits, lanes vector) (below, undecided vector) {
	thresholdA, thresholdB := narrowDigits(digits)
	return narrowFold(a, b, thresholdA, thresholdB, lanes)
}

// narrowFold is narrowCompare of the given lanes of every element.
func narrowFold(a, b, thresholdA, thresholdB, lanes vector) (below, undecided vector) {
	differsA, differsB := a.Xor(thresholdA), b.Xor(thresholdB)
	below = differsA.And(thresholdA).Or(differsB.And(thresholdB).AndNot(differsA))
	decided := differsA.Or(differsB)
	quarter, half := archsimd.LoadUint64x8(&fields.quarter), archsimd.LoadUint64x8(&fields.half)
	below = below.Or(below.ShiftRight(quarter).AndNot(decided))
	decided = decided.Or(decided.ShiftRight(quarter))
	below = below.Or(below.ShiftRight(half).AndNot(decided))
	return below.And(lanes), lanes.AndNot(decided.Or(decided.ShiftRight(half)))
}

// fields holds by how many bits narrowFold shifts. It is allocated, so that it crosses no cache
// line.
var fields = func() *struct{ quarter, half Vector } {
	f := new(struct{ quarter, half Vector })
	for i := range f.quarter {
		f.quarter[i], f.half[i] = narrow, 2*narrow
	}
	return f
}()
