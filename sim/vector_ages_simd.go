//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"simd/archsimd"

	"grposim/fp"
	"grposim/option"
	"grposim/sim/draw"
)

// vectorAges draws the ages of the snapshots of a vectorBatch, as ages.
type vectorAges struct {
	law     *ages
	streams *draw.Streams
	memory  []floats      // of the past policies, one after the other
	stride  int           // rows of a policy in it
	length  int           // policies in it
	used    int           // rows of a snapshot that a step uses
	places  []draw.Vector // by age of the step: those of the snapshots among the past policies
	force   []floats      // of the step's groups so far, by arm; where these have snapshots of their own
	clipped *floats       // fraction of the step's samples; the same
}

// newVectorAges returns the ages of past policies in memory if the lag is random, else nil.
func (v *vectorCell) newVectorAges(memory []floats) *vectorAges {
	if v.Lag.Kind != option.Random {
		return nil
	}
	a := &vectorAges{
		law: newAges(v.Cell), streams: new(draw.Streams), memory: memory, stride: v.rows, length: len(memory) / v.rows, used: v.rows,
		places: make([]draw.Vector, v.Estimator.GroupsPerStep/v.groups), force: make([]floats, len(v.means)),
		clipped: new(floats),
	}
	if kl := &v.Estimator.KL; !v.weighsByLogarithm() && (kl.Coefficient == 0 || kl.At == option.AtCurrent && !kl.Outside()) {
		a.used = len(v.means) // probabilities
	}
	return a
}

// store stores the policies of step t.
func (a *vectorAges) store(t int, now *vectorPolicies) {
	past, rows := a.memory[t%a.length*a.stride:][:a.used], now.rows[:a.used]
	for row := range rows {
		archsimd.LoadFloat64x8(&rows[row]).Store(&past[row])
	}
}

// choose draws ages in step t and takes the policies of these ages, which are that of the given
// number in the step, as snapshots.
func (a *vectorAges) choose(t, number int, old *vectorPolicies) {
	length, places := a.length, &a.places[number]
	present := t % length
	a.streams.Next().Store(places)
	archsimd.ClearAVXUpperBits() // see fp.Integers
	for i, word := range places {
		place := present - min(a.law.of(word), t)
		places[i] = uint64(place + length&(place>>63)) // without a branch, which would be unpredictable
	}
	a.recall(number, old)
}

// recall takes the past policies of the given number in the step as snapshots.
func (a *vectorAges) recall(number int, old *vectorPolicies) {
	gather(old.rows[:a.used], a.memory, a.stride, &a.places[number])
}

// gather sets rows, every element to that of the rows of memory that begin at its place times
// stride.
func gather(rows, memory []floats, stride int, places *draw.Vector) {
	at := func(i int) []floats { return memory[int(places[i])*stride:][:len(rows)] }
	p0, p1, p2, p3, p4, p5, p6, p7 := at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)
	only := func(i int) archsimd.Mask64x8 { return archsimd.Mask64x8FromBits(1 << i) }
	m1, m2, m3, m4, m5, m6, m7 := only(1), only(2), only(3), only(4), only(5), only(6), only(7)
	for row := range rows {
		x := archsimd.LoadFloat64x8(&p0[row])
		x = archsimd.LoadFloat64x8(&p1[row]).Merge(x, m1)
		x = archsimd.LoadFloat64x8(&p2[row]).Merge(x, m2)
		x = archsimd.LoadFloat64x8(&p3[row]).Merge(x, m3)
		x = archsimd.LoadFloat64x8(&p4[row]).Merge(x, m4)
		x = archsimd.LoadFloat64x8(&p5[row]).Merge(x, m5)
		x = archsimd.LoadFloat64x8(&p6[row]).Merge(x, m6)
		x = archsimd.LoadFloat64x8(&p7[row]).Merge(x, m7)
		x.Store(&rows[row])
	}
}

// scatter is the inverse of gather for the given elements, as bits: it sets the rows of memory.
func scatter(rows, memory []floats, stride int, places *draw.Vector, where uint8) {
	at := func(i int) []floats { return memory[int(places[i])*stride:][:len(rows)] }
	p0, p1, p2, p3, p4, p5, p6, p7 := at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)
	only := func(i int) archsimd.Mask64x8 { return archsimd.Mask64x8FromBits(where & (1 << i)) }
	m0, m1, m2, m3, m4, m5, m6, m7 := only(0), only(1), only(2), only(3), only(4), only(5), only(6), only(7)
	for row := range rows {
		x := archsimd.LoadFloat64x8(&rows[row])
		x.StoreMasked(&p0[row], m0)
		x.StoreMasked(&p1[row], m1)
		x.StoreMasked(&p2[row], m2)
		x.StoreMasked(&p3[row], m3)
		x.StoreMasked(&p4[row], m4)
		x.StoreMasked(&p5[row], m5)
		x.StoreMasked(&p6[row], m6)
		x.StoreMasked(&p7[row], m7)
	}
}

// pushAged draws the groups of step t, each from a snapshot of its own, and sets the force and J,
// as replica.pushAged.
func (b *vectorBatch) pushAged(t int) {
	a, zero, none := b.ages, fp.Broadcast(0), fp.Integers(0)
	groups := fp.Integers(uint64(len(a.places))).ConvertToFloat64()
	weight := fp.Broadcast(1).Div(groups)
	zeros, rewarded, reward, clipped := none, none, zero, zero
	for arm := range a.force {
		zero.Store(&a.force[arm])
	}
	for group := range a.places {
		a.choose(t, group, &b.old)
		b.aim()
		b.empty()
		reward.Store(&b.atomSum)
		b.addGroups()
		b.gradient()
		for arm := range a.force {
			part := weight.Mul(archsimd.LoadFloat64x8(&b.force[arm]))
			archsimd.LoadFloat64x8(&a.force[arm]).Add(part).Store(&a.force[arm])
		}
		zeros = zeros.Add(archsimd.LoadUint64x8(&b.zero))
		rewarded = rewarded.Add(archsimd.LoadUint64x8(&b.rewarded))
		reward = archsimd.LoadFloat64x8(&b.atomSum)
		if b.drops {
			clipped = clipped.Add(b.clipFraction().Div(groups))
		}
	}
	for arm := range a.force {
		archsimd.LoadFloat64x8(&a.force[arm]).Store(&b.force[arm])
	}
	zeros.Store(&b.zero)
	rewarded.Store(&b.rewarded)
	clipped.Store(a.clipped)
}

// largestRatio returns the largest importance ratio of a step whose groups have snapshots of their
// own, as replica.maxRatio.
func (b *vectorBatch) largestRatio() vector {
	largest := fp.Broadcast(0)
	for group := range b.ages.places {
		b.ages.recall(group, &b.old)
		for a := range b.now.probs {
			largest = largest.Max(importanceRatio(archsimd.LoadFloat64x8(&b.now.probs[a]), archsimd.LoadFloat64x8(&b.old.probs[a])))
		}
	}
	return largest
}
