//go:build goexperiment.simd && amd64 && !go1.27

package draw

import (
	"simd/archsimd"

	"grposim/fp"
)

// Digits returns the binary digits of a mean reward in [0, 1], first digit first, as DrawPairs
// needs them. The last bit, which is no digit, is 1 if the mean is 1.
func Digits(x float64) uint64 {
	m := newMean(x)
	return m.expansion | m.always&1
}

// DrawPairs draws the given number of samples of two arms into the lowest lanes of p.Arms and
// p.Rewarded, as Pair.DrawGroup: row rows[i] of means holds the Digits of the mean rewards of both arms
// for pack i.
//
// The numbers of the rewards are compared with the means of both arms, so that this need not wait for
// the arms. The first of the words for undecided lanes is read without a branch on whether there are
// any, which would be unpredictable.
func (p *Packs) DrawPairs(samples int, means [][2]uint64, rows *Vector) {
	if samples <= few {
		p.drawFew(samples, means, rows)
		return
	}
	x, y := gather(means, rows)
	all, zero, one := fp.Integers(^uint64(0)>>(MaxLanes-uint(samples))), fp.Integers(0), fp.Integers(1)
	bound := archsimd.LoadUint64x8(&p.bounds[0])
	var s0, s1, s2, s3, word, first, undecided, ofFirst, openFirst, ofSecond, openSecond vector
	if samples <= narrow {
		p.skip(4)
		var a, b vector
		s0, s1, s2, s3 = p.load()
		a, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		b, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		first, undecided = narrowCompareVectors(a, b, bound, all)
		a, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		b, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		ofFirst, openFirst = narrowCompareVectors(a, b, x, all)
		ofSecond, openSecond = narrowCompareVectors(a, b, y, all)
		p.count(fp.Integers(4))
	} else {
		p.read(samples)
		first, undecided, _ = compareFirstVectors(&p.armBits, all, bound)
		ofFirst, openFirst, _ = compareFirstVectors(&p.meanBits, all, x)
		ofSecond, openSecond, _ = compareFirstVectors(&p.meanBits, all, y)
		s0, s1, s2, s3 = p.load()
	}
	taken, rest := archsimd.LoadUint64x8(&p.taken), bound.ShiftAllLeft(firstBits)
	undecided = undecided.Masked(rest.NotEqual(zero)) // no lane is below a bound with no further digits
	where := ones(undecided.NotEqual(zero))
	word, s0, s1, s2, s3 = nextWhere(where, s0, s1, s2, s3)
	taken = taken.Sub(where)
	first, undecided = compareVectors(first, undecided, word, topBits(rest))
	rest = rest.Add(rest)
	undecided = undecided.Masked(rest.NotEqual(zero))
	if undecided.NotEqual(zero).ToBits() != 0 {
		p.store(s0, s1, s2, s3)
		taken.Store(&p.taken)
		first = p.finishFirst(first, undecided, rest)
		s0, s1, s2, s3 = p.load()
		taken = archsimd.LoadUint64x8(&p.taken)
	}
	first = first.Or(archsimd.LoadUint64x8(&p.certain[0]).And(all))
	first.Store(&p.Arms[0])
	all.AndNot(first).Store(&p.Arms[1])

	always := all.And(choose(first, zero.Sub(x.And(one)), zero.Sub(y.And(one))))
	rewarded := choose(first, ofFirst, ofSecond).Or(always)
	undecided = choose(first, openFirst, openSecond).AndNot(always)
	x, y = x.ShiftAllLeft(firstBits), y.ShiftAllLeft(firstBits)
	where = ones(undecided.NotEqual(zero))
	word, s0, s1, s2, s3 = nextWhere(where, s0, s1, s2, s3)
	p.store(s0, s1, s2, s3)
	taken.Sub(where).Store(&p.taken)
	rewarded, undecided = compareVectors(rewarded, undecided, word, choose(first, topBits(x), topBits(y)))
	if undecided.NotEqual(zero).ToBits() != 0 {
		rewarded = p.finishRewards(first, rewarded, undecided, x.Add(x), y.Add(y), firstBits+1)
	}
	rewarded.Store(&p.Rewarded)
}

