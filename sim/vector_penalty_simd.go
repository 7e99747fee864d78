//go:build goexperiment.simd && amd64

package sim

import (
	"simd/archsimd"

	"grposim/grpo"
	"grposim/sim/draw"
)

// needsLogNorm reports whether the KL penalty needs log π of the cell's policies.
func (v *vectorCell) needsLogNorm() bool {
	kl := &v.Estimator.KL
	return kl.Outside() || v.sampled && kl.Gradient != grpo.K1 && kl.Gradient != grpo.K3
}

// addDrawn counts samples of an arm.
func (b *vectorBatch) addDrawn(a int, count integers) {
	if b.drawn != nil {
		archsimd.LoadUint64x8(&b.drawn[a]).Add(count).Store(&b.drawn[a])
	}
}

// subtractSampledKL is grpo.Force.subtractSampledKL.
func (b *vectorBatch) subtractSampledKL() {
	kl, arms := &b.Estimator.KL, len(b.force)
	gradient, at := kl.Gradient, &b.now
	if kl.At == grpo.AtSnapshot {
		at = &b.old
	}
	zero, one, logNorm := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(1), archsimd.BroadcastFloat64x8(0)
	if at.logNorm != nil {
		logNorm = archsimd.LoadFloat64x8(at.logNorm).Sub(archsimd.LoadFloat64x8(b.reference.logNorm))
	}
	share, beta, sum := archsimd.BroadcastFloat64x8(b.share), archsimd.BroadcastFloat64x8(kl.Coefficient), zero
	drawn, lanes := b.drawn[:arms], archsimd.BroadcastUint64x8(b.lanes)
	force, atProbs, atLogits := b.force, at.probs[:arms], at.logits[:arms]
	old, reference := b.old.probs[:arms], b.reference
	for a := range force {
		count := archsimd.LoadUint64x8(&drawn[a])
		if b.single {
			count = draw.OnesCount(archsimd.LoadUint64x8(&b.packs.Arms[a]).And(lanes))
		}
		part, prob := share.Mul(count.ConvertToFloat64()), archsimd.LoadFloat64x8(&atProbs[a])
		kappa := archsimd.LoadFloat64x8(&atLogits[a]).Sub(archsimd.LoadFloat64x8(&reference.logits[a])).Sub(logNorm)
		switch gradient {
		case grpo.K1:
			kappa = one
		case grpo.K3:
			kappa = one.Sub(archsimd.LoadFloat64x8(&reference.probs[a]).Div(prob))
		case grpo.RatioK1:
			kappa = prob.Div(archsimd.LoadFloat64x8(&old[a])).Mul(kappa.Add(one))
		case grpo.RatioK3:
			kappa = prob.Div(archsimd.LoadFloat64x8(&old[a])).Mul(kappa)
		}
		c := beta.Mul(kappa.Mul(part)).Masked(part.NotEqual(zero))
		archsimd.LoadFloat64x8(&force[a]).Sub(c).Store(&force[a])
		sum = sum.Add(c)
	}
	for a := range force {
		archsimd.LoadFloat64x8(&force[a]).Add(archsimd.LoadFloat64x8(&atProbs[a]).Mul(sum)).Store(&force[a])
	}
}

// moveReference moves the reference, as grpo.ReferenceUpdate.Move.
func (b *vectorBatch) moveReference() {
	rate, rest := archsimd.BroadcastFloat64x8(b.ReferenceUpdate.Rate), archsimd.BroadcastFloat64x8(1-b.ReferenceUpdate.Rate)
	for a := range b.reference.logits {
		logit := &b.reference.logits[a]
		rest.Mul(archsimd.LoadFloat64x8(logit)).Add(rate.Mul(archsimd.LoadFloat64x8(&b.now.logits[a]))).Store(logit)
	}
	b.softmax(b.reference)
}
