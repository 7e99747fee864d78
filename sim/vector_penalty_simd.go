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

// needsLogNorm reports whether weights or the KL penalty need log π of the cell's policies.
func (v *vectorCell) needsLogNorm() bool {
	kl := &v.Estimator.KL
	return v.weighsByLogarithm() || kl.Outside() || v.sampled && kl.Gradient != option.K1 && kl.Gradient != option.K3
}

// weighsByLogarithm reports whether importance weights are computed from the logarithm of a ratio.
func (v *vectorCell) weighsByLogarithm() bool {
	return v.form == grpo.PowerWeight && !grpo.OnPolicy(&v.Lag)
}

// shifted reports whether the KL penalty is part of the rewards.
func (v *vectorCell) shifted() bool {
	return v.Estimator.KL.OfReward()
}

// setAtoms allocates the atoms of groups: one for each arm, or two for Bernoulli arms.
func (g *vectorGroups) setAtoms() {
	arms := len(g.means)
	for a := range arms {
		g.armOf = append(g.armOf, a)
	}
	g.atoms = g.counts
	if g.shifted() {
		g.shifts = make([]floats, arms)
		if g.advantages != nil {
			g.atoms, g.armOf = make([]draw.Vector, 2*arms), nil
			for a := range arms {
				g.armOf = append(g.armOf, a, a)
			}
		}
	}
	g.rewards = make([]floats, len(g.atoms))
}

// shift sets what the penalty adds to rewards, as grpo.KLShifts.
func (g *vectorGroups) shift() {
	penalty := fp.Broadcast(0).Sub(fp.Spread(&g.Estimator.KL.Coefficient))
	logNorm := archsimd.LoadFloat64x8(g.old.logNorm).Sub(archsimd.LoadFloat64x8(g.reference.logNorm))
	for a := range g.shifts {
		l := archsimd.LoadFloat64x8(&g.old.logits[a]).Sub(archsimd.LoadFloat64x8(&g.reference.logits[a]))
		penalty.Mul(l.Sub(logNorm)).Store(&g.shifts[a])
	}
}

// addShifted adds the current group of Bernoulli arms, whose rewards the penalty shifts, as
// grpo.GroupStatistics.AddAtoms.
func (g *vectorGroups) addShifted() {
	zero, one := fp.Broadcast(0), fp.Broadcast(1)
	none, lanes := fp.Integers(0), fp.Integers(g.lanes)
	sum, total := zero, none
	low, high := fp.Broadcast(math.Inf(1)), fp.Broadcast(math.Inf(-1))
	for a := range g.counts {
		if g.together > 0 {
			arm := archsimd.LoadUint64x8(&g.packs.Arms[a]).And(lanes)
			draw.OnesCount(arm).Store(&g.counts[a])
			draw.OnesCount(arm.And(archsimd.LoadUint64x8(&g.packs.Rewarded))).Store(&g.successes[a])
		}
		count, successes := archsimd.LoadUint64x8(&g.counts[a]), archsimd.LoadUint64x8(&g.successes[a])
		total = total.Add(successes)
		shift, drawn := archsimd.LoadFloat64x8(&g.shifts[a]), count.NotEqual(none)
		reward, n := one.Add(shift), successes
		for i := 2 * a; i < 2*a+2; i++ {
			some := n.NotEqual(none)
			low, high = reward.Min(low).Merge(low, some), reward.Max(high).Merge(high, some)
			sum = sum.Add(n.ConvertToFloat64().Mul(reward).Masked(some))
			n.Store(&g.atoms[i])
			reward.Masked(drawn).Store(&g.rewards[i])
			reward, n = shift, count.Sub(successes)
		}
	}
	archsimd.LoadUint64x8(&g.rewarded).Add(total).Store(&g.rewarded)
	g.addRewards(sum, zero, low, high)
}

// usesLogNorm reports whether step t uses log π of its policies.
func (v *vectorCell) usesLogNorm(t int) bool {
	kl := &v.Estimator.KL
	return v.weighsByLogarithm() || !v.outside && kl.At == option.AtCurrent || v.Lag.Refreshes(t)
}

// addDrawn counts samples of an arm.
func (g *vectorGroups) addDrawn(a int, count integers) {
	if g.drawn != nil {
		archsimd.LoadUint64x8(&g.drawn[a]).Add(count).Store(&g.drawn[a])
	}
}

// subtractSampledKL is grpo.Force.subtractSampledKL.
func (b *vectorBatch) subtractSampledKL() {
	kl, arms := &b.Estimator.KL, len(b.force)
	gradient, at, inAdvantage := kl.Gradient, &b.now, kl.OfAdvantage()
	if kl.At == option.AtSnapshot && !inAdvantage {
		at = &b.old
	}
	of := at
	if inAdvantage {
		gradient, of = option.K2, &b.old
	}
	zero, one, logNorm := fp.Broadcast(0), fp.Broadcast(1), fp.Broadcast(0)
	if of.logNorm != nil {
		logNorm = archsimd.LoadFloat64x8(of.logNorm).Sub(archsimd.LoadFloat64x8(b.reference.logNorm))
	}
	share, beta, sum := fp.Spread(&b.share), fp.Spread(&kl.Coefficient), zero
	drawn, lanes := b.drawn[:arms], fp.Integers(b.lanes)
	force, atProbs, logits := b.force, at.probs[:arms], of.logits[:arms]
	old, reference := b.old.probs[:arms], &b.reference
	for a := range force {
		count := archsimd.LoadUint64x8(&drawn[a])
		if b.single {
			count = draw.OnesCount(archsimd.LoadUint64x8(&b.packs.Arms[a]).And(lanes))
		}
		part, prob := share.Mul(count.ConvertToFloat64()), archsimd.LoadFloat64x8(&atProbs[a])
		kappa := archsimd.LoadFloat64x8(&logits[a]).Sub(archsimd.LoadFloat64x8(&reference.logits[a])).Sub(logNorm)
		switch gradient {
		case option.K1:
			kappa = one
		case option.K3:
			kappa = one.Sub(archsimd.LoadFloat64x8(&reference.probs[a]).Div(prob))
		case option.RatioK1:
			kappa = prob.Div(archsimd.LoadFloat64x8(&old[a])).Mul(kappa.Add(one))
		case option.RatioK3:
			kappa = prob.Div(archsimd.LoadFloat64x8(&old[a])).Mul(kappa)
		}
		if inAdvantage && b.ratio {
			kappa = importanceRatio(prob, archsimd.LoadFloat64x8(&old[a])).Mul(kappa)
		}
		c := beta.Mul(kappa.Mul(part)).Masked(part.NotEqual(zero))
		archsimd.LoadFloat64x8(&force[a]).Sub(c).Store(&force[a])
		sum = sum.Add(c)
	}
	for a := range force {
		archsimd.LoadFloat64x8(&force[a]).Add(archsimd.LoadFloat64x8(&atProbs[a]).Mul(sum)).Store(&force[a])
	}
}

// moveReference moves the reference, as grpo.MoveReference.
func (b *vectorBatch) moveReference() {
	rate, rest := fp.Spread(&b.ReferenceUpdate.Rate), fp.Broadcast(1).Sub(fp.Spread(&b.ReferenceUpdate.Rate))
	for a := range b.reference.logits {
		logit := &b.reference.logits[a]
		rest.Mul(archsimd.LoadFloat64x8(logit)).Add(rate.Mul(archsimd.LoadFloat64x8(&b.now.logits[a]))).Store(logit)
	}
	b.reference.softmax(b.reference.logNorm)
}
