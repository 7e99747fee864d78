package sim

import (
	"context"
	"math"
	"math/bits"

	"grposim/grpo"
	"grposim/grpo/fp"
	"grposim/sim/draw"
)

// duos are replicas with two Bernoulli arms that run abreast, between two steps at
// which anything is recorded or read: what gradient and move do arm by arm and
// option by option they do in a straight line, to the last bit. Most steps that
// anybody waits for in this field are such steps.
//
// A step has three phases, each done for all before the next: tally, move and
// settle. Each number waits for the one before it; so the processor has another
// replica's to go on with.
type duos struct {
	all     []duo
	members []duo // those that run

	lag                    grpo.Lag
	mean0, mean1           float64
	reference0, reference1 float64
	share                  float64 // 1/GB
	beta, rate, momentum   float64
	ratio                  bool // samples are weighted, by π/π_old
	penaltyAtSnapshot      bool
	plain                  bool // the optimizer is the heavy ball at a constant rate
	optimizer              *grpo.Optimizer
	reward0, gap0          float64
	burnIn, groups, size   int

	*laws // law and rewards draw the groups too large for a pack, if rewards are tabulated

	// A group of at most 64 samples is in the lanes of a word, with others.
	packed   bool
	pair     *draw.Pair
	filled   uint64                             // lanes of a pack
	first    uint64                             // of them the first group's
	together int                                // groups in a pack
	left     int                                // groups in it that have not been taken
	lanes    uint64                             // lanes of the next one
	small    [2 * draw.MaxLanes]groupAdvantages // [S], of such a group
}

// duo is what changes of a replica from step to step.
type duo struct {
	now, old  duoPolicy // π and π_old
	velocity0 float64
	velocity1 float64

	positive0, negative0, positive1, negative1 float64 // the grpo.GroupStatistics of the step
	zeroVariance                               int

	bound           draw.Probability // of the first arm under π_old
	first, rewarded uint64           // lanes of the pack: of the first arm, and rewarded ones
	law             *draw.BinomialLaw
	n0, k0, k1      int // of a group: samples of the first arm, and rewarded ones of both
	averages        averages
	zero            int // zero-variance groups after burn-in

	words   *draw.Words
	replica *replica
}

type duoPolicy struct{ logits0, logits1, probs0, probs1 float64 }

func newDuoPolicy(p *grpo.Policy) duoPolicy {
	return duoPolicy{p.Logits[0], p.Logits[1], p.Probs[0], p.Probs[1]}
}

// groupAdvantages are the advantages in a group with S rewarded samples.
type groupAdvantages struct {
	up, down     float64
	zeroVariance int // 0 or 1
}

// newDuos returns the duos of a team, nil where there are none for its cell.
func newDuos(replicas []*replica) *duos {
	r := replicas[0]
	c, e, o := r.cell, &r.cell.Estimator, &r.cell.Optimizer
	switch {
	case c.Deterministic(),
		len(c.Bandit.Arms) != 2 || r.sampler.advantages == nil,
		e.Importance.Mode == grpo.Clip,
		e.KL.Gradient != grpo.ExactKL,
		c.Lag.Kind != grpo.Block:
		return nil
	}
	d := &duos{
		laws:  r.sampler.laws,
		lag:   c.Lag,
		mean0: r.means[0], mean1: r.means[1],
		reference0: c.Reference[0], reference1: c.Reference[1],
		share: 1 / (float64(e.GroupSize) * float64(e.GroupsPerStep)),
		beta:  e.KL.Coefficient, rate: o.LearningRate, momentum: o.Momentum,
		ratio:             e.Importance.Mode == grpo.Ratio,
		penaltyAtSnapshot: e.KL.At == grpo.AtSnapshot,
		plain:             o.Kind == grpo.HeavyBall && o.Schedule.Kind == grpo.ConstantRate && o.Schedule.Warmup == 0,
		optimizer:         o,
		reward0:           r.start.Mean(r.means), gap0: gap(r.start),
		burnIn: c.Run.BurnIn, groups: e.GroupsPerStep, size: e.GroupSize,
	}
	if e.GroupSize <= draw.MaxLanes {
		s := r.sampler
		d.packed = true
		d.pair = draw.NewPair(d.mean0, d.mean1)
		d.filled = ^uint64(0) >> (draw.MaxLanes - s.together*e.GroupSize)
		d.first, d.together = s.first, s.together
		for total := range e.GroupSize + 1 {
			a := &d.small[total]
			if a.up, a.down = s.advantages.Of(total); a.up == 0 {
				a.zeroVariance = 1
			}
		}
	}
	for _, r := range replicas {
		d.all = append(d.all, duo{law: &r.sampler.law, words: r.words, replica: r})
	}
	return d
}

