//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"context"
	"math/bits"
	"simd/archsimd"
	"slices"

	"grposim/fp"
	"grposim/grpo"
	"grposim/sim/draw"
)

// vectorPairs runs eight pairs in the elements of vector registers: element i of every
// vector of a side belongs to that side of pair i. It computes to the last bit what pair
// and StiffnessProbe.slope compute.
type vectorPairs struct {
	*vectorCell
	sides      [2]*vectorBatch
	deviation  deviation // scratch of fit
	uninformed uint8     // pairs with less than FewestInformative informative steps, as bits
	counting   uint8     // those of uninformed whose current step counts
	informed   [vectorBins]int
	statistics [vectorBins][2]grpo.GroupStatistics // of the step's groups of pairs in counting
}

// vectorBins is the number of bins of pairs that vectorPairs run together, one pair of
// each at a time.
const vectorBins = draw.Width

// newVectorPairs returns the vectorPairs of a cell whose groups are drawn as s draws them.
func newVectorPairs(c *Cell, s *sampler) *vectorPairs {
	p := &vectorPairs{vectorCell: newVectorCell(c, s)}
	p.deviation = newDeviation(len(p.means))
	for side := range p.sides {
		p.sides[side] = p.newBatch()
		for i := range p.statistics {
			p.statistics[i][side].Arms = make([]grpo.ArmStatistics, len(p.means))
		}
	}
	return p
}

// relax is pairRuns.relax for at most vectorBins bins: it runs one pair of each at a time.
func (p *vectorPairs) relax(ctx context.Context, r *pairRuns, fits []pairFit, first, bins int) (ok bool) {
	p.uninformed, ok = 1<<vectorBins-1, true
	for round := 0; ctx.Err() == nil; round++ {
		var series [vectorBins]follower
		var live uint8
		for _, b := range p.sides {
			b.rest()
		}
		for i := range series {
			bin := first + min(i, len(fits)-1)
			pair := binStart(bin, bins, p.Run.Replicas) + round
			if i < len(fits) && pair < binStart(bin+1, bins, p.Run.Replicas) {
				live |= 1 << i
				series[i] = fits[i].follow()
			}
			for side, b := range p.sides {
				logits, velocity := r.start(pair, side)
				b.start(i, Stream(p.Seed, p.ID, r.purpose, pair), grpo.NewPolicy(logits))
				for a, v := range velocity {
					b.velocity[a][i] = v
				}
			}
		}
		if live == 0 {
			break
		}
		ok = p.follow(ctx, &series, live) && ok
	}
	for i := range fits {
		fits[i].innovate(p.informed[i])
	}
	return ok
}

// follow is pair.follow for the pairs in live, each until its series ends. It reports whether
// all their logits stayed finite.
func (p *vectorPairs) follow(ctx context.Context, series *[vectorBins]follower, live uint8) (ok bool) {
	plus, minus := p.sides[0], p.sides[1]
	period, look := RefreshPeriod(p.Lag), stepsBetweenLooks(p.Cell)
	ok = true
	live = p.fit(series, 0, live)
	for step := 0; step < p.Run.Steps && live != 0; step++ {
		if step%look == 0 && ctx.Err() != nil {
			return ok
		}
		if p.Lag.Refreshes(step) {
			plus.refresh(step)
			minus.refresh(step)
		}
		if p.Draws(step) {
			p.sample(live)
		}
		plus.gradient()
		minus.gradient()
		archsimd.ClearAVXUpperBits() // see fp.Integers
		rate := grpo.Rate(&p.Optimizer, step)
		plus.move(&rate)
		minus.move(&rate)
		plus.updatePolicies(step)
		minus.updatePolicies(step)
		if lost := live &^ (finiteIn(plus.now.logits) & finiteIn(minus.now.logits)); lost != 0 {
			ok = false
			live &^= lost
		}
		if (step+1)%period == 0 {
			live = p.fit(series, (step+1)/period, live)
		}
	}
	return ok
}

// fit shows the deviations of the pairs in live to their followers, and returns those that want
// more.
func (p *vectorPairs) fit(series *[vectorBins]follower, period int, live uint8) uint8 {
	plus, minus, d := p.sides[0], p.sides[1], p.deviation
	archsimd.ClearAVXUpperBits() // see fp.Integers
	for left := live; left != 0; left &= left - 1 {
		i := bits.TrailingZeros8(left)
		for a := range d.logits {
			d.logits[a] = (plus.now.logits[a][i] - minus.now.logits[a][i]) / 2
			d.velocity[a] = (plus.velocity[a][i] - minus.velocity[a][i]) / 2
		}
		if !series[i].at(period, d) {
			live &^= 1 << i
		}
	}
	return live
}

// slopes is StiffnessProbe.slopes for at most vectorBins bins.
func (p *vectorPairs) slopes(ctx context.Context, probe *StiffnessProbe, number, first int, bins []slopes) {
	if probe.Displaced == Current { // both sides have the same groups
		minus := *p.sides[0]
		minus.now, minus.force = p.newPolicies(), make([]floats, len(p.means))
		p.sides[1] = &minus
	}
	var near, far [vectorBins]int
	for i := range near {
		bin := min(i, len(bins)-1)
		near[i], far[i] = probe.pairs(p.Cell, first+bin)
		for _, b := range p.sides {
			b.streams.Start(i, stiffnessStream(p.Cell, number, first+bin))
		}
	}
	nearSlopes, nearInformed := p.slope(ctx, probe, probe.Displacement, &near)
	farSlopes, farInformed := p.slope(ctx, probe, 2*probe.Displacement, &far)
	for i := range bins {
		bins[i] = slopes{near: nearSlopes[i], far: farSlopes[i], informative: nearInformed[i] + farInformed[i]}
	}
}

