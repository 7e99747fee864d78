//go:build goexperiment.simd && amd64 && !go1.27

package draw

import (
	"simd/archsimd"

	"grposim/fp"
)

// Packs draws eight packs at once, one from each stream. Each has the lanes that a Pack
// draws from the same stream and policy. Packs needs AVX-512.
type Packs struct {
	Arms []Vector // the lanes of each arm, disjoint
	*Streams
	*packWords
	*packVectors

	rewards    bool        // are drawn
	bounds     []Vector    // cumulative probability up to each arm but the last, as digits
	certain    []Vector    // all ones where that probability is 1, else 0
	late       []int       // the arms about whose bounds the first bits leave lanes undecided
	undecided  []Vector    // these lanes, by arm
	rest       []Vector    // the remaining binary digits of the bounds, by arm
	rewardBits [63][]int   // by binary digit: the arms whose mean reward has it
	narrow     [][2]Vector // the first bits of the mean reward of each arm, as narrowBits
	always     []int       // the arms whose mean reward is 1

	pairs *pairVectors // nil unless there are two arms
}

// packVectors holds vectors of Packs, apart from pointers, see Streams.
type packVectors struct {
	Rewarded Vector // the lanes of reward 1
	open     Vector // lanes undecided about any bound
}

// packWords holds the first bits of the two numbers of each lane.
type packWords struct{ armBits, meanBits [firstBits]Vector }

// NewPacks returns Packs of the given streams for arms with the given mean rewards in [0, 1].
// Without means it draws no rewards.
func NewPacks(streams *Streams, arms int, means []float64) *Packs {
	p := &Packs{
		Arms:        make([]Vector, arms),
		rewards:     len(means) > 0,
		Streams:     streams,
		packWords:   new(packWords),
		packVectors: new(packVectors),
		bounds:      make([]Vector, arms-1),
		certain:     make([]Vector, arms-1),
		late:        make([]int, 0, arms),
		undecided:   make([]Vector, arms-1),
		rest:        make([]Vector, arms-1),
		narrow:      make([][2]Vector, len(means)),
	}
	if len(means) == 2 {
		p.pairs = newPairVectors(means)
	}
	for a, x := range means {
		m := newMean(x)
		evens, odds := narrowBits(m.expansion)
		fp.Integers(evens).Store(&p.narrow[a][0])
		fp.Integers(odds).Store(&p.narrow[a][1])
		if m.always != 0 {
			p.always = append(p.always, a)
		}
		for bit := range p.rewardBits {
			if topBit(m.expansion<<bit) != 0 {
				p.rewardBits[bit] = append(p.rewardBits[bit], a)
			}
		}
	}
	return p
}

// Aim sets the policies of the following draws: weights[a][i] is the probability of arm
// a for pack i. See Pack.Aim; the draws of a pack with a weight that is NaN are arbitrary.
func (p *Packs) Aim(weights [][Width]float64) {
	zero := fp.Broadcast(0)
	sum, largest := zero, fp.Integers(uint64(certain-1))
	for a := range p.bounds {
		sum = sum.Add(archsimd.LoadFloat64x8(&weights[a]))
		probabilityVector(sum).Min(largest).ShiftAllLeft(1).Store(&p.bounds[a])
	}
	later := fp.Integers(0) // whether an arm after this one has positive weight
	for a := len(p.bounds) - 1; a >= 0; a-- {
		later = later.Or(archsimd.LoadFloat64x8(&weights[a+1]).Greater(zero).ToInt64x8().AsUint64x8())
		later.Not().Store(&p.certain[a])
		archsimd.LoadUint64x8(&p.bounds[a]).And(later).Store(&p.bounds[a])
	}
}

// probabilityVector is NewProbability for every element, for p ≥ 0. Above 1 a result is at
// least certain.
func probabilityVector(p reals) vector {
	units := p.Mul(fp.Broadcast(0x1p63))
	whole := units.ConvertToUint64()
	up := units.Sub(whole.ConvertToFloat64()).GreaterEqual(fp.Broadcast(0.5))
	return whole.Add(fp.Integers(1).Masked(up))
}

// Draw draws the given number of samples into the lowest lanes of p.Arms and
// p.Rewarded, as Pack.Draw.
func (p *Packs) Draw(samples int) {
	if p.pairs != nil {
		p.drawPair(samples)
		return
	}
	p.read(samples)
	p.decide(samples)
}

// DrawCoupled draws two Packs, whose streams started equal, as Pack.Draw after Align. Both
// have the same first bits, which are read once unless there are two arms.
func DrawCoupled(a, b *Packs, samples int) {
	AlignStreams(a.Streams, b.Streams)
	if a.pairs != nil {
		a.drawPair(samples)
		b.drawPair(samples)
		return
	}
	a.read(samples)
	b.set(a.Streams)
	b.packWords = a.packWords
	a.decide(samples)
	b.decide(samples)
}

// read takes the words of the first bits.
func (p *Packs) read(samples int) {
	if samples <= narrow {
		p.readNarrow()
		return
	}
	p.skip(firstBits)
	p.take(&p.armBits)
	if p.rewards {
		p.skip(firstBits)
		p.take(&p.meanBits)
	}
}

