//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"math"
	"simd/archsimd"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// importanceRatio returns π/π_old, 0 where π_old is.
func importanceRatio(prob, old vector) vector {
	return prob.Div(old).Masked(old.Greater(fp.Broadcast(0)))
}

// weigh sets the importance weights of all arms for A > 0 and A < 0, as grpo.Force.setWeights. The
// exponentials of all are taken together, because each waits for its own numbers.
func (b *vectorBatch) weigh() {
	arms, zero, most := len(b.force), fp.Broadcast(0), fp.Broadcast(grpo.LargestRatio)
	uppers, lowers, ratios := b.weights[:arms], b.weights[arms:], b.exponentials[:arms]
	logNorm, impossible := zero, fp.Broadcast(math.Inf(-1))
	if b.form == grpo.PowerWeight {
		logNorm = archsimd.LoadFloat64x8(b.now.logNorm).Sub(archsimd.LoadFloat64x8(b.old.logNorm))
	}
	for a := range ratios {
		prob, old := archsimd.LoadFloat64x8(&b.now.probs[a]), archsimd.LoadFloat64x8(&b.old.probs[a])
		ratio := importanceRatio(prob, old)
		switch b.form {
		case grpo.DroppedWeight:
			zero.Merge(ratio, outside(ratio, &b.above)).Store(&uppers[a])
			zero.Merge(ratio, outside(ratio, &b.below)).Store(&lowers[a])
		case grpo.DroppedByChange:
			change := prob.Sub(old)
			zero.Merge(ratio, outside(change, &b.above)).Store(&uppers[a])
			zero.Merge(ratio, outside(change, &b.below)).Store(&lowers[a])
		case grpo.HeldWeight:
			held(ratio, &b.above).Store(&uppers[a])
			held(ratio, &b.below).Store(&lowers[a])
		case grpo.SigmoidWeight:
			most.Merge(ratio, ratio.Greater(most)).Store(&ratios[a])
		case grpo.PowerWeight:
			ratio = most.Merge(ratio, ratio.Greater(most))
			ratio.Store(&ratios[a])
			logRatio := archsimd.LoadFloat64x8(&b.now.logits[a]).Sub(archsimd.LoadFloat64x8(&b.old.logits[a])).Sub(logNorm)
			impossible.Merge(logRatio, ratio.Equal(zero)).Store(&uppers[a])
		}
	}
	switch b.form {
	case grpo.SigmoidWeight:
		weighBySigmoid(&b.Estimator.Importance, b.weights, ratios)
	case grpo.PowerWeight:
		weighByPower(&b.Estimator.Importance, b.weights, ratios)
	}
}

// weighBySigmoid sets the weights of weigh from the ratios.
func weighBySigmoid(imp *option.Importance, weights, ratios []floats) {
	uppers, lowers := weights[:len(ratios)], weights[len(ratios):]
	zero, one, four := fp.Broadcast(0), fp.Broadcast(1), fp.Broadcast(4)
	positive, negative := fp.Spread(&imp.Temperature.Positive), fp.Spread(&imp.Temperature.Negative)
	for a := range ratios {
		d := archsimd.LoadFloat64x8(&ratios[a]).Sub(one)
		x, y := positive.Mul(d), negative.Mul(d)
		x.Min(zero.Sub(x)).Store(&uppers[a])
		y.Min(zero.Sub(y)).Store(&lowers[a])
	}
	fp.ExpBelowLanes(weights, weights, zero)
	for i := range weights {
		e := archsimd.LoadFloat64x8(&weights[i])
		four.Mul(e).Div(one.Add(e).Mul(one.Add(e))).Mul(archsimd.LoadFloat64x8(&ratios[i%len(ratios)])).Store(&weights[i])
	}
}

// weighByPower sets the weights of weigh from the ratios, and their logarithms in uppers.
func weighByPower(imp *option.Importance, weights, ratios []floats) {
	uppers, lowers := weights[:len(ratios)], weights[len(ratios):]
	one, most := fp.Broadcast(1), fp.Broadcast(grpo.LargestExponent)
	power, decay := fp.Spread(&imp.Power.Positive), fp.Spread(&imp.Decay.Positive)
	lowerPower, lowerDecay := fp.Spread(&imp.Power.Negative), fp.Spread(&imp.Decay.Negative)
	for a := range ratios {
		logarithm, rest := archsimd.LoadFloat64x8(&uppers[a]), one.Sub(archsimd.LoadFloat64x8(&ratios[a]))
		x, y := power.Mul(logarithm).Add(decay.Mul(rest)), lowerPower.Mul(logarithm).Add(lowerDecay.Mul(rest))
		most.Merge(x, x.Greater(most)).Store(&uppers[a])
		most.Merge(y, y.Greater(most)).Store(&lowers[a])
	}
	fp.ExpBelowLanes(weights, weights, fp.Broadcast(0))
}

// outside returns where x is outside of an interval; NaN is not.
func outside(x vector, within *grpo.Interval) archsimd.Mask64x8 {
	return x.Less(fp.Spread(&within.Low)).Or(x.Greater(fp.Spread(&within.High)))
}

// held returns x limited to an interval; NaN is not.
func held(x vector, within *grpo.Interval) vector {
	low, high := fp.Spread(&within.Low), fp.Spread(&within.High)
	x = low.Merge(x, x.Less(low))
	return high.Merge(x, x.Greater(high))
}

