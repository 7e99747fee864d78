//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import (
	"simd"

	"grposim/grpo"
	"grposim/option"
)

// weigh multiplies the sums of advantages by the importance weights, as grpo.Force.setWeights.
func (k *runner) weigh() {
	if k.form == grpo.SigmoidWeight || k.form == grpo.PowerWeight {
		k.takeExponents()
		k.exp.replace((k.end - k.first) * 2 * k.arms)
	}
	for i := k.first; i < k.end; i++ {
		k.weighTeam(i)
	}
}

// weighTeam weighs the samples of a team, whose exponentials are taken.
func (k *runner) weighTeam(i int) {
	now, old, sums := k.nowOf(i), k.oldOf(i), k.sums[i*k.arms:][:k.arms]
	exponentials := k.exp.list[(i-k.first)*2*k.arms:]
	clipped, all := floats{}, floats{}
	for a := range sums {
		y := &sums[a]
		w := ratio(now[a].prob, old[a].prob)
		up, down := w, w
		switch k.form {
		case grpo.DroppedWeight:
			if k.drops {
				up, down = k.w0.within(w, w), k.w1.within(w, w)
			}
		case grpo.DroppedByChange:
			change := now[a].prob.Sub(old[a].prob)
			up, down = k.w0.within(w, change), k.w1.within(w, change)
		case grpo.HeldWeight:
			up, down = w.Max(k.w0.low).Min(k.w0.high), w.Max(k.w1.low).Min(k.w1.high)
		case grpo.SigmoidWeight:
			w = w.Min(k.c.most)
			up, down = k.sigmoid(exponentials[2*a].prob, w), k.sigmoid(exponentials[2*a+1].prob, w)
		case grpo.PowerWeight:
			up, down = exponentials[2*a].prob, exponentials[2*a+1].prob
		}
		if k.drops {
			t := &k.tally[i*k.arms+a]
			all = all.Add(t.positives).Add(t.negatives)
			clipped = clipped.Add(where(floats{}, up, floats{}, t.positives)).Add(where(floats{}, down, floats{}, t.negatives))
		}
		y.positive, y.negative = up.Mul(y.positive), down.Mul(y.negative)
	}
	if k.drops && k.skipped == 0 {
		x := &k.teams[i]
		x.clipped = x.clipped.Add(clipped.Div(all.Max(k.c.one)))
	}
}

// interval is a closed interval in vectors.
type interval struct{ low, high simd.Float64s }

func intervalOf(x grpo.Interval) interval { return interval{floatsOf(x.Low), floatsOf(x.High)} }

// within returns w where x is in the interval, and 0 elsewhere.
func (r *interval) within(w, x floats) floats {
	return masked(w, below(x, r.low).Or(below(r.high, x)).Not())
}

// sigmoid returns 4e/(1+e)² w.
func (k *runner) sigmoid(e, w floats) floats {
	above := k.c.one.Add(e)
	return k.c.four.Mul(e).Div(above.Mul(above)).Mul(w)
}

// takeExponents sets the arguments of the exponentials of weights, for A > 0 and A < 0 by arm.
func (k *runner) takeExponents() {
	c, j := &k.c, 0
	for i := k.first; i < k.end; i++ {
		now, old := k.nowOf(i), k.oldOf(i)
		logNorm := floats{}
		if k.logNorms {
			logNorm = k.now[i*k.stride+k.arms].logit.Sub(k.old[i*k.stride+k.arms].logit)
		}
		for a := range now {
			w := ratio(now[a].prob, old[a].prob)
			impossible := below(floats{}, w).Not()
			w = w.Min(c.most)
			x, y := k.exp.list[j:], w.Sub(c.one)
			if k.form == grpo.SigmoidWeight {
				x[0].logit, x[1].logit = c.positive.Mul(y).Abs().Neg(), c.negative.Mul(y).Abs().Neg()
			} else {
				l := now[a].logit.Sub(old[a].logit).Sub(logNorm)
				l = instead(impossible, c.infinite, l)
				rest := c.one.Sub(w)
				x[0].logit = c.positive.Mul(l).Add(c.decay1.Mul(rest)).Min(c.limit)
				x[1].logit = c.negative.Mul(l).Add(c.decay2.Mul(rest)).Min(c.limit)
			}
			j += 2
		}
	}
}

// subtractSampledKL is grpo.Force.subtractSampledKL.
func (k *runner) subtractSampledKL(i int) {
	c, now, old, arms := &k.c, k.nowOf(i), k.oldOf(i), k.state[i*k.arms:][:k.arms]
	at, norm := now, k.now
	if k.atSnapshot {
		at, norm = old, k.old
	}
	logNorm := floats{}
	if k.logNorms {
		logNorm = norm[i*k.stride+k.arms].logit.Sub(c.logNorm0)
	}
	reference, tallies, sum := k.referenceProbs[:len(now)], k.tally[i*k.arms:][:len(now)], floats{}
	for a := range now {
		share := k.teams[i].share.Mul(tallies[a].drawn)
		kappa := at[a].logit.Sub(k.reference[a]).Sub(logNorm)
		switch k.gradient {
		case option.K1:
			kappa = c.one
		case option.K3:
			kappa = c.one.Sub(reference[a].Div(at[a].prob))
		case option.RatioK1:
			kappa = at[a].prob.Div(old[a].prob).Mul(kappa.Add(c.one))
		case option.RatioK3:
			kappa = at[a].prob.Div(old[a].prob).Mul(kappa)
		}
		part := masked(c.beta.Mul(kappa.Mul(share)), differ(share, floats{}))
		arms[a].force = arms[a].force.Sub(part)
		sum = sum.Add(part)
	}
	for a := range now {
		arms[a].force = arms[a].force.Add(at[a].prob.Mul(sum))
	}
}
