//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"math"
	"simd/archsimd"

	"grposim/fp"
	"grposim/option"
	"grposim/sim/draw"
)

// vectorGroups draws the groups of a vectorBatch and sums them by arm, as sampler and
// grpo.GroupStatistics.
type vectorGroups struct {
	*vectorCell
	streams *draw.Streams
	packs   *draw.Packs  // nil for large groups
	large   *draw.Counts // nil for groups in packs

	old       vectorPolicies // π_old, which draws; on-policy it is π
	reference vectorPolicies // π_ref

	left  int    // groups in the packs that have not been used
	added bool   // these are added up, see plainSteps
	lanes uint64 // lanes of the current group in the packs

	positive, negative   []floats      // sums of advantages by arm and sign, as in grpo.ArmStatistics
	positives, negatives []draw.Vector // numbers of these samples; nil unless weights are set to 0
	drawn                []draw.Vector // samples by arm; nil unless the KL gradient is that of samples
	counts, successes    []draw.Vector // of a large group, by arm: samples, rewarded ones
	atoms                []draw.Vector // of addRewards: numbers of samples of one arm and reward
	rewards              []floats      // by atom
	armOf                []int         // by atom
	shifts               []floats      // what the KL penalty adds to rewards, by arm; else nil

	informative *draw.Informatives // redraws groups of equal rewards; nil: they stay

	*vectorSums
}

// sample draws the groups of a step. It adds their advantages to the sums by arm, except
// those of a single group in a pack, which gradient reads from the pack.
func (g *vectorGroups) sample() {
	g.empty()
	g.addGroups()
}

// addGroups draws groups and adds them.
func (g *vectorGroups) addGroups() {
	for range g.Estimator.GroupsPerStep {
		if g.left == 0 {
			g.draw()
		}
		g.add()
	}
	g.moveBaseline(archsimd.LoadUint64x8(&g.rewarded))
}

// moveBaseline moves the running mean of the rewards after a step with the given rewarded
// samples, as grpo.GroupStatistics.MoveBaseline.
func (g *vectorGroups) moveBaseline(rewarded integers) {
	adv := &g.Estimator.Advantage
	if adv.Baseline != option.RunningMean {
		return
	}
	n := fp.Integers(uint64(g.Estimator.GroupSize) * uint64(g.Estimator.GroupsPerStep)).ConvertToFloat64()
	mean := rewarded.ConvertToFloat64().Div(n)
	kept := fp.Broadcast(1).Sub(fp.Spread(&adv.Rate)).Mul(archsimd.LoadFloat64x8(&g.running))
	kept.Add(fp.Spread(&adv.Rate).Mul(mean)).Store(&g.running)
}

// empty removes the groups of the step before.
func (g *vectorGroups) empty() {
	none, zero := fp.Integers(0), fp.Broadcast(0)
	none.Store(&g.zero)
	none.Store(&g.rewarded)
	zero.Store(&g.atomSum)
	if !g.single {
		for a := range g.positive {
			zero.Store(&g.positive[a])
			zero.Store(&g.negative[a])
		}
		for a := range g.positives {
			none.Store(&g.positives[a])
			none.Store(&g.negatives[a])
		}
		for a := range g.drawn {
			none.Store(&g.drawn[a])
		}
	}
}

// draw draws a full pack, or a group that is larger.
func (g *vectorGroups) draw() {
	switch {
	case g.together > 0:
		g.packs.Draw(g.samples)
	case g.large != nil:
		g.large.Draw()
	default:
		g.drawPacks()
	}
	g.left, g.added = max(1, g.together), false
}

// add adds the next of the groups that have been drawn.
func (g *vectorGroups) add() {
	if g.together > 0 {
		g.lanes = g.first << (g.samples - g.left*g.Estimator.GroupSize)
	}
	g.left--
	switch {
	case g.shifts != nil && g.advantages != nil:
		g.addShifted()
	case g.advantages == nil:
		g.addAtoms()
	case g.together == 0:
		g.addLarge()
	default:
		g.count(draw.OnesCount(g.inGroup()))
		if !g.single {
			g.addGroup()
		}
	}
}