// clipFraction is grpo.Force.ClipFraction.
func (b *vectorBatch) clipFraction() vector {
	zero, none := fp.Broadcast(0), fp.Integers(0)
	clipped, all := none, none
	b.weigh()
	for a := range b.positives {
		upper, lower := archsimd.LoadFloat64x8(&b.weights[a]), archsimd.LoadFloat64x8(&b.weights[len(b.force)+a])
		positives, negatives := archsimd.LoadUint64x8(&b.positives[a]), archsimd.LoadUint64x8(&b.negatives[a])
		if b.single {
			lanes, rewarded := archsimd.LoadUint64x8(&b.packs.Arms[a]).And(fp.Integers(b.lanes)), b.inGroup()
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
	if e.KL.At == option.AtSnapshot {
		at = &b.old
	}
	ratio, weighted, single := b.ratio && !b.onPolicy, b.weighted && !b.onPolicy, b.single
	if weighted {
		b.weigh()
	}
	force, probs, means, reference := b.force, b.now.probs[:arms], b.means[:arms], b.reference.logits[:arms]
	old, atProbs, atLogits := b.old.probs[:arms], at.probs[:arms], at.logits[:arms]
	zero, share := fp.Broadcast(0), fp.Spread(&b.share)
	if e.Filter == option.Drop {
		one := fp.Broadcast(1)
		left := fp.Integers(uint64(b.Estimator.GroupsPerStep)).Sub(archsimd.LoadUint64x8(&b.zero)).ConvertToFloat64().Max(one)
		share = one.Div(fp.Integers(uint64(e.GroupSize)).ConvertToFloat64().Mul(left))
	}
	if e.Advantage.Scale.OfStep() {
		share = share.Div(b.stepScale())
	}
	var lanesOf []draw.Vector
	var rewarded, others integers
	if single {
		lanesOf, rewarded = b.packs.Arms[:arms], b.inGroup()
		others = fp.Integers(b.lanes).AndNot(rewarded)
	}
	up, down := archsimd.LoadFloat64x8(&b.up), archsimd.LoadFloat64x8(&b.down)
	sum, reward, mean := zero, zero, zero // mean: Σ π(θ − θ_ref)
	for a := range force {
		prob := archsimd.LoadFloat64x8(&probs[a])
		reward = reward.Add(prob.Mul(fp.Spread(&means[a])))
		l := archsimd.LoadFloat64x8(&atLogits[a]).Sub(archsimd.LoadFloat64x8(&reference[a]))
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
			weight := importanceRatio(prob, archsimd.LoadFloat64x8(&old[a]))
			positive, negative = weight.Mul(positive), weight.Mul(negative)
		}
		if weighted {
			positive = archsimd.LoadFloat64x8(&b.weights[a]).Mul(positive)
			negative = archsimd.LoadFloat64x8(&b.weights[arms+a]).Mul(negative)
		}
		c := share.Mul(positive.Add(negative))
		c.Store(&force[a])
		sum = sum.Add(c)
	}
	reward.Store(&b.reward)
	if !b.exact {
		for a := range force {
			archsimd.LoadFloat64x8(&force[a]).Sub(archsimd.LoadFloat64x8(&probs[a]).Mul(sum)).Store(&force[a])
		}
	} else {
		beta := fp.Spread(&e.KL.Coefficient)
		for a := range force { // as grpo.Force.Force.project
			l := archsimd.LoadFloat64x8(&atLogits[a]).Sub(archsimd.LoadFloat64x8(&reference[a]))
			g := archsimd.LoadFloat64x8(&force[a]).Sub(archsimd.LoadFloat64x8(&probs[a]).Mul(sum))
			g.Sub(beta.Mul(archsimd.LoadFloat64x8(&atProbs[a]).Mul(l.Sub(mean)))).Store(&force[a])
		}
	}
	if b.sampled {
		b.subtractSampledKL()
	}
	if b.bonus {
		b.addEntropy()
	}
}

// addEntropy adds the gradient of the entropy bonus, as grpo.Force.addEntropy.
func (b *vectorBatch) addEntropy() {
	mean, alpha := fp.Broadcast(0), fp.Spread(&b.Estimator.Entropy)
	for a := range b.force {
		mean = mean.Add(archsimd.LoadFloat64x8(&b.now.probs[a]).Mul(archsimd.LoadFloat64x8(&b.now.logits[a])))
	}
	for a := range b.force {
		slope := archsimd.LoadFloat64x8(&b.now.probs[a]).Mul(archsimd.LoadFloat64x8(&b.now.logits[a]).Sub(mean))
		archsimd.LoadFloat64x8(&b.force[a]).Sub(alpha.Mul(slope)).Store(&b.force[a])
	}
}

// clip scales forces to the largest norm, as grpo.LimitNorm.
func (b *vectorBatch) clip() {
	square, most, one := fp.Broadcast(0), fp.Spread(&b.Optimizer.MaxNorm), fp.Broadcast(1)
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

// stepScale returns the scale of the step's advantages, as stepScale of package grpo.
func (b *vectorBatch) stepScale() vector {
	adv, samples := &b.Estimator.Advantage, fp.Integers(uint64(b.Estimator.GroupSize)*uint64(b.Estimator.GroupsPerStep)).ConvertToFloat64()
	zero, one, n := fp.Broadcast(0), fp.Broadcast(1), samples
	mean := archsimd.LoadUint64x8(&b.rewarded).ConvertToFloat64().Div(n)
	squares := mean.Mul(one.Sub(mean)).Mul(n)
	switch adv.Scale {
	case option.BatchMean:
		return one.Merge(mean, mean.Equal(zero))
	case option.PooledStd:
		squares = zero
		for a := range b.positive {
			squares = squares.Add(archsimd.LoadFloat64x8(&b.positive[a]))
		}
	}
	if adv.Std == option.SampleStd {
		samples = samples.Sub(one)
	}
	scale := squares.Div(samples).Sqrt().Add(fp.Spread(&adv.Epsilon))
	return one.Merge(scale, squares.Equal(zero))
}
