package sim

import (
	"grposim/grpo"
	"grposim/sim/draw"
)

// promptRedraws draw the groups that replace groups of equal rewards where there are many prompts.
// The trainers draw prompts, each with the same probability, and groups of them until the rewards of
// one differ. That group belongs to prompt x with probability P_x/Σ_y P_y, where
//
//	P_x = 1 − J_x^G − (1−J_x)^G
//
// is the probability that the rewards of a group of x differ and J_x the expected reward of x under
// its behaviour policy; and its samples have the law of a group of x given that its rewards differ.
type promptRedraws struct {
	behaviour func(prompt int) *grpo.Policy // the policy that draws the groups of a prompt
	groups    []*draw.Informative           // by prompt
	sums      []float64                     // by prompt x: Σ P_y over y ≤ x
	stale     bool                          // the sums are those of older policies
}

// newPromptRedraws returns the redraws of a cell with prompts, nil if groups of equal rewards stay.
func newPromptRedraws(c *Cell, behaviour func(prompt int) *grpo.Policy) *promptRedraws {
	if c.Estimator.Filter != grpo.Redraw {
		return nil
	}
	r := &promptRedraws{behaviour: behaviour, sums: make([]float64, len(c.Prompts.Means))}
	for _, m := range c.Prompts.Means {
		r.groups = append(r.groups, draw.NewInformative(c.Estimator.GroupSize, m[:]))
	}
	return r
}

// refresh makes known that behaviour policies have changed.
func (r *promptRedraws) refresh() {
	if r != nil {
		r.stale = true
	}
}

// draw draws a prompt and a group of it whose rewards differ, of which it sets the numbers of samples
// and of rewarded ones by arm. It reports false, and draws nothing, if no prompt can have such a group.
func (r *promptRedraws) draw(w *draw.Words, counts, successes []int) (prompt int, ok bool) {
	if r.stale {
		r.stale = false
		sum := 0.0
		for x, group := range r.groups {
			sum += group.Chance(r.behaviour(x).Probs)
			r.sums[x] = sum
		}
	}
	if !(r.sums[len(r.sums)-1] > 0) {
		return 0, false
	}
	x := draw.Index(w, r.sums)
	return x, r.groups[x].Draw(w, r.behaviour(x).Probs, counts, successes)
}
