//go:build goexperiment.simd && amd64 && !go1.27

package draw

import (
	"simd/archsimd"

	"grposim/fp"
)

// pairVectors draws two arms as Pair. A set of arms is a number, the first arm its bit 0.
type pairVectors struct {
	sets   [4]Vector                           // the lanes of each set
	narrow [2]struct{ second, differs Vector } // as Pair.narrow
	bits   [64]uint8                           // by binary digit: the arms whose mean reward has it
	always uint8                               // the arms whose mean reward is 1
}

// newPairVectors returns pairVectors of two arms with the given mean rewards.
func newPairVectors(means []float64) *pairVectors {
	v, pair := new(pairVectors), NewPair(means[0], means[1])
	for i, t := range pair.narrow {
		fp.Integers(t.second).Store(&v.narrow[i].second)
		fp.Integers(t.differs).Store(&v.narrow[i].differs)
	}
	for a, x := range means {
		m, arm := newMean(x), uint8(1)<<a
		v.always |= arm & uint8(m.always)
		for bit := range v.bits {
			v.bits[bit] |= arm & uint8(topBit(m.expansion<<bit))
		}
	}
	return v
}

// drawPair is Draw for two arms, as Pair.Draw.
func (p *Packs) drawPair(samples int) {
	all := ^uint64(0) >> (MaxLanes - uint(samples))
	if samples <= narrow {
		p.skip(4)
		p.drawNarrowPair(all)
		return
	}
	p.read(samples)
	p.drawWidePair(all)
}

// drawNarrowPair is drawPair for at most 16 lanes.
func (p *Packs) drawNarrowPair(lanes uint64) {
	a, b, c, d := p.nextFour()
	v, bound := p.pairs, archsimd.LoadUint64x8(&p.bounds[0])
	first, undecided := narrowCompareVectors(a, b, bound, fp.Integers(lanes))
	c.Store(&p.meanBits[0])
	d.Store(&p.meanBits[1])
	p.finishPairArms(first, undecided, bound.ShiftAllLeft(firstBits), fp.Integers(lanes), sureOfNarrow)

	first = archsimd.LoadUint64x8(&v.sets[1])
	rewarded := archsimd.LoadUint64x8(&v.sets[v.always&3])
	undecided = archsimd.LoadUint64x8(&v.sets[3]).AndNot(rewarded)
	everywhere := inQuarter(first, 0)
	evens := archsimd.LoadUint64x8(&v.narrow[0].second).Xor(everywhere.And(archsimd.LoadUint64x8(&v.narrow[0].differs)))
	odds := archsimd.LoadUint64x8(&v.narrow[1].second).Xor(everywhere.And(archsimd.LoadUint64x8(&v.narrow[1].differs)))
	below, open := narrowFold(archsimd.LoadUint64x8(&p.meanBits[0]), archsimd.LoadUint64x8(&p.meanBits[1]), evens, odds, undecided)
	p.finishPairRewards(rewarded.Or(below), open, sureOfNarrow)
}

