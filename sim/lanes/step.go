//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import (
	"simd"

	"grposim/option"
)

// drawStep takes the snapshots and draws the groups of step t.
func (k *runner) drawStep(t int) {
	k.fresh = false
	if k.Lag.Refreshes(t) {
		k.refresh(t)
	} else if len(k.reused) > 0 {
		k.copySums(k.sums, k.reused)
		return
	}
	if k.together == 0 {
		k.drawSampler()
	} else {
		for g := 0; g < k.groups; g++ {
			k.drawGroup(g == 0)
		}
	}
	if len(k.reused) > 0 {
		k.copySums(k.reused, k.sums)
	}
}

// copySums copies the sums of the teams that run, which weights change in place.
func (k *runner) copySums(to, from []advantages) {
	for j := k.first * k.arms; j < k.end*k.arms; j++ { // copy would use older instructions
		to[j].positive, to[j].negative = from[j].positive, from[j].negative
	}
}

// refresh takes the snapshots of step t.
func (k *runner) refresh(t int) {
	if len(k.peaks) > 0 {
		for i := k.first; i < k.end; i++ {
			k.leaveSnapshot(i)
		}
	}
	if n, slots := t/k.Lag.StepsPerSnapshot(), len(k.past); slots > 0 {
		at, until := k.first*k.stride, k.end*k.stride
		to, from := k.past[n%slots][at:until], k.now[at:until]
		for j := range to { // copy would use older instructions, see scalars.go
			to[j].logit, to[j].prob = from[j].logit, from[j].prob
		}
		k.old = k.past[max(n-slots+1, 0)%slots]
	}
	k.fresh = len(k.past) <= 1
	k.aim()
}

// leaveSnapshot takes the ratios with the snapshot of a team, as sinceRecord.leave of package sim.
func (k *runner) leaveSnapshot(i int) {
	x, old, peaks := &k.teams[i], k.oldOf(i), k.peaks[i*k.arms:][:k.arms]
	largest := x.largest
	for a := range peaks {
		largest = largest.Max(ratio(peaks[a], old[a].prob))
		peaks[a] = floats{}
	}
	x.largest = largest
}

// ratio returns p/q, 0 where q is.
func ratio(p, q simd.Float64s) simd.Float64s { return masked(p.Div(q), below(floats{}, q)) }

func (k *runner) nowOf(i int) []policy { return k.now[i*k.stride:][:k.arms] }

func (k *runner) oldOf(i int) []policy { return k.old[i*k.stride:][:k.arms] }

// moveStep adds step t to the averages and moves the policies.
func (k *runner) moveStep(t int) {
	n := &k.steps[t-k.from]
	weighted, counts, averages := k.weighted && !k.fresh, len(k.peaks) > 0 && k.skipped == 0, t >= k.BurnIn
	switch {
	case k.fused && k.arms == 2:
		k.movePairs(n, weighted, counts, averages)
		k.pairSoftmax()
		return
	case weighted && !k.fused:
		k.weigh()
	}
	for i := k.first; i < k.end; i++ {
		if counts {
			k.countStep(i)
		}
		switch {
		case k.fused:
			k.moveFused(i, n, weighted, averages)
			continue
		case averages:
			k.average(i)
		}
		k.push(i)
		if k.sampled {
			k.subtractSampledKL(i)
		}
		if k.Estimator.Entropy != 0 {
			k.addEntropy(i)
		}
		if k.Optimizer.MaxNorm != 0 {
			k.limitNorm(k.state[i*k.arms:][:k.arms])
		}
		k.step(i, n)
	}
	if k.arms == 2 {
		k.takeExcess()
		k.pairSoftmax()
	} else {
		k.softmax()
	}
	if k.logNorms {
		k.setLogNorms()
	}
}

// countStep counts a step in what is recorded of the steps since the record.
func (k *runner) countStep(i int) {
	now, peaks := k.nowOf(i), k.peaks[i*k.arms:][:k.arms]
	for a := range peaks {
		peaks[a] = peaks[a].Max(now[a].prob)
	}
}

// average adds the step to the sums after burn-in.
func (k *runner) average(i int) {
	x, c, now := &k.teams[i], &k.c, k.nowOf(i)
	mean := k.mean[:len(now)]
	reward := floats{}
	for a := range now {
		reward = reward.Add(now[a].prob.Mul(mean[a]))
	}
	d := reward.Sub(c.reward0)
	x.reward = x.reward.Add(d)
	x.square = x.square.Add(d.Mul(d))
	if k.arms == 2 {
		z := now[0].logit.Sub(now[1].logit).Sub(c.gap0)
		x.gap = x.gap.Add(z)
		x.gapSquare = x.gapSquare.Add(z.Mul(z))
	}
	x.zeros = x.zeros.Add(x.zero)
}

