//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"simd/archsimd"

	"grposim/fp"
	"grposim/grpo"
	"grposim/sim/draw"
)

// observe notes step t in the replicas, as replica.note.
func (b *vectorBatch) observe(t int) {
	var finite uint8
	measured := false
	archsimd.ClearAVXUpperBits() // see fp.Integers
	for i, r := range b.replicas {
		if r.divergedAt != running {
			continue
		}
		r.sampler.reward = float64(b.rewarded[i]) + b.atomSum[i]
		r.follow(t, b.reward[i])
		if t != r.recorded[r.nextRecord] {
			continue
		}
		if !measured {
			measured = true
			finite = b.measure()
			archsimd.ClearAVXUpperBits()
		}
		v := &r.values[r.nextRecord]
		for q := range v {
			v[q] = b.recorded[q][i]
		}
		if finite>>i&1 == 0 {
			r.divergedAt = t
			continue
		}
		if r.extra != nil {
			r.load(b, i)
			r.observeExtras(t, b.reward[i])
		}
		r.nextRecord++
	}
}

// load takes what observeExtras reads from element i of a batch.
func (r *replica) load(b *vectorBatch, i int) {
	r.extra.redrawn = b.drawnSamples[i]
	copyProbs := func(to *grpo.Policy, from []floats) {
		for a := range from {
			to.Probs[a] = from[a][i]
		}
	}
	if r.snapshot == nil {
		r.snapshot = grpo.NewPolicy(r.start.Logits)
	}
	copyProbs(r.snapshot, b.old.probs) // on-policy it can be r.policy
	copyProbs(r.policy, b.now.probs)
}

// countRedraws adds the expected samples of a step of one prompt, as replica.countRedraws.
func (b *vectorBatch) countRedraws() {
	archsimd.ClearAVXUpperBits() // see fp.Integers
	chance := draw.Chances(b.Estimator.GroupSize, b.old.probs, b.informative.Means)
	archsimd.LoadFloat64x8(&b.drawnSamples).Add(fp.Broadcast(b.samplesAStep()).Div(chance)).Store(&b.drawnSamples)
}

// measure sets the recorded quantities, as replica.observe. It returns the elements in which
// they and all logits are finite, as bits.
func (b *vectorBatch) measure() (finite uint8) {
	zero, logits := fp.Broadcast(0), b.now.logits
	top := archsimd.LoadFloat64x8(&logits[0])
	for a := range logits {
		top = top.Max(archsimd.LoadFloat64x8(&logits[a]))
	}
	logNorm := top.Add(fp.LogLanes(fp.ExpBelowLanes(b.exponentials, logits, top)))
	excess := logNorm.Sub(archsimd.LoadFloat64x8(b.reference.logNorm))
	reward, entropy, collision, divergence, ratio, square := zero, zero, zero, zero, zero, zero
	for a := range logits {
		logit, prob := archsimd.LoadFloat64x8(&logits[a]), archsimd.LoadFloat64x8(&b.now.probs[a])
		possible, old, g := prob.Greater(zero), archsimd.LoadFloat64x8(&b.old.probs[a]), archsimd.LoadFloat64x8(&b.force[a])
		reward = reward.Add(prob.Mul(fp.Spread(&b.Bandit.TrueMeans[a])))
		entropy = entropy.Sub(prob.Mul(logit.Sub(logNorm)).Masked(possible))
		collision = collision.Add(prob.Mul(prob))
		relative := logit.Sub(archsimd.LoadFloat64x8(&b.reference.logits[a])).Sub(excess)
		divergence = divergence.Add(prob.Mul(relative).Masked(possible))
		ratio = ratio.Max(importanceRatio(prob, old))
		square = square.Add(g.Mul(g))
	}
	groups := fp.Integers(uint64(b.Estimator.GroupsPerStep)).ConvertToFloat64()
	q := &b.recorded
	archsimd.LoadFloat64x8(&b.reward).Store(&q[expectedRewardIndex])
	reward.Store(&q[trueRewardIndex])
	entropy.Store(&q[entropyIndex])
	collision.Store(&q[collisionIndex])
	archsimd.LoadUint64x8(&b.zero).ConvertToFloat64().Div(groups).Store(&q[zeroVarianceFractionIndex])
	divergence.Store(&q[klReferenceIndex])
	clipped := zero
	switch {
	case b.peaks != nil:
		clipped, ratio = takeRecord(b)
	case b.drops:
		clipped = b.clipFraction()
	}
	clipped.Store(&q[clipFractionIndex])
	ratio.Store(&q[importanceRatioMaxIndex])
	square.Sqrt().Store(&q[gradientNormIndex])
	zero.Store(&q[logitGapIndex])
	if len(logits) == 2 {
		archsimd.LoadFloat64x8(&logits[0]).Sub(archsimd.LoadFloat64x8(&logits[1])).Store(&q[logitGapIndex])
	}
	return finiteIn(q[:]) & finiteIn(logits)
}

