package sim

import (
	"grposim/grpo"
	"grposim/sim/draw"
)

// drawing is what draws the groups of an optimizer step and turns them into a
// gradient.
type drawing struct {
	cell    *Cell
	words   *draw.Words
	sampler *sampler
	force   *grpo.Force
	tally   grpo.GroupStatistics
	g       []float64
}

// newDrawing returns the drawing of a cell that draws at most the given number of
// groups from one policy.
func newDrawing(cell *Cell, laws *laws, words *draw.Words, groups int) drawing {
	arms := len(cell.Bandit.Arms)
	return drawing{
		cell:    cell,
		words:   words,
		sampler: newSampler(&cell.Bandit, &cell.Estimator, laws, groups),
		force:   grpo.NewForce(cell.Estimator, cell.Reference),
		tally:   grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, arms)},
		g:       make([]float64, arms),
	}
}

// draw draws the groups of a step; at G = ∞ there are none.
func (d *drawing) draw() {
	d.tally.Reset()
	if !d.cell.Deterministic() {
		d.sampler.tally(&d.tally, d.words)
	}
}

// drawTogether draws for two that read equal words: each group of the one with the
// words of the same group of the other.
func drawTogether(plus, minus *drawing) {
	plus.tally.Reset()
	minus.tally.Reset()
	if plus.cell.Deterministic() {
		return
	}
	for range plus.cell.Estimator.GroupsPerStep {
		draw.Align(plus.words, minus.words)
		plus.sampler.group(&plus.tally, plus.words)
		minus.sampler.group(&minus.tally, minus.words)
	}
}

// gradient sets g to the gradient at current of what behaviour has drawn.
func (d *drawing) gradient(current, behaviour *grpo.Policy) {
	if d.cell.Deterministic() {
		d.force.Expected(d.g, &d.cell.Bandit, current, behaviour)
	} else {
		d.force.Sampled(d.g, &d.tally, current, behaviour)
	}
}

// displaced returns the policy of point + d·direction.
func displaced(point, direction []float64, d float64) *grpo.Policy {
	logits := make([]float64, len(point))
	for a, x := range point {
		logits[a] = x + float64(d*direction[a])
	}
	return grpo.NewPolicy(logits)
}