// addAtoms draws the rewards of the current group, which are not Bernoulli, as
// sampler.drawAtoms, and adds it as grpo.GroupStatistics.AddAtoms.
func (g *vectorGroups) addAtoms() {
	zero, one := fp.Broadcast(0), fp.Broadcast(1)
	sum, scatter := zero, zero
	low, high := fp.Broadcast(math.Inf(1)), fp.Broadcast(math.Inf(-1))
	for a := range g.counts {
		if g.together > 0 {
			draw.OnesCount(archsimd.LoadUint64x8(&g.packs.Arms[a]).And(fp.Integers(g.lanes))).Store(&g.counts[a])
		}
		arm, count := &g.Bandit.Arms[a], archsimd.LoadUint64x8(&g.counts[a])
		n, reward := count.ConvertToFloat64(), fp.Spread(&arm.Mean)
		if g.normal[a] {
			std := fp.Spread(&arm.Std)
			reward = reward.Add(std.Mul(g.streams.Normal(n.Greater(zero))).Div(n.Sqrt()))
			several := n.Greater(one)
			square := g.streams.ChiSquare(count.Sub(fp.Integers(1)), several)
			scatter = scatter.Add(std.Mul(std.Mul(square)).Masked(n.Greater(one)))
		}
		drawn := n.Greater(zero)
		archsimd.LoadFloat64x8(&g.atomSum).Add(n.Mul(reward.Masked(drawn))).Store(&g.atomSum)
		if g.shifts != nil {
			reward = reward.Add(archsimd.LoadFloat64x8(&g.shifts[a]))
		}
		low, high = reward.Min(low).Merge(low, drawn), reward.Max(high).Merge(high, drawn)
		reward = reward.Masked(drawn)
		reward.Store(&g.rewards[a])
		sum = sum.Add(n.Mul(reward))
	}
	g.addRewards(sum, scatter, low, high)
}

// addRewards adds the current group, with the numbers and rewards of its atoms in g. Their sum,
// their scatter within atoms, the lowest and the highest are given.
func (g *vectorGroups) addRewards(sum, scatter, low, high vector) {
	e, zero := &g.Estimator, fp.Broadcast(0)
	size := fp.Integers(uint64(e.GroupSize)).ConvertToFloat64()
	mean, squares := sum.Div(size), scatter
	for i, a := range g.armOf {
		n := archsimd.LoadUint64x8(&g.atoms[i]).ConvertToFloat64()
		d := archsimd.LoadFloat64x8(&g.rewards[i]).Sub(mean)
		squares = squares.Add(n.Mul(d.Mul(d)).Masked(g.anyOf(a)))
	}
	factor := fp.Spread(&g.baseline)
	if e.Advantage.Scale == option.StdScale {
		if e.Advantage.Std == option.SampleStd {
			size = size.Sub(fp.Broadcast(1))
		}
		factor = factor.Div(squares.Div(size).Sqrt().Add(fp.Spread(&e.Advantage.Epsilon)))
	}
	equal := low.Equal(high).And(scatter.Equal(zero)).And(sum.Equal(sum)) // a reward may be NaN
	archsimd.LoadUint64x8(&g.zero).Sub(equal.ToInt64x8().AsUint64x8()).Store(&g.zero)
	differ := low.NotEqual(high).Or(scatter.NotEqual(zero))
	for i, a := range g.armOf {
		n := archsimd.LoadUint64x8(&g.atoms[i]).ConvertToFloat64()
		advantage := factor.Mul(archsimd.LoadFloat64x8(&g.rewards[i]).Sub(mean)).Masked(differ.And(g.anyOf(a)))
		g.addDrawn(a, archsimd.LoadUint64x8(&g.atoms[i]))
		total, positive, negative := advantage.Mul(n), &g.positive[a], &g.negative[a]
		archsimd.LoadFloat64x8(positive).Add(total.Masked(advantage.Greater(zero))).Store(positive)
		archsimd.LoadFloat64x8(negative).Add(total.Masked(advantage.Less(zero))).Store(negative)
		if g.drops {
			count := archsimd.LoadUint64x8(&g.atoms[i])
			g.addCounts(a, count.Masked(advantage.Greater(zero)), count.Masked(advantage.Less(zero)))
		}
	}
}

