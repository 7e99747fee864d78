package sim

import (
	"math"
	"slices"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// gradientSampler draws the groups of one optimizer step and computes their gradient
// estimate.
type gradientSampler struct {
	cell       *Cell
	words      *draw.Words // the random stream
	sampler    *sampler
	force      *grpo.Force
	statistics grpo.GroupStatistics // of the step's groups
	g          []float64            // the gradient, one component an arm
}

// newGradientSampler returns the gradient sampler of a cell. From one policy it draws
// at most the given number of groups.
func newGradientSampler(cell *Cell, laws *laws, words *draw.Words, groups int) gradientSampler {
	arms, estimator := len(cell.Bandit.Arms), cell.Estimator
	if cell.agedByGroup() {
		estimator.GroupsPerStep = 1 // the force of each group, by its own snapshot
	}
	sampler := newSampler(&cell.Bandit, &cell.Estimator, laws, groups)
	if cell.Prompts != nil {
		sampler.prompts = newPromptSampler(cell.Prompts)
		sampler.prompts.redraws = newPromptRedraws(cell, func(int) *grpo.Policy { return sampler.behaviour })
	}
	s := gradientSampler{
		cell:       cell,
		words:      words,
		sampler:    sampler,
		force:      grpo.NewForce(estimator, cell.Reference),
		statistics: grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, arms)},
		g:          make([]float64, arms),
	}
	if cell.Estimator.KL.OfReward() {
		s.sampler.reference = s.force.Reference()
	}
	return s
}

// draw draws the groups of a step into s.statistics; at G = ∞ there are none.
func (s *gradientSampler) draw() {
	s.statistics.Reset()
	if s.cell.Deterministic() {
		return
	}
	s.sampler.groups(&s.statistics, s.words)
	if e := &s.cell.Estimator; e.Advantage.Baseline == option.RunningMean {
		s.statistics.MoveBaseline(e.Advantage.Rate, float64(e.GroupSize)*float64(e.GroupsPerStep))
	}
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

// differ reports whether the groups of the two sides differ.
func differ(plus, minus *grpo.GroupStatistics) bool {
	return !slices.Equal(plus.Arms, minus.Arms)
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

// gradient sets s.g to the gradient estimate at current from the groups that
// behaviour drew; at G = ∞ to the expected gradient.
func (s *gradientSampler) gradient(current, behaviour *grpo.Policy) {
	if s.cell.Deterministic() {
		s.force.Expected(s.g, &s.cell.Bandit, current, behaviour)
	} else {
		s.force.Sampled(s.g, &s.statistics, current, behaviour)
	}
}

// displaced returns the policy with logits point + d·direction.
func displaced(point, direction []float64, d float64) *grpo.Policy {
	logits := make([]float64, len(point))
	for a, x := range point {
		logits[a] = x + float64(d*direction[a])
	}
	return grpo.NewPolicy(logits)
}
