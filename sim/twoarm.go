package sim

import (
	"context"
	"math"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// twoArmBatch runs replicas with two Bernoulli arms between two observed steps. It
// computes to the last bit what replica.step computes arm by arm and option by option,
// but in straight-line code. Nearly all simulated steps take this path.
//
// A step has three phases: draw the groups, move the logits, update the probabilities. Each phase
// runs over all replicas before the next phase begins. Every number in a step depends on the one
// before it; while the processor waits for one replica's, it computes another's.
type twoArmBatch struct {
	all    []twoArmReplica
	active []twoArmReplica // the first of them, which run

	lag                    option.Lag
	mean0, mean1           float64   // the arms' mean rewards
	reference0, reference1 float64   // logits of π_ref
	shares                 []float64 // by zero-variance groups of the step: 1/GB, dropped 1/Gn
	beta, rate, momentum   float64   // β, η, μ
	ratio                  bool      // samples have the weight π/π_old, else 1
	penaltyAtSnapshot      bool      // the KL penalty is evaluated at π_old, else at π
	blocks                 bool      // ratios since the last record count, see sinceRecord
	plain                  bool      // the optimizer is the heavy ball at a constant learning rate
	optimizer              *option.Optimizer
	reward0, gap0          float64 // J and z at step 0
	burnIn, groups, size   int     // Run.BurnIn, B, G

	advantages *grpo.BernoulliAdvantages

	together int                     // groups of a draw of the replicas' packs; 0 for larger groups
	left     int                     // of it, that have not been used
	byTotal  [1 << 8]groupAdvantages // by number S of rewarded samples in a group
}

// twoArmReplica holds the part of a replica's state that changes from step to step.
type twoArmReplica struct {
	now, old  twoArmPolicy // π and π_old
	velocity0 float64
	velocity1 float64

	positive0, negative0, positive1, negative1 float64 // as in grpo.ArmStatistics
	zeroVariance                               int     // the step's zero-variance groups

	pack       *draw.Pack // draws groups; nil for larger ones
	n0, k0, k1 int        // of a group: samples of the first arm, rewarded ones of each
	averages   averages   // sums over the steps after burn-in
	zero       int        // zero-variance groups after burn-in

	peak0, peak1 float64 // largest π_a with the present snapshot
	words        *draw.Words
	replica      *replica
}

// twoArmPolicy is a policy of two arms, index 0 being the arm listed first.
type twoArmPolicy struct{ logits0, logits1, probs0, probs1 float64 }

func newTwoArmPolicy(p *grpo.Policy) twoArmPolicy {
	return twoArmPolicy{p.Logits[0], p.Logits[1], p.Probs[0], p.Probs[1]}
}

// store copies p into a policy, which keeps its norm.
func (p *twoArmPolicy) store(into *grpo.Policy) {
	into.Logits[0], into.Logits[1] = p.logits0, p.logits1
	into.Probs[0], into.Probs[1] = p.probs0, p.probs1
}

// groupAdvantages are the advantages of the rewarded (up) and the other samples (down) in a group.
// Both are 0 in a zero-variance group unless the baseline is given.
type groupAdvantages struct {
	up, down     float64
	zeroVariance int // 0 or 1
}

// newTwoArmBatch returns the two-arm batch of the replicas of one cell, or nil if it has another
// number of arms or an option beyond twoArmPath.
func newTwoArmBatch(replicas []*replica) *twoArmBatch {
	r := replicas[0]
	c, e, o := r.cell, &r.cell.Estimator, &r.cell.Optimizer
	if len(c.Bandit.Arms) != 2 || !twoArmPath.computes(c) {
		return nil
	}
	b := &twoArmBatch{
		advantages: r.sampler.advantages,
		lag:        c.Lag,
		mean0:      r.means[0], mean1: r.means[1],
		reference0: c.Reference[0], reference1: c.Reference[1],
		beta: e.KL.Coefficient, rate: o.LearningRate, momentum: o.Momentum,
		ratio:             e.Importance.Mode == option.Ratio,
		penaltyAtSnapshot: e.KL.At == option.AtSnapshot,
		blocks:            ClipFraction.SinceRecord(c.Lag),
		plain:             o.Kind == option.HeavyBall && !o.Schedule.Varies() && o.MaxNorm == 0,
		optimizer:         o,
		reward0:           r.start.Mean(r.means), gap0: gap(r.start),
		burnIn: c.Run.BurnIn, groups: e.GroupsPerStep, size: e.GroupSize,
	}
	for equal := range e.GroupsPerStep + 1 {
		groups := e.GroupsPerStep
		if e.Filter == option.Drop {
			groups = max(groups-equal, 1)
		}
		b.shares = append(b.shares, 1/(float64(e.GroupSize)*float64(groups)))
	}
	if s := r.sampler; s.pack != nil {
		b.together = s.pack.Groups()
		for total := range e.GroupSize + 1 {
			a := &b.byTotal[total]
			if a.up, a.down = s.advantages.Of(total); total == 0 || total == e.GroupSize {
				a.zeroVariance = 1
			}
		}
	}
	for _, r := range replicas {
		b.all = append(b.all, twoArmReplica{pack: r.sampler.pack, words: r.words, replica: r})
	}
	return b
}

// advance runs the steps from, …, to−1, at which nothing is recorded or read, of the
// given number of replicas, the first of the batch.
func (b *twoArmBatch) advance(ctx context.Context, replicas, from, to int) {
	b.active = b.all[:replicas]
	if from == 0 { // no replica has a snapshot yet, or one of the run before
		for i := range b.active {
			b.active[i].replica.refresh(0)
		}
	}
	b.load()
	for t := from; t < to; t++ {
		if t%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return // the results of an interrupted cell are discarded
		}
		if b.lag.Refreshes(t) {
			b.refresh(t)
		}
		if b.together > 0 && b.groups == 1 {
			b.sampleGroup()
		} else {
			b.sampleGroups()
		}
		b.move(t)
		b.updatePolicies(t)
	}
	b.store(to - from)
}

