package sim

import (
	"math"
	"math/bits"

	"grposim/grpo"
	"grposim/grpo/fp"
	"grposim/sim/draw"
)

// duo is a replica with two Bernoulli arms, between two steps at which anything is
// recorded or read: what gradient and move do arm by arm and option by option it
// does in a straight line, to the last bit. Most steps that anybody waits for in
// this field are such steps.
type duo struct {
	replica    *replica
	sampler    *sampler
	advantages *grpo.BernoulliAdvantages
	words      *draw.Words

	logits0, logits1, probs0, probs1, velocity0, velocity1 float64 // of its policy and motion

	mean0, mean1           float64
	reference0, reference1 float64
	share                  float64 // 1/GB
	beta, rate, momentum   float64
	reward0, gap0          float64
	burnIn, groups, size   int
	importance             grpo.ImportanceMode // not Clip
	at                     grpo.KLPoint
}

// newDuo returns the duo of a replica, nil where there is none for its cell.
func newDuo(r *replica) *duo {
	c, e, o := r.cell, &r.cell.Estimator, &r.cell.Optimizer
	switch {
	case c.Deterministic(),
		len(c.Bandit.Arms) != 2 || r.sampler.advantages == nil,
		e.Importance.Mode == grpo.Clip,
		e.KL.Gradient != grpo.ExactKL,
		c.Lag.Kind != grpo.Block,
		o.Kind != grpo.HeavyBall,
		o.Schedule.Kind != grpo.ConstantRate || o.Schedule.Warmup > 0:
		return nil
	}
	return &duo{
		replica: r, sampler: r.sampler, advantages: r.sampler.advantages, words: r.words,
		mean0: r.means[0], mean1: r.means[1],
		reference0: c.Reference[0], reference1: c.Reference[1],
		share: 1 / (float64(e.GroupSize) * float64(e.GroupsPerStep)),
		beta:  e.KL.Coefficient, rate: o.LearningRate, momentum: o.Momentum,
		reward0: r.start.Mean(r.means), gap0: gap(r.start),
		burnIn: c.Run.BurnIn, groups: e.GroupsPerStep, size: e.GroupSize,
		importance: e.Importance.Mode,
		at:         e.KL.At,
	}
}

// take takes over from the replica.
func (d *duo) take() {
	policy, velocity := d.replica.policy, d.replica.motion.Velocity()
	d.logits0, d.logits1 = policy.Logits[0], policy.Logits[1]
	d.probs0, d.probs1 = policy.Probs[0], policy.Probs[1]
	d.velocity0, d.velocity1 = velocity[0], velocity[1]
}

// give hands over to the replica, whose snapshot is up to date.
func (d *duo) give() {
	policy, velocity := d.replica.policy, d.replica.motion.Velocity()
	policy.Logits[0], policy.Logits[1] = d.logits0, d.logits1
	policy.Update()
	d.replica.snapshot.Update()
	velocity[0], velocity[1] = d.velocity0, d.velocity1
}

// refresh takes a snapshot of the policy.
func (d *duo) refresh() {
	old := d.replica.snapshot
	old.Logits[0], old.Logits[1] = d.logits0, d.logits1
	old.Probs[0], old.Probs[1] = d.probs0, d.probs1
	d.sampler.aim(old)
}

// step does step t but for the refresh.
func (d *duo) step(t int) {
	r, s := d.replica, d.sampler
	if r.divergedAt != running {
		return
	}

	// The groups, as sampler.tally draws them.
	var positive0, negative0, positive1, negative1 float64
	zero := 0
	for range d.groups {
		var n0, k0, k1 int
		if d.size <= draw.MaxLanes {
			if s.left == 0 {
				s.refill(d.words)
			}
			first, rewarded := s.pack.Arms[0]&s.lanes, s.pack.Rewarded&s.lanes
			s.skip()
			n0, k0 = bits.OnesCount64(first), bits.OnesCount64(first&rewarded)
			k1 = bits.OnesCount64(rewarded) - k0
		} else {
			s.sample(d.words)
			n0, k0, k1 = s.counts[0], s.successes[0], s.successes[1]
		}
		up, down := d.advantages.Of(k0 + k1)
		if up == 0 {
			zero++
			continue
		}
		positive0 += float64(up * float64(k0))
		negative0 += float64(down * float64(n0-k0))
		positive1 += float64(up * float64(k1))
		negative1 += float64(down * float64(d.size-n0-k1))
	}

	l0, l1, p0, p1 := d.logits0, d.logits1, d.probs0, d.probs1
	if t >= d.burnIn {
		reward := float64(p0*d.mean0) + float64(p1*d.mean1) - d.reward0
		r.sums.reward += reward
		r.sums.rewardSquare += float64(reward * reward)
		z := l0 - l1 - d.gap0
		r.sums.gap += z
		r.sums.gapSquare += float64(z * z)
		r.zero += zero
	}

	// The force of the samples, Σ w A (e_a − π)/GB.
	c0, c1 := positive0+negative0, positive1+negative1
	if d.importance == grpo.Ratio {
		w0, w1 := importance(p0, r.snapshot.Probs[0]), importance(p1, r.snapshot.Probs[1])
		c0 = float64(w0*positive0) + float64(w0*negative0)
		c1 = float64(w1*positive1) + float64(w1*negative1)
	}
	c0, c1 = float64(d.share*c0), float64(d.share*c1)
	sum := c0 + c1
	g0, g1 := c0-float64(p0*sum), c1-float64(p1*sum)

	// The penalty, β π_a(ℓ_a − Σπℓ) with ℓ = θ − θ_ref.
	if d.beta != 0 {
		q0, q1, d0, d1 := p0, p1, l0, l1
		if d.at == grpo.AtSnapshot {
			old := r.snapshot
			q0, q1, d0, d1 = old.Probs[0], old.Probs[1], old.Logits[0], old.Logits[1]
		}
		d0 -= d.reference0
		d1 -= d.reference1
		mean := float64(q0*d0) + float64(q1*d1)
		g0 -= float64(d.beta * float64(q0*(d0-mean)))
		g1 -= float64(d.beta * float64(q1*(d1-mean)))
	}

	// Heavy ball and softmax.
	v0, v1 := float64(d.momentum*d.velocity0)+g0, float64(d.momentum*d.velocity1)+g1
	l0 += float64(d.rate * v0)
	l1 += float64(d.rate * v1)
	d.velocity0, d.velocity1, d.logits0, d.logits1 = v0, v1, l0, l1
	e := 1.0
	if l0 != l1 {
		e = fp.Exp(-math.Abs(l0 - l1))
	}
	likely := 1 / (1 + e)
	other := e * likely
	if d.logits0 >= d.logits1 {
		d.probs0, d.probs1 = likely, other
	} else {
		d.probs0, d.probs1 = other, likely
	}
	if math.IsNaN(likely) {
		r.divergedAt = t + 1
	}
}

// importance returns π/π_old, and 0 for an arm that π_old cannot draw.
func importance(current, old float64) float64 {
	if old > 0 {
		return current / old
	}
	return 0
}
