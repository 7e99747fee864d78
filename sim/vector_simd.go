//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"context"
	"simd/archsimd"
	"slices"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// vectorBatch runs eight replicas of a batch in the elements of vector registers: element
// i of every vector belongs to replica i. It computes to the last bit what replica.step
// computes, see hasVectors. It needs AVX-512. Its groups are vectorGroups; its own methods are
// the force, the update of the policies and what is recorded.
type vectorBatch struct {
	vectorGroups
	replicas []*replica // at most eight

	onPolicy         bool             // π_old is π, so all weights are 1
	now              vectorPolicies   // π
	past             []vectorPolicies // older snapshots, the n-th at n mod the length
	velocity, square []floats         // of the optimizer, by arm
	decay1, decay2   float64          // of Adam
	force            []floats         // by arm
	exponentials     []floats         // scratch of measure and weigh, by arm
	weights          []floats         // of weigh, by arm for A > 0, then for A < 0
	peaks            []floats         // as sinceRecord, by arm; nil unless for one policy
	counted          int              // steps since the last record, with peaks

	plain *plainSteps // nil: there are none
}

// vectorSums holds vectors of a vectorBatch. They have memory of their own without
// pointers, which Go aligns to cache lines.
type vectorSums struct {
	up, down       floats      // advantages of the current group
	zero, rewarded draw.Vector // of the step: zero-variance groups, rewarded samples
	atomSum        floats      // of the step: sum of rewards that are not Bernoulli
	reward         floats      // J
	drawnSamples   floats      // expected of the steps before this one, if countsRedraws
	running        floats      // b of the next groups, with option.RunningMean

	recorded [quantityCount]floats // quantities of the step, if it is recorded

	largest, clippedSum floats // as sinceRecord: the ratio, and Σ of clipped fractions

	rewardSum, rewardSquares, gapSum, gapSquares floats      // after burn-in, as averages
	zeroSum                                      draw.Vector // as replica.zero
}

// vectorCell holds the numbers of a cell that its vector batches share.
type vectorCell struct {
	*Cell
	*laws
	means         []float64      // of the arms
	initial       vectorPolicies // π_ref at step 0, in every element; read-only
	rows          int            // of a policy in memory
	share         float64        // 1/(G·groups)
	baseline      float64        // G/(G−1) with leave-one-out, else 1
	samples       int            // of a full pack
	together      int            // groups in a full pack; 0 for larger groups
	first         uint64         // lanes of the first group in a pack
	single        bool           // a step has one packed Bernoulli group, used by the force alone
	exact         bool           // the force has an exact KL gradient
	sampled       bool           // it has a KL gradient of its samples
	outside       bool           // the KL penalty is outside the loss
	bonus         bool           // it has an entropy bonus
	clips         bool           // its norm is limited
	normal        []bool         // by arm: its rewards are normal with a density
	reward0, gap0 float64        // J and z at step 0

	vectorWeights

	table []advantageRow // by number of rewarded samples, 16 in each; of groups in one pack
}

// advantageRow holds the advantages of sixteen groups, and −1 for those without variance.
type advantageRow struct {
	up, down [2]floats
	equal    [2]draw.Vector
}

// vectorWeights are the importance weights of a vectorCell.
type vectorWeights struct {
	ratio        bool            // samples have the weight π/π_old
	weighted     bool            // samples have the weights of weigh
	drops        bool            // some of these are set to 0
	form         grpo.WeightForm // of weigh
	above, below grpo.Interval   // bounds of weights for A > 0 and A < 0
}

type (
	floats   = [draw.Width]float64
	vector   = archsimd.Float64x8
	integers = archsimd.Uint64x8
)

// vectorPolicies are policies in the given rows of memory.
type vectorPolicies struct {
	rows          []floats // the following, in their order
	probs, logits []floats // by arm
	logNorm       *floats  // log Σ exp(logits); nil if it is not needed
}

// newVectorPolicies returns the policies in 2A rows of memory, or in 2A + 1 with logNorm.
func newVectorPolicies(rows []floats) vectorPolicies {
	arms := len(rows) / 2
	p := vectorPolicies{rows: rows, probs: rows[:arms], logits: rows[arms : 2*arms]}
	if len(rows) > 2*arms {
		p.logNorm = &rows[2*arms]
	}
	return p
}