// load copies the state of the replicas into the batch.
func (b *twoArmBatch) load() {
	b.left = 0
	for i := range b.active {
		x := &b.active[i]
		r, s := x.replica, x.replica.sampler
		x.now, x.old = newTwoArmPolicy(r.policy), newTwoArmPolicy(r.snapshot)
		velocity := r.optimizerState.Velocity()
		x.velocity0, x.velocity1 = velocity[0], velocity[1]
		x.averages, x.zero = r.sums, r.zero
		if b.blocks {
			x.peak0, x.peak1 = r.since.peaks[0], r.since.peaks[1]
		}
		if r.divergedAt == running {
			b.left = s.left // the same in all replicas
		}
	}
}

// store copies the state of the batch back into the replicas after a number of steps. That of
// replicas that have diverged is not used again. No weight is 0, so that no samples are clipped.
func (b *twoArmBatch) store(steps int) {
	for i := range b.active {
		x := &b.active[i]
		r, s := x.replica, x.replica.sampler
		if r.divergedAt != running {
			continue
		}
		x.old.store(r.snapshot) // on-policy r.policy itself
		s.aim(r.snapshot)
		s.left = b.left
		r.policy.Logits[0], r.policy.Logits[1] = x.now.logits0, x.now.logits1
		r.policy.Update()
		if velocity := r.optimizerState.Velocity(); b.plain {
			velocity[0], velocity[1] = x.velocity0, x.velocity1
		}
		r.sums, r.zero = x.averages, x.zero
		if b.blocks {
			r.since.peaks[0], r.since.peaks[1] = x.peak0, x.peak1
			r.since.clipped.steps += float64(steps)
		}
	}
}

// leave is sinceRecord.leave.
func (x *twoArmReplica) leave() {
	s := x.replica.since
	s.ratio = max(s.ratio, importance(x.peak0, x.old.probs0), importance(x.peak1, x.old.probs1))
	x.peak0, x.peak1 = 0, 0
}