// countStep counts a step, as replica.countStep.
func (b *vectorBatch) countStep() {
	if b.drops {
		archsimd.LoadFloat64x8(&b.clippedSum).Add(b.clipFraction()).Store(&b.clippedSum)
	}
	for a := range b.peaks {
		archsimd.LoadFloat64x8(&b.peaks[a]).Max(archsimd.LoadFloat64x8(&b.now.probs[a])).Store(&b.peaks[a])
	}
	b.counted++
}

// leaveSnapshot takes the ratios with the snapshots, which are about to change, as
// sinceRecord.leave.
func leaveSnapshot(b *vectorBatch) {
	zero, largest := fp.Broadcast(0), archsimd.LoadFloat64x8(&b.largest)
	for a := range b.peaks {
		largest = largest.Max(importanceRatio(archsimd.LoadFloat64x8(&b.peaks[a]), archsimd.LoadFloat64x8(&b.old.probs[a])))
		zero.Store(&b.peaks[a])
	}
	largest.Store(&b.largest)
}

// takeRecord returns what is recorded and begins anew, as sinceRecord.take.
func takeRecord(b *vectorBatch) (clipped, ratio vector) {
	leaveSnapshot(b)
	zero := fp.Broadcast(0)
	clipped = archsimd.LoadFloat64x8(&b.clippedSum).Div(fp.Integers(uint64(b.counted)).ConvertToFloat64())
	ratio = archsimd.LoadFloat64x8(&b.largest).Min(fp.Broadcast(grpo.LargestRatio))
	zero.Store(&b.clippedSum)
	zero.Store(&b.largest)
	b.counted = 0
	return clipped, ratio
}

// finiteIn returns the elements in which all vectors are finite, as bits.
func finiteIn(vectors []floats) uint8 {
	zero := fp.Broadcast(0)
	sum := zero
	for n := range vectors {
		x := archsimd.LoadFloat64x8(&vectors[n])
		sum = sum.Add(x.Sub(x))
	}
	return sum.Equal(zero).ToBits()
}

// average adds the step to the sums after burn-in.
func (b *vectorBatch) average(reward vector) {
	d := reward.Sub(fp.Spread(&b.reward0))
	archsimd.LoadFloat64x8(&b.rewardSum).Add(d).Store(&b.rewardSum)
	archsimd.LoadFloat64x8(&b.rewardSquares).Add(d.Mul(d)).Store(&b.rewardSquares)
	if len(b.force) == 2 {
		z := archsimd.LoadFloat64x8(&b.now.logits[0]).Sub(archsimd.LoadFloat64x8(&b.now.logits[1]))
		z = z.Sub(fp.Spread(&b.gap0))
		archsimd.LoadFloat64x8(&b.gapSum).Add(z).Store(&b.gapSum)
		archsimd.LoadFloat64x8(&b.gapSquares).Add(z.Mul(z)).Store(&b.gapSquares)
	}
}

// countZero adds the groups without variance of a step after burn-in, −1 for each.
func (s *vectorSums) countZero(groups integers) {
	archsimd.LoadUint64x8(&s.zeroSum).Sub(groups).Store(&s.zeroSum)
}
