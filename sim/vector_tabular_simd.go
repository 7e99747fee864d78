//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"simd/archsimd"

	"grposim/grpo"
	"grposim/fp"
	"grposim/option"
	"grposim/sim/draw"
)

// vectorTabular holds the policies of the prompts of a vectorBatch, as tabular.
type vectorTabular struct {
	rows    []floats       // of all prompts, one after the other
	prompts []vectorPrompt // by prompt
	group   vectorPrompt   // of the current group: in each element that of the prompt of its replica
	mean    vectorPrompt   // its policy has the mean logit gap
	behind  [2]int         // the rows of a prompt from the first to the last that only its force needs
	coasts  bool           // prompts move without a gradient
	sparse  bool           // a refresh copies only the policies that have moved

	visits  []draw.Vector // the prompts of the step's groups; if sparse, of all since the last refresh
	visited []uint8       // by prompt: the elements that have visited it in this step and have not moved it, as bits
	sums    *tabularSums  // see vectorSums
	decays  [2]float64    // Adam's of all prompts before a step
}

// tabularSums holds Σ J, Σ z and the largest importance ratio since the last record, as
// tabular.ratio.
type tabularSums struct{ reward, gap, ratio floats }

// vectorPrompt is the policy of a prompt with all that belongs to it.
type vectorPrompt struct {
	rows            []floats       // the following, in their order
	now             vectorPolicies // π
	velocity, force []floats
	reward          *floats // J
	means           []floats
	square          []floats
	old, reference  vectorPolicies // π_old, unless it is π; π_ref
}

// promptRows returns the numbers of rows of a vectorPrompt: up to J, up to the means and in all.
func (v *vectorCell) promptRows() (moved, needed, all int) {
	return v.rows + 5, v.rows + 7, 2*v.rows + 14
}

func (v *vectorCell) newVectorPrompt(rows []floats) vectorPrompt {
	left := rows
	take := func(n int) []floats {
		part := left[:n]
		left = left[n:]
		return part
	}
	return vectorPrompt{
		rows: rows, now: newVectorPolicies(take(v.rows)), velocity: take(2), force: take(2), reward: &take(1)[0],
		means: take(2), square: take(2), old: newVectorPolicies(take(v.rows)), reference: newVectorPolicies(take(5)),
	}
}

// newVectorTabular returns the policies of a cell, nil unless it is tabular.
func (v *vectorCell) newVectorTabular() *vectorTabular {
	if !v.tabular() {
		return nil
	}
	_, needed, all := v.promptRows()
	count, lagged := len(v.Prompts.Means), v.Lag.Interval > 1
	p := &vectorTabular{
		rows: make([]floats, count*all), visited: make([]uint8, count),
		group: v.newVectorPrompt(make([]floats, all)), mean: v.newVectorPrompt(make([]floats, all)),
		behind: [2]int{needed + 2, all},
		coasts: v.Optimizer.Kind == option.Adam || v.Optimizer.Momentum != 0,
		sums:   new(tabularSums),
	}
	p.sparse = lagged && !p.coasts && v.Lag.Interval*v.Estimator.GroupsPerStep < count
	for x := range count {
		p.prompts = append(p.prompts, v.newVectorPrompt(p.rows[x*all:][:all]))
	}
	if !lagged {
		p.group.old = p.group.now
		p.behind[0] += v.rows
		for x := range p.prompts {
			p.prompts[x].old = p.prompts[x].now
		}
	}
	if v.Estimator.KL.Coefficient == 0 || v.Prompts.Starts == nil {
		p.group.reference = v.initial
		p.behind[1] -= 5
	}
	return p
}

// begin sets the state at step 0 to that of a replica.
func (p *vectorTabular) begin(r *tabular) {
	p.visits = p.visits[:0]
	clear(p.visited)
	clear(p.rows)
	clear(p.mean.rows)
	for x := range p.prompts {
		q, from := &p.prompts[x], &r.prompts[x]
		for i := range draw.Width {
			q.now.put(i, from.policy)
			q.old.put(i, from.policy)
			q.reference.put(i, from.reference)
			q.reward[i], q.means[0][i], q.means[1][i] = from.reward, from.means[0], from.means[1]
		}
	}
	fp.Broadcast(r.reward).Store(&p.sums.reward)
	fp.Broadcast(r.gap).Store(&p.sums.gap)
	fp.Broadcast(1).Store(&p.sums.ratio)
}

