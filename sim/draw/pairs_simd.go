//go:build goexperiment.simd && amd64

package draw

import "simd/archsimd"

// Digits returns the binary digits of a mean reward in [0, 1], first digit first, as DrawPairs
// needs them. The last bit, which is no digit, is 1 if the mean is 1.
func Digits(x float64) uint64 {
	m := newMean(x)
	return m.expansion | m.always&1
}

// DrawPairs draws the given number of samples of two arms into the lowest lanes of p.Arms and
// p.Rewarded, as Pair.Draw: means[a][i] are the Digits of the mean reward of arm a for pack i.
func (p *Packs) DrawPairs(samples int, means *[2]Vector) {
	p.read(samples)
	all, zero, one := archsimd.BroadcastUint64x8(^uint64(0)>>(MaxLanes-uint(samples))), archsimd.BroadcastUint64x8(0), archsimd.BroadcastUint64x8(1)
	first, undecided, rest := compareFirstVectors(&p.armBits, all, archsimd.LoadUint64x8(&p.bounds[0]))
	for {
		undecided = undecided.Masked(rest.NotEqual(zero)) // no lane is below a bound with no further digits
		open := undecided.NotEqual(zero)
		if open.ToBits() == 0 {
			break
		}
		first, undecided = compareVectors(first, undecided, p.takeWhere(open), topBits(rest))
		rest = rest.ShiftAllLeft(1)
	}
	first = first.Or(archsimd.LoadUint64x8(&p.certain[0]).And(all))
	second := all.AndNot(first)
	first.Store(&p.Arms[0])
	second.Store(&p.Arms[1])

	x, y := archsimd.LoadUint64x8(&means[0]), archsimd.LoadUint64x8(&means[1])
	rewarded := first.And(zero.Sub(x.And(one))).Or(second.And(zero.Sub(y.And(one))))
	undecided = all.AndNot(rewarded)
	threshold := func() vector {
		t := first.And(topBits(x)).Or(second.And(topBits(y)))
		x, y = x.ShiftAllLeft(1), y.ShiftAllLeft(1)
		return t
	}
	for i := range p.meanBits {
		rewarded, undecided = compareVectors(rewarded, undecided, archsimd.LoadUint64x8(&p.meanBits[i]), threshold())
	}
	for range 63 - firstBits {
		open := undecided.NotEqual(zero)
		if open.ToBits() == 0 {
			break
		}
		rewarded, undecided = compareVectors(rewarded, undecided, p.takeWhere(open), threshold())
	}
	rewarded.Store(&p.Rewarded)
}

// Below sets numbers to a uniform one in [0, n) for every stream, n < 2³²: the high half of the
// product of a word and n.
func (s *Streams) Below(n int, numbers *Vector) {
	below(s.Next(), n).Store(numbers)
}

func below(word vector, n int) vector {
	factor := archsimd.BroadcastUint64x8(uint64(n))
	low := word.And(archsimd.BroadcastUint64x8(1<<32 - 1)).Mul(factor).ShiftAllRight(32)
	return word.ShiftAllRight(32).Mul(factor).Add(low).ShiftAllRight(32)
}

// Shuffle puts element i of the vectors, for every i, into a random order drawn from stream i, by
// Fisher and Yates.
func (s *Streams) Shuffle(order []Vector) {
	s0, s1, s2, s3 := s.load()
	for last := len(order) - 1; last > 0; last-- {
		var word vector
		var others Vector
		word, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		below(word, last+1).Store(&others)
		for i, other := range others {
			a, b := &order[last][i], &order[other][i]
			*a, *b = *b, *a
		}
	}
	s.store(s0, s1, s2, s3)
	s.count(archsimd.BroadcastUint64x8(uint64(len(order) - 1)))
}