// coast does the steps from from up to to, at which nothing is recorded or read, of
// the first replicas of the team.
func (d *duos) coast(ctx context.Context, replicas, from, to int) {
	d.members = d.all[:replicas]
	d.take()
	for t := from; t < to; t++ {
		if t%stepsBetweenLooks == 0 && ctx.Err() != nil {
			return // the cell will not be finished
		}
		if d.lag.Refreshes(t) {
			d.refresh()
		}
		if d.packed && d.groups == 1 {
			d.tally()
		} else {
			d.tallyGroups()
		}
		d.move(t)
		d.settle(t)
	}
	d.give()
}

// take takes over from the replicas.
func (d *duos) take() {
	d.left = 0
	for i := range d.members {
		x := &d.members[i]
		r, s := x.replica, x.replica.sampler
		x.now, x.old = newDuoPolicy(r.policy), newDuoPolicy(r.snapshot)
		velocity := r.motion.Velocity()
		x.velocity0, x.velocity1 = velocity[0], velocity[1]
		x.averages, x.zero = r.sums, r.zero
		x.first, x.rewarded = s.pack.Arms[0], s.pack.Rewarded
		if r.divergedAt == running { // else the policy may be none
			x.bound = draw.Bound(x.old.probs0, x.old.probs1)
			d.left, d.lanes = s.left, s.lanes // the same for all of them
		}
	}
}

// give hands over to the replicas. Nothing more is asked of one that has diverged.
func (d *duos) give() {
	for i := range d.members {
		x := &d.members[i]
		r, s := x.replica, x.replica.sampler
		if r.divergedAt != running {
			continue
		}
		x.snapshot()
		s.aim(r.snapshot)
		s.left, s.lanes = d.left, d.lanes
		s.pack.Arms[0], s.pack.Arms[1], s.pack.Rewarded = x.first, d.filled&^x.first, x.rewarded
		r.policy.Logits[0], r.policy.Logits[1] = x.now.logits0, x.now.logits1
		r.policy.Update()
		if velocity := r.motion.Velocity(); d.plain { // else it is the motion's
			velocity[0], velocity[1] = x.velocity0, x.velocity1
		}
		r.sums, r.zero = x.averages, x.zero
	}
}

// snapshot hands over π_old, which may be the replica's policy itself.
func (x *duo) snapshot() {
	p := x.replica.snapshot
	p.Logits[0], p.Logits[1] = x.old.logits0, x.old.logits1
	p.Probs[0], p.Probs[1] = x.old.probs0, x.old.probs1
}

// refresh takes a snapshot of the policies, but for those that have become none.
func (d *duos) refresh() {
	d.left = 0
	for i := range d.members {
		x := &d.members[i]
		if math.IsNaN(x.now.probs0) { // then both are
			continue
		}
		x.old = x.now
		switch {
		case d.packed:
			x.bound = draw.Bound(x.old.probs0, x.old.probs1)
		case d.rewards != nil:
			x.law.Set(d.size, x.old.probs0)
		default:
			x.snapshot()
			x.replica.sampler.aim(x.replica.snapshot)
		}
	}
}

// tally draws the group of the step, where it is one of at most 64 samples.
func (d *duos) tally() {
	members := d.members
	lanes := d.next()
	for i := range members {
		x := &members[i]
		n0, k0, k1 := x.count(lanes)
		a := &d.small[(k0+k1)&(len(d.small)-1)]
		x.positive0, x.negative0 = float64(a.up*float64(k0)), float64(a.down*float64(n0-k0))
		x.positive1, x.negative1 = float64(a.up*float64(k1)), float64(a.down*float64(d.size-n0-k1))
		x.zeroVariance = a.zeroVariance
	}
}

// next returns the lanes of the next group in the packs.
func (d *duos) next() (lanes uint64) {
	if d.left == 0 {
		for i := range d.members {
			x := &d.members[i]
			x.first, x.rewarded = d.pair.Draw(x.words, d.filled, x.bound)
		}
		d.left, d.lanes = d.together, d.first
	}
	lanes = d.lanes
	d.lanes <<= d.size
	d.left--
	return lanes
}

// count counts, in some lanes of the pack, the samples of the first arm and the
// rewarded ones of both.
func (x *duo) count(lanes uint64) (n0, k0, k1 int) {
	rewarded := x.rewarded & lanes
	k0 = bits.OnesCount64(x.first & rewarded)
	return bits.OnesCount64(x.first & lanes), k0, bits.OnesCount64(rewarded) - k0
}

