//go:build goexperiment.simd && amd64

package sim

import (
	"simd/archsimd"

	"grposim/grpo/fp"
	"grposim/option"
	"grposim/sim/draw"
)

// isPlain reports whether the cell is one whose steps plainGroup and plainMove compute.
func (v *vectorCell) isPlain() bool {
	one := v.single && v.Estimator.GroupsPerStep == 1 // a single group of an aged step is one of several
	return one && !v.tabular() && len(v.means) == 2 && plainPath.computes(v.Cell)
}

// newConstants returns the constants of a plain cell.
func (v *vectorCell) newConstants() *vectorConstants {
	c := new(vectorConstants)
	for i := range c.size {
		c.size[i], c.share[i] = float64(v.Estimator.GroupSize), v.share
		c.penalty[i], c.momentum[i] = v.Estimator.KL.Coefficient, v.Optimizer.Momentum
		c.means[0][i], c.means[1][i] = v.means[0], v.means[1]
	}
	return c
}

// plainGroup draws the group of a step of a plain cell, at which nothing is observed, and sets
// b.pull. No vector lives across a call here or in plainMove: it would be stored where it crosses a
// cache line, and the processor waits for such a vector.
func (b *vectorBatch) plainGroup(t int) {
	if b.left == 0 {
		b.draw()
	}
	if b.weighted && !b.onPolicy {
		b.weigh()
	}
	b.lanes = b.first << ((b.together - b.left) * b.Estimator.GroupSize)
	b.left--
	if b.changing {
		b.changedGroup(t)
		return
	}
	lanes, rewarded := fp.Integers(b.lanes), b.inGroup()
	first := archsimd.LoadUint64x8(&b.packs.Arms[0]).And(lanes)
	total := draw.OnesCount(rewarded)
	up, down, equal := b.advantagesIn(total)
	b.setPull(t, up, down, total, draw.OnesCount(first), draw.OnesCount(first.And(rewarded)), equal)
}

// changedGroup is plainGroup of a cell whose groups of equal rewards are redrawn, or whose baseline
// is a running mean.
func (b *vectorBatch) changedGroup(t int) {
	lanes, rewarded := fp.Integers(b.lanes), b.inGroup()
	first := archsimd.LoadUint64x8(&b.packs.Arms[0]).And(lanes)
	total, drawn, both := draw.OnesCount(rewarded), draw.OnesCount(first), draw.OnesCount(first.And(rewarded))
	up, down, equal := b.lookUp(total)
	b.moveBaseline(total)
	if b.redraws(equal) {
		again, where := b.informativeGroups(equal.NotEqual(fp.Integers(0)))
		total = again.Merge(total, where)
		drawn = archsimd.LoadUint64x8(&b.informative.Samples[0]).Merge(drawn, where)
		both = archsimd.LoadUint64x8(&b.informative.Successes[0]).Merge(both, where)
		up, down, _ = b.lookUp(total)
	}
	b.setPull(t, up, down, total, drawn, both, equal)
}