// drawFew is DrawPairs of at most eight samples. Few of their numbers need further words.
func (p *Packs) drawFew(samples int, means [][2]uint64, rows *Vector) {
	p.skip(4)
	a, b, c, d := p.nextFour()
	x, y := gather(means, rows)
	all, zero, one := fp.Integers(^uint64(0)>>(MaxLanes-uint(samples))), fp.Integers(0), fp.Integers(1)
	bound, late := archsimd.LoadUint64x8(&p.bounds[0]), fp.Integers(2*firstBits)
	first, undecided := fewCompareVectors(a, b, bound, all)
	rest := bound.ShiftLeft(late)
	undecided = undecided.Masked(rest.NotEqual(zero)) // no lane is below a bound with no further digits
	if undecided.NotEqual(zero).ToBits() != 0 {
		first = p.finishFirst(first, undecided, rest)
	}
	first = first.Or(archsimd.LoadUint64x8(&p.certain[0]).And(all))
	first.Store(&p.Arms[0])
	all.AndNot(first).Store(&p.Arms[1])

	ofFirst, openFirst := fewCompareVectors(c, d, x, all)
	ofSecond, openSecond := fewCompareVectors(c, d, y, all)
	always := all.And(choose(first, zero.Sub(x.And(one)), zero.Sub(y.And(one))))
	rewarded := choose(first, ofFirst, ofSecond).Or(always)
	undecided = choose(first, openFirst, openSecond).AndNot(always)
	if undecided.NotEqual(zero).ToBits() != 0 {
		rewarded = p.finishRewards(first, rewarded, undecided, x.ShiftLeft(late), y.ShiftLeft(late), 2*firstBits)
	}
	rewarded.Store(&p.Rewarded)
}

// finishFirst is finish for every element, from the given remaining digits. A word is taken for as
// many as four bits between two branches, because the number of bits is unpredictable.
func (p *Packs) finishFirst(below, undecided, rest vector) vector {
	zero := fp.Integers(0)
	for undecided.NotEqual(zero).ToBits() != 0 {
		for range 4 {
			below, undecided = compareVectors(below, undecided, p.NextWhere(undecided.NotEqual(zero)), topBits(rest))
			rest = rest.Add(rest)
			undecided = undecided.Masked(rest.NotEqual(zero))
		}
	}
	return below
}

// finishRewards is Pair.finish for every element, from the given bit on, whose digits are the
// first of x and y.
func (p *Packs) finishRewards(first, rewarded, undecided, x, y vector, bit int) vector {
	zero := fp.Integers(0)
	for ; bit < 63 && undecided.NotEqual(zero).ToBits() != 0; bit += 6 {
		for range min(6, 63-bit) {
			rewarded, undecided = compareVectors(rewarded, undecided, p.NextWhere(undecided.NotEqual(zero)), choose(first, topBits(x), topBits(y)))
			x, y = x.Add(x), y.Add(y)
		}
	}
	return rewarded
}

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

// fields holds by how many bits narrowFold shifts. It is allocated, so that a vector does not cross a
// cache line.
var fields = func() *struct{ quarter, half Vector } {
	f := new(struct{ quarter, half Vector })
	for i := range f.quarter {
		f.quarter[i], f.half[i] = narrow, 2*narrow
	}
	return f
}()

// fewDigits is fewBits for every element.
func fewDigits(digits vector) (evens, odds vector) {
	var zero archsimd.Int8x64
	quarters := digits.AsUint8x64().PermuteOrZeroGrouped(archsimd.LoadUint64x8(&swappedQuarter).AsInt8x64()).AsInt16x32()
	quarters = quarters.ShiftLeft(fp.Integers(0x0006000400020000).AsInt16x32())
	evens = quarters.AsInt8x64().Less(zero).ToInt8x64().AsUint64x8()
	return evens, quarters.Add(quarters).AsInt8x64().Less(zero).ToInt8x64().AsUint64x8()
}

