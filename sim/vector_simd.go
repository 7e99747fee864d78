//go:build goexperiment.simd && amd64

package sim

import (
	"context"
	"math"
	"math/bits"
	"simd/archsimd"
	"slices"

	"grposim/grpo"
	"grposim/grpo/fp"
	"grposim/sim/draw"
)

// vectorBatch runs eight replicas of a batch in the elements of vector registers: element
// i of every vector belongs to replica i. It computes to the last bit what replica.step
// computes, see hasVectors. It needs AVX-512.
type vectorBatch struct {
	*vectorCell
	streams  *draw.Streams
	packs    *draw.Packs  // nil for large groups
	large    *draw.Counts // nil for groups in packs
	replicas []*replica   // at most eight

	now, old         vectorPolicies   // π and π_old; on-policy the same
	past             []vectorPolicies // older snapshots: the n-th policy of refreshes in slot n mod its length; nil if they are not needed
	velocity, square []floats         // of the optimizer, by arm
	decay1, decay2   float64          // of Adam

	left  int    // groups in the packs that have not been used
	lanes uint64 // lanes of the current group in the packs

	positive, negative   []floats      // sums of advantages by arm and sign, as in grpo.ArmStatistics
	positives, negatives []draw.Vector // numbers of these samples; nil unless weights are set to 0
	force                []floats      // by arm
	exponentials         []floats      // scratch of measure, by arm
	rewards              []floats      // of atoms, by arm
	counts, successes    []draw.Vector // of a group that addLarge or addAtoms adds, by arm: samples, rewarded samples

	informative               *draw.Informative // redraws groups of equal rewards; nil: they stay
	singles                   [draw.Width]*draw.Single
	probs                     []float64 // scratch of redraw, by arm
	redrawn, redrawnSuccesses []int     // the same

	*vectorSums
}

// vectorSums holds vectors of a vectorBatch. They have memory of their own without
// pointers, which Go aligns to cache lines.
type vectorSums struct {
	up, down       floats      // advantages of the current group
	zero, rewarded draw.Vector // of the step: zero-variance groups, rewarded samples
	atomSum        floats      // of the step: sum of rewards that are not Bernoulli
	reward         floats      // J
	gap            [1]floats   // scratch of pairSoftmax
	exponents      [2]floats   // scratch of weigh

	recorded [quantityCount]floats // quantities of the step, if it is recorded

	rewardSum, rewardSquares, gapSum, gapSquares floats      // after burn-in, as averages
	zeroSum                                      draw.Vector // as replica.zero
}

// vectorCell holds the numbers of a cell that its vector batches share.
type vectorCell struct {
	*Cell
	*laws
	means         []float64 // of the arms
	reference     *grpo.Policy
	share         float64 // 1/GB
	baseline      float64 // G/(G−1) with leave-one-out, else 1
	samples       int     // of a full pack
	together      int     // groups in a full pack; 0 for larger groups
	first         uint64  // lanes of the first group in a pack
	plain         bool    // see isPlain
	single        bool    // each step has one Bernoulli group, in a pack
	ratio         bool    // samples have the weight π/π_old
	bounded       bool    // samples have the weights of weigh
	drops         bool    // some of these are set to 0
	reward0, gap0 float64 // J and z at step 0

	form         grpo.WeightForm // of weigh
	above, below grpo.Interval   // bounds of weights for A > 0 and A < 0

	table []struct{ up, down [2]floats } // the advantages by number of rewarded samples, 16 in each; of groups in one pack
}

type (
	floats   = [draw.Width]float64
	vector   = archsimd.Float64x8
	integers = archsimd.Uint64x8
)

// vectorPolicies are policies, by arm.
type vectorPolicies struct{ logits, probs []floats }

func newVectorPolicies(arms int) vectorPolicies {
	return vectorPolicies{make([]floats, arms), make([]floats, arms)}
}

// put sets the policy of element i.
func (p vectorPolicies) put(i int, policy *grpo.Policy) {
	for a := range p.logits {
		p.logits[a][i], p.probs[a][i] = policy.Logits[a], policy.Probs[a]
	}
}

// set copies the policies q.
func (p vectorPolicies) set(q vectorPolicies) {
	for a := range p.logits {
		archsimd.LoadFloat64x8(&q.logits[a]).Store(&p.logits[a])
		archsimd.LoadFloat64x8(&q.probs[a]).Store(&p.probs[a])
	}
}

// longestVectorHistory is the largest delay times arms of a vectorBatch, whose past
// policies then take 8 MB.
const longestVectorHistory = 1 << 16

// hasVectors reports whether the processor has the instructions and vectorBatch the options
// of a cell. The rewards of all arms must be Bernoulli, or of none; normal rewards are drawn
// by their sums, and so without weights by the sign of the advantage.
func hasVectors(c *Cell) bool {
	return archsimd.X86.AVX512() &&
		!c.Deterministic() &&
		c.Prompts == nil &&
		(allBernoulli(&c.Bandit) || noBernoulli(&c.Bandit)) &&
		!(anyNormal(&c.Bandit) && c.Estimator.Importance.BySign()) &&
		c.Estimator.KL.Gradient == grpo.ExactKL && !c.Estimator.KL.Outside() &&
		c.ReferenceUpdate.Interval == 0 &&
		c.Lag.Kind != grpo.Random &&
		olderSnapshots(c)*len(c.Bandit.Arms) <= longestVectorHistory
}

// noBernoulli reports whether the rewards of no arm are Bernoulli.
func noBernoulli(bandit *grpo.Bandit) bool {
	return !slices.ContainsFunc(bandit.Arms, func(arm grpo.Arm) bool { return arm.Reward == grpo.Bernoulli })
}

