//go:build goexperiment.simd && amd64 && !go1.27

package sim

import (
	"math/bits"
	"simd/archsimd"

	"grposim/fp"
	"grposim/option"
	"grposim/sim/draw"
)

// vectorRedraws chooses the prompts of redrawn groups for the replicas of a vectorBatch, as promptRedraws.
type vectorRedraws struct {
	shared *promptTables            // of prompts that share one policy; nil: each has its own
	tables [draw.Width]*promptTable // the last ones of shared
	means  []floats                 // of both arms of each prompt, in every element
	sums   []floats                 // by prompt x, each with a policy of its own: Σ P_y over y ≤ x
	stale  bool                     // the sums are those of older policies

	tabular *vectorTabular // the policies of the prompts; nil: one policy
}

// newVectorRedraws returns the redraws of a cell with prompts, nil if groups of equal rewards stay.
func newVectorRedraws(c *Cell, tabular *vectorTabular) *vectorRedraws {
	if c.Prompts == nil || c.Estimator.Filter != option.Redraw {
		return nil
	}
	if c.Prompts.Parameters == option.Shared {
		return &vectorRedraws{shared: newPromptTables(informativePrompts(c))}
	}
	r := &vectorRedraws{tabular: tabular, means: make([]floats, 2*len(c.Prompts.Means)), sums: make([]floats, len(c.Prompts.Means))}
	for x, m := range c.Prompts.Means {
		fp.Broadcast(m[0]).Store(&r.means[2*x])
		fp.Broadcast(m[1]).Store(&r.means[2*x+1])
	}
	return r
}

// informativeGroups redraws the current groups in the given elements, with many prompts those of
// prompts that are drawn anew. The result is that of draw.Informatives.Draw.
func (g *vectorGroups) informativeGroups(where archsimd.Mask64x8) (rewarded integers, drawn archsimd.Mask64x8) {
	if g.others != nil {
		where = g.chooseAgain(where)
	}
	return g.informative.Draw(where)
}

// chooseAgain draws the prompts of redrawn groups in the given elements, as promptRedraws.draw, and makes
// them those of the current groups. It returns the elements in which some prompt can have both rewards.
func (g *vectorGroups) chooseAgain(where archsimd.Mask64x8) archsimd.Mask64x8 {
	if g.others.tabular != nil {
		where = g.others.chooseTabular(where, g)
	} else {
		where = g.others.chooseShared(where, g)
	}
	if where.ToBits() == 0 {
		return where
	}
	archsimd.ClearAVXUpperBits() // see fp.Integers
	for i, x := range g.prompts.chosen {
		means := &g.Prompts.Means[x]
		g.informative.Means[0][i], g.informative.Means[1][i] = means[0], means[1]
	}
	g.informative.Aim(g.old.probs)
	return where
}

// chooseShared is promptRedraws.choose of prompts that share one policy.
func (r *vectorRedraws) chooseShared(where archsimd.Mask64x8, g *vectorGroups) archsimd.Mask64x8 {
	some, probs := where.ToBits(), [draw.Width][2]float64{}
	archsimd.ClearAVXUpperBits() // see fp.Integers
	for left := some; left != 0; left &= left - 1 {
		i := bits.TrailingZeros8(left) & (draw.Width - 1)
		probs[i] = [2]float64{g.old.probs[0][i], g.old.probs[1][i]}
		if r.tables[i] = r.shared.near(r.tables[i], &probs[i]); !r.tables[i].possible() {
			some &^= 1 << i
		}
	}
	var first, second draw.Vector
	for undecided := some; undecided != 0; {
		g.streams.NextWhere(archsimd.Mask64x8FromBits(undecided)).Store(&first)
		g.streams.NextWhere(archsimd.Mask64x8FromBits(undecided)).Store(&second)
		archsimd.ClearAVXUpperBits()
		for left := undecided; left != 0; left &= left - 1 {
			i := bits.TrailingZeros8(left) & (draw.Width - 1)
			if x, ok := r.shared.propose(r.tables[i], &probs[i], first[i], second[i]); ok {
				g.prompts.chosen[i] = uint64(x)
				undecided &^= 1 << i
			}
		}
	}
	return archsimd.Mask64x8FromBits(some)
}

// chooseTabular is promptRedraws.choose of prompts with a policy each, and makes them those of the current groups.
func (r *vectorRedraws) chooseTabular(where archsimd.Mask64x8, g *vectorGroups) archsimd.Mask64x8 {
	if r.stale {
		r.stale = false
		r.sumChances(g.Estimator.GroupSize)
	}
	where = where.And(archsimd.LoadFloat64x8(&r.sums[len(r.sums)-1]).Greater(fp.Broadcast(0)))
	if where.ToBits() == 0 {
		return where
	}
	g.streams.Indices(r.sums, where, g.prompts.chosen)
	r.tabular.gatherGroup(g.prompts.chosen)
	return where
}

// redrawPrompts redraws the groups in the packs whose rewards are equal. It counts them before, and their
// rewards, as count.
func (g *vectorGroups) redrawPrompts() {
	g.lanes = g.first
	none, size := fp.Integers(0), fp.Integers(uint64(g.Estimator.GroupSize))
	total := draw.OnesCount(archsimd.LoadUint64x8(&g.packs.Rewarded))
	equal := total.Equal(none).Or(total.Equal(size)).ToInt64x8().AsUint64x8() // −1 where they are
	archsimd.LoadUint64x8(&g.rewarded).Add(total).Store(&g.rewarded)
	archsimd.LoadUint64x8(&g.zero).Sub(equal).Store(&g.zero)
	if g.redraws(equal) {
		g.redraw(total, equal)
	}
}

// sumChances sets the sums of prompts with a policy each, of groups of the given size.
func (r *vectorRedraws) sumChances(size int) {
	sum := fp.Broadcast(0)
	for x := range r.sums {
		sum = sum.Add(draw.Chances(size, r.tabular.prompts[x].old.probs, r.means[2*x:][:2]))
		sum.Store(&r.sums[x])
	}
}