// slope is StiffnessProbe.slope for the given number of pairs in each element.
func (p *vectorPairs) slope(ctx context.Context, probe *StiffnessProbe, d float64, pairs *[vectorBins]int) (s floats, informative [vectorBins]int) {
	plus, minus := p.sides[0], p.sides[1]
	current, behaviour := probe.policies(d)
	for side, b := range p.sides {
		b.old = p.newPolicies()
		for i := range pairs {
			b.now.put(i, current[side])
			b.old.put(i, behaviour[side])
		}
		b.aim()
	}
	p.uninformed, p.informed = 1<<vectorBins-1, [vectorBins]int{}
	sum, fewest, saved := fp.Broadcast(0), slices.Min(pairs[:]), [2]draw.Streams{}
	for n := range slices.Max(pairs[:]) {
		if n%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return floats{}, informative // the results of an interrupted cell are discarded
		}
		live := uint8(1<<vectorBins - 1)
		if n >= fewest {
			saved = [2]draw.Streams{*plus.streams, *minus.streams}
			for i, pairs := range pairs {
				if n >= pairs {
					live &^= 1 << i
				}
			}
		}
		if probe.Displaced == Current {
			p.sampleOnce(live)
		} else {
			p.sample(live)
		}
		plus.gradient()
		minus.gradient()
		if p.clips {
			plus.clip()
			minus.clip()
		}
		for a := range probe.Covector {
			difference := archsimd.LoadFloat64x8(&plus.force[a]).Sub(archsimd.LoadFloat64x8(&minus.force[a]))
			part := fp.Spread(&probe.Covector[a]).Mul(difference)
			sum = sum.Sub(part.Masked(archsimd.Mask64x8FromBits(live)))
		}
		for i := range pairs {
			if live>>i&1 == 0 {
				plus.streams.Copy(i, &saved[0])
				minus.streams.Copy(i, &saved[1])
			}
		}
	}
	sum.Store(&s)
	for i, n := range pairs {
		s[i] /= 2 * d * float64(n)
	}
	return s, p.informed
}

// sample draws the groups of a step, as drawCoupled, and counts the pairs in live that they
// inform.
func (p *vectorPairs) sample(live uint8) {
	plus, minus := p.sides[0], p.sides[1]
	p.counting = live & p.uninformed
	plus.empty()
	minus.empty()
	for range p.Estimator.GroupsPerStep {
		if plus.left == 0 {
			p.draw()
		} else if plus.informative != nil {
			draw.AlignStreams(plus.streams, minus.streams)
		}
		plus.add()
		minus.add()
		p.tally()
	}
	p.inform(differ)
}

// draw draws the next groups of both sides from the same words.
func (p *vectorPairs) draw() {
	plus, minus := p.sides[0], p.sides[1]
	if p.together > 0 {
		draw.DrawCoupled(plus.packs, minus.packs, p.samples)
		plus.left, minus.left = p.together, p.together
		return
	}
	draw.AlignStreams(plus.streams, minus.streams)
	plus.draw()
	minus.draw()
}

// sampleOnce draws groups for both sides, which share their samplers, and counts as sample.
func (p *vectorPairs) sampleOnce(live uint8) {
	plus, minus := p.sides[0], p.sides[1]
	p.counting = live & p.uninformed
	plus.empty()
	for range p.Estimator.GroupsPerStep {
		if plus.left == 0 {
			plus.draw()
		}
		plus.add()
		minus.lanes = plus.lanes
		p.tally()
	}
	p.inform(func(_, _ *grpo.GroupStatistics) bool { return true })
}

// tally adds the current group to the statistics of the pairs in counting.
func (p *vectorPairs) tally() {
	for left := p.counting; left != 0; left &= left - 1 {
		i := bits.TrailingZeros8(left)
		for side, b := range p.sides {
			b.tally(i, &p.statistics[i][side])
		}
	}
}

// tally adds the current group of element i to statistics.
func (g *vectorGroups) tally(i int, statistics *grpo.GroupStatistics) {
	if g.shifts != nil { // the KL penalty is part of the rewards
		var atoms []grpo.Atom
		for n, a := range g.armOf {
			if g.counts[a][i] > 0 {
				atoms = append(atoms, grpo.Atom{Arm: a, Count: int(g.atoms[n][i]), Reward: g.rewards[n][i]})
			}
		}
		statistics.AddAtoms(&g.Estimator.Advantage, atoms, 0)
		return
	}
	for a := range statistics.Arms {
		count, successes := int(g.counts[a][i]), int(g.successes[a][i])
		if g.together > 0 {
			lanes := g.packs.Arms[a][i] & g.lanes
			count, successes = bits.OnesCount64(lanes), bits.OnesCount64(lanes&g.packs.Rewarded[i])
		}
		statistics.Arms[a].AddBernoulli(g.up[i], g.down[i], count, successes)
	}
}

// inform counts the pairs in counting of which a side pushes and which differ.
func (p *vectorPairs) inform(differ func(plus, minus *grpo.GroupStatistics) bool) {
	for left := p.counting; left != 0; left &= left - 1 {
		i := bits.TrailingZeros8(left)
		plus, minus := &p.statistics[i][0], &p.statistics[i][1]
		if (pushes(plus) || pushes(minus)) && differ(plus, minus) {
			p.informed[i]++
			if p.informed[i] == FewestInformative {
				p.uninformed &^= 1 << i
			}
		}
		plus.Reset()
		minus.Reset()
	}
}