// setPull sets b.pull to the advantages times the importance weights, by arm, over G, given the
// advantages and the numbers of rewarded samples, of samples of the first arm, and of both. equal is
// −1 where all rewards were equal.
func (b *vectorBatch) setPull(t int, up, down vector, total, drawn, both, equal integers) {
	if t >= b.Run.BurnIn {
		b.countZero(equal)
	}
	c := b.constants
	successes0, successes1 := both.ConvertToFloat64(), total.Sub(both).ConvertToFloat64()
	failures0 := drawn.Sub(both).ConvertToFloat64()
	failures1 := archsimd.LoadFloat64x8(&c.size).Sub(successes0.Add(successes1).Add(failures0))
	positive0, negative0 := up.Mul(successes0), down.Mul(failures0)
	positive1, negative1 := up.Mul(successes1), down.Mul(failures1)
	switch {
	case b.onPolicy:
	case b.ratio:
		w0 := importanceRatio(archsimd.LoadFloat64x8(&b.now.probs[0]), archsimd.LoadFloat64x8(&b.old.probs[0]))
		w1 := importanceRatio(archsimd.LoadFloat64x8(&b.now.probs[1]), archsimd.LoadFloat64x8(&b.old.probs[1]))
		positive0, negative0 = w0.Mul(positive0), w0.Mul(negative0)
		positive1, negative1 = w1.Mul(positive1), w1.Mul(negative1)
	case b.weighted:
		positive0 = archsimd.LoadFloat64x8(&b.weights[0]).Mul(positive0)
		positive1 = archsimd.LoadFloat64x8(&b.weights[1]).Mul(positive1)
		negative0 = archsimd.LoadFloat64x8(&b.weights[2]).Mul(negative0)
		negative1 = archsimd.LoadFloat64x8(&b.weights[3]).Mul(negative1)
	}
	share := archsimd.LoadFloat64x8(&c.share)
	share.Mul(positive0.Add(negative0)).Store(&b.pull[0])
	share.Mul(positive1.Add(negative1)).Store(&b.pull[1])
}

// plainMove moves the policies of a plain cell in step t.
func (b *vectorBatch) plainMove(t int, rate *float64) {
	c := b.constants
	logits, probs, velocity := (*[2]floats)(b.now.logits), (*[2]floats)(b.now.probs), (*[2]floats)(b.velocity)
	logit0, logit1 := archsimd.LoadFloat64x8(&logits[0]), archsimd.LoadFloat64x8(&logits[1])
	prob0, prob1 := archsimd.LoadFloat64x8(&probs[0]), archsimd.LoadFloat64x8(&probs[1])
	if t >= b.Run.BurnIn {
		b.average(prob0.Mul(archsimd.LoadFloat64x8(&c.means[0])).Add(prob1.Mul(archsimd.LoadFloat64x8(&c.means[1]))))
	}
	c0, c1 := archsimd.LoadFloat64x8(&b.pull[0]), archsimd.LoadFloat64x8(&b.pull[1])
	sum := c0.Add(c1)
	g0, g1 := c0.Sub(prob0.Mul(sum)), c1.Sub(prob1.Mul(sum))
	if b.exact {
		reference, beta := (*[2]floats)(b.reference.logits), archsimd.LoadFloat64x8(&c.penalty)
		p0, p1, at0, at1 := prob0, prob1, logit0, logit1
		if b.Estimator.KL.At == option.AtSnapshot {
			p0, p1 = archsimd.LoadFloat64x8(&b.old.probs[0]), archsimd.LoadFloat64x8(&b.old.probs[1])
			at0, at1 = archsimd.LoadFloat64x8(&b.old.logits[0]), archsimd.LoadFloat64x8(&b.old.logits[1])
		}
		l0, l1 := at0.Sub(archsimd.LoadFloat64x8(&reference[0])), at1.Sub(archsimd.LoadFloat64x8(&reference[1]))
		mean := fp.Broadcast(0).Add(p0.Mul(l0)).Add(p1.Mul(l1)) // 0 − 0 is not −0
		g0 = g0.Sub(beta.Mul(p0.Mul(l0.Sub(mean))))
		g1 = g1.Sub(beta.Mul(p1.Mul(l1.Sub(mean))))
	}
	momentum, step := archsimd.LoadFloat64x8(&c.momentum), fp.Spread(rate)
	v0 := momentum.Mul(archsimd.LoadFloat64x8(&velocity[0])).Add(g0)
	v1 := momentum.Mul(archsimd.LoadFloat64x8(&velocity[1])).Add(g1)
	v0.Store(&velocity[0])
	v1.Store(&velocity[1])
	logit0.Add(step.Mul(v0)).Store(&logits[0])
	logit1.Add(step.Mul(v1)).Store(&logits[1])
	b.accept(b.now.pairSoftmax(b.nextLogNorm(t)), t)
}
