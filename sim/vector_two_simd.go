//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"simd/archsimd"

	"grposim/fp"
	"grposim/option"
	"grposim/sim/draw"
)

// plainSteps runs the steps of a batch at which nothing is observed, of a cell with two arms and
// one group a step. In addPack and move no vector lives across a call. It would be stored where it
// crosses a cache line, and the processor would wait for it.
type plainSteps struct {
	*vectorBatch
	*plainConstants
	changing bool        // advantages depend on the steps before, or groups are redrawn
	pairs    []pairGroup // of a pack
	group    int         // of a pack, that of the step
}

// plainConstants are numbers of a cell in vectors, which instructions take from memory.
type plainConstants struct {
	part, penalty, momentum floats // 1/G, β, μ
	rewards                 [2]floats
}

// pairGroup holds the sums of a group of two arms.
type pairGroup struct {
	positive, negative [2]floats   // sums of advantages by arm
	equal              draw.Vector // −1 where all rewards are equal, else 0
}

// newPlainSteps returns the plainSteps of a batch, nil if its cell has other steps.
func newPlainSteps(b *vectorBatch) *plainSteps {
	e := &b.Estimator
	if !b.single || len(b.means) != 2 || !plainPath.computes(b.Cell) || b.countsRedraws() || b.drops && ClipFraction.SinceRecord(b.Lag) {
		return nil
	}
	c := new(plainConstants)
	for i := range c.part {
		c.part[i], c.penalty[i], c.momentum[i] = b.share, e.KL.Coefficient, b.Optimizer.Momentum
		c.rewards[0][i], c.rewards[1][i] = b.means[0], b.means[1]
	}
	return &plainSteps{
		vectorBatch:    b,
		plainConstants: c,
		changing:       e.Advantage.Baseline == option.RunningMean || e.Filter == option.Redraw,
		pairs:          make([]pairGroup, b.together),
	}
}

// next takes the group of a step.
func (b *plainSteps) next() {
	if b.left == 0 {
		b.draw()
	}
	b.group = b.together - b.left
	b.left--
	switch {
	case b.changing:
		b.addChanged()
	case !b.added:
		b.added = true
		b.addPack()
	}
}

// addPack adds up the groups of a pack.
func (b *plainSteps) addPack() {
	size, lanes := fp.Integers(uint64(b.Estimator.GroupSize)), fp.Integers(b.first)
	arm, rewarded := archsimd.LoadUint64x8(&b.packs.Arms[0]), archsimd.LoadUint64x8(&b.packs.Rewarded)
	for i := range b.pairs {
		first, of := arm.And(lanes), rewarded.And(lanes)
		total := draw.OnesCount(of)
		up, down, equal := b.table[0].of(total) // as lookUp, which the compiler does not inline
		for n := 1; n < len(b.table); n++ {
			up, down, equal = b.table[n].instead(n, total, up, down, equal)
		}
		b.pairs[i].set(up, down, size, total, draw.OnesCount(first), draw.OnesCount(first.And(of)), equal)
		lanes = lanes.ShiftLeft(size)
	}
}

// set sets the sums of a group, given its advantages, its size and numbers of samples. These are
// rewarded (total), of the first arm (drawn), and both.
func (p *pairGroup) set(up, down vector, size, total, drawn, both, equal integers) {
	successes, failures := total.Sub(both), size.Sub(drawn).Sub(total.Sub(both)) // of the second arm
	up.Mul(both.ConvertToFloat64()).Store(&p.positive[0])
	up.Mul(successes.ConvertToFloat64()).Store(&p.positive[1])
	down.Mul(drawn.Sub(both).ConvertToFloat64()).Store(&p.negative[0])
	down.Mul(failures.ConvertToFloat64()).Store(&p.negative[1])
	equal.Store(&p.equal)
}

// addChanged adds up the group of a step where advantages or groups change.
func (b *plainSteps) addChanged() {
	b.lanes = b.first << (b.group * b.Estimator.GroupSize)
	lanes, rewarded := fp.Integers(b.lanes), b.inGroup()
	first := archsimd.LoadUint64x8(&b.packs.Arms[0]).And(lanes)
	total, drawn, both := draw.OnesCount(rewarded), draw.OnesCount(first), draw.OnesCount(first.And(rewarded))
	up, down, equal := b.lookUp(total)
	b.moveBaseline(total)
	if b.redraws(equal) {
		again, where := b.informative.Draw(equal.NotEqual(fp.Integers(0)))
		total = again.Merge(total, where)
		drawn = archsimd.LoadUint64x8(&b.informative.Samples[0]).Merge(drawn, where)
		both = archsimd.LoadUint64x8(&b.informative.Successes[0]).Merge(both, where)
		up, down, _ = b.lookUp(total)
	}
	b.pairs[b.group].set(up, down, fp.Integers(uint64(b.Estimator.GroupSize)), total, drawn, both, equal)
}

// move moves the policies in step t.
func (b *plainSteps) move(t int, rate *float64) {
	if b.weighted && !b.onPolicy {
		b.weigh()
	}
	c, p := b.plainConstants, &b.pairs[b.group]
	logits, probs, velocity := (*[2]floats)(b.now.logits), (*[2]floats)(b.now.probs), (*[2]floats)(b.velocity)
	logit0, logit1 := archsimd.LoadFloat64x8(&logits[0]), archsimd.LoadFloat64x8(&logits[1])
	prob0, prob1 := archsimd.LoadFloat64x8(&probs[0]), archsimd.LoadFloat64x8(&probs[1])
	if b.peaks != nil { // as countStep, without clipped samples
		peaks := (*[2]floats)(b.peaks)
		archsimd.LoadFloat64x8(&peaks[0]).Max(prob0).Store(&peaks[0])
		archsimd.LoadFloat64x8(&peaks[1]).Max(prob1).Store(&peaks[1])
		b.counted++
	}
	if t >= b.Run.BurnIn {
		b.average(prob0.Mul(archsimd.LoadFloat64x8(&c.rewards[0])).Add(prob1.Mul(archsimd.LoadFloat64x8(&c.rewards[1]))))
		b.countZero(archsimd.LoadUint64x8(&p.equal))
	}
	positive0, positive1 := archsimd.LoadFloat64x8(&p.positive[0]), archsimd.LoadFloat64x8(&p.positive[1])
	negative0, negative1 := archsimd.LoadFloat64x8(&p.negative[0]), archsimd.LoadFloat64x8(&p.negative[1])
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
	part := archsimd.LoadFloat64x8(&c.part)
	c0, c1 := part.Mul(positive0.Add(negative0)), part.Mul(positive1.Add(negative1))
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
	b.accept(b.now.pairSoftmax(b.nextLogNorm(&b.now, t)), t)
}