// newPolicies returns policies of the cell.
func (v *vectorCell) newPolicies() vectorPolicies {
	return newVectorPolicies(make([]floats, v.rows))
}

// newReference returns policies for π_ref.
func (v *vectorCell) newReference() vectorPolicies {
	return newVectorPolicies(make([]floats, 2*len(v.means)+1))
}

// put sets the policy of element i.
func (p vectorPolicies) put(i int, policy *grpo.Policy) {
	for a := range p.logits {
		p.logits[a][i], p.probs[a][i] = policy.Logits[a], policy.Probs[a]
	}
	if p.logNorm != nil {
		p.logNorm[i] = policy.LogNorm()
	}
}

// set copies the policies q.
func (p *vectorPolicies) set(q *vectorPolicies) {
	from := q.rows[:len(p.rows)]
	for row := range p.rows {
		archsimd.LoadFloat64x8(&from[row]).Store(&p.rows[row])
	}
}

// longestVectorHistory is the largest delay times arms of a vectorBatch, whose past
// policies then take 8 MB.
const longestVectorHistory = 1 << 16

// hasVectors reports whether the processor has the instructions for a cell and vectorPath its
// options. The rewards of all arms must be Bernoulli, or of none. Normal rewards are drawn by their
// sums, and so without weights by the sign of the advantage.
func hasVectors(c *Cell) bool {
	return archsimd.X86.AVX512() && !c.Deterministic() && vectorPath.computes(c) && c.recordsInVectors() &&
		(allBernoulli(&c.Bandit) || noBernoulli(&c.Bandit)) &&
		!(anyNormal(&c.Bandit) && grpo.WeightsBySign(&c.Estimator.Importance)) &&
		olderSnapshots(c)*len(c.Bandit.Arms) <= longestVectorHistory
}

// noBernoulli reports whether the rewards of no arm are Bernoulli.
func noBernoulli(bandit *option.Bandit) bool {
	return !slices.ContainsFunc(bandit.Arms, func(arm option.Arm) bool { return arm.Law == option.Bernoulli })
}

// anyNormal reports whether the rewards of an arm are normal with a density.
func anyNormal(bandit *option.Bandit) bool {
	return slices.ContainsFunc(bandit.Arms, isNormal)
}

func isNormal(arm option.Arm) bool { return arm.Law == option.Normal && arm.Std > 0 }

// newVectorBatches returns the vector batches of the replicas of one cell, eight in each,
// or nil if they are few or the cell has none.
func newVectorBatches(replicas []*replica) (batches []*vectorBatch) {
	if len(replicas) < fewestVector || !hasVectors(replicas[0].cell) {
		return nil
	}
	c := replicas[0].cell
	v := newVectorCell(c, replicas[0].sampler)
	if grpo.OnPolicy(&v.Lag) { // all weights are 1
		v.ratio, v.weighted, v.drops = false, false, false
	}
	for range slices.Chunk(replicas, draw.Width) {
		batches = append(batches, v.newBatch())
	}
	return batches
}

// newVectorCell returns the vectorCell of a cell whose groups are drawn as s draws them.
func newVectorCell(c *Cell, s *sampler) *vectorCell {
	e := &c.Estimator
	v := &vectorCell{
		Cell:     c,
		laws:     s.laws,
		means:    c.means(),
		rows:     2 * len(c.Bandit.Arms),
		share:    1 / (float64(e.GroupSize) * float64(e.GroupsPerStep)),
		baseline: 1,
		samples:  min(e.GroupSize, draw.MaxLanes),
		first:    s.first,
	}
	for _, arm := range c.Bandit.Arms {
		v.normal = append(v.normal, isNormal(arm))
	}
	v.form, v.above, v.below = grpo.FormOf(&e.Importance)
	v.ratio, v.drops = e.Importance.Mode == option.Ratio, grpo.DropsSamples(&e.Importance)
	v.weighted = !e.Importance.Linear()
	v.exact = e.KL.Coefficient != 0 && e.KL.Gradient == option.ExactKL && !e.KL.Outside()
	v.sampled, v.outside, v.bonus, v.clips = e.KL.Sampled(), e.KL.Outside(), e.Entropy != 0, c.Optimizer.MaxNorm > 0
	if v.needsLogNorm() {
		v.rows++
	}
	v.initial = v.newReference()
	for i := range draw.Width {
		v.initial.put(i, grpo.NewPolicy(c.Reference))
	}
	if e.Advantage.Baseline == option.LeaveOneOut {
		v.baseline = float64(e.GroupSize) / (float64(e.GroupSize) - 1)
	}
	if e.GroupSize > draw.MaxLanes {
		return v
	}
	v.together = s.together
	v.samples *= v.together
	if s.advantages != nil && !v.shifted() {
		v.single = e.GroupsPerStep == 1 && e.Advantage.Scale != option.PooledStd
		v.table = make([]advantageRow, (e.GroupSize+15)/16)
		for total := range min(e.GroupSize+1, 16*len(v.table)) { // if 16 divides G, S = 0 stands for G
			a := &v.table[total/16]
			a.up[total/8%2][total%8], a.down[total/8%2][total%8] = s.advantages.Of(total)
			if total%e.GroupSize == 0 {
				a.equal[total/8%2][total%8] = ^uint64(0)
			}
		}
	}
	return v
}

