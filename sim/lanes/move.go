//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import "simd"

// Functions of this file are the short way of a step, which most runs take: heavy ball, weights of
// 1 or ρ, and no penalty or its exact gradient.

// moveFused adds a group to the sums and moves the logits of a team.
func (k *runner) moveFused(i int, n *stepNumbers, weighted, averages bool) {
	x, c, now, old := &k.teams[i], &k.c, k.nowOf(i), k.oldOf(i)
	arms, reference, mean, at := k.state[i*k.arms:][:len(now)], k.reference[:len(now)], k.mean[:len(now)], now
	if k.atSnapshot {
		at = old
	}
	up, down := k.advantagesOf(i)
	counted, low := k.countsOf(i)[:len(now)], c.low
	sum, pull, share, total, reward := floats{}, floats{}, x.share, floats{}, floats{}
	for a := range now {
		y := &counted[a]
		rewarded, others := number(y.rewarded.And(low)), number(y.others.And(low))
		y.rewarded, y.others = y.rewarded.ShiftAllRight(16), y.others.ShiftAllRight(16)
		p := now[a].prob
		total = total.Add(rewarded)
		positive, negative := up.Mul(rewarded), down.Mul(others)
		if weighted {
			w := ratio(p, old[a].prob)
			positive, negative = w.Mul(positive), w.Mul(negative)
		}
		f := share.Mul(positive.Add(negative))
		arms[a].force = f
		sum = sum.Add(f)
		pull = pull.Add(at[a].prob.Mul(at[a].logit.Sub(reference[a])))
		reward = reward.Add(p.Mul(mean[a]))
	}
	if averages {
		d := reward.Sub(c.reward0)
		x.reward, x.square = x.reward.Add(d), x.square.Add(d.Mul(d))
		x.zeros = x.zeros.Add(masked(c.one, c.mixed(total).Not()))
	}
	beta, momentum, rate := c.beta, c.momentum, wordsOf(n.rate).BitsToFloat64()
	var most simd.Float64s
	for a := range now {
		y, z := &arms[a], &now[a]
		l := z.logit
		g := y.force.Sub(z.prob.Mul(sum))
		if k.exact {
			g = g.Sub(beta.Mul(at[a].prob.Mul(at[a].logit.Sub(reference[a]).Sub(pull))))
		}
		v := momentum.Mul(y.velocity).Add(g)
		y.velocity = v
		l = l.Add(rate.Mul(v))
		z.logit = l
		if a == 0 {
			most = l
		}
		most = most.Max(l)
	}
	x.most = most
}