// at makes a prompt that of the batch.
func (b *vectorBatch) at(q *vectorPrompt) {
	archsimd.ClearAVXUpperBits() // see fp.Integers
	b.now, b.old, b.reference, b.velocity, b.square, b.force = q.now, q.old, q.reference, q.velocity, q.square, q.force
}

// refreshTabular sets the snapshots.
func (b *vectorBatch) refreshTabular() {
	p := b.tabular
	switch {
	case p.sparse:
		archsimd.ClearAVXUpperBits()
		for n := range p.visits {
			for i, x := range &p.visits[n] {
				old, now := p.prompts[x].old.rows, p.prompts[x].now.rows
				for row := range old {
					old[row][i] = now[row][i]
				}
			}
		}
	case b.Lag.Interval > 1:
		for x := range p.prompts {
			p.prompts[x].old.set(&p.prompts[x].now)
		}
	}
	p.visits = p.visits[:0]
}

// pushTabular draws the groups of a step and sets the gradients of their prompts, as tabular.draw.
func (b *vectorBatch) pushTabular() {
	p := b.tabular
	if !p.sparse {
		p.visits = p.visits[:0]
	}
	share := fp.Broadcast(1).Div(fp.Integers(uint64(b.Estimator.GroupsPerStep)).ConvertToFloat64())
	zeros, rewarded := fp.Integers(0), fp.Integers(0)
	b.at(&p.group)
	part := (*[2]floats)(b.force)
	for range b.Estimator.GroupsPerStep {
		b.prompts.choose(b.streams)
		chosen := b.prompts.chosen
		if b.Prompts.Order == option.InOrder { // all replicas have the same prompt
			b.at(&p.prompts[chosen[0]])
			b.force = part[:]
		} else {
			p.gatherGroup(chosen)
		}
		b.aim()
		b.empty()
		b.addGroups() // may redraw groups, of other prompts
		archsimd.ClearAVXUpperBits()
		p.visits = append(p.visits, *chosen)
		b.gradient()
		zeros = zeros.Add(archsimd.LoadUint64x8(&b.zero))
		rewarded = rewarded.Add(archsimd.LoadUint64x8(&b.rewarded))
		for a := range b.force {
			share.Mul(archsimd.LoadFloat64x8(&b.force[a])).Store(&b.force[a])
		}
		archsimd.ClearAVXUpperBits()
		for i, x := range chosen {
			force := p.prompts[x].force
			force[0][i] += part[0][i]
			force[1][i] += part[1][i]
			p.visited[x] |= 1 << i
		}
	}
	zeros.Store(&b.zero)
	rewarded.Store(&b.rewarded)
	count := fp.Integers(uint64(len(p.prompts))).ConvertToFloat64()
	archsimd.LoadFloat64x8(&p.sums.reward).Div(count).Store(&b.reward)
	archsimd.LoadFloat64x8(&p.sums.gap).Div(count).Store(&p.mean.now.logits[0])
	b.at(&p.mean)
}

// gatherGroup sets the policies of the current group from those of the chosen prompts.
func (p *vectorTabular) gatherGroup(chosen *draw.Vector) {
	from, to, stride := p.behind[0], p.behind[1], len(p.group.rows)
	gather(p.group.now.rows, p.rows, stride, chosen)
	gather(p.group.rows[from:max(from, to)], p.rows[from:], stride, chosen)
}

