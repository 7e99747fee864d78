//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"simd/archsimd"

	"grposim/fp"
	"grposim/option"
	"grposim/sim/draw"
)

// vectorPrompts chooses the prompts of the replicas of a vectorBatch, as promptSampler.
type vectorPrompts struct {
	*Prompts
	digits [][2]uint64   // by prompt: those of the mean rewards of both arms
	order  []draw.Vector // the prompts of the present epoch
	next   int           // index in order of the next one
	chosen *draw.Vector  // the prompts of the current group
	groups []promptGroup // of a step; nil unless addPrompts adds them
}

// promptGroup holds the lanes of the first arm and of reward 1 of a group.
type promptGroup struct{ first, rewarded draw.Vector }

func newVectorPrompts(p *Prompts) *vectorPrompts {
	if p == nil {
		return nil
	}
	v := &vectorPrompts{Prompts: p, order: make([]draw.Vector, len(p.Means))}
	for _, m := range p.Means {
		v.digits = append(v.digits, [2]uint64{draw.Digits(m[0]), draw.Digits(m[1])})
	}
	return v
}

// begin sets the state before the first step.
func (p *vectorPrompts) begin() {
	p.next = 0
	for x := range p.order {
		for i := range p.order[x] {
			p.order[x][i] = uint64(x)
		}
	}
}

// choose sets the prompts of the next group.
func (p *vectorPrompts) choose(s *draw.Streams) {
	p.chosen = &p.order[p.next]
	switch {
	case p.Order == option.Independent:
		s.Below(len(p.order), p.chosen)
		return
	case p.Order == option.Shuffled && p.next == 0:
		s.Shuffle(p.order)
	}
	if p.next++; p.next == len(p.order) {
		p.next = 0
	}
}

// drawPrompts draws a group of a prompt for every replica, as sampler.promptGroup.
func (g *vectorGroups) drawPrompts() {
	p := g.prompts
	if !g.tabular() { // else pushTabular has chosen
		p.choose(g.streams)
	}
	if g.large != nil {
		archsimd.ClearAVXUpperBits() // see fp.Integers
		for i, x := range p.chosen {
			means := &p.Means[x]
			g.large.Means[0][i], g.large.Means[1][i] = means[0], means[1]
		}
		g.large.Draw()
		return
	}
	g.packs.DrawPairs(g.samples, p.digits, p.chosen)
}

// addsPrompts reports whether addPrompts adds the groups of a step: prompts that share one policy have
// several groups of at most 16 samples, whose advantages are in one row of the table and are needed by
// arm and sign alone.
func (v *vectorCell) addsPrompts() bool {
	return v.Prompts != nil && !v.tabular() && len(v.table) == 1 && !v.single && !v.drops && !v.sampled &&
		v.Estimator.Advantage.Baseline != option.RunningMean
}

// addPrompts draws the groups of a step, then adds all of them with their sums in registers, as addGroups
// does after empty.
func (g *vectorGroups) addPrompts() {
	groups := g.prompts.groups
	for i := range groups {
		g.drawPrompts()
		if g.others != nil {
			g.redrawPrompts()
		}
		archsimd.LoadUint64x8(&g.packs.Arms[0]).Store(&groups[i].first)
		archsimd.LoadUint64x8(&g.packs.Rewarded).Store(&groups[i].rewarded)
	}
	none, size, t := fp.Integers(0), fp.Integers(uint64(g.Estimator.GroupSize)), &g.table[0]
	zero, rewarded := none, none
	var up0, down0, up1, down1 vector // sums of advantages
	for i := range groups {
		first, lanes := archsimd.LoadUint64x8(&groups[i].first), archsimd.LoadUint64x8(&groups[i].rewarded)
		total, drawn, both := draw.OnesCount(lanes), draw.OnesCount(first), draw.OnesCount(first.And(lanes))
		up := archsimd.LoadFloat64x8(&t.up[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.up[1]), total)
		down := archsimd.LoadFloat64x8(&t.down[0]).ConcatPermute(archsimd.LoadFloat64x8(&t.down[1]), total)
		rewarded = rewarded.Add(total)
		zero = zero.Sub(total.Equal(none).Or(total.Equal(size)).ToInt64x8().AsUint64x8())
		successes := total.Sub(both) // of the second arm
		up0 = up0.Add(up.Mul(both.ConvertToFloat64()))
		down0 = down0.Add(down.Mul(drawn.Sub(both).ConvertToFloat64()))
		up1 = up1.Add(up.Mul(successes.ConvertToFloat64()))
		down1 = down1.Add(down.Mul(size.Sub(drawn).Sub(successes).ConvertToFloat64()))
	}
	up0.Store(&g.positive[0])
	up1.Store(&g.positive[1])
	down0.Store(&g.negative[0])
	down1.Store(&g.negative[1])
	if g.others != nil {
		return // redrawPrompts has counted the groups before any was redrawn
	}
	zero.Store(&g.zero)
	rewarded.Store(&g.rewarded)
}
