//go:build goexperiment.simd && amd64

package sim

import (
	"simd/archsimd"

	"grposim/grpo"
	"grposim/grpo/fp"
	"grposim/sim/draw"
)

// weigh sets the importance weights of the arms for A > 0 and A < 0, as grpo.Force.setWeights.
func (b *vectorBatch) weigh() {
	imp, arms, zero, one := &b.Estimator.Importance, len(b.force), archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(1)
	upper, lower := b.weights[:arms], b.weights[arms:]
	for a := range upper {
		prob, old := archsimd.LoadFloat64x8(&b.now.probs[a]), archsimd.LoadFloat64x8(&b.old.probs[a])
		ratio := prob.Div(old).Masked(old.Greater(zero))
		switch b.form {
		case grpo.DroppedWeight:
			zero.Merge(ratio, outside(ratio, b.above)).Store(&upper[a])
			zero.Merge(ratio, outside(ratio, b.below)).Store(&lower[a])
		case grpo.DroppedByChange:
			change := prob.Sub(old)
			zero.Merge(ratio, outside(change, b.above)).Store(&upper[a])
			zero.Merge(ratio, outside(change, b.below)).Store(&lower[a])
		case grpo.HeldWeight:
			held(ratio, b.above).Store(&upper[a])
			held(ratio, b.below).Store(&lower[a])
		case grpo.SigmoidWeight:
			ratio = atMost(ratio, grpo.LargestRatio)
			ratio.Store(&b.ratios[a])
			x, y := archsimd.BroadcastFloat64x8(imp.Temperature.Positive).Mul(ratio.Sub(one)), archsimd.BroadcastFloat64x8(imp.Temperature.Negative).Mul(ratio.Sub(one))
			x.Min(zero.Sub(x)).Store(&upper[a])
			y.Min(zero.Sub(y)).Store(&lower[a])
		case grpo.PowerWeight:
			ratio = atMost(ratio, grpo.LargestRatio)
			logarithm, rest := fp.LogLanes(ratio), one.Sub(ratio)
			exponent := func(power, decay float64) vector {
				return atMost(archsimd.BroadcastFloat64x8(power).Mul(logarithm).Add(archsimd.BroadcastFloat64x8(decay).Mul(rest)), grpo.LargestExponent)
			}
			exponent(imp.Power.Positive, imp.Decay.Positive).Store(&upper[a])
			exponent(imp.Power.Negative, imp.Decay.Negative).Store(&lower[a])
		}
	}
	if b.form != grpo.SigmoidWeight && b.form != grpo.PowerWeight {
		return
	}
	fp.ExpBelowLanes(b.weights, b.weights, zero)
	if b.form == grpo.SigmoidWeight {
		four := archsimd.BroadcastFloat64x8(4)
		for i := range b.weights {
			e := archsimd.LoadFloat64x8(&b.weights[i])
			four.Mul(e).Div(one.Add(e).Mul(one.Add(e))).Mul(archsimd.LoadFloat64x8(&b.ratios[i%arms])).Store(&b.weights[i])
		}
	}
}

// outside returns where x is outside of an interval; NaN is not.
func outside(x vector, within grpo.Interval) archsimd.Mask64x8 {
	return x.Less(archsimd.BroadcastFloat64x8(within.Low)).Or(x.Greater(archsimd.BroadcastFloat64x8(within.High)))
}

// held returns x limited to an interval; NaN is not.
func held(x vector, within grpo.Interval) vector {
	low := archsimd.BroadcastFloat64x8(within.Low)
	return atMost(low.Merge(x, x.Less(low)), within.High)
}

// atMost returns x limited to high; NaN is not.
func atMost(x vector, high float64) vector {
	most := archsimd.BroadcastFloat64x8(high)
	return most.Merge(x, x.Greater(most))
}

// clipFraction is grpo.Force.ClipFraction.
func (b *vectorBatch) clipFraction() vector {
	zero, none := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastUint64x8(0)
	clipped, all := none, none
	b.weigh()
	for a := range b.positives {
		upper, lower := archsimd.LoadFloat64x8(&b.weights[a]), archsimd.LoadFloat64x8(&b.weights[len(b.force)+a])
		positives, negatives := archsimd.LoadUint64x8(&b.positives[a]), archsimd.LoadUint64x8(&b.negatives[a])
		if b.single {
			lanes, rewarded := archsimd.LoadUint64x8(&b.packs.Arms[a]).And(archsimd.BroadcastUint64x8(b.lanes)), b.inGroup()
			positives = draw.OnesCount(lanes.And(rewarded)).Masked(archsimd.LoadFloat64x8(&b.up).NotEqual(zero))
			negatives = draw.OnesCount(lanes.AndNot(rewarded)).Masked(archsimd.LoadFloat64x8(&b.down).NotEqual(zero))
		}
		all = all.Add(positives).Add(negatives)
		clipped = clipped.Add(positives.Masked(upper.Equal(zero))).Add(negatives.Masked(lower.Equal(zero)))
	}
	samples := all.ConvertToFloat64()
	return clipped.ConvertToFloat64().Div(samples).Masked(samples.Greater(zero))
}