// decide sets the lanes by the first bits and by words for the lanes that these leave
// undecided.
func (p *Packs) decide(samples int) {
	all := fp.Integers(^uint64(0) >> (MaxLanes - uint(samples)))
	if samples <= narrow {
		p.compareNarrow(all)
	} else {
		p.compareArms(all)
	}
	p.finishArms(all)
	switch {
	case !p.rewards:
	case samples <= narrow:
		p.drawNarrowRewards(all)
	default:
		p.drawRewards(all)
	}
}

// compareVectors is compare for the lanes of eight packs.
func compareVectors(below, undecided, word, threshold vector) (vector, vector) {
	differs := undecided.And(word.Xor(threshold))
	return below.Or(differs.And(threshold)), undecided.Xor(differs)
}

// topBits is topBit for every element.
func topBits(rest vector) vector { return rest.AsInt64x8().ShiftAllRight(63).AsUint64x8() }

// compareFirstVectors is compareFirst for every element. It returns the remaining digits of
// the expansion too. The bits are compared without a loop, so that their words stay in
// registers: with two arms a loop makes a step 6 % slower.
func compareFirstVectors(words *[firstBits]Vector, all, rest vector) (below, undecided, left vector) {
	below, undecided = compareVectors(fp.Integers(0), all, archsimd.LoadUint64x8(&words[0]), topBits(rest))
	rest = rest.Add(rest)
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[1]), topBits(rest))
	rest = rest.Add(rest)
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[2]), topBits(rest))
	rest = rest.Add(rest)
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[3]), topBits(rest))
	rest = rest.Add(rest)
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[4]), topBits(rest))
	rest = rest.Add(rest)
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[5]), topBits(rest))
	rest = rest.Add(rest)
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[6]), topBits(rest))
	rest = rest.Add(rest)
	below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&words[7]), topBits(rest))
	return below, undecided, rest.Add(rest)
}

// compareArms is Pack.compareArms.
func (p *Packs) compareArms(all vector) {
	late, open := p.late[:0], fp.Integers(0)
	for a := range p.bounds {
		below, undecided, rest := compareFirstVectors(&p.armBits, all, archsimd.LoadUint64x8(&p.bounds[a]))
		undecided, late = p.setFirst(late, a, below, undecided, rest)
		open = open.Or(undecided)
	}
	p.late = late
	open.Store(&p.open)
}

// setFirst sets what the first bits say of an arm and returns the lanes undecided about its bound.
// That has the remaining digits rest. It adds the arm to late if there are such lanes.
func (p *Packs) setFirst(late []int, a int, below, undecided, rest vector) (vector, []int) {
	zero := fp.Integers(0)
	below.Store(&p.Arms[a])
	undecided = undecided.Masked(rest.NotEqual(zero)) // none is below a bound without digits
	undecided.Store(&p.undecided[a])
	rest.Store(&p.rest[a])
	more := 0 // without a branch, which would be unpredictable
	if undecided.NotEqual(zero).ToBits() != 0 {
		more = 1
	}
	return undecided, append(late, a)[:len(late)+more]
}

// finishArms is Pack.finishArms.
func (p *Packs) finishArms(all vector) {
	zero := fp.Integers(0)
	open := archsimd.LoadUint64x8(&p.open)
	for late := p.late; len(late) > 0; {
		word, left := p.NextWhere(open.NotEqual(zero)), 0
		open = zero
		for _, a := range late {
			rest := archsimd.LoadUint64x8(&p.rest[a])
			below, undecided := compareVectors(archsimd.LoadUint64x8(&p.Arms[a]), archsimd.LoadUint64x8(&p.undecided[a]), word, topBits(rest))
			rest = rest.Add(rest)
			undecided = undecided.Masked(rest.NotEqual(zero)) // none is below a bound without digits
			below.Store(&p.Arms[a])
			undecided.Store(&p.undecided[a])
			rest.Store(&p.rest[a])
			open = open.Or(undecided)
			late[left] = a
			more := 0 // without a branch, which would be unpredictable
			if undecided.NotEqual(zero).ToBits() != 0 {
				more = 1
			}
			left += more
		}
		late = late[:left]
	}
	before := zero
	for a := range p.bounds {
		below := archsimd.LoadUint64x8(&p.Arms[a]).Or(archsimd.LoadUint64x8(&p.certain[a]).And(all))
		below.AndNot(before).Store(&p.Arms[a])
		before = below
	}
	all.AndNot(before).Store(&p.Arms[len(p.bounds)])
}

// drawRewards is Pack.drawRewards.
func (p *Packs) drawRewards(all vector) {
	below := p.union(p.always)
	undecided := all.AndNot(below)
	for i := range p.meanBits {
		below, undecided = compareVectors(below, undecided, archsimd.LoadUint64x8(&p.meanBits[i]), p.union(p.rewardBits[i]))
	}
	p.finishMeans(below, undecided)
}

// finishMeans decides the lanes undecided about the mean rewards, and sets the rewarded lanes.
func (p *Packs) finishMeans(below, undecided vector) {
	zero := fp.Integers(0)
	for bit := firstBits; bit < 63; bit++ {
		need := undecided.NotEqual(zero)
		if need.ToBits() == 0 {
			break
		}
		below, undecided = compareVectors(below, undecided, p.NextWhere(need), p.union(p.rewardBits[bit]))
	}
	below.Store(&p.Rewarded)
}

// union returns the lanes of the given arms.
func (p *Packs) union(arms []int) vector {
	lanes := fp.Integers(0)
	for _, a := range arms {
		lanes = lanes.Or(archsimd.LoadUint64x8(&p.Arms[a]))
	}
	return lanes
}
