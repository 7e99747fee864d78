//go:build goexperiment.simd && amd64

package sim

import (
	"simd/archsimd"

	"grposim/grpo/fp"
	"grposim/sim/draw"
)

// isPlain reports whether the cell is one that plainStep computes.
func (v *vectorCell) isPlain() bool {
	one := v.single && v.Estimator.GroupsPerStep == 1 // a single group of an aged step is one of several
	return one && !v.tabular() && len(v.means) == 2 && plainPath.computes(v.Cell)
}

// plainStep does step t of a plain cell, at which nothing is observed: all phases of
// runVectors with their numbers in registers.
func (b *vectorBatch) plainStep(t int, rate *float64) {
	if b.left == 0 {
		b.draw()
	}
	if b.weighted && !b.onPolicy {
		b.weigh() // here, because half vectors that live across a call are stored by instructions of SSE
	}
	b.lanes = b.first << ((b.together - b.left) * b.Estimator.GroupSize)
	b.left--
	lanes, rewarded := fp.Integers(b.lanes), b.inGroup()
	total := draw.OnesCount(rewarded)
	first := archsimd.LoadUint64x8(&b.packs.Arms[0]).And(lanes)
	drawn, both := draw.OnesCount(first), draw.OnesCount(first.And(rewarded))
	up, down, equal := b.lookUp(total)
	b.moveBaseline(total)
	fp.Integers(0).Sub(equal).Store(&b.zero)
	if b.redraws(equal) {
		again, where := b.informativeGroups(equal.NotEqual(fp.Integers(0)))
		total = again.Merge(total, where)
		drawn = archsimd.LoadUint64x8(&b.informative.Samples[0]).Merge(drawn, where)
		both = archsimd.LoadUint64x8(&b.informative.Successes[0]).Merge(both, where)
		up, down, _ = b.lookUp(total)
	}
	size, share := fp.Integers(uint64(b.Estimator.GroupSize)), fp.Spread(&b.share)
	successes, failures := total.Sub(both), size.Sub(drawn).Sub(total.Sub(both)) // of the second arm
	positive0, negative0 := up.Mul(both.ConvertToFloat64()), down.Mul(drawn.Sub(both).ConvertToFloat64())
	positive1, negative1 := up.Mul(successes.ConvertToFloat64()), down.Mul(failures.ConvertToFloat64())
	logit0, logit1 := archsimd.LoadFloat64x8(&b.now.logits[0]), archsimd.LoadFloat64x8(&b.now.logits[1])
	prob0, prob1 := archsimd.LoadFloat64x8(&b.now.probs[0]), archsimd.LoadFloat64x8(&b.now.probs[1])
	switch {
	case b.onPolicy:
	case b.ratio:
		w0 := importanceRatio(prob0, archsimd.LoadFloat64x8(&b.old.probs[0]))
		w1 := importanceRatio(prob1, archsimd.LoadFloat64x8(&b.old.probs[1]))
		positive0, negative0 = w0.Mul(positive0), w0.Mul(negative0)
		positive1, negative1 = w1.Mul(positive1), w1.Mul(negative1)
	case b.weighted:
		positive0 = archsimd.LoadFloat64x8(&b.weights[0]).Mul(positive0)
		positive1 = archsimd.LoadFloat64x8(&b.weights[1]).Mul(positive1)
		negative0 = archsimd.LoadFloat64x8(&b.weights[2]).Mul(negative0)
		negative1 = archsimd.LoadFloat64x8(&b.weights[3]).Mul(negative1)
	}
	c0, c1 := share.Mul(positive0.Add(negative0)), share.Mul(positive1.Add(negative1))
	sum := c0.Add(c1)

	if t >= b.Run.BurnIn {
		reward := prob0.Mul(fp.Spread(&b.means[0])).Add(prob1.Mul(fp.Spread(&b.means[1])))
		b.average(reward)
	}
	g0, g1 := c0.Sub(prob0.Mul(sum)), c1.Sub(prob1.Mul(sum))
	if b.exact {
		beta := fp.Spread(&b.Estimator.KL.Coefficient)
		l0 := logit0.Sub(archsimd.LoadFloat64x8(&b.reference.logits[0]))
		l1 := logit1.Sub(archsimd.LoadFloat64x8(&b.reference.logits[1]))
		mean := fp.Broadcast(0).Add(prob0.Mul(l0)).Add(prob1.Mul(l1)) // 0 − 0 is not −0
		g0 = g0.Sub(beta.Mul(prob0.Mul(l0.Sub(mean))))
		g1 = g1.Sub(beta.Mul(prob1.Mul(l1.Sub(mean))))
	}
	momentum, step := fp.Spread(&b.Optimizer.Momentum), fp.Spread(rate)
	v0 := momentum.Mul(archsimd.LoadFloat64x8(&b.velocity[0])).Add(g0)
	v1 := momentum.Mul(archsimd.LoadFloat64x8(&b.velocity[1])).Add(g1)
	v0.Store(&b.velocity[0])
	v1.Store(&b.velocity[1])
	logit0.Add(step.Mul(v0)).Store(&b.now.logits[0])
	logit1.Add(step.Mul(v1)).Store(&b.now.logits[1])
	b.updatePolicies(t)
}