// gradient sets the force and J, as grpo.Force.Sampled and grpo.Policy.Mean.
func (b *vectorBatch) gradient() {
	e, arms := &b.Estimator, len(b.force)
	at := &b.now
	if e.KL.At == grpo.AtSnapshot {
		at = &b.old
	}
	ratio, bounded, single := b.ratio && !b.onPolicy, b.bounded && !b.onPolicy, b.single
	if bounded {
		b.weigh()
	}
	force, probs, means, reference := b.force, b.now.probs[:arms], b.means[:arms], b.Reference[:arms]
	old, atProbs, atLogits := b.old.probs[:arms], at.probs[:arms], at.logits[:arms]
	zero, share := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(b.share)
	if e.Filter == grpo.Drop {
		one := archsimd.BroadcastFloat64x8(1)
		left := archsimd.BroadcastUint64x8(uint64(e.GroupsPerStep)).Sub(archsimd.LoadUint64x8(&b.zero)).ConvertToFloat64().Max(one)
		share = one.Div(archsimd.BroadcastFloat64x8(float64(e.GroupSize)).Mul(left))
	}
	if e.Advantage.Scale == grpo.BatchStd {
		share = share.Div(b.batchScale())
	}
	var lanesOf []draw.Vector
	var rewarded, others integers
	if single {
		lanesOf, rewarded = b.packs.Arms[:arms], b.inGroup()
		others = archsimd.BroadcastUint64x8(b.lanes).AndNot(rewarded)
	}
	up, down := archsimd.LoadFloat64x8(&b.up), archsimd.LoadFloat64x8(&b.down)
	sum, reward, mean := zero, zero, zero // mean: Σ π(θ − θ_ref)
	for a := range force {
		prob := archsimd.LoadFloat64x8(&probs[a])
		reward = reward.Add(prob.Mul(archsimd.BroadcastFloat64x8(means[a])))
		l := archsimd.LoadFloat64x8(&atLogits[a]).Sub(archsimd.BroadcastFloat64x8(reference[a]))
		mean = mean.Add(archsimd.LoadFloat64x8(&atProbs[a]).Mul(l))
		var positive, negative vector
		if single {
			lanes := archsimd.LoadUint64x8(&lanesOf[a])
			positive = up.Mul(draw.OnesCount(lanes.And(rewarded)).ConvertToFloat64())
			negative = down.Mul(draw.OnesCount(lanes.And(others)).ConvertToFloat64())
		} else {
			positive, negative = archsimd.LoadFloat64x8(&b.positive[a]), archsimd.LoadFloat64x8(&b.negative[a])
		}
		if ratio {
			old := archsimd.LoadFloat64x8(&old[a])
			weight := prob.Div(old).Masked(old.Greater(zero))
			positive, negative = weight.Mul(positive), weight.Mul(negative)
		}
		if bounded {
			positive = archsimd.LoadFloat64x8(&b.weights[a]).Mul(positive)
			negative = archsimd.LoadFloat64x8(&b.weights[arms+a]).Mul(negative)
		}
		c := share.Mul(positive.Add(negative))
		c.Store(&force[a])
		sum = sum.Add(c)
	}
	reward.Store(&b.reward)
	if e.KL.Coefficient == 0 {
		for a := range force {
			archsimd.LoadFloat64x8(&force[a]).Sub(archsimd.LoadFloat64x8(&probs[a]).Mul(sum)).Store(&force[a])
		}
	} else {
		beta := archsimd.BroadcastFloat64x8(e.KL.Coefficient)
		for a := range force { // as grpo.Force.projectExactKL
			l := archsimd.LoadFloat64x8(&atLogits[a]).Sub(archsimd.BroadcastFloat64x8(reference[a]))
			g := archsimd.LoadFloat64x8(&force[a]).Sub(archsimd.LoadFloat64x8(&probs[a]).Mul(sum))
			g.Sub(beta.Mul(archsimd.LoadFloat64x8(&atProbs[a]).Mul(l.Sub(mean)))).Store(&force[a])
		}
	}
	if e.Entropy != 0 {
		b.addEntropy()
	}
}

// addEntropy adds the gradient of the entropy bonus, as grpo.Force.addEntropy.
func (b *vectorBatch) addEntropy() {
	mean, alpha := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(b.Estimator.Entropy)
	for a := range b.force {
		mean = mean.Add(archsimd.LoadFloat64x8(&b.now.probs[a]).Mul(archsimd.LoadFloat64x8(&b.now.logits[a])))
	}
	for a := range b.force {
		slope := archsimd.LoadFloat64x8(&b.now.probs[a]).Mul(archsimd.LoadFloat64x8(&b.now.logits[a]).Sub(mean))
		archsimd.LoadFloat64x8(&b.force[a]).Sub(alpha.Mul(slope)).Store(&b.force[a])
	}
}

// clip scales forces to the largest norm, as grpo.Optimizer.Clip.
func (b *vectorBatch) clip() {
	square, most, one := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(b.Optimizer.MaxNorm), archsimd.BroadcastFloat64x8(1)
	for a := range b.force {
		g := archsimd.LoadFloat64x8(&b.force[a])
		square = square.Add(g.Mul(g))
	}
	norm := square.Sqrt()
	factor := most.Div(norm).Merge(one, norm.Greater(most))
	for a := range b.force {
		archsimd.LoadFloat64x8(&b.force[a]).Mul(factor).Store(&b.force[a])
	}
}

// batchScale returns the scale of the step's advantages, as grpo.Advantage of BatchStd.
func (b *vectorBatch) batchScale() vector {
	adv, samples := &b.Estimator.Advantage, float64(b.Estimator.GroupSize)*float64(b.Estimator.GroupsPerStep)
	one, n := archsimd.BroadcastFloat64x8(1), archsimd.BroadcastFloat64x8(samples)
	total := archsimd.LoadUint64x8(&b.rewarded).ConvertToFloat64()
	mean := total.Div(n)
	squares := mean.Mul(one.Sub(mean)).Mul(n)
	if adv.Std == grpo.SampleStd {
		samples--
	}
	scale := squares.Div(archsimd.BroadcastFloat64x8(samples)).Sqrt().Add(archsimd.BroadcastFloat64x8(adv.Epsilon))
	return one.Merge(scale, total.Equal(archsimd.BroadcastFloat64x8(0)).Or(total.Equal(n)))
}