// refresh sets the snapshots of step t, except of policies that are NaN.
func (b *twoArmBatch) refresh(t int) {
	b.left = 0
	for i := range b.active {
		x := &b.active[i]
		if math.IsNaN(x.now.probs0) { // then both are
			continue
		}
		if b.blocks {
			x.leave()
		}
		x.old = x.now
		if b.lag.Kind == option.Delay || b.lag.Behind > 0 {
			x.age(t)
		}
		if x.pack != nil {
			probs := [2]float64{x.old.probs0, x.old.probs1}
			x.pack.Aim(probs[:])
		} else {
			x.old.store(x.replica.snapshot)
			x.replica.sampler.aim(x.replica.snapshot)
		}
	}
}

// age stores the policy of step t in the replica's history and takes an older one as the snapshot.
func (x *twoArmReplica) age(t int) {
	r := x.replica
	x.now.store(r.policy)
	r.snapshot = r.history.Behaviour(t, r.policy)
	x.old = newTwoArmPolicy(r.snapshot)
}

// sampleGroup draws the group of a step with one group that packs draw.
func (b *twoArmBatch) sampleGroup() {
	active := b.active
	at := b.next()
	for i := range active {
		x := &active[i]
		n0, k0, k1 := x.count(at)
		a := &b.byTotal[uint8(k0+k1)]
		x.positive0, x.negative0 = float64(a.up*float64(k0)), float64(a.down*float64(n0-k0))
		x.positive1, x.negative1 = float64(a.up*float64(k1)), float64(a.down*float64(b.size-n0-k1))
		x.zeroVariance = a.zeroVariance
	}
	if active[0].replica.sampler.informative == nil {
		return
	}
	for i := range active {
		if x := &active[i]; x.zeroVariance != 0 && x.redraw() {
			b.addGroup(x)
		}
	}
}

// redraw redraws a group of equal rewards if such groups are redrawn, and reports whether it did.
func (x *twoArmReplica) redraw() bool {
	s := x.replica.sampler
	if s.informative == nil {
		return false
	}
	probs := [2]float64{x.old.probs0, x.old.probs1}
	if !s.informative.Draw(x.words, probs[:], s.counts, s.successes) {
		return false
	}
	x.n0, x.k0, x.k1 = s.counts[0], s.successes[0], s.successes[1]
	return true
}

func (b *twoArmBatch) addGroup(x *twoArmReplica) {
	up, down := b.advantages.Of(x.k0 + x.k1)
	x.positive0 += float64(up * float64(x.k0))
	x.negative0 += float64(down * float64(x.n0-x.k0))
	x.positive1 += float64(up * float64(x.k1))
	x.negative1 += float64(down * float64(b.size-x.n0-x.k1))
}

// next returns the bit of the packs' counts at which those of the next group begin. If there is
// none, groups are drawn.
func (b *twoArmBatch) next() (at uint) {
	if b.left == 0 {
		for i := range b.active {
			b.active[i].pack.Draw(b.active[i].words)
		}
		b.left = b.together
	}
	b.left--
	return 16 * uint(b.together-1-b.left)
}

// count returns counts of the group that begin at a bit: the samples of the first arm (n0), and of
// both arms the rewarded ones (k0 and k1).
func (x *twoArmReplica) count(at uint) (n0, k0, k1 int) {
	k0 = field(x.pack.Rewarded[0], at)
	return k0 + field(x.pack.Others[0], at), k0, field(x.pack.Rewarded[1], at)
}

// sampleGroups draws the groups of any step: several groups, or one too large for a pack.
func (b *twoArmBatch) sampleGroups() {
	active := b.active
	for i := range active {
		x := &active[i]
		x.positive0, x.negative0, x.positive1, x.negative1, x.zeroVariance = 0, 0, 0, 0, 0
	}
	for range b.groups {
		b.drawCounts()
		for i := range active {
			x := &active[i]
			if total := x.k0 + x.k1; total == 0 || total == b.size {
				x.zeroVariance++
				x.redraw()
			}
			b.addGroup(x)
		}
	}
}