// tallyGroups is tally of several groups, or of one that is too large for a pack.
func (d *duos) tallyGroups() {
	members := d.members
	for i := range members {
		x := &members[i]
		x.positive0, x.negative0, x.positive1, x.negative1, x.zeroVariance = 0, 0, 0, 0, 0
	}
	for range d.groups {
		d.draw()
		for i := range members {
			x := &members[i]
			up, down := d.advantages.Of(x.k0 + x.k1)
			if up == 0 {
				x.zeroVariance++
				continue
			}
			x.positive0 += float64(up * float64(x.k0))
			x.negative0 += float64(down * float64(x.n0-x.k0))
			x.positive1 += float64(up * float64(x.k1))
			x.negative1 += float64(down * float64(d.size-x.n0-x.k1))
		}
	}
}

// draw draws a group of each.
func (d *duos) draw() {
	members := d.members
	switch {
	case d.packed:
		lanes := d.next()
		for i := range members {
			x := &members[i]
			x.n0, x.k0, x.k1 = x.count(lanes)
		}
	case d.rewards != nil:
		for i := range members { // all of them first: the tries that are rejected should not hold up the rewards
			x := &members[i]
			x.n0 = x.law.Draw(x.words)
		}
		first, second := d.rewards[0], d.rewards[1]
		for i := range members {
			x := &members[i]
			x.k0, x.k1 = first.Draw(x.words, x.n0), second.Draw(x.words, d.size-x.n0)
		}
	default:
		for i := range members {
			x := &members[i]
			s := x.replica.sampler
			s.sample(x.words)
			x.n0, x.k0, x.k1 = s.counts[0], s.successes[0], s.successes[1]
		}
	}
}

// move moves the logits by the gradient of step t.
func (d *duos) move(t int) {
	members := d.members
	for i := range members {
		x := &members[i]
		l0, l1, p0, p1 := x.now.logits0, x.now.logits1, x.now.probs0, x.now.probs1
		if t >= d.burnIn {
			reward := float64(p0*d.mean0) + float64(p1*d.mean1) - d.reward0
			x.averages.reward += reward
			x.averages.rewardSquare += float64(reward * reward)
			z := l0 - l1 - d.gap0
			x.averages.gap += z
			x.averages.gapSquare += float64(z * z)
			x.zero += x.zeroVariance
		}

		// The force of the samples, Σ w A (e_a − π)/GB.
		c0, c1 := x.positive0+x.negative0, x.positive1+x.negative1
		if d.ratio {
			w0, w1 := importance(p0, x.old.probs0), importance(p1, x.old.probs1)
			c0 = float64(w0*x.positive0) + float64(w0*x.negative0)
			c1 = float64(w1*x.positive1) + float64(w1*x.negative1)
		}
		c0, c1 = float64(d.share*c0), float64(d.share*c1)
		sum := c0 + c1
		g0, g1 := c0-float64(p0*sum), c1-float64(p1*sum)

		// The penalty, β π_a(ℓ_a − Σπℓ) with ℓ = θ − θ_ref.
		if d.beta != 0 {
			at := &x.now
			if d.penaltyAtSnapshot {
				at = &x.old
			}
			d0, d1 := at.logits0-d.reference0, at.logits1-d.reference1
			mean := float64(at.probs0*d0) + float64(at.probs1*d1)
			g0 -= float64(d.beta * float64(at.probs0*(d0-mean)))
			g1 -= float64(d.beta * float64(at.probs1*(d1-mean)))
		}

		if d.plain {
			v0, v1 := float64(d.momentum*x.velocity0)+g0, float64(d.momentum*x.velocity1)+g1
			x.velocity0, x.velocity1 = v0, v1
			x.now.logits0, x.now.logits1 = l0+float64(d.rate*v0), l1+float64(d.rate*v1)
			continue
		}
		logits := [2]float64{l0, l1}
		d.optimizer.Step(logits[:], []float64{g0, g1}, x.replica.motion, d.optimizer.Rate(t))
		x.now.logits0, x.now.logits1 = logits[0], logits[1]
	}
}

// importance returns π/π_old, and 0 for an arm that π_old cannot draw.
func importance(current, old float64) float64 {
	if old > 0 {
		return current / old
	}
	return 0
}

// settle sets the probabilities after step t, as grpo.Policy.Update does.
func (d *duos) settle(t int) {
	members := d.members
	var below, e [teamSize]float64 // −|θ_0 − θ_1|, and its exponential
	for i := range members {
		if p := &members[i].now; p.logits0 != p.logits1 { // else, if infinite, they have no difference
			below[i] = -math.Abs(p.logits0 - p.logits1)
		}
	}
	fp.ExpBelow(e[:len(members)], below[:len(members)], 0)
	for i := range members {
		x := &members[i]
		likely := 1 / (1 + e[i])
		other := e[i] * likely
		if x.now.logits0 >= x.now.logits1 {
			x.now.probs0, x.now.probs1 = likely, other
		} else {
			x.now.probs0, x.now.probs1 = other, likely
		}
		if math.IsNaN(likely) && x.replica.divergedAt == running {
			x.replica.divergedAt = t + 1
		}
	}
}