// push sets the force of the samples and the exact gradient of the penalty, as grpo.Force.Sampled.
func (k *runner) push(i int) {
	x, c, now, old, reference := &k.teams[i], &k.c, k.nowOf(i), k.oldOf(i), k.reference[:k.arms]
	arms, sums := k.state[i*k.arms:][:len(now)], k.sums[i*k.arms:][:len(now)]
	at := now
	if k.atSnapshot {
		at = old
	}
	sum, pull := floats{}, floats{}
	share := x.share
	for a := range now {
		f := share.Mul(sums[a].positive.Add(sums[a].negative))
		arms[a].force = f
		sum = sum.Add(f)
		pull = pull.Add(at[a].prob.Mul(at[a].logit.Sub(reference[a])))
	}
	if !k.exact {
		for a := range now {
			arms[a].force = arms[a].force.Sub(now[a].prob.Mul(sum))
		}
		return
	}
	beta := c.beta
	for a := range now {
		l := at[a].logit.Sub(reference[a])
		g := arms[a].force.Sub(now[a].prob.Mul(sum))
		arms[a].force = g.Sub(beta.Mul(at[a].prob.Mul(l.Sub(pull))))
	}
}

// addEntropy adds α∇H, as grpo.Force.Sampled.
func (k *runner) addEntropy(i int) {
	alpha, now, arms, mean := k.c.entropy, k.nowOf(i), k.state[i*k.arms:][:k.arms], floats{}
	for a := range now {
		mean = mean.Add(now[a].prob.Mul(now[a].logit))
	}
	for a := range now {
		arms[a].force = arms[a].force.Sub(alpha.Mul(now[a].prob.Mul(now[a].logit.Sub(mean))))
	}
}

// limitNorm is grpo.LimitNorm. A norm that is NaN limits nothing.
func (k *runner) limitNorm(arms []arm) {
	square, most := floats{}, k.c.norm
	for a := range arms {
		square = square.Add(arms[a].force.Mul(arms[a].force))
	}
	norm := square.Sqrt()
	factor := where(most, norm, most.Div(norm), k.c.one)
	for a := range arms {
		arms[a].force = arms[a].force.Mul(factor)
	}
}

// step moves the logits, as grpo.Step, and takes the largest.
func (k *runner) step(i int, n *stepNumbers) {
	c, now, rate := &k.c, k.nowOf(i), wordsOf(n.rate).BitsToFloat64()
	arms := k.state[i*k.arms:][:len(now)]
	switch k.method {
	case option.HeavyBall:
		momentum := c.momentum
		for a := range now {
			v := momentum.Mul(arms[a].velocity).Add(arms[a].force)
			arms[a].velocity = v
			now[a].logit = now[a].logit.Add(rate.Mul(v))
		}
	case option.Nesterov:
		momentum := c.momentum
		for a := range now {
			g := arms[a].force
			v := momentum.Mul(arms[a].velocity).Add(g)
			arms[a].velocity = v
			now[a].logit = now[a].logit.Add(rate.Mul(g.Add(momentum.Mul(v))))
		}
	case option.Adam:
		squares := k.squares[i*k.arms:][:len(now)]
		gone1, gone2 := wordsOf(n.gone1).BitsToFloat64(), wordsOf(n.gone2).BitsToFloat64()
		for a := range now {
			y := &arms[a]
			g := y.force
			v := c.beta1.Mul(y.velocity).Add(c.rest1.Mul(g))
			s := c.beta2.Mul(squares[a]).Add(c.rest2.Mul(g.Mul(g)))
			y.velocity, squares[a] = v, s
			scale := s.Div(gone2).Sqrt().Add(c.epsilon)
			move := rate.Mul(v.Div(gone1).Div(scale))
			now[a].logit = now[a].logit.Add(masked(move, below(floats{}, scale)))
		}
	}
	most := now[0].logit
	for a := range now {
		most = most.Max(now[a].logit)
	}
	k.teams[i].most = most
}

// softmax sets the probabilities from the logits, as grpo.Policy.Update.
func (k *runner) softmax() {
	for i := k.first; i < k.end; i++ {
		now, most := k.nowOf(i), k.teams[i].most
		sum, distant := k.exp.c.below(now, most)
		if any(distant, &k.space) {
			sum = k.exp.far(now, most)
		}
		inverse := k.c.one.Div(sum)
		for a := range now {
			now[a].prob = now[a].prob.Mul(inverse)
		}
		k.teams[i].finish(sum)
	}
}

// finish takes Σ exp(θ_a − max θ) after a step. It is NaN where the policy is.
func (x *team) finish(norm floats) {
	x.finite = x.finite.Sub(norm.Equal(norm).ToInt64s().ToBits())
	x.norm = norm
}

// setLogNorms sets log Σ exp(θ_a) of π.
func (k *runner) setLogNorms() {
	n := k.scalars[k.first*k.w : k.end*k.w]
	for i := k.first; i < k.end; i++ {
		k.teams[i].norm.Store(k.scalars[i*k.w:])
	}
	logarithmsOf(n)
	for i := k.first; i < k.end; i++ {
		now := k.nowOf(i)
		most := now[0].logit
		for a := range now {
			most = most.Max(now[a].logit)
		}
		k.now[i*k.stride+k.arms].logit = most.Add(loadFloats(k.scalars[i*k.w:]))
	}
}