// anyNormal reports whether the rewards of an arm are normal with a density.
func anyNormal(bandit *grpo.Bandit) bool {
	return slices.ContainsFunc(bandit.Arms, func(arm grpo.Arm) bool { return arm.Reward == grpo.Normal && arm.Std > 0 })
}

// newVectorBatches returns the vector batches of the replicas of one cell, eight in each,
// or nil if they are few or the cell has none.
func newVectorBatches(replicas []*replica) (batches []*vectorBatch) {
	if len(replicas) < fewestVector || !hasVectors(replicas[0].cell) {
		return nil
	}
	v := newVectorCell(replicas[0].cell, replicas[0].sampler)
	for range slices.Chunk(replicas, draw.Width) {
		batches = append(batches, v.newBatch())
	}
	return batches
}

// newVectorCell returns the vectorCell of a cell whose groups are drawn as s draws them.
func newVectorCell(c *Cell, s *sampler) *vectorCell {
	e := &c.Estimator
	v := &vectorCell{
		Cell:      c,
		laws:      s.laws,
		means:     means(&c.Bandit),
		reference: grpo.NewPolicy(c.Reference),
		share:     1 / (float64(e.GroupSize) * float64(e.GroupsPerStep)),
		baseline:  1,
		samples:   min(e.GroupSize, draw.MaxLanes),
		first:     s.first,
	}
	v.form, v.above, v.below = e.Importance.Form()
	v.ratio, v.drops = e.Importance.Mode == grpo.Ratio, e.Importance.Drops()
	v.bounded = !e.Importance.Linear()
	if e.Advantage.Baseline == grpo.LeaveOneOut {
		v.baseline = float64(e.GroupSize) / (float64(e.GroupSize) - 1)
	}
	if e.GroupSize > draw.MaxLanes {
		return v
	}
	v.together = s.together
	v.samples *= v.together
	if s.advantages != nil {
		v.single = e.GroupsPerStep == 1
		v.table = make([]struct{ up, down [2]floats }, (e.GroupSize+15)/16)
		for total := range e.GroupSize { // of G, where they are 0, count finds those of 0 if 16 divides G
			a := &v.table[total/16]
			a.up[total/8%2][total%8], a.down[total/8%2][total%8] = s.advantages.Of(total)
		}
	}
	v.plain = v.isPlain()
	return v
}

// olderSnapshots returns the number of older policies between a cell's snapshots and the
// newest possible one, at most its steps: τ of a delay, d of a block.
func olderSnapshots(c *Cell) int { return max(c.Lag.Stored(c.Run.Steps)-1, 0) }