// drawCounts draws the counts n0, k0, k1 of one group of every replica.
func (b *twoArmBatch) drawCounts() {
	at := uint(0)
	if b.together > 0 {
		at = b.next()
	}
	for i := range b.active {
		x := &b.active[i]
		if b.together > 0 {
			x.n0, x.k0, x.k1 = x.count(at)
			continue
		}
		s := x.replica.sampler
		s.sample(x.words)
		x.n0, x.k0, x.k1 = s.counts[0], s.successes[0], s.successes[1]
	}
}

// move updates the time averages and moves the logits by the gradient of step t.
func (b *twoArmBatch) move(t int) {
	active := b.active
	for i := range active {
		x := &active[i]
		l0, l1, p0, p1 := x.now.logits0, x.now.logits1, x.now.probs0, x.now.probs1
		if b.blocks {
			x.peak0, x.peak1 = max(x.peak0, p0), max(x.peak1, p1)
		}
		if t >= b.burnIn {
			reward := float64(p0*b.mean0) + float64(p1*b.mean1) - b.reward0
			x.averages.reward += reward
			x.averages.rewardSquare += float64(reward * reward)
			z := l0 - l1 - b.gap0
			x.averages.gap += z
			x.averages.gapSquare += float64(z * z)
			x.zero += x.zeroVariance
		}

		// The force of the samples, Σ w A (e_a − π)/GB.
		c0, c1 := x.positive0+x.negative0, x.positive1+x.negative1
		if b.ratio {
			w0, w1 := importance(p0, x.old.probs0), importance(p1, x.old.probs1)
			c0 = float64(w0*x.positive0) + float64(w0*x.negative0)
			c1 = float64(w1*x.positive1) + float64(w1*x.negative1)
		}
		share := b.shares[x.zeroVariance]
		c0, c1 = float64(share*c0), float64(share*c1)
		sum := c0 + c1
		g0, g1 := c0-float64(p0*sum), c1-float64(p1*sum)

		// The penalty, β π_a(ℓ_a − Σπℓ) with ℓ = θ − θ_ref.
		if b.beta != 0 {
			at := &x.now
			if b.penaltyAtSnapshot {
				at = &x.old
			}
			d0, d1 := at.logits0-b.reference0, at.logits1-b.reference1
			mean := float64(at.probs0*d0) + float64(at.probs1*d1)
			g0 -= float64(b.beta * float64(at.probs0*(d0-mean)))
			g1 -= float64(b.beta * float64(at.probs1*(d1-mean)))
		}

		if b.plain {
			v0, v1 := float64(b.momentum*x.velocity0)+g0, float64(b.momentum*x.velocity1)+g1
			x.velocity0, x.velocity1 = v0, v1
			x.now.logits0, x.now.logits1 = l0+float64(b.rate*v0), l1+float64(b.rate*v1)
			continue
		}
		logits, g, state := [2]float64{l0, l1}, [2]float64{g0, g1}, x.replica.optimizerState
		grpo.LimitNorm(b.optimizer, g[:])
		grpo.Step(b.optimizer, logits[:], g[:], state, grpo.Rate(b.optimizer, t))
		x.now.logits0, x.now.logits1 = logits[0], logits[1]
	}
}

// importance returns the importance ratio π/π_old, 0 for an arm with π_old = 0.
func importance(current, old float64) float64 {
	if old > 0 {
		return current / old
	}
	return 0
}

// updatePolicies sets the probabilities from the logits after step t, with the bits of
// grpo.Policy.Update, and notes which replicas have diverged.
func (b *twoArmBatch) updatePolicies(t int) {
	active := b.active
	var below, e [chunkSize]float64 // −|θ_0 − θ_1|, and its exponential
	for i := range active {
		if p := &active[i].now; p.logits0 != p.logits1 { // equal infinite logits would give NaN
			below[i] = -math.Abs(p.logits0 - p.logits1)
		}
	}
	fp.ExpBelow(e[:len(active)], below[:len(active)], 0)
	for i := range active {
		x := &active[i]
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