// moveTabular updates the policies by the gradients of step t, as tabular.move.
func (b *vectorBatch) moveTabular(t int, rate *float64) {
	p := b.tabular
	if p.coasts {
		p.decays = [2]float64{b.decay1, b.decay2}
		for x := range p.prompts {
			if b.Optimizer.Kind == option.Adam {
				b.decay1, b.decay2 = p.decays[0], p.decays[1]
			}
			b.movePrompt(&p.prompts[x], 0xff, t, rate)
		}
		return
	}
	moved, needed, stride := b.promptRows()
	for n := len(p.visits) - b.Estimator.GroupsPerStep; n < len(p.visits); n++ {
		chosen, first := &p.visits[n], uint8(0) // the elements whose prompt has not moved yet
		for i, x := range chosen {
			first |= p.visited[x] & (1 << i)
			p.visited[x] &^= 1 << i
		}
		switch {
		case first == 0:
		case b.Prompts.Order == option.InOrder:
			b.movePrompt(&p.prompts[chosen[0]], first, t, rate)
		default:
			gather(p.group.rows[:needed], p.rows, stride, chosen)
			if from := p.behind[0]; !b.Lag.Refreshes(t + 1) { // the old probabilities too
				gather(p.group.rows[from:from+2], p.rows[from:], stride, chosen)
			}
			b.movePrompt(&p.group, first, t, rate)
			scatter(p.group.rows[:moved], p.rows, stride, chosen, first)
		}
	}
}

// movePrompt updates a prompt in the given elements.
func (b *vectorBatch) movePrompt(q *vectorPrompt, where uint8, t int, rate *float64) {
	b.at(q)
	sums, zero, mask := b.tabular.sums, fp.Broadcast(0), archsimd.Mask64x8FromBits(where)
	gap := func() vector {
		return archsimd.LoadFloat64x8(&q.now.logits[0]).Sub(archsimd.LoadFloat64x8(&q.now.logits[1]))
	}
	left := archsimd.LoadFloat64x8(&sums.gap).Sub(gap())
	b.move(rate)
	b.diverge(b.now.softmax(b.nextLogNorm(&b.now, t)).IsNaN().ToBits()&where, t)
	if !b.Lag.Refreshes(t + 1) { // else the next step has new snapshots
		ratio := archsimd.LoadFloat64x8(&sums.ratio)
		for a := range q.now.probs {
			next := importanceRatio(archsimd.LoadFloat64x8(&q.now.probs[a]), archsimd.LoadFloat64x8(&q.old.probs[a]))
			ratio = ratio.Max(next.Masked(mask))
		}
		ratio.Store(&sums.ratio)
	}
	left.Add(gap()).Merge(archsimd.LoadFloat64x8(&sums.gap), mask).Store(&sums.gap)
	reward := zero
	for a := range q.means {
		reward = reward.Add(archsimd.LoadFloat64x8(&q.now.probs[a]).Mul(archsimd.LoadFloat64x8(&q.means[a])))
		zero.Store(&q.force[a])
	}
	sum := archsimd.LoadFloat64x8(&sums.reward)
	sum.Add(reward.Sub(archsimd.LoadFloat64x8(q.reward))).Merge(sum, mask).Store(&sums.reward)
	reward.Store(q.reward)
}

// measureTabular sets the recorded quantities, as tabular.observe.
func (b *vectorBatch) measureTabular() (finite uint8) {
	p, zero := b.tabular, fp.Broadcast(0)
	count := fp.Integers(uint64(len(p.prompts))).ConvertToFloat64()
	entropy, collision, divergence, square := zero, zero, zero, zero
	q := &b.recorded
	for x := range p.prompts {
		b.at(&p.prompts[x])
		b.measure()
		entropy = entropy.Add(archsimd.LoadFloat64x8(&q[entropyIndex]).Div(count))
		collision = collision.Add(archsimd.LoadFloat64x8(&q[collisionIndex]).Div(count))
		divergence = divergence.Add(archsimd.LoadFloat64x8(&q[klReferenceIndex]).Div(count))
		g0, g1 := archsimd.LoadFloat64x8(&b.force[0]), archsimd.LoadFloat64x8(&b.force[1])
		square = square.Add(g0.Mul(g0).Add(g1.Mul(g1)))
	}
	b.at(&p.mean)
	b.measure()
	archsimd.LoadFloat64x8(&b.reward).Store(&q[trueRewardIndex])
	entropy.Store(&q[entropyIndex])
	collision.Store(&q[collisionIndex])
	divergence.Store(&q[klReferenceIndex])
	archsimd.LoadFloat64x8(&p.sums.ratio).Min(fp.Broadcast(grpo.LargestRatio)).Store(&q[importanceRatioMaxIndex])
	fp.Broadcast(1).Store(&p.sums.ratio)
	square.Sqrt().Store(&q[gradientNormIndex])
	return finiteIn(q[:])
}