// newBatch returns a vector batch.
func (v *vectorCell) newBatch() *vectorBatch {
	arms, streams := len(v.means), new(draw.Streams)
	b := &vectorBatch{
		vectorCell: v,
		vectorSums: new(vectorSums),
		streams:    streams,
		now:        newVectorPolicies(arms),
		velocity:   make([]floats, arms),
		square:     make([]floats, arms),
		positive:   make([]floats, arms),
		negative:   make([]floats, arms),
		force:      make([]floats, arms),

		exponentials: make([]floats, arms),
		rewards:      make([]floats, arms),
	}
	if v.drops {
		b.positives, b.negatives = make([]draw.Vector, arms), make([]draw.Vector, arms)
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
	if v.Estimator.Filter == grpo.Redraw {
		b.informative = draw.NewInformative(v.Estimator.GroupSize, v.means)
		b.probs, b.redrawn, b.redrawnSuccesses = make([]float64, arms), make([]int, arms), make([]int, arms)
		for i := range b.singles {
			b.singles[i] = draw.NewSingle(streams, i)
		}
	}
	b.old = b.now
	if v.Lag.Kind == grpo.Block && v.Lag.Interval > 1 {
		b.old = newVectorPolicies(arms)
	}
	if older := olderSnapshots(v.Cell); older > 0 {
		for range older + 1 {
			b.past = append(b.past, newVectorPolicies(arms))
		}
	}
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
	for t := 0; ; t++ {
		if t%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return // the results of an interrupted cell are discarded
		}
		if c.Lag.Refreshes(t) {
			for _, b := range batches {
				b.refresh(t)
			}
		}
		if t != observed[0] && batches[0].plain {
			rate := c.Optimizer.Rate(t)
			for _, b := range batches {
				b.plainStep(t, rate)
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
		if t == observed[0] {
			observed = observed[1:]
			for _, b := range batches {
				b.observe(t)
			}
		}
		if t == c.Run.Steps {
			break
		}
		if t >= c.Run.BurnIn {
			for _, b := range batches {
				b.average(archsimd.LoadFloat64x8(&b.reward))
			}
		}
		rate := c.Optimizer.Rate(t)
		for _, b := range batches {
			b.move(rate)
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

// rest sets the optimizer and the sums to their states at step 0.
func (b *vectorBatch) rest() {
	clear(b.velocity)
	clear(b.square)
	b.decay1, b.decay2 = 1, 1
	*b.vectorSums = vectorSums{}
}

// finish copies the sums after burn-in to the replicas.
func (b *vectorBatch) finish() {
	for i, r := range b.replicas {
		r.sums = averages{reward: b.rewardSum[i], rewardSquare: b.rewardSquares[i], gap: b.gapSum[i], gapSquare: b.gapSquares[i]}
		r.zero = int(b.zeroSum[i])
	}
}

// refresh sets the snapshots of step t.
func (b *vectorBatch) refresh(t int) {
	switch {
	case len(b.past) > 0:
		n := t / b.Lag.StepsPerSnapshot()
		b.past[n%len(b.past)].set(b.now)
		b.old = b.past[max(n-len(b.past)+1, 0)%len(b.past)]
	case b.Lag.Kind == grpo.Block && b.Lag.Interval > 1:
		b.old.set(b.now)
	}
	b.aim()
}

// aim aims the samplers at the snapshots.
func (b *vectorBatch) aim() {
	if b.large != nil {
		b.large.Aim(b.old.probs)
		return
	}
	b.packs.Aim(b.old.probs)
	b.left = 0
}

// sample draws the groups of a step. It adds their advantages to the sums by arm, except
// those of a single group in a pack, which gradient reads from the pack.
func (b *vectorBatch) sample() {
	b.empty()
	for range b.Estimator.GroupsPerStep {
		if b.left == 0 {
			b.draw()
		}
		b.add()
	}
}

// empty removes the groups of the step before.
func (b *vectorBatch) empty() {
	none, zero := archsimd.BroadcastUint64x8(0), archsimd.BroadcastFloat64x8(0)
	none.Store(&b.zero)
	none.Store(&b.rewarded)
	zero.Store(&b.atomSum)
	if !b.single {
		for a := range b.positive {
			zero.Store(&b.positive[a])
			zero.Store(&b.negative[a])
		}
		for a := range b.positives {
			none.Store(&b.positives[a])
			none.Store(&b.negatives[a])
		}
	}
}

// draw draws a full pack, or a group that is larger.
func (b *vectorBatch) draw() {
	switch {
	case b.together > 0:
		b.packs.Draw(b.samples)
	case b.large != nil:
		b.large.Draw()
	default:
		b.drawPacks()
	}
	b.left = max(1, b.together)
}

// add adds the next of the groups that have been drawn.
func (b *vectorBatch) add() {
	if b.together > 0 {
		b.lanes = b.first << (b.samples - b.left*b.Estimator.GroupSize)
	}
	b.left--
	switch {
	case b.advantages == nil:
		b.addAtoms()
	case b.together == 0:
		b.addLarge()
	default:
		b.count(draw.OnesCount(b.inGroup()))
		if !b.single {
			b.addGroup()
		}
	}
}

// addAtoms draws the rewards of the current group, which are not Bernoulli, as
// sampler.drawAtoms, and adds it as grpo.GroupStatistics.AddAtoms.
func (b *vectorBatch) addAtoms() {
	e, zero, one := &b.Estimator, archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(1)
	sum, scatter := zero, zero
	low, high := archsimd.BroadcastFloat64x8(math.Inf(1)), archsimd.BroadcastFloat64x8(math.Inf(-1))
	for a := range b.counts {
		if b.together > 0 {
			draw.OnesCount(archsimd.LoadUint64x8(&b.packs.Arms[a]).And(archsimd.BroadcastUint64x8(b.lanes))).Store(&b.counts[a])
		}
		arm, count := &b.Bandit.Arms[a], archsimd.LoadUint64x8(&b.counts[a])
		n, reward := count.ConvertToFloat64(), archsimd.BroadcastFloat64x8(arm.Mean)
		if arm.Reward == grpo.Normal && arm.Std > 0 {
			std := archsimd.BroadcastFloat64x8(arm.Std)
			reward = reward.Add(std.Mul(b.streams.Normal(n.Greater(zero))).Div(n.Sqrt()))
			several := n.Greater(one)
			square := b.streams.ChiSquare(count.Sub(archsimd.BroadcastUint64x8(1)), several)
			scatter = scatter.Add(std.Mul(std.Mul(square)).Masked(n.Greater(one)))
		}
		drawn := n.Greater(zero)
		low, high = reward.Min(low).Merge(low, drawn), reward.Max(high).Merge(high, drawn)
		reward = reward.Masked(drawn)
		reward.Store(&b.rewards[a])
		reward = n.Mul(reward)
		sum = sum.Add(reward)
		archsimd.LoadFloat64x8(&b.atomSum).Add(reward).Store(&b.atomSum)
	}
	size := float64(e.GroupSize)
	mean, squares := sum.Div(archsimd.BroadcastFloat64x8(size)), scatter
	for a := range b.counts {
		n := archsimd.LoadUint64x8(&b.counts[a]).ConvertToFloat64()
		d := archsimd.LoadFloat64x8(&b.rewards[a]).Sub(mean)
		squares = squares.Add(n.Mul(d.Mul(d)).Masked(n.Greater(zero)))
	}
	factor := archsimd.BroadcastFloat64x8(b.baseline)
	if e.Advantage.Scale == grpo.StdScale {
		if e.Advantage.Std == grpo.SampleStd {
			size--
		}
		factor = factor.Div(squares.Div(archsimd.BroadcastFloat64x8(size)).Sqrt().Add(archsimd.BroadcastFloat64x8(e.Advantage.Epsilon)))
	}
	equal := low.Equal(high).And(scatter.Equal(zero))
	archsimd.LoadUint64x8(&b.zero).Sub(equal.ToInt64x8().AsUint64x8()).Store(&b.zero)
	differ := low.NotEqual(high).Or(scatter.NotEqual(zero))
	for a := range b.counts {
		n := archsimd.LoadUint64x8(&b.counts[a]).ConvertToFloat64()
		advantage := factor.Mul(archsimd.LoadFloat64x8(&b.rewards[a]).Sub(mean)).Masked(differ.And(n.Greater(zero)))
		total, positive, negative := advantage.Mul(n), &b.positive[a], &b.negative[a]
		archsimd.LoadFloat64x8(positive).Add(total.Masked(advantage.Greater(zero))).Store(positive)
		archsimd.LoadFloat64x8(negative).Add(total.Masked(advantage.Less(zero))).Store(negative)
		if b.drops {
			count := archsimd.LoadUint64x8(&b.counts[a])
			b.addCounts(a, count.Masked(advantage.Greater(zero)), count.Masked(advantage.Less(zero)))
		}
	}
}

// inGroup returns the rewarded samples of the current group.
func (b *vectorBatch) inGroup() integers {
	return archsimd.LoadUint64x8(&b.packs.Rewarded).And(archsimd.BroadcastUint64x8(b.lanes))
}

// addGroup adds the current group of the packs.
func (b *vectorBatch) addGroup() {
	lanes, rewarded := archsimd.BroadcastUint64x8(b.lanes), b.inGroup()
	for a := range b.packs.Arms {
		arm := archsimd.LoadUint64x8(&b.packs.Arms[a]).And(lanes)
		b.addArm(a, draw.OnesCount(arm), draw.OnesCount(arm.And(rewarded)))
	}
}

// addLarge adds the group of more than one pack.
func (b *vectorBatch) addLarge() {
	total := archsimd.BroadcastUint64x8(0)
	for a := range b.successes {
		total = total.Add(archsimd.LoadUint64x8(&b.successes[a]))
	}
	b.count(total)
	for a := range b.counts {
		b.addArm(a, archsimd.LoadUint64x8(&b.counts[a]), archsimd.LoadUint64x8(&b.successes[a]))
	}
}

// drawPacks draws a group of several packs into b.counts and b.successes.
func (b *vectorBatch) drawPacks() {
	none := archsimd.BroadcastUint64x8(0)
	for a := range b.counts {
		none.Store(&b.counts[a])
		none.Store(&b.successes[a])
	}
	for left := b.Estimator.GroupSize; left > 0; left -= draw.MaxLanes {
		b.packs.Draw(min(left, draw.MaxLanes))
		rewarded := archsimd.LoadUint64x8(&b.packs.Rewarded)
		for a := range b.packs.Arms {
			arm := archsimd.LoadUint64x8(&b.packs.Arms[a])
			archsimd.LoadUint64x8(&b.counts[a]).Add(draw.OnesCount(arm)).Store(&b.counts[a])
			archsimd.LoadUint64x8(&b.successes[a]).Add(draw.OnesCount(arm.And(rewarded))).Store(&b.successes[a])
		}
	}
}

// count sets the advantages in a group with the given rewarded samples, and counts
// these and the groups without variance.
func (b *vectorBatch) count(total integers) {
	up, down, equal := b.lookUp(total)
	up.Store(&b.up)
	down.Store(&b.down)
	archsimd.LoadUint64x8(&b.rewarded).Add(total).Store(&b.rewarded)
	archsimd.LoadUint64x8(&b.zero).Sub(equal).Store(&b.zero)
	if b.informative == nil {
		return
	}
	for left := equal.NotEqual(archsimd.BroadcastUint64x8(0)).ToBits(); left != 0; left &= left - 1 {
		b.redraw(bits.TrailingZeros8(left))
	}
}

// lookUp returns the advantages in a group with the given rewarded samples, and −1 where
// the group has no variance, else 0.
func (b *vectorBatch) lookUp(total integers) (up, down vector, equal integers) {
	if b.table == nil {
		var totals draw.Vector
		total.Store(&totals)
		for i, n := range totals {
			b.up[i], b.down[i] = b.advantages.Of(int(n))
		}
		up, down = archsimd.LoadFloat64x8(&b.up), archsimd.LoadFloat64x8(&b.down)
	} else {
		t := &b.table[0]
		up = archsimd.LoadFloat64x8(&t.up[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.up[1]), total)
		down = archsimd.LoadFloat64x8(&t.down[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.down[1]), total)
		for n := 1; n < len(b.table); n++ {
			t, here := &b.table[n], total.ShiftAllRight(4).Equal(archsimd.BroadcastUint64x8(uint64(n)))
			up = archsimd.LoadFloat64x8(&t.up[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.up[1]), total).Merge(up, here)
			down = archsimd.LoadFloat64x8(&t.down[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.down[1]), total).Merge(down, here)
		}
	}
	size := archsimd.BroadcastUint64x8(uint64(b.Estimator.GroupSize))
	return up, down, total.Equal(archsimd.BroadcastUint64x8(0)).Or(total.Equal(size)).ToInt64x8().AsUint64x8()
}

// redraw redraws the current group of element i, as sampler.redraw.
func (b *vectorBatch) redraw(i int) {
	for a := range b.probs {
		b.probs[a] = b.old.probs[a][i]
	}
	if !b.informative.Draw(b.singles[i], b.probs, b.redrawn, b.redrawnSuccesses) {
		return
	}
	total, rewarded := 0, 0
	for _, k := range b.redrawnSuccesses {
		total += k
	}
	b.up[i], b.down[i] = b.advantages.Of(total)
	if b.together == 0 {
		for a, n := range b.redrawn {
			b.counts[a][i], b.successes[a][i] = uint64(n), uint64(b.redrawnSuccesses[a])
		}
		return
	}
	// The first lanes of the group are the rewarded samples, arm by arm.
	first, others := bits.TrailingZeros64(b.lanes), total
	p := b.packs
	p.Rewarded[i] = p.Rewarded[i]&^b.lanes | lanesAt(first, total)
	for a, n := range b.redrawn {
		k := b.redrawnSuccesses[a]
		p.Arms[a][i] = p.Arms[a][i]&^b.lanes | lanesAt(first+rewarded, k) | lanesAt(first+others, n-k)
		rewarded += k
		others += n - k
	}
}

// lanesAt returns n lanes from the given one on.
func lanesAt(from, n int) uint64 { return (1<<n - 1) << from }

// addArm adds samples of an arm, as grpo.ArmStatistics.AddBernoulli.
func (b *vectorBatch) addArm(a int, count, successes integers) {
	up, down := archsimd.LoadFloat64x8(&b.up), archsimd.LoadFloat64x8(&b.down)
	positive, negative := &b.positive[a], &b.negative[a]
	archsimd.LoadFloat64x8(positive).Add(up.Mul(successes.ConvertToFloat64())).Store(positive)
	archsimd.LoadFloat64x8(negative).Add(down.Mul(count.Sub(successes).ConvertToFloat64())).Store(negative)
	if b.drops {
		zero := archsimd.BroadcastFloat64x8(0)
		b.addCounts(a, successes.Masked(up.NotEqual(zero)), count.Sub(successes).Masked(down.NotEqual(zero)))
	}
}

// addCounts adds numbers of samples of an arm with A > 0 and with A < 0.
func (b *vectorBatch) addCounts(a int, positives, negatives integers) {
	archsimd.LoadUint64x8(&b.positives[a]).Add(positives).Store(&b.positives[a])
	archsimd.LoadUint64x8(&b.negatives[a]).Add(negatives).Store(&b.negatives[a])
}

// weigh returns the importance weights of an arm for A > 0 and A < 0, as
// grpo.Force.Sampled.
func (b *vectorBatch) weigh(prob, old vector) (upper, lower vector) {
	imp, zero, one := &b.Estimator.Importance, archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(1)
	ratio := prob.Div(old).Masked(old.Greater(zero))
	switch b.form {
	case grpo.DroppedWeight:
		return zero.Merge(ratio, outside(ratio, b.above)), zero.Merge(ratio, outside(ratio, b.below))
	case grpo.DroppedByChange:
		change := prob.Sub(old)
		return zero.Merge(ratio, outside(change, b.above)), zero.Merge(ratio, outside(change, b.below))
	case grpo.HeldWeight:
		return held(ratio, b.above), held(ratio, b.below)
	}
	ratio = held(ratio, grpo.Interval{Low: math.Inf(-1), High: grpo.LargestRatio})
	if b.form == grpo.SigmoidWeight {
		for sign, temperature := range [2]float64{imp.Temperature.Positive, imp.Temperature.Negative} {
			x := archsimd.BroadcastFloat64x8(temperature).Mul(ratio.Sub(one))
			x.Min(zero.Sub(x)).Store(&b.exponents[sign])
		}
		fp.ExpBelowLanes(b.exponents[:], b.exponents[:], zero)
		part := func(e vector) vector {
			return archsimd.BroadcastFloat64x8(4).Mul(e).Div(one.Add(e).Mul(one.Add(e))).Mul(ratio)
		}
		return part(archsimd.LoadFloat64x8(&b.exponents[0])), part(archsimd.LoadFloat64x8(&b.exponents[1]))
	}
	logarithm, rest := fp.LogLanes(ratio), one.Sub(ratio)
	for sign, k := range [2][2]float64{{imp.Power.Positive, imp.Decay.Positive}, {imp.Power.Negative, imp.Decay.Negative}} {
		x := archsimd.BroadcastFloat64x8(k[0]).Mul(logarithm).Add(archsimd.BroadcastFloat64x8(k[1]).Mul(rest))
		held(x, grpo.Interval{Low: math.Inf(-1), High: grpo.LargestExponent}).Store(&b.exponents[sign])
	}
	fp.ExpBelowLanes(b.exponents[:], b.exponents[:], zero)
	return archsimd.LoadFloat64x8(&b.exponents[0]), archsimd.LoadFloat64x8(&b.exponents[1])
}

// outside returns where x is outside of an interval; NaN is not.
func outside(x vector, within grpo.Interval) archsimd.Mask64x8 {
	return x.Less(archsimd.BroadcastFloat64x8(within.Low)).Or(x.Greater(archsimd.BroadcastFloat64x8(within.High)))
}

// held returns x limited to an interval; NaN is not.
func held(x vector, within grpo.Interval) vector {
	low, high := archsimd.BroadcastFloat64x8(within.Low), archsimd.BroadcastFloat64x8(within.High)
	x = low.Merge(x, x.Less(low))
	return high.Merge(x, x.Greater(high))
}

// clipFraction is grpo.Force.ClipFraction.
func (b *vectorBatch) clipFraction() vector {
	zero, none := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastUint64x8(0)
	clipped, all := none, none
	for a := range b.positives {
		upper, lower := b.weigh(archsimd.LoadFloat64x8(&b.now.probs[a]), archsimd.LoadFloat64x8(&b.old.probs[a]))
		positives, negatives := archsimd.LoadUint64x8(&b.positives[a]), archsimd.LoadUint64x8(&b.negatives[a])
		if b.single {
			lanes, rewarded := archsimd.LoadUint64x8(&b.packs.Arms[a]).And(archsimd.BroadcastUint64x8(b.lanes)), b.inGroup()
			positives = draw.OnesCount(lanes.And(rewarded)).Masked(archsimd.LoadFloat64x8(&b.up).NotEqual(zero))
			negatives = draw.OnesCount(lanes.AndNot(rewarded)).Masked(archsimd.LoadFloat64x8(&b.down).NotEqual(zero))
		}
		all = all.Add(positives).Add(negatives)
		clipped = clipped.Add(positives.Masked(upper.Equal(zero))).Add(negatives.Masked(lower.Equal(zero)))
	}
	samples := all.ConvertToFloat64()
	return clipped.ConvertToFloat64().Div(samples).Masked(samples.Greater(zero))
}

// gradient sets the force and J, as grpo.Force.Sampled and grpo.Policy.Mean.
func (b *vectorBatch) gradient() {
	e, arms := &b.Estimator, len(b.force)
	at := &b.now
	if e.KL.At == grpo.AtSnapshot {
		at = &b.old
	}
	ratio, bounded, single := b.ratio, b.bounded, b.single
	force, probs, means, reference := b.force, b.now.probs[:arms], b.means[:arms], b.Reference[:arms]
	old, atProbs, atLogits := b.old.probs[:arms], at.probs[:arms], at.logits[:arms]
	zero, share := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(b.share)
	if e.Filter == grpo.Drop {
		one := archsimd.BroadcastFloat64x8(1)
		left := archsimd.BroadcastUint64x8(uint64(e.GroupsPerStep)).Sub(archsimd.LoadUint64x8(&b.zero)).ConvertToFloat64().Max(one)
		share = one.Div(archsimd.BroadcastFloat64x8(float64(e.GroupSize)).Mul(left))
	}
	if e.Advantage.Scale == grpo.BatchStd {
		share = share.Div(b.batchScale())
	}
	var lanesOf []draw.Vector
	var rewarded, others integers
	if single {
		lanesOf, rewarded = b.packs.Arms[:arms], b.inGroup()
		others = archsimd.BroadcastUint64x8(b.lanes).AndNot(rewarded)
	}
	up, down := archsimd.LoadFloat64x8(&b.up), archsimd.LoadFloat64x8(&b.down)
	sum, reward, mean := zero, zero, zero // mean: Σ π(θ − θ_ref)
	for a := range force {
		prob := archsimd.LoadFloat64x8(&probs[a])
		reward = reward.Add(prob.Mul(archsimd.BroadcastFloat64x8(means[a])))
		l := archsimd.LoadFloat64x8(&atLogits[a]).Sub(archsimd.BroadcastFloat64x8(reference[a]))
		mean = mean.Add(archsimd.LoadFloat64x8(&atProbs[a]).Mul(l))
		var positive, negative vector
		if single {
			lanes := archsimd.LoadUint64x8(&lanesOf[a])
			positive = up.Mul(draw.OnesCount(lanes.And(rewarded)).ConvertToFloat64())
			negative = down.Mul(draw.OnesCount(lanes.And(others)).ConvertToFloat64())
		} else {
			positive, negative = archsimd.LoadFloat64x8(&b.positive[a]), archsimd.LoadFloat64x8(&b.negative[a])
		}
		if ratio {
			old := archsimd.LoadFloat64x8(&old[a])
			weight := prob.Div(old).Masked(old.Greater(zero))
			positive, negative = weight.Mul(positive), weight.Mul(negative)
		}
		if bounded {
			upper, lower := b.weigh(prob, archsimd.LoadFloat64x8(&old[a]))
			positive, negative = upper.Mul(positive), lower.Mul(negative)
		}
		c := share.Mul(positive.Add(negative))
		c.Store(&force[a])
		sum = sum.Add(c)
	}
	reward.Store(&b.reward)
	if e.KL.Coefficient == 0 {
		for a := range force {
			archsimd.LoadFloat64x8(&force[a]).Sub(archsimd.LoadFloat64x8(&probs[a]).Mul(sum)).Store(&force[a])
		}
	} else {
		beta := archsimd.BroadcastFloat64x8(e.KL.Coefficient)
		for a := range force { // as grpo.Force.projectExactKL
			l := archsimd.LoadFloat64x8(&atLogits[a]).Sub(archsimd.BroadcastFloat64x8(reference[a]))
			g := archsimd.LoadFloat64x8(&force[a]).Sub(archsimd.LoadFloat64x8(&probs[a]).Mul(sum))
			g.Sub(beta.Mul(archsimd.LoadFloat64x8(&atProbs[a]).Mul(l.Sub(mean)))).Store(&force[a])
		}
	}
	if e.Entropy != 0 {
		b.addEntropy()
	}
}

// addEntropy adds the gradient of the entropy bonus, as grpo.Force.addEntropy.
func (b *vectorBatch) addEntropy() {
	mean, alpha := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(b.Estimator.Entropy)
	for a := range b.force {
		mean = mean.Add(archsimd.LoadFloat64x8(&b.now.probs[a]).Mul(archsimd.LoadFloat64x8(&b.now.logits[a])))
	}
	for a := range b.force {
		slope := archsimd.LoadFloat64x8(&b.now.probs[a]).Mul(archsimd.LoadFloat64x8(&b.now.logits[a]).Sub(mean))
		archsimd.LoadFloat64x8(&b.force[a]).Sub(alpha.Mul(slope)).Store(&b.force[a])
	}
}

// clip scales forces to the largest norm, as grpo.Optimizer.Clip.
func (b *vectorBatch) clip() {
	square, most, one := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(b.Optimizer.MaxNorm), archsimd.BroadcastFloat64x8(1)
	for a := range b.force {
		g := archsimd.LoadFloat64x8(&b.force[a])
		square = square.Add(g.Mul(g))
	}
	norm := square.Sqrt()
	factor := most.Div(norm).Merge(one, norm.Greater(most))
	for a := range b.force {
		archsimd.LoadFloat64x8(&b.force[a]).Mul(factor).Store(&b.force[a])
	}
}

// batchScale returns the scale of the step's advantages, as grpo.Advantage of BatchStd.
func (b *vectorBatch) batchScale() vector {
	adv, samples := &b.Estimator.Advantage, float64(b.Estimator.GroupSize)*float64(b.Estimator.GroupsPerStep)
	one, n := archsimd.BroadcastFloat64x8(1), archsimd.BroadcastFloat64x8(samples)
	total := archsimd.LoadUint64x8(&b.rewarded).ConvertToFloat64()
	mean := total.Div(n)
	squares := mean.Mul(one.Sub(mean)).Mul(n)
	if adv.Std == grpo.SampleStd {
		samples--
	}
	scale := squares.Div(archsimd.BroadcastFloat64x8(samples)).Sqrt().Add(archsimd.BroadcastFloat64x8(adv.Epsilon))
	return one.Merge(scale, total.Equal(archsimd.BroadcastFloat64x8(0)).Or(total.Equal(n)))
}

// observe notes step t in the replicas, as replica.note.
func (b *vectorBatch) observe(t int) {
	var finite uint8
	measured := false
	for i, r := range b.replicas {
		if r.divergedAt != running {
			continue
		}
		r.sampler.reward = float64(b.rewarded[i]) + b.atomSum[i]
		r.follow(t, b.reward[i])
		if t != r.recorded[r.nextRecord] {
			continue
		}
		if !measured {
			measured, finite = true, b.measure()
		}
		v := &r.values[r.nextRecord]
		for q := range v {
			v[q] = b.recorded[q][i]
		}
		if finite>>i&1 == 0 {
			r.divergedAt = t
			continue
		}
		r.nextRecord++
	}
}

// measure sets the recorded quantities, as replica.observe. It returns the elements in which
// they and all logits are finite, as bits.
func (b *vectorBatch) measure() (finite uint8) {
	zero, logits := archsimd.BroadcastFloat64x8(0), b.now.logits
	top := archsimd.LoadFloat64x8(&logits[0])
	for a := range logits {
		top = top.Max(archsimd.LoadFloat64x8(&logits[a]))
	}
	logNorm := top.Add(fp.LogLanes(fp.ExpBelowLanes(b.exponentials, logits, top)))
	excess := logNorm.Sub(archsimd.BroadcastFloat64x8(b.reference.LogNorm()))
	reward, entropy, collision, divergence, ratio, square := zero, zero, zero, zero, zero, zero
	for a := range logits {
		logit, prob := archsimd.LoadFloat64x8(&logits[a]), archsimd.LoadFloat64x8(&b.now.probs[a])
		possible, old, g := prob.Greater(zero), archsimd.LoadFloat64x8(&b.old.probs[a]), archsimd.LoadFloat64x8(&b.force[a])
		reward = reward.Add(prob.Mul(archsimd.BroadcastFloat64x8(b.Bandit.TrueMeans[a])))
		entropy = entropy.Sub(prob.Mul(logit.Sub(logNorm)).Masked(possible))
		collision = collision.Add(prob.Mul(prob))
		relative := logit.Sub(archsimd.BroadcastFloat64x8(b.Reference[a])).Sub(excess)
		divergence = divergence.Add(prob.Mul(relative).Masked(possible))
		ratio = ratio.Max(prob.Div(old).Masked(old.Greater(zero)))
		square = square.Add(g.Mul(g))
	}
	groups := archsimd.BroadcastFloat64x8(float64(b.Estimator.GroupsPerStep))
	q := &b.recorded
	archsimd.LoadFloat64x8(&b.reward).Store(&q[expectedRewardIndex])
	reward.Store(&q[trueRewardIndex])
	entropy.Store(&q[entropyIndex])
	collision.Store(&q[collisionIndex])
	archsimd.LoadUint64x8(&b.zero).ConvertToFloat64().Div(groups).Store(&q[zeroVarianceFractionIndex])
	divergence.Store(&q[klReferenceIndex])
	zero.Store(&q[clipFractionIndex])
	if b.drops {
		b.clipFraction().Store(&q[clipFractionIndex])
	}
	ratio.Store(&q[importanceRatioMaxIndex])
	square.Sqrt().Store(&q[gradientNormIndex])
	zero.Store(&q[logitGapIndex])
	if len(logits) == 2 {
		archsimd.LoadFloat64x8(&logits[0]).Sub(archsimd.LoadFloat64x8(&logits[1])).Store(&q[logitGapIndex])
	}
	return finiteIn(q[:]) & finiteIn(logits)
}

// finiteIn returns the elements in which all vectors are finite, as bits.
func finiteIn(vectors []floats) uint8 {
	zero := archsimd.BroadcastFloat64x8(0)
	sum := zero
	for n := range vectors {
		x := archsimd.LoadFloat64x8(&vectors[n])
		sum = sum.Add(x.Sub(x))
	}
	return sum.Equal(zero).ToBits()
}

// average adds the step to the sums after burn-in.
func (b *vectorBatch) average(reward vector) {
	d := reward.Sub(archsimd.BroadcastFloat64x8(b.reward0))
	archsimd.LoadFloat64x8(&b.rewardSum).Add(d).Store(&b.rewardSum)
	archsimd.LoadFloat64x8(&b.rewardSquares).Add(d.Mul(d)).Store(&b.rewardSquares)
	archsimd.LoadUint64x8(&b.zeroSum).Add(archsimd.LoadUint64x8(&b.zero)).Store(&b.zeroSum)
	if len(b.force) == 2 {
		z := archsimd.LoadFloat64x8(&b.now.logits[0]).Sub(archsimd.LoadFloat64x8(&b.now.logits[1]))
		z = z.Sub(archsimd.BroadcastFloat64x8(b.gap0))
		archsimd.LoadFloat64x8(&b.gapSum).Add(z).Store(&b.gapSum)
		archsimd.LoadFloat64x8(&b.gapSquares).Add(z.Mul(z)).Store(&b.gapSquares)
	}
}

// move moves the logits along the force, as grpo.Optimizer.Step.
func (b *vectorBatch) move(learningRate float64) {
	o := &b.Optimizer
	if o.MaxNorm > 0 {
		b.clip()
	}
	rate, momentum := archsimd.BroadcastFloat64x8(learningRate), archsimd.BroadcastFloat64x8(o.Momentum)
	switch o.Kind {
	case grpo.HeavyBall:
		for a := range b.force {
			v := momentum.Mul(archsimd.LoadFloat64x8(&b.velocity[a])).Add(archsimd.LoadFloat64x8(&b.force[a]))
			v.Store(&b.velocity[a])
			archsimd.LoadFloat64x8(&b.now.logits[a]).Add(rate.Mul(v)).Store(&b.now.logits[a])
		}
	case grpo.Nesterov:
		for a := range b.force {
			g := archsimd.LoadFloat64x8(&b.force[a])
			v := momentum.Mul(archsimd.LoadFloat64x8(&b.velocity[a])).Add(g)
			v.Store(&b.velocity[a])
			archsimd.LoadFloat64x8(&b.now.logits[a]).Add(rate.Mul(g.Add(momentum.Mul(v)))).Store(&b.now.logits[a])
		}
	case grpo.Adam:
		b.decay1 *= o.Beta1
		b.decay2 *= o.Beta2
		beta1, rest1 := archsimd.BroadcastFloat64x8(o.Beta1), archsimd.BroadcastFloat64x8(1-o.Beta1)
		beta2, rest2 := archsimd.BroadcastFloat64x8(o.Beta2), archsimd.BroadcastFloat64x8(1-o.Beta2)
		gone1, gone2 := archsimd.BroadcastFloat64x8(1-b.decay1), archsimd.BroadcastFloat64x8(1-b.decay2)
		for a := range b.force {
			g := archsimd.LoadFloat64x8(&b.force[a])
			v := beta1.Mul(archsimd.LoadFloat64x8(&b.velocity[a])).Add(rest1.Mul(g))
			s := beta2.Mul(archsimd.LoadFloat64x8(&b.square[a])).Add(rest2.Mul(g.Mul(g)))
			v.Store(&b.velocity[a])
			s.Store(&b.square[a])
			scale := s.Div(gone2).Sqrt().Add(archsimd.BroadcastFloat64x8(o.Epsilon))
			step := rate.Mul(v.Div(gone1).Div(scale)).Masked(scale.Greater(archsimd.BroadcastFloat64x8(0)))
			archsimd.LoadFloat64x8(&b.now.logits[a]).Add(step).Store(&b.now.logits[a])
		}
	}
}

// updatePolicies sets the probabilities from the logits after step t, as
// grpo.Policy.Update. A replica whose policy has become NaN has diverged.
func (b *vectorBatch) updatePolicies(t int) {
	var inverse vector
	if len(b.force) == 2 {
		inverse = b.pairSoftmax()
	} else {
		inverse = b.softmax()
	}
	if diverged := inverse.IsNaN().ToBits(); diverged != 0 {
		for i, r := range b.replicas {
			if diverged>>i&1 != 0 && r.divergedAt == running {
				r.divergedAt = t + 1
			}
		}
	}
}

// softmax sets the probabilities and returns the inverse of Σ exp(θ_a − max θ).
func (b *vectorBatch) softmax() vector {
	logits, probs := b.now.logits, b.now.probs[:len(b.now.logits)]
	top := archsimd.LoadFloat64x8(&logits[0])
	for a := range logits {
		top = top.Max(archsimd.LoadFloat64x8(&logits[a]))
	}
	inverse := archsimd.BroadcastFloat64x8(1).Div(fp.ExpBelowLanes(probs, logits, top))
	for a := range probs {
		archsimd.LoadFloat64x8(&probs[a]).Mul(inverse).Store(&probs[a])
	}
	return inverse
}

// pairSoftmax is softmax for two arms. Equal logits have equal probabilities even if
// they are infinite.
func (b *vectorBatch) pairSoftmax() vector {
	zero, one := archsimd.BroadcastFloat64x8(0), archsimd.BroadcastFloat64x8(1)
	first, second := archsimd.LoadFloat64x8(&b.now.logits[0]), archsimd.LoadFloat64x8(&b.now.logits[1])
	gap := first.Sub(second).Masked(first.NotEqual(second))
	likelier := gap.GreaterEqual(zero)
	gap.Min(zero.Sub(gap)).Store(&b.gap[0])
	e := fp.ExpBelowLanes(b.gap[:], b.gap[:], zero)
	inverse := one.Div(one.Add(e))
	// Products of selected factors: the compiler would repeat a division whose result is selected.
	one.Merge(e, likelier).Mul(inverse).Store(&b.now.probs[0])
	e.Merge(one, likelier).Mul(inverse).Store(&b.now.probs[1])
	return inverse
}
