//go:build goexperiment.simd && amd64

package sim

import (
	"math"
	"simd/archsimd"

	"grposim/grpo/fp"
	"grposim/option"
	"grposim/sim/draw"
)

// sample draws the groups of a step. It adds their advantages to the sums by arm, except
// those of a single group in a pack, which gradient reads from the pack.
func (b *vectorBatch) sample() {
	b.empty()
	b.addGroups()
}

// addGroups draws groups and adds them.
func (b *vectorBatch) addGroups() {
	if b.prompts != nil && b.prompts.groups != nil {
		b.addPrompts()
		return
	}
	for range b.groups {
		if b.left == 0 {
			b.draw()
		}
		b.add()
	}
	b.moveBaseline(archsimd.LoadUint64x8(&b.rewarded))
}

// moveBaseline moves the running mean of the rewards after a step with the given rewarded
// samples, as grpo.GroupStatistics.MoveBaseline.
func (b *vectorBatch) moveBaseline(rewarded integers) {
	adv := &b.Estimator.Advantage
	if adv.Baseline != option.RunningMean {
		return
	}
	n := fp.Integers(uint64(b.Estimator.GroupSize) * uint64(b.Estimator.GroupsPerStep)).ConvertToFloat64()
	mean := rewarded.ConvertToFloat64().Div(n)
	kept := fp.Broadcast(1).Sub(fp.Spread(&adv.Rate)).Mul(archsimd.LoadFloat64x8(&b.running))
	kept.Add(fp.Spread(&adv.Rate).Mul(mean)).Store(&b.running)
}

// empty removes the groups of the step before.
func (b *vectorBatch) empty() {
	none, zero := fp.Integers(0), fp.Broadcast(0)
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
		for a := range b.drawn {
			none.Store(&b.drawn[a])
		}
	}
}

