package sim

import (
	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// gradientSampler draws the groups of one optimizer step and computes their gradient estimate.
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

// resize gives the groups of step t their size. Unless it is replaced, the snapshot stays.
func (r *replica) resize(t int) {
	size := grpo.GroupSizeAt(&r.cell.Estimator, t)
	if size == r.sampler.estimator.GroupSize {
		return
	}
	estimator, reference := r.cell.Estimator, r.sampler.reference
	estimator.GroupSize = size
	laws := coupledLaws(&r.cell.Bandit, &estimator)
	r.sampler = newSampler(&r.cell.Bandit, &estimator, laws, groupsOf(r.cell))
	r.sampler.reference = reference
	if r.force.SetGroupSize(size); r.snapshot != nil {
		r.sampler.aim(r.snapshot)
	}
}

// draw draws the groups of a step into s.statistics; at G = ∞ there are none.
func (s *gradientSampler) draw() {
	s.statistics.Reset()
	if s.cell.Deterministic() {
		return
	}
	s.sampler.groups(&s.statistics, s.words)
	if e := s.sampler.estimator; e.Advantage.Baseline == option.RunningMean {
		s.statistics.MoveBaseline(e.Advantage.Rate, samplesAStep(e))
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
