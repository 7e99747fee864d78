//go:build goexperiment.simd && amd64

package sim

import (
	"simd/archsimd"

	"grposim/grpo"
	"grposim/grpo/fp"
	"grposim/sim/draw"
)

// vectorRedraws chooses the prompts of redrawn groups for the replicas of a vectorBatch, as promptRedraws.
type vectorRedraws struct {
	means []floats // of both arms of each prompt, in every element
	sums  []floats // by prompt x: Σ P_y over y ≤ x
	stale bool     // the sums are those of older policies
}

// newVectorRedraws returns the redraws of a cell with prompts, nil if groups of equal rewards stay.
func newVectorRedraws(c *Cell) *vectorRedraws {
	if c.Prompts == nil || c.Estimator.Filter != grpo.Redraw {
		return nil
	}
	r := &vectorRedraws{means: make([]floats, 2*len(c.Prompts.Means)), sums: make([]floats, len(c.Prompts.Means))}
	for x, m := range c.Prompts.Means {
		fp.Broadcast(m[0]).Store(&r.means[2*x])
		fp.Broadcast(m[1]).Store(&r.means[2*x+1])
	}
	return r
}

// informativeGroups redraws the current groups in the given elements, with many prompts those of
// prompts that are drawn anew. The result is that of draw.Informatives.Draw.
func (b *vectorBatch) informativeGroups(where archsimd.Mask64x8) (rewarded integers, drawn archsimd.Mask64x8) {
	if b.others != nil {
		where = b.chooseAgain(where)
	}
	return b.informative.Draw(where)
}

// chooseAgain draws the prompts of redrawn groups in the given elements, as promptRedraws.draw, and makes
// them those of the current groups. It returns the elements in which some prompt can have both rewards.
func (b *vectorBatch) chooseAgain(where archsimd.Mask64x8) archsimd.Mask64x8 {
	r, chosen := b.others, b.prompts.chosen
	if r.stale {
		r.stale = false
		b.sumChances()
	}
	where = where.And(archsimd.LoadFloat64x8(&r.sums[len(r.sums)-1]).Greater(fp.Broadcast(0)))
	if where.ToBits() == 0 {
		return where
	}
	b.streams.Indices(r.sums, where, chosen)
	if b.tabular != nil {
		b.gatherGroup()
	}
	archsimd.ClearAVXUpperBits() // see fp.Integers
	for i, x := range chosen {
		means := &b.Prompts.Means[x]
		b.informative.Means[0][i], b.informative.Means[1][i] = means[0], means[1]
	}
	b.informative.Aim(b.old.probs)
	return where
}

// redrawPrompts redraws the groups in the packs whose rewards are equal. It counts them before, and their
// rewards, as count.
func (b *vectorBatch) redrawPrompts() {
	b.lanes = b.first
	none, size := fp.Integers(0), fp.Integers(uint64(b.Estimator.GroupSize))
	total := draw.OnesCount(archsimd.LoadUint64x8(&b.packs.Rewarded))
	equal := total.Equal(none).Or(total.Equal(size)).ToInt64x8().AsUint64x8() // −1 where they are
	archsimd.LoadUint64x8(&b.rewarded).Add(total).Store(&b.rewarded)
	archsimd.LoadUint64x8(&b.zero).Sub(equal).Store(&b.zero)
	if b.redraws(equal) {
		b.redraw(total, equal)
	}
}

// sumChances sets the sums.
func (b *vectorBatch) sumChances() {
	sum := fp.Broadcast(0)
	for x := range b.others.sums {
		probs := b.old.probs
		if b.tabular != nil {
			probs = b.tabular.prompts[x].old.probs
		}
		sum = sum.Add(draw.Chances(b.Estimator.GroupSize, probs, b.others.means[2*x:][:2]))
		sum.Store(&b.others.sums[x])
	}
}
