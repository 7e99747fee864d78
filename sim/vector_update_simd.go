//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"simd/archsimd"

	"grposim/fp"
	"grposim/option"
)

// move moves the logits along the force, as grpo.Step.
func (b *vectorBatch) move(learningRate *float64) {
	o := &b.Optimizer
	if o.Kind == option.Adam {
		archsimd.ClearAVXUpperBits() // see fp.Integers
		b.decay1 *= o.Beta1
		b.decay2 *= o.Beta2
	}
	if b.clips {
		b.clip()
	}
	rate, momentum := fp.Spread(learningRate), fp.Spread(&o.Momentum)
	switch o.Kind {
	case option.HeavyBall:
		for a := range b.force {
			v := momentum.Mul(archsimd.LoadFloat64x8(&b.velocity[a])).Add(archsimd.LoadFloat64x8(&b.force[a]))
			v.Store(&b.velocity[a])
			archsimd.LoadFloat64x8(&b.now.logits[a]).Add(rate.Mul(v)).Store(&b.now.logits[a])
		}
	case option.Nesterov:
		for a := range b.force {
			g := archsimd.LoadFloat64x8(&b.force[a])
			v := momentum.Mul(archsimd.LoadFloat64x8(&b.velocity[a])).Add(g)
			v.Store(&b.velocity[a])
			archsimd.LoadFloat64x8(&b.now.logits[a]).Add(rate.Mul(g.Add(momentum.Mul(v)))).Store(&b.now.logits[a])
		}
	case option.Adam:
		one, beta1, beta2 := fp.Broadcast(1), fp.Spread(&o.Beta1), fp.Spread(&o.Beta2)
		rest1, rest2 := one.Sub(beta1), one.Sub(beta2)
		gone1, gone2 := one.Sub(fp.Spread(&b.decay1)), one.Sub(fp.Spread(&b.decay2))
		for a := range b.force {
			g := archsimd.LoadFloat64x8(&b.force[a])
			v := beta1.Mul(archsimd.LoadFloat64x8(&b.velocity[a])).Add(rest1.Mul(g))
			s := beta2.Mul(archsimd.LoadFloat64x8(&b.square[a])).Add(rest2.Mul(g.Mul(g)))
			v.Store(&b.velocity[a])
			s.Store(&b.square[a])
			scale := s.Div(gone2).Sqrt().Add(fp.Spread(&o.Epsilon))
			step := rate.Mul(v.Div(gone1).Div(scale)).Masked(scale.Greater(fp.Broadcast(0)))
			archsimd.LoadFloat64x8(&b.now.logits[a]).Add(step).Store(&b.now.logits[a])
		}
	}
}

// updatePolicies sets the probabilities from the logits after step t, as
// grpo.Policy.Update, and moves the reference. A replica whose policy has become NaN has
// diverged.
func (b *vectorBatch) updatePolicies(t int) { b.accept(b.now.softmax(b.nextLogNorm(&b.now, t)), t) }

// accept takes the policies after step t, of which softmax returned the given number.
func (b *vectorBatch) accept(inverse vector, t int) {
	b.onPolicy = false
	b.diverge(inverse.IsNaN().ToBits(), t)
	if b.ReferenceUpdate.Moves(t) {
		b.moveReference()
	}
}

// nextLogNorm returns where softmax of p stores log Σ exp(logits) after step t; nil if unused.
func (v *vectorCell) nextLogNorm(p *vectorPolicies, t int) *floats {
	if p.logNorm != nil && v.usesLogNorm(t+1) {
		return p.logNorm
	}
	return nil
}

// diverge notes the replicas that diverge in step t, as bits.
func (b *vectorBatch) diverge(diverged uint8, t int) {
	if diverged == 0 {
		return
	}
	for i, r := range b.replicas {
		if diverged>>i&1 != 0 && r.divergedAt == running {
			r.divergedAt = t + 1
		}
	}
}

// softmax sets the probabilities of policies from their logits, and log Σ exp(θ_a) unless it is
// nil. It returns the inverse of Σ exp(θ_a − max θ).
func (p *vectorPolicies) softmax(logNorm *floats) vector {
	if len(p.logits) == 2 {
		return p.pairSoftmax(logNorm)
	}
	logits, probs := p.logits, p.probs[:len(p.logits)]
	top := archsimd.LoadFloat64x8(&logits[0])
	for a := range logits {
		top = top.Max(archsimd.LoadFloat64x8(&logits[a]))
	}
	norm := fp.ExpBelowLanes(probs, logits, top)
	if logNorm != nil {
		top.Add(fp.LogLanes(norm)).Store(logNorm)
	}
	inverse := fp.Broadcast(1).Div(norm)
	for a := range probs {
		archsimd.LoadFloat64x8(&probs[a]).Mul(inverse).Store(&probs[a])
	}
	return inverse
}

// pairSoftmax is softmax for two arms. Equal logits have equal probabilities even if
// they are infinite.
func (p *vectorPolicies) pairSoftmax(logNorm *floats) vector {
	logits, probs := (*[2]floats)(p.logits), (*[2]floats)(p.probs)
	gap := archsimd.LoadFloat64x8(&logits[0]).Sub(archsimd.LoadFloat64x8(&logits[1]))
	e := fp.ExpLanes(gap.AsUint64x8().Or(fp.Integers(1 << 63)).AsFloat64x8()) // of −|gap|
	// The logits are loaded again. A vector that lives across a call may cross a cache line.
	first, second := archsimd.LoadFloat64x8(&logits[0]), archsimd.LoadFloat64x8(&logits[1])
	one, likelier := fp.Broadcast(1), first.GreaterEqual(second)
	if e.IsNaN().ToBits() != 0 {
		e = one.Merge(e, first.Equal(second))
	}
	inverse := one.Div(one.Add(e))
	// Products of selected factors: the compiler would repeat a division whose result is selected.
	one.Merge(e, likelier).Mul(inverse).Store(&probs[0])
	e.Merge(one, likelier).Mul(inverse).Store(&probs[1])
	if logNorm != nil {
		first.Merge(second, likelier).Add(fp.LogLanes(one.Add(e))).Store(logNorm)
	}
	return inverse
}
