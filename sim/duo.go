package sim

import (
	"context"
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
//
// A step has three phases, each done for the whole team before the next: tally,
// move and settle. Each number waits for the one before it; so the processor has
// another replica's to go on with.
type duo struct {
	logits0, logits1, probs0, probs1, velocity0, velocity1 float64
	positive0, negative0, positive1, negative1             float64 // the grpo.Tally of the step
	zeroVariance                                           int

	left            int    // groups in the pack that have not been taken
	first, rewarded uint64 // lanes of the first arm, and rewarded ones, of those groups
	averages        averages
	zero            int // zero-variance groups after burn-in

	*duoCell
	replica *replica
	sampler *sampler
	old     *grpo.Policy // π_old
}

// duoCell is what the duos of a cell have in common.
type duoCell struct {
	mean0, mean1           float64
	reference0, reference1 float64
	share                  float64 // 1/GB
	beta, rate, momentum   float64
	plain                  bool // the optimizer is the heavy ball at a constant rate
	optimizer              *grpo.Optimizer
	reward0, gap0          float64
	burnIn, groups, size   int
	group                  uint64                             // lanes of a group, if the group size is at most 64
	single                 bool                               // a step has one group, of at most that size
	advantages             [2 * draw.MaxLanes]groupAdvantages // [S], of such a group
	importance             grpo.ImportanceMode                // not Clip
	at                     grpo.KLPoint
}

// groupAdvantages are the advantages in a group with S rewarded samples.
type groupAdvantages struct {
	up, down     float64
	zeroVariance int // 0 or 1
}

// newDuos returns the duos of a team, nil where there are none for its cell.
func newDuos(team []*replica) []duo {
	r := team[0]
	c, e, o := r.cell, &r.cell.Estimator, &r.cell.Optimizer
	switch {
	case c.Deterministic(),
		len(c.Bandit.Arms) != 2 || r.sampler.advantages == nil,
		e.Importance.Mode == grpo.Clip,
		e.KL.Gradient != grpo.ExactKL,
		c.Lag.Kind != grpo.Block:
		return nil
	}
	cell := &duoCell{
		mean0: r.means[0], mean1: r.means[1],
		reference0: c.Reference[0], reference1: c.Reference[1],
		share: 1 / (float64(e.GroupSize) * float64(e.GroupsPerStep)),
		beta:  e.KL.Coefficient, rate: o.LearningRate, momentum: o.Momentum,
		plain:     o.Kind == grpo.HeavyBall && o.Schedule.Kind == grpo.ConstantRate && o.Schedule.Warmup == 0,
		optimizer: o,
		reward0:   r.start.Mean(r.means), gap0: gap(r.start),
		burnIn: c.Run.BurnIn, groups: e.GroupsPerStep, size: e.GroupSize,
		group:      r.sampler.first,
		importance: e.Importance.Mode,
		at:         e.KL.At,
	}
	if e.GroupsPerStep == 1 && e.GroupSize <= draw.MaxLanes {
		cell.single = true
		for total := range e.GroupSize + 1 {
			a := &cell.advantages[total]
			if a.up, a.down = r.sampler.advantages.Of(total); a.up == 0 {
				a.zeroVariance = 1
			}
		}
	}
	duos := make([]duo, len(team))
	for i, r := range team {
		duos[i] = duo{duoCell: cell, replica: r, sampler: r.sampler}
	}
	return duos
}

// coast does the steps from from up to to, at which nothing is recorded or read.
func coast(ctx context.Context, duos []duo, lag grpo.Lag, from, to int) {
	for i := range duos {
		duos[i].take()
	}
	for t := from; t < to; t++ {
		if t%stepsBetweenLooks == 0 && ctx.Err() != nil {
			return // the cell will not be finished
		}
		if lag.Refreshes(t) {
			for i := range duos {
				duos[i].refresh()
			}
		}
		for i := range duos {
			duos[i].tally()
		}
		for i := range duos {
			duos[i].move(t)
		}
		for i := range duos {
			duos[i].settle(t)
		}
	}
	for i := range duos {
		duos[i].give()
	}
}

// take takes over from the replica.
func (d *duo) take() {
	r, s := d.replica, d.sampler
	d.logits0, d.logits1 = r.policy.Logits[0], r.policy.Logits[1]
	d.probs0, d.probs1 = r.policy.Probs[0], r.policy.Probs[1]
	velocity := r.motion.Velocity()
	d.velocity0, d.velocity1 = velocity[0], velocity[1]
	d.averages, d.zero = r.sums, r.zero
	d.old = r.snapshot
	d.left = s.left
	d.unpack(bits.TrailingZeros64(s.lanes))
}

// unpack takes the lanes of the sampler's pack, but for the lowest.
func (d *duo) unpack(but int) {
	d.first, d.rewarded = d.sampler.pack.Arms[0]>>but, d.sampler.pack.Rewarded>>but
}

// give hands over to the replica.
func (d *duo) give() {
	r, s := d.replica, d.sampler
	r.policy.Logits[0], r.policy.Logits[1] = d.logits0, d.logits1
	r.policy.Update()
	if velocity := r.motion.Velocity(); d.plain { // else it is the motion's
		velocity[0], velocity[1] = d.velocity0, d.velocity1
	}
	r.sums, r.zero = d.averages, d.zero
	s.left = d.left
	s.lanes = s.first << (uint(s.together-d.left) * s.size)
}

// refresh takes a snapshot of the policy.
func (d *duo) refresh() {
	if d.replica.divergedAt != running {
		return
	}
	d.old.Logits[0], d.old.Logits[1] = d.logits0, d.logits1
	d.old.Probs[0], d.old.Probs[1] = d.probs0, d.probs1
	d.sampler.aim(d.old)
	d.left = 0
}

// tally draws the groups of the step.
func (d *duo) tally() {
	if !d.single {
		d.tallyGroups()
		return
	}
	if d.left == 0 {
		d.refill()
	}
	n0, k0, k1 := d.next()
	a := &d.advantages[(k0+k1)&(len(d.advantages)-1)]
	d.positive0, d.negative0 = float64(a.up*float64(k0)), float64(a.down*float64(n0-k0))
	d.positive1, d.negative1 = float64(a.up*float64(k1)), float64(a.down*float64(d.size-n0-k1))
	d.zeroVariance = a.zeroVariance
}

// refill draws a pack.
func (d *duo) refill() {
	d.sampler.refill(d.replica.words)
	d.left = d.sampler.together
	d.unpack(0)
}

// next takes the next group in the pack and counts the samples of the first arm and
// the rewarded ones of both.
func (d *duo) next() (n0, k0, k1 int) {
	first, rewarded := d.first&d.group, d.rewarded&d.group
	d.first >>= uint(d.size)
	d.rewarded >>= uint(d.size)
	d.left--
	k0 = bits.OnesCount64(first & rewarded)
	return bits.OnesCount64(first), k0, bits.OnesCount64(rewarded) - k0
}

// tallyGroups is tally of several groups, or of one that is too large for a pack.
func (d *duo) tallyGroups() {
	d.positive0, d.negative0, d.positive1, d.negative1, d.zeroVariance = 0, 0, 0, 0, 0
	s := d.sampler
	for range d.groups {
		var n0, k0, k1 int
		if d.size <= draw.MaxLanes {
			if d.left == 0 {
				d.refill()
			}
			n0, k0, k1 = d.next()
		} else {
			s.sample(d.replica.words)
			n0, k0, k1 = s.counts[0], s.successes[0], s.successes[1]
		}
		up, down := s.advantages.Of(k0 + k1)
		if up == 0 {
			d.zeroVariance++
			continue
		}
		d.positive0 += float64(up * float64(k0))
		d.negative0 += float64(down * float64(n0-k0))
		d.positive1 += float64(up * float64(k1))
		d.negative1 += float64(down * float64(d.size-n0-k1))
	}
}

// move moves the logits by the gradient of step t.
func (d *duo) move(t int) {
	c := d.duoCell
	l0, l1, p0, p1 := d.logits0, d.logits1, d.probs0, d.probs1
	if t >= c.burnIn {
		reward := float64(p0*c.mean0) + float64(p1*c.mean1) - c.reward0
		d.averages.reward += reward
		d.averages.rewardSquare += float64(reward * reward)
		z := l0 - l1 - c.gap0
		d.averages.gap += z
		d.averages.gapSquare += float64(z * z)
		d.zero += d.zeroVariance
	}

	// The force of the samples, Σ w A (e_a − π)/GB.
	c0, c1 := d.positive0+d.negative0, d.positive1+d.negative1
	if c.importance == grpo.Ratio {
		w0, w1 := importance(p0, d.old.Probs[0]), importance(p1, d.old.Probs[1])
		c0 = float64(w0*d.positive0) + float64(w0*d.negative0)
		c1 = float64(w1*d.positive1) + float64(w1*d.negative1)
	}
	c0, c1 = float64(c.share*c0), float64(c.share*c1)
	sum := c0 + c1
	g0, g1 := c0-float64(p0*sum), c1-float64(p1*sum)

	// The penalty, β π_a(ℓ_a − Σπℓ) with ℓ = θ − θ_ref.
	if c.beta != 0 {
		q0, q1, d0, d1 := p0, p1, l0, l1
		if c.at == grpo.AtSnapshot {
			q0, q1, d0, d1 = d.old.Probs[0], d.old.Probs[1], d.old.Logits[0], d.old.Logits[1]
		}
		d0 -= c.reference0
		d1 -= c.reference1
		mean := float64(q0*d0) + float64(q1*d1)
		g0 -= float64(c.beta * float64(q0*(d0-mean)))
		g1 -= float64(c.beta * float64(q1*(d1-mean)))
	}

	if c.plain {
		v0, v1 := float64(c.momentum*d.velocity0)+g0, float64(c.momentum*d.velocity1)+g1
		d.velocity0, d.velocity1 = v0, v1
		d.logits0, d.logits1 = l0+float64(c.rate*v0), l1+float64(c.rate*v1)
		return
	}
	logits := [2]float64{l0, l1}
	c.optimizer.Step(logits[:], []float64{g0, g1}, d.replica.motion, c.optimizer.Rate(t))
	d.logits0, d.logits1 = logits[0], logits[1]
}

// settle sets the probabilities after step t, as grpo.Policy.Update does.
func (d *duo) settle(t int) {
	gap, e := d.logits0-d.logits1, 1.0
	if d.logits0 != d.logits1 {
		e = fp.Exp(-math.Abs(gap))
	}
	likely := 1 / (1 + e)
	other := e * likely
	if gap >= 0 {
		d.probs0, d.probs1 = likely, other
	} else {
		d.probs0, d.probs1 = other, likely
	}
	if math.IsNaN(likely) && d.replica.divergedAt == running {
		d.replica.divergedAt = t + 1
	}
}

// importance returns π/π_old, and 0 for an arm that π_old cannot draw.
func importance(current, old float64) float64 {
	if old > 0 {
		return current / old
	}
	return 0
}