// drawWidePair is drawPair for any number of lanes, whose first bits have been taken.
func (p *Packs) drawWidePair(lanes uint64) {
	v, words := p.pairs, &p.meanBits
	first, undecided, rest := compareFirstVectors(&p.armBits, fp.Integers(lanes), archsimd.LoadUint64x8(&p.bounds[0]))
	p.finishPairArms(first, undecided, rest, fp.Integers(lanes), sureOfWide)

	rewarded := archsimd.LoadUint64x8(&v.sets[v.always&3])
	undecided = archsimd.LoadUint64x8(&v.sets[3]).AndNot(rewarded)
	rewarded, undecided = compareVectors(rewarded, undecided, archsimd.LoadUint64x8(&words[0]), archsimd.LoadUint64x8(&v.sets[v.bits[0]&3]))
	rewarded, undecided = compareVectors(rewarded, undecided, archsimd.LoadUint64x8(&words[1]), archsimd.LoadUint64x8(&v.sets[v.bits[1]&3]))
	rewarded, undecided = compareVectors(rewarded, undecided, archsimd.LoadUint64x8(&words[2]), archsimd.LoadUint64x8(&v.sets[v.bits[2]&3]))
	rewarded, undecided = compareVectors(rewarded, undecided, archsimd.LoadUint64x8(&words[3]), archsimd.LoadUint64x8(&v.sets[v.bits[3]&3]))
	rewarded, undecided = compareVectors(rewarded, undecided, archsimd.LoadUint64x8(&words[4]), archsimd.LoadUint64x8(&v.sets[v.bits[4]&3]))
	rewarded, undecided = compareVectors(rewarded, undecided, archsimd.LoadUint64x8(&words[5]), archsimd.LoadUint64x8(&v.sets[v.bits[5]&3]))
	rewarded, undecided = compareVectors(rewarded, undecided, archsimd.LoadUint64x8(&words[6]), archsimd.LoadUint64x8(&v.sets[v.bits[6]&3]))
	rewarded, undecided = compareVectors(rewarded, undecided, archsimd.LoadUint64x8(&words[7]), archsimd.LoadUint64x8(&v.sets[v.bits[7]&3]))
	p.finishPairRewards(rewarded, undecided, sureOfWide)
}

// finishPairArms decides the lanes that the first bits leave undecided about the bound. That has
// the remaining digits rest. It sets the lanes of the arms.
func (p *Packs) finishPairArms(first, undecided, rest, all vector, sure int) {
	zero := fp.Integers(0)
	undecided = undecided.Masked(rest.NotEqual(zero)) // none is below a bound without digits
	s0, s1, s2, s3 := p.load()
	taken := archsimd.LoadUint64x8(&p.taken)
	var word vector
	for bit := 0; ; bit++ {
		open := undecided.NotEqual(zero)
		if bit >= sure && open.ToBits() == 0 {
			break
		}
		where := ones(open)
		word, s0, s1, s2, s3 = nextWhere(where, s0, s1, s2, s3)
		taken = taken.Sub(where)
		first, undecided = compareVectors(first, undecided, word, topBits(rest))
		rest = rest.Add(rest)
		undecided = undecided.Masked(rest.NotEqual(zero))
	}
	p.store(s0, s1, s2, s3)
	taken.Store(&p.taken)
	v := p.pairs
	first = first.Or(archsimd.LoadUint64x8(&p.certain[0]).And(all))
	first.Store(&v.sets[1])
	all.AndNot(first).Store(&v.sets[2])
	all.Store(&v.sets[3])
	first.Store(&p.Arms[0])
	all.AndNot(first).Store(&p.Arms[1])
}

// finishPairRewards decides the lanes undecided about the mean rewards, and sets the rewarded
// lanes.
func (p *Packs) finishPairRewards(rewarded, undecided vector, sure int) {
	v, zero := p.pairs, fp.Integers(0)
	s0, s1, s2, s3 := p.load()
	taken := archsimd.LoadUint64x8(&p.taken)
	var word vector
	for bit := firstBits; bit < 63; bit++ {
		open := undecided.NotEqual(zero)
		if bit >= firstBits+sure && open.ToBits() == 0 {
			break
		}
		where := ones(open)
		word, s0, s1, s2, s3 = nextWhere(where, s0, s1, s2, s3)
		taken = taken.Sub(where)
		rewarded, undecided = compareVectors(rewarded, undecided, word, archsimd.LoadUint64x8(&v.sets[v.bits[bit]&3]))
	}
	p.store(s0, s1, s2, s3)
	taken.Store(&p.taken)
	rewarded.Store(&p.Rewarded)
}

// Words for undecided lanes are taken so many times without a branch on whether any lane is, then
// until none is. After n bits a lane is undecided with probability 2⁻ⁿ, so that with fewer the
// branch would be unpredictable. More take longer than it saves.
const (
	sureOfNarrow = 2
	sureOfWide   = 3
)