// swappedQuarter is as the last of quarters with the first digits in the lower byte.
var swappedQuarter = Vector{
	0x0607060706070607, 0x0e0f0e0f0e0f0e0f, 0x0607060706070607, 0x0e0f0e0f0e0f0e0f,
	0x0607060706070607, 0x0e0f0e0f0e0f0e0f, 0x0607060706070607, 0x0e0f0e0f0e0f0e0f,
}

// fewCompareVectors is fewCompare of the given lanes of every element with binary digits.
func fewCompareVectors(a, b, digits, lanes vector) (below, undecided vector) {
	thresholdA, thresholdB := fewDigits(digits)
	below, undecided = narrowFold(a, b, thresholdA, thresholdB, fp.Integers(^uint64(0)))
	eighth := fp.Integers(8)
	return below.Or(below.ShiftRight(eighth).And(undecided)).And(lanes), undecided.And(undecided.ShiftRight(eighth)).And(lanes)
}

// gather returns the first and the second numbers of the given rows of a table. Numbers that are
// written one by one and read as a vector would wait for the memory.
func gather(table [][2]uint64, rows *Vector) (first, second vector) {
	at := func(i int) archsimd.Uint64x4 {
		var two archsimd.Uint64x4
		return two.SetLo(archsimd.LoadUint64x2(&table[rows[i]])).SetHi(archsimd.LoadUint64x2(&table[rows[i+1]]))
	}
	var low, high vector
	low = low.SetLo(at(0)).SetHi(at(2))
	high = high.SetLo(at(4)).SetHi(at(6))
	return low.ConcatPermute(high, archsimd.LoadUint64x8(&evenPlaces)), low.ConcatPermute(high, archsimd.LoadUint64x8(&oddPlaces))
}

// evenPlaces and oddPlaces are the indices of the first and of the second numbers of eight rows.
var evenPlaces, oddPlaces = Vector{0, 2, 4, 6, 8, 10, 12, 14}, Vector{1, 3, 5, 7, 9, 11, 13, 15}

// Below sets numbers to a uniform one in [0, n) for every stream, n < 2³²: the high half of the
// product of a word and n.
func (s *Streams) Below(n int, numbers *Vector) {
	below(s.Next(), n).Store(numbers)
}

func below(word vector, n int) vector {
	factor, half := fp.Integers(uint64(n)), fp.Integers(32)
	low := word.And(fp.Integers(1<<32 - 1)).Mul(factor).ShiftRight(half)
	return word.ShiftRight(half).Mul(factor).Add(low).ShiftRight(half)
}

// Shuffle puts element i of the vectors, for every i, into a random order drawn from stream i, by
// Fisher and Yates.
func (s *Streams) Shuffle(order []Vector) {
	s0, s1, s2, s3 := s.load()
	var word vector
	others := &s.others
	for last := len(order) - 1; last > 0; last-- {
		word, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		below(word, last+1).Store(others)
		at := &order[last]
		other := &order[others[0]]
		at[0], other[0] = other[0], at[0]
		other = &order[others[1]]
		at[1], other[1] = other[1], at[1]
		other = &order[others[2]]
		at[2], other[2] = other[2], at[2]
		other = &order[others[3]]
		at[3], other[3] = other[3], at[3]
		other = &order[others[4]]
		at[4], other[4] = other[4], at[4]
		other = &order[others[5]]
		at[5], other[5] = other[5], at[5]
		other = &order[others[6]]
		at[6], other[6] = other[6], at[6]
		other = &order[others[7]]
		at[7], other[7] = other[7], at[7]
	}
	s.store(s0, s1, s2, s3)
	s.count(fp.Integers(uint64(len(order) - 1)))
}