// anyOf returns where the current group has samples of an arm.
func (g *vectorGroups) anyOf(a int) archsimd.Mask64x8 {
	return archsimd.LoadUint64x8(&g.counts[a]).NotEqual(fp.Integers(0))
}

// inGroup returns the rewarded samples of the current group.
func (g *vectorGroups) inGroup() integers {
	return archsimd.LoadUint64x8(&g.packs.Rewarded).And(fp.Integers(g.lanes))
}

// addGroup adds the current group of the packs.
func (g *vectorGroups) addGroup() {
	lanes, rewarded := fp.Integers(g.lanes), g.inGroup()
	for a := range g.packs.Arms {
		arm := archsimd.LoadUint64x8(&g.packs.Arms[a]).And(lanes)
		g.addArm(a, draw.OnesCount(arm), draw.OnesCount(arm.And(rewarded)))
	}
}

// addLarge adds the group of more than one pack.
func (g *vectorGroups) addLarge() {
	total := fp.Integers(0)
	for a := range g.successes {
		total = total.Add(archsimd.LoadUint64x8(&g.successes[a]))
	}
	g.count(total)
	for a := range g.counts {
		g.addArm(a, archsimd.LoadUint64x8(&g.counts[a]), archsimd.LoadUint64x8(&g.successes[a]))
	}
}

// drawPacks draws a group of several packs into b.counts and b.successes.
func (g *vectorGroups) drawPacks() {
	none := fp.Integers(0)
	for a := range g.counts {
		none.Store(&g.counts[a])
		none.Store(&g.successes[a])
	}
	for left := g.Estimator.GroupSize; left > 0; left -= draw.MaxLanes {
		g.packs.Draw(min(left, draw.MaxLanes))
		rewarded := archsimd.LoadUint64x8(&g.packs.Rewarded)
		for a := range g.packs.Arms {
			arm := archsimd.LoadUint64x8(&g.packs.Arms[a])
			archsimd.LoadUint64x8(&g.counts[a]).Add(draw.OnesCount(arm)).Store(&g.counts[a])
			archsimd.LoadUint64x8(&g.successes[a]).Add(draw.OnesCount(arm.And(rewarded))).Store(&g.successes[a])
		}
	}
}

// count sets the advantages in a group with the given rewarded samples, and counts
// these and the groups without variance, which may be redrawn.
func (g *vectorGroups) count(total integers) {
	up, down, equal := g.lookUp(total)
	archsimd.LoadUint64x8(&g.rewarded).Add(total).Store(&g.rewarded)
	archsimd.LoadUint64x8(&g.zero).Sub(equal).Store(&g.zero)
	if g.redraws(equal) {
		up, down, _ = g.lookUp(g.redraw(total, equal))
	}
	up.Store(&g.up)
	down.Store(&g.down)
}

// lookUp returns the advantages in a group with the given rewarded samples, and −1 where
// the group has no variance, else 0.
func (g *vectorGroups) lookUp(total integers) (up, down vector, equal integers) {
	switch {
	case g.Estimator.Advantage.Baseline == option.RunningMean:
		baseline := archsimd.LoadFloat64x8(&g.running)
		up, down = fp.Broadcast(1).Sub(baseline), fp.Broadcast(0).Sub(baseline)
	case g.table == nil:
		var totals draw.Vector
		total.Store(&totals)
		archsimd.ClearAVXUpperBits() // see fp.Integers
		for i := range totals {
			g.up[i], g.down[i] = g.advantages.Of(int(totals[i]))
		}
		up, down = archsimd.LoadFloat64x8(&g.up), archsimd.LoadFloat64x8(&g.down)
	default:
		up, down, equal = g.table[0].of(total)
		for n := 1; n < len(g.table); n++ {
			up, down, equal = g.table[n].instead(n, total, up, down, equal)
		}
		return up, down, equal
	}
	size := fp.Integers(uint64(g.Estimator.GroupSize))
	return up, down, total.Equal(fp.Integers(0)).Or(total.Equal(size)).ToInt64x8().AsUint64x8()
}