// draw draws a full pack, or a group that is larger.
func (b *vectorBatch) draw() {
	switch {
	case b.prompts != nil:
		b.drawPrompts()
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
	case b.shifts != nil && b.advantages != nil:
		b.addShifted()
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
	zero, one := fp.Broadcast(0), fp.Broadcast(1)
	sum, scatter := zero, zero
	low, high := fp.Broadcast(math.Inf(1)), fp.Broadcast(math.Inf(-1))
	for a := range b.counts {
		if b.together > 0 {
			draw.OnesCount(archsimd.LoadUint64x8(&b.packs.Arms[a]).And(fp.Integers(b.lanes))).Store(&b.counts[a])
		}
		arm, count := &b.Bandit.Arms[a], archsimd.LoadUint64x8(&b.counts[a])
		n, reward := count.ConvertToFloat64(), fp.Spread(&arm.Mean)
		if b.normal[a] {
			std := fp.Spread(&arm.Std)
			reward = reward.Add(std.Mul(b.streams.Normal(n.Greater(zero))).Div(n.Sqrt()))
			several := n.Greater(one)
			square := b.streams.ChiSquare(count.Sub(fp.Integers(1)), several)
			scatter = scatter.Add(std.Mul(std.Mul(square)).Masked(n.Greater(one)))
		}
		drawn := n.Greater(zero)
		archsimd.LoadFloat64x8(&b.atomSum).Add(n.Mul(reward.Masked(drawn))).Store(&b.atomSum)
		if b.shifts != nil {
			reward = reward.Add(archsimd.LoadFloat64x8(&b.shifts[a]))
		}
		low, high = reward.Min(low).Merge(low, drawn), reward.Max(high).Merge(high, drawn)
		reward = reward.Masked(drawn)
		reward.Store(&b.rewards[a])
		sum = sum.Add(n.Mul(reward))
	}
	b.addRewards(sum, scatter, low, high)
}

// addRewards adds the current group, of which b.atoms and b.rewards hold the numbers and rewards of
// the atoms: their sum, their scatter within atoms, the lowest and the highest of them are given.
func (b *vectorBatch) addRewards(sum, scatter, low, high vector) {
	e, zero := &b.Estimator, fp.Broadcast(0)
	size := fp.Integers(uint64(e.GroupSize)).ConvertToFloat64()
	mean, squares := sum.Div(size), scatter
	for i, a := range b.armOf {
		n := archsimd.LoadUint64x8(&b.atoms[i]).ConvertToFloat64()
		d := archsimd.LoadFloat64x8(&b.rewards[i]).Sub(mean)
		squares = squares.Add(n.Mul(d.Mul(d)).Masked(b.anyOf(a)))
	}
	factor := fp.Spread(&b.baseline)
	if e.Advantage.Scale == option.StdScale {
		if e.Advantage.Std == option.SampleStd {
			size = size.Sub(fp.Broadcast(1))
		}
		factor = factor.Div(squares.Div(size).Sqrt().Add(fp.Spread(&e.Advantage.Epsilon)))
	}
	equal := low.Equal(high).And(scatter.Equal(zero)).And(sum.Equal(sum)) // a reward may be NaN
	archsimd.LoadUint64x8(&b.zero).Sub(equal.ToInt64x8().AsUint64x8()).Store(&b.zero)
	differ := low.NotEqual(high).Or(scatter.NotEqual(zero))
	for i, a := range b.armOf {
		n := archsimd.LoadUint64x8(&b.atoms[i]).ConvertToFloat64()
		advantage := factor.Mul(archsimd.LoadFloat64x8(&b.rewards[i]).Sub(mean)).Masked(differ.And(b.anyOf(a)))
		b.addDrawn(a, archsimd.LoadUint64x8(&b.atoms[i]))
		total, positive, negative := advantage.Mul(n), &b.positive[a], &b.negative[a]
		archsimd.LoadFloat64x8(positive).Add(total.Masked(advantage.Greater(zero))).Store(positive)
		archsimd.LoadFloat64x8(negative).Add(total.Masked(advantage.Less(zero))).Store(negative)
		if b.drops {
			count := archsimd.LoadUint64x8(&b.atoms[i])
			b.addCounts(a, count.Masked(advantage.Greater(zero)), count.Masked(advantage.Less(zero)))
		}
	}
}

// anyOf returns where the current group has samples of an arm.
func (b *vectorBatch) anyOf(a int) archsimd.Mask64x8 {
	return archsimd.LoadUint64x8(&b.counts[a]).NotEqual(fp.Integers(0))
}

// inGroup returns the rewarded samples of the current group.
func (b *vectorBatch) inGroup() integers {
	return archsimd.LoadUint64x8(&b.packs.Rewarded).And(fp.Integers(b.lanes))
}

// addGroup adds the current group of the packs.
func (b *vectorBatch) addGroup() {
	lanes, rewarded := fp.Integers(b.lanes), b.inGroup()
	for a := range b.packs.Arms {
		arm := archsimd.LoadUint64x8(&b.packs.Arms[a]).And(lanes)
		b.addArm(a, draw.OnesCount(arm), draw.OnesCount(arm.And(rewarded)))
	}
}

// addLarge adds the group of more than one pack.
func (b *vectorBatch) addLarge() {
	total := fp.Integers(0)
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
	none := fp.Integers(0)
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
// these and the groups without variance, which may be redrawn.
func (b *vectorBatch) count(total integers) {
	up, down, equal := b.lookUp(total)
	archsimd.LoadUint64x8(&b.rewarded).Add(total).Store(&b.rewarded)
	archsimd.LoadUint64x8(&b.zero).Sub(equal).Store(&b.zero)
	if b.redraws(equal) {
		up, down, _ = b.lookUp(b.redraw(total, equal))
	}
	up.Store(&b.up)
	down.Store(&b.down)
}

// lookUp returns the advantages in a group with the given rewarded samples, and −1 where
// the group has no variance, else 0.
func (b *vectorBatch) lookUp(total integers) (up, down vector, equal integers) {
	switch {
	case b.Estimator.Advantage.Baseline == option.RunningMean:
		baseline := archsimd.LoadFloat64x8(&b.running)
		up, down = fp.Broadcast(1).Sub(baseline), fp.Broadcast(0).Sub(baseline)
	case b.table == nil:
		var totals draw.Vector
		total.Store(&totals)
		archsimd.ClearAVXUpperBits() // see fp.Integers
		for i := range totals {
			b.up[i], b.down[i] = b.advantages.Of(int(totals[i]))
		}
		up, down = archsimd.LoadFloat64x8(&b.up), archsimd.LoadFloat64x8(&b.down)
	default:
		t, rows := &b.table[0], total.ShiftRight(fp.Integers(4))
		up = archsimd.LoadFloat64x8(&t.up[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.up[1]), total)
		down = archsimd.LoadFloat64x8(&t.down[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.down[1]), total)
		for n := 1; n < len(b.table); n++ {
			t, here := &b.table[n], rows.Equal(fp.Integers(uint64(n)))
			up = archsimd.LoadFloat64x8(&t.up[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.up[1]), total).Merge(up, here)
			down = archsimd.LoadFloat64x8(&t.down[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.down[1]), total).Merge(down, here)
		}
	}
	size := fp.Integers(uint64(b.Estimator.GroupSize))
	return up, down, total.Equal(fp.Integers(0)).Or(total.Equal(size)).ToInt64x8().AsUint64x8()
}

// redraws reports whether any of the groups that have no variance, where equal is −1, is redrawn.
func (b *vectorBatch) redraws(equal integers) bool {
	return b.informative != nil && equal.NotEqual(fp.Integers(0)).ToBits() != 0
}

// redraw redraws the current groups where equal is −1, as sampler.redraw. It returns the
// rewarded samples of all current groups, of which total are those before.
func (b *vectorBatch) redraw(total, equal integers) integers {
	rewarded, drawn := b.informativeGroups(equal.NotEqual(fp.Integers(0)))
	samples, successes := b.informative.Samples, b.informative.Successes
	if b.together == 0 {
		for a := range b.counts {
			archsimd.LoadUint64x8(&samples[a]).Merge(archsimd.LoadUint64x8(&b.counts[a]), drawn).Store(&b.counts[a])
			archsimd.LoadUint64x8(&successes[a]).Merge(archsimd.LoadUint64x8(&b.successes[a]), drawn).Store(&b.successes[a])
		}
		return rewarded.Merge(total, drawn)
	}
	// The first lanes of the group are the rewarded samples, arm by arm.
	group := fp.Integers(b.lanes).Masked(drawn)
	success := fp.Integers(b.lanes & -b.lanes).Masked(drawn) // the lane of the next success
	failure := success.ShiftLeft(rewarded)
	archsimd.LoadUint64x8(&b.packs.Rewarded).AndNot(group).Or(failure.Sub(success)).Store(&b.packs.Rewarded)
	for a := range samples {
		k := archsimd.LoadUint64x8(&successes[a])
		s, f := success.ShiftLeft(k), failure.ShiftLeft(archsimd.LoadUint64x8(&samples[a]).Sub(k))
		lanes := s.Sub(success).Or(f.Sub(failure))
		archsimd.LoadUint64x8(&b.packs.Arms[a]).AndNot(group).Or(lanes).Store(&b.packs.Arms[a])
		success, failure = s, f
	}
	return rewarded.Merge(total, drawn)
}

// addArm adds samples of an arm, as grpo.ArmStatistics.AddBernoulli.
func (b *vectorBatch) addArm(a int, count, successes integers) {
	b.addDrawn(a, count)
	up, down := archsimd.LoadFloat64x8(&b.up), archsimd.LoadFloat64x8(&b.down)
	positive, negative := &b.positive[a], &b.negative[a]
	archsimd.LoadFloat64x8(positive).Add(up.Mul(successes.ConvertToFloat64())).Store(positive)
	archsimd.LoadFloat64x8(negative).Add(down.Mul(count.Sub(successes).ConvertToFloat64())).Store(negative)
	if b.drops {
		zero := fp.Broadcast(0)
		b.addCounts(a, successes.Masked(up.NotEqual(zero)), count.Sub(successes).Masked(down.NotEqual(zero)))
	}
}

// addCounts adds numbers of samples of an arm with A > 0 and with A < 0.
func (b *vectorBatch) addCounts(a int, positives, negatives integers) {
	archsimd.LoadUint64x8(&b.positives[a]).Add(positives).Store(&b.positives[a])
	archsimd.LoadUint64x8(&b.negatives[a]).Add(negatives).Store(&b.negatives[a])
}