// olderSnapshots returns the number of older policies between a cell's snapshots and the newest
// possible one. It is τ of a delay, d of a block, and at most the cell's steps.
func olderSnapshots(c *Cell) int { return max(grpo.StoredPolicies(&c.Lag, c.Run.Steps)-1, 0) }

// newBatch returns a vector batch.
func (v *vectorCell) newBatch() *vectorBatch {
	arms, streams := len(v.means), new(draw.Streams)
	b := &vectorBatch{
		vectorGroups: vectorGroups{
			vectorCell: v,
			vectorSums: new(vectorSums),
			streams:    streams,
			reference:  v.initial,
			positive:   make([]floats, arms),
			negative:   make([]floats, arms),
		},
		now:          v.newPolicies(),
		velocity:     make([]floats, arms),
		square:       make([]floats, arms),
		force:        make([]floats, arms),
		exponentials: make([]floats, arms),
	}
	if v.weighted {
		b.weights = make([]floats, 2*arms)
	}
	if v.drops {
		b.positives, b.negatives = make([]draw.Vector, arms), make([]draw.Vector, arms)
	}
	if ClipFraction.SinceRecord(v.Lag) {
		b.peaks = make([]floats, arms)
	}
	if v.sampled {
		b.drawn = make([]draw.Vector, arms)
	}
	if v.ReferenceUpdate.Interval > 0 {
		b.reference = v.newReference()
		b.reference.set(&v.initial)
	}
	means := v.means
	if v.advantages == nil {
		means = nil // addAtoms draws the rewards
	}
	if size := v.Estimator.GroupSize; size > v.packed {
		b.large = draw.NewCounts(streams, size, arms, means, v.laws.rewards)
		b.counts, b.successes = b.large.Arms, b.large.Successes
	} else {
		b.packs = draw.NewPacks(streams, arms, means)
		b.counts, b.successes = make([]draw.Vector, arms), make([]draw.Vector, arms)
	}
	if v.Estimator.Filter == option.Redraw {
		b.informative = draw.NewInformatives(streams, v.Estimator.GroupSize, v.means)
	}
	b.setAtoms()
	b.old = b.now
	if v.Lag.Kind == option.Block && v.Lag.Interval > 1 {
		b.old = v.newPolicies()
	}
	if older := olderSnapshots(v.Cell); older > 0 {
		for rows := range slices.Chunk(make([]floats, (older+1)*v.rows), v.rows) {
			b.past = append(b.past, newVectorPolicies(rows))
		}
	}
	b.plain = newPlainSteps(b)
	return b
}