// of returns a row's entries of the given numbers, less a multiple of 16.
func (r *advantageRow) of(total integers) (up, down vector, equal integers) {
	up = archsimd.LoadFloat64x8(&r.up[0]).ConcatPermute(archsimd.LoadFloat64x8(&r.up[1]), total)
	down = archsimd.LoadFloat64x8(&r.down[0]).ConcatPermute(archsimd.LoadFloat64x8(&r.down[1]), total)
	equal = archsimd.LoadUint64x8(&r.equal[0]).ConcatPermute(archsimd.LoadUint64x8(&r.equal[1]), total)
	return up, down, equal
}

// instead returns what of returns for the numbers of row n, and the given entries for the others.
func (r *advantageRow) instead(n int, total integers, up, down vector, equal integers) (vector, vector, integers) {
	here := total.ShiftRight(fp.Integers(4)).Equal(fp.Integers(uint64(n)))
	u, d, e := r.of(total)
	return u.Merge(up, here), d.Merge(down, here), e.Merge(equal, here)
}

// redraws reports whether any of the groups that have no variance, where equal is −1, is redrawn.
func (g *vectorGroups) redraws(equal integers) bool {
	return g.informative != nil && equal.NotEqual(fp.Integers(0)).ToBits() != 0
}

// redraw redraws the current groups where equal is −1, as sampler.redraw. It returns the
// rewarded samples of all current groups, of which total are those before.
func (g *vectorGroups) redraw(total, equal integers) integers {
	rewarded, drawn := g.informative.Draw(equal.NotEqual(fp.Integers(0)))
	samples, successes := g.informative.Samples, g.informative.Successes
	if g.together == 0 {
		for a := range g.counts {
			archsimd.LoadUint64x8(&samples[a]).Merge(archsimd.LoadUint64x8(&g.counts[a]), drawn).Store(&g.counts[a])
			archsimd.LoadUint64x8(&successes[a]).Merge(archsimd.LoadUint64x8(&g.successes[a]), drawn).Store(&g.successes[a])
		}
		return rewarded.Merge(total, drawn)
	}
	// The first lanes of the group are the rewarded samples, arm by arm.
	group := fp.Integers(g.lanes).Masked(drawn)
	success := fp.Integers(g.lanes & -g.lanes).Masked(drawn) // the lane of the next success
	failure := success.ShiftLeft(rewarded)
	archsimd.LoadUint64x8(&g.packs.Rewarded).AndNot(group).Or(failure.Sub(success)).Store(&g.packs.Rewarded)
	for a := range samples {
		k := archsimd.LoadUint64x8(&successes[a])
		s, f := success.ShiftLeft(k), failure.ShiftLeft(archsimd.LoadUint64x8(&samples[a]).Sub(k))
		lanes := s.Sub(success).Or(f.Sub(failure))
		archsimd.LoadUint64x8(&g.packs.Arms[a]).AndNot(group).Or(lanes).Store(&g.packs.Arms[a])
		success, failure = s, f
	}
	return rewarded.Merge(total, drawn)
}

// addArm adds samples of an arm, as grpo.ArmStatistics.AddBernoulli.
func (g *vectorGroups) addArm(a int, count, successes integers) {
	g.addDrawn(a, count)
	up, down := archsimd.LoadFloat64x8(&g.up), archsimd.LoadFloat64x8(&g.down)
	positive, negative := &g.positive[a], &g.negative[a]
	archsimd.LoadFloat64x8(positive).Add(up.Mul(successes.ConvertToFloat64())).Store(positive)
	archsimd.LoadFloat64x8(negative).Add(down.Mul(count.Sub(successes).ConvertToFloat64())).Store(negative)
	if g.drops {
		zero := fp.Broadcast(0)
		g.addCounts(a, successes.Masked(up.NotEqual(zero)), count.Sub(successes).Masked(down.NotEqual(zero)))
	}
}

// addCounts adds numbers of samples of an arm with A > 0 and with A < 0.
func (g *vectorGroups) addCounts(a int, positives, negatives integers) {
	archsimd.LoadUint64x8(&g.positives[a]).Add(positives).Store(&g.positives[a])
	archsimd.LoadUint64x8(&g.negatives[a]).Add(negatives).Store(&g.negatives[a])
}
