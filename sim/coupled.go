package sim

import (
	"math"
	"slices"

	"grposim/grpo"
	"grposim/sim/draw"
)

// Coupled estimates gradients on two sides from groups that are drawn with the same random words.
// The n-th group of one side has those of the n-th of the other.
type Coupled struct {
	cell  *Cell
	laws  *laws
	words [2]*draw.Words
	sides [2]gradientSampler
	same  bool // both sides have the same groups
}

// NewCoupled returns estimates in a complete cell, whose words are those of the stream of the given
// purpose and index.
func NewCoupled(c *Cell, purpose Purpose, index int) *Coupled {
	p := &Coupled{cell: c, laws: coupledLaws(&c.Bandit, &c.Estimator)}
	for side := range p.words {
		p.words[side] = draw.NewWords(Stream(c.Seed, c.ID, purpose, index))
	}
	return p
}

// Aim sets the policies that draw the groups of at most the given number of steps.
func (p *Coupled) Aim(behaviour [2]*grpo.Policy, steps int) {
	for side := range p.sides {
		s := newGradientSampler(p.cell, p.laws, p.words[side], steps*p.cell.Estimator.GroupsPerStep)
		s.sampler.aim(behaviour[side])
		p.sides[side] = s
	}
}

// Draw draws the groups of a step of both sides; at G = ∞ there are none.
func (p *Coupled) Draw() {
	drawCoupled(&p.sides[0], &p.sides[1])
	p.same = false
}

// DrawOnce draws the groups of a step by the policy of the first side, for both sides.
func (p *Coupled) DrawOnce() {
	p.sides[0].draw()
	p.sides[1].statistics = p.sides[0].statistics
	p.same = true
}

// Gradient returns the gradient of a side at current, from groups that behaviour drew. At G = ∞ it
// is the expected one. The next of this side overwrites it.
func (p *Coupled) Gradient(side int, current, behaviour *grpo.Policy) []float64 {
	p.sides[side].gradient(current, behaviour)
	return p.sides[side].g
}

// Informative reports whether the rewards of the last groups exert a force, and the groups differ
// where each side has its own.
func (p *Coupled) Informative() bool {
	plus, minus := &p.sides[0].statistics, &p.sides[1].statistics
	return (pushes(plus) || pushes(minus)) && (p.same || !slices.Equal(plus.Arms, minus.Arms))
}

// drawCoupled draws the groups of a step of both sides of a pair, whose streams are equal. The n-th
// group of one side is drawn with the same random words as the n-th group of the other. At G = ∞
// there are none.
func drawCoupled(plus, minus *gradientSampler) {
	plus.statistics.Reset()
	minus.statistics.Reset()
	if plus.cell.Deterministic() {
		return
	}
	for range plus.cell.Estimator.GroupsPerStep {
		draw.Align(plus.words, minus.words)
		plus.sampler.group(&plus.statistics, plus.words)
		minus.sampler.group(&minus.statistics, minus.words)
	}
}

// pushes reports whether the rewards of a step's groups exert a force, for some arm. The advantages
// of an arm add to 0, up to rounding, in a group of equal rewards or of a single arm.
func pushes(s *grpo.GroupStatistics) bool {
	return slices.ContainsFunc(s.Arms, func(a grpo.ArmStatistics) bool {
		return math.Abs(a.Positive+a.Negative) > float64(cancelled*(a.Positive-a.Negative))
	})
}

// cancelled bounds the rounding error of a sum of advantages relative to their moduli.
const cancelled = 1e-9