// runVectors runs replicas of one cell from step 0 to their end. observed are the steps
// at which something is recorded or read, the last one included. The batches do each part
// of a step in turn, so that the processor computes one while another's numbers depend on
// each other.
func runVectors(ctx context.Context, batches []*vectorBatch, replicas []*replica, observed []int) {
	batches = batches[:(len(replicas)+draw.Width-1)/draw.Width]
	for i, b := range batches {
		b.begin(replicas[i*draw.Width : min(len(replicas), (i+1)*draw.Width)])
	}
	c := batches[0].Cell
	counts := c.countsRedraws()
	for t := 0; ; t++ {
		if t%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return // the results of an interrupted cell are discarded
		}
		if c.Lag.Refreshes(t) {
			for _, b := range batches {
				b.refresh(t)
			}
		}
		if t != observed[0] && batches[0].plain != nil {
			archsimd.ClearAVXUpperBits() // see fp.Broadcast
			rate := grpo.Rate(&c.Optimizer, t)
			for _, b := range batches {
				b.plain.next()
			}
			for _, b := range batches {
				b.plain.move(t, &rate)
			}
			continue
		}
		if c.Draws(t) {
			for _, b := range batches {
				b.sample()
			}
		}
		for _, b := range batches {
			b.gradient()
		}
		if batches[0].peaks != nil {
			for _, b := range batches {
				b.countStep()
			}
		}
		if t == observed[0] {
			observed = observed[1:]
			for _, b := range batches {
				b.observe(t)
			}
		}
		if t == c.Run.Steps {
			break
		}
		if counts && c.Draws(t) {
			for _, b := range batches {
				b.countRedraws()
			}
		}
		if t >= c.Run.BurnIn {
			for _, b := range batches {
				b.average(archsimd.LoadFloat64x8(&b.reward))
				b.countZero(fp.Integers(0).Sub(archsimd.LoadUint64x8(&b.zero)))
			}
		}
		archsimd.ClearAVXUpperBits()
		rate := grpo.Rate(&c.Optimizer, t)
		for _, b := range batches {
			b.move(&rate)
		}
		for _, b := range batches {
			b.updatePolicies(t)
		}
	}
	for _, b := range batches {
		b.finish()
	}
}

// begin sets the state at step 0. Elements without a replica get that of the first.
func (b *vectorBatch) begin(replicas []*replica) {
	b.replicas = replicas
	for i := range draw.Width {
		r := replicas[0]
		if i < len(replicas) {
			r = replicas[i]
		}
		b.start(i, r.stream, r.policy)
	}
	b.reward0, b.gap0 = replicas[0].reward0, replicas[0].gap0
	b.rest()
}

// start sets the stream and the policy of element i at step 0.
func (b *vectorBatch) start(i int, stream *draw.Xoshiro, policy *grpo.Policy) {
	b.streams.Start(i, stream)
	b.now.put(i, policy)
}

// rest sets the optimizer, the reference and the sums to their states at step 0.
func (b *vectorBatch) rest() {
	clear(b.velocity)
	clear(b.square)
	clear(b.peaks)
	b.counted = 0
	b.decay1, b.decay2 = 1, 1
	if b.ReferenceUpdate.Interval > 0 {
		b.reference.set(&b.initial)
	}
	*b.vectorSums = vectorSums{}
	fp.Broadcast(b.Estimator.Advantage.Value).Store(&b.running)
}

// finish copies the sums after burn-in and the logits to the replicas.
func (b *vectorBatch) finish() {
	for i, r := range b.replicas {
		r.sums = averages{reward: b.rewardSum[i], rewardSquare: b.rewardSquares[i], gap: b.gapSum[i], gapSquare: b.gapSquares[i]}
		r.zero = int(b.zeroSum[i])
		for a := range r.policy.Logits {
			r.policy.Logits[a] = b.now.logits[a][i]
		}
	}
}

// refresh sets the snapshots of step t.
func (b *vectorBatch) refresh(t int) {
	if b.peaks != nil {
		leaveSnapshot(b)
	}
	switch {
	case len(b.past) > 0:
		archsimd.ClearAVXUpperBits() // see fp.Integers
		n := t / b.Lag.StepsPerSnapshot()
		b.old = b.past[max(n-len(b.past)+1, 0)%len(b.past)]
		b.past[n%len(b.past)].set(&b.now)
	case b.Lag.Kind == option.Block && b.Lag.Interval > 1:
		b.old.set(&b.now)
	}
	b.aim()
	b.onPolicy = len(b.past) == 0
}

// aim aims the samplers at the snapshots.
func (g *vectorGroups) aim() {
	if g.informative != nil {
		g.informative.Aim(g.old.probs)
	}
	if g.shifts != nil {
		g.shift()
	}
	if g.large != nil {
		g.large.Aim(g.old.probs)
		return
	}
	g.packs.Aim(g.old.probs)
	g.left = 0
}
