//go:build goexperiment.simd && amd64

package sim

import (
	"math/bits"
	"simd/archsimd"

	"grposim/grpo/fp"
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
}

// newVectorRedraws returns the redraws of a cell with prompts, nil if groups of equal rewards stay.
func newVectorRedraws(c *Cell) *vectorRedraws {
	if c.Prompts == nil || c.Estimator.Filter != option.Redraw {
		return nil
	}
	if c.Prompts.Parameters == option.Shared {
		return &vectorRedraws{shared: newPromptTables(informativePrompts(c))}
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
	if b.tabular != nil {
		where = b.chooseTabular(where)
	} else {
		where = b.chooseShared(where)
	}
	if where.ToBits() == 0 {
		return where
	}
	archsimd.ClearAVXUpperBits() // see fp.Integers
	for i, x := range b.prompts.chosen {
		means := &b.Prompts.Means[x]
		b.informative.Means[0][i], b.informative.Means[1][i] = means[0], means[1]
	}
	b.informative.Aim(b.old.probs)
	return where
}

// chooseShared is promptRedraws.choose of prompts that share one policy.
func (b *vectorBatch) chooseShared(where archsimd.Mask64x8) archsimd.Mask64x8 {
	r, some, probs := b.others, where.ToBits(), [draw.Width][2]float64{}
	archsimd.ClearAVXUpperBits() // see fp.Integers
	for left := some; left != 0; left &= left - 1 {
		i := bits.TrailingZeros8(left) & (draw.Width - 1)
		probs[i] = [2]float64{b.old.probs[0][i], b.old.probs[1][i]}
		if r.tables[i] = r.shared.near(r.tables[i], &probs[i]); !r.tables[i].possible() {
			some &^= 1 << i
		}
	}
	var first, second draw.Vector
	for undecided := some; undecided != 0; {
		b.streams.NextWhere(archsimd.Mask64x8FromBits(undecided)).Store(&first)
		b.streams.NextWhere(archsimd.Mask64x8FromBits(undecided)).Store(&second)
		archsimd.ClearAVXUpperBits()
		for left := undecided; left != 0; left &= left - 1 {
			i := bits.TrailingZeros8(left) & (draw.Width - 1)
			if x, ok := r.shared.propose(r.tables[i], &probs[i], first[i], second[i]); ok {
				b.prompts.chosen[i] = uint64(x)
				undecided &^= 1 << i
			}
		}
	}
	return archsimd.Mask64x8FromBits(some)
}

// chooseTabular is promptRedraws.choose of prompts with a policy each, and makes them those of the current groups.
func (b *vectorBatch) chooseTabular(where archsimd.Mask64x8) archsimd.Mask64x8 {
	r := b.others
	if r.stale {
		r.stale = false
		b.sumChances()
	}
	where = where.And(archsimd.LoadFloat64x8(&r.sums[len(r.sums)-1]).Greater(fp.Broadcast(0)))
	if where.ToBits() == 0 {
		return where
	}
	b.streams.Indices(r.sums, where, b.prompts.chosen)
	b.gatherGroup()
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

// sumChances sets the sums of prompts with a policy each.
func (b *vectorBatch) sumChances() {
	sum := fp.Broadcast(0)
	for x := range b.others.sums {
		sum = sum.Add(draw.Chances(b.Estimator.GroupSize, b.tabular.prompts[x].old.probs, b.others.means[2*x:][:2]))
		sum.Store(&b.others.sums[x])
	}
}
