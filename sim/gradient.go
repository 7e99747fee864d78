package sim

import (
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
		sampler.prompts = newPromptSampler(cell.Prompts, cell.Estimator.GroupSize)
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

// gradient sets s.g to the gradient estimate at current from the groups that
// behaviour drew; at G = ∞ to the expected gradient.
func (s *gradientSampler) gradient(current, behaviour *grpo.Policy) {
	if s.cell.Deterministic() {
		s.force.Expected(s.g, &s.cell.Bandit, current, behaviour)
	} else {
		s.force.Sampled(s.g, &s.statistics, current, behaviour)
	}
}
