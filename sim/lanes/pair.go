//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import "simd"

// Functions of this file are the ways of two arms.

// movePairs is moveFused of two arms.
func (k *runner) movePairs(n *stepNumbers, weighted, counts, averages bool) {
	c, exact, rate, low := &k.c, k.exact, wordsOf(n.rate).BitsToFloat64(), k.c.low
	e := k.exp.list[:k.end-k.first]
	for j := range e {
		i := k.first + j
		x, now, old, arms := &k.teams[i], k.now[i*2:][:2], k.old[i*2:][:2], k.state[i*2:][:2]
		up, down := k.advantagesOf(i)
		y := k.counts[2*i:][:2]
		r, s := y[0].rewarded, y[1].rewarded
		f, g := y[0].others, y[1].others
		y[0].rewarded, y[1].rewarded = r.ShiftAllRight(16), s.ShiftAllRight(16)
		y[0].others, y[1].others = f.ShiftAllRight(16), g.ShiftAllRight(16)
		r0, r1, f0, f1 := number(r.And(low)), number(s.And(low)), number(f.And(low)), number(g.And(low))
		total := r0.Add(r1)
		p0, p1, l0, l1 := now[0].prob, now[1].prob, now[0].logit, now[1].logit
		if counts {
			peaks := k.peaks[i*2:][:2]
			peaks[0], peaks[1] = peaks[0].Max(p0), peaks[1].Max(p1)
		}
		if averages {
			d := p0.Mul(k.mean[0]).Add(p1.Mul(k.mean[1])).Sub(c.reward0)
			z := l0.Sub(l1).Sub(c.gap0)
			x.reward, x.square = x.reward.Add(d), x.square.Add(d.Mul(d))
			x.gap, x.gapSquare = x.gap.Add(z), x.gapSquare.Add(z.Mul(z))
			x.zeros = x.zeros.Add(masked(c.one, c.mixed(total).Not()))
		}
		positive0, negative0 := up.Mul(r0), down.Mul(f0)
		positive1, negative1 := up.Mul(r1), down.Mul(f1)
		if weighted {
			w0, w1 := ratio(p0, old[0].prob), ratio(p1, old[1].prob)
			positive0, negative0 = w0.Mul(positive0), w0.Mul(negative0)
			positive1, negative1 = w1.Mul(positive1), w1.Mul(negative1)
		}
		f0, f1 = x.share.Mul(positive0.Add(negative0)), x.share.Mul(positive1.Add(negative1))
		sum := f0.Add(f1)
		g0, g1 := f0.Sub(p0.Mul(sum)), f1.Sub(p1.Mul(sum))
		if exact {
			q0, q1, at0, at1 := p0, p1, l0, l1
			if k.atSnapshot {
				q0, q1, at0, at1 = old[0].prob, old[1].prob, old[0].logit, old[1].logit
			}
			at0, at1 = at0.Sub(k.reference[0]), at1.Sub(k.reference[1])
			pull := q0.Mul(at0).Add(q1.Mul(at1))
			g0 = g0.Sub(c.beta.Mul(q0.Mul(at0.Sub(pull))))
			g1 = g1.Sub(c.beta.Mul(q1.Mul(at1.Sub(pull))))
		}
		v0, v1 := c.momentum.Mul(arms[0].velocity).Add(g0), c.momentum.Mul(arms[1].velocity).Add(g1)
		arms[0].velocity, arms[1].velocity = v0, v1
		l0, l1 = l0.Add(rate.Mul(v0)), l1.Add(rate.Mul(v1))
		now[0].logit, now[1].logit = l0, l1
		e[j].logit = excessOf(l0, l1)
	}
}

// excessOf returns −|θ_0 − θ_1|. Equal logits have none even if infinite.
func excessOf(l0, l1 simd.Float64s) simd.Float64s {
	return masked(l0.Sub(l1).Abs().Neg(), differ(l0, l1))
}

// takeExcess sets the arguments of the exponentials of pairSoftmax.
func (k *runner) takeExcess() {
	e := k.exp.list[:k.end-k.first]
	for j := range e {
		now := k.now[(k.first+j)*k.stride:][:2]
		e[j].logit = excessOf(now[0].logit, now[1].logit)
	}
}

// pairSoftmax is softmax, whose exponential of −|θ_0 − θ_1| is to be taken.
func (k *runner) pairSoftmax() {
	e, one := k.exp.list[:k.end-k.first], k.c.one
	k.exp.replace(len(e))
	for j := range e {
		x, now := &k.teams[k.first+j], k.now[(k.first+j)*k.stride:][:2]
		norm := one.Add(e[j].prob)
		likely := one.Div(norm)
		other := e[j].prob.Mul(likely)
		l0, l1 := now[0].logit, now[1].logit
		now[0].prob, now[1].prob = where(l0, l1, other, likely), where(l0, l1, likely, other)
		x.finish(norm)
	}
}
