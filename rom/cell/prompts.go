package cell

import (
	"fmt"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

// Prompts are the prompts of a cell: bandits of two Bernoulli arms with one reference
// policy, of which one is drawn for each of the B groups of a step (docs/theory-trainers.md §11.7).
// The arms of Params then are those of the mean prompt. The zero value stands for none.
type Prompts struct {
	First, Second []float64 // mean rewards of the two arms by prompt, within [0, 1]
	// logit gap of π_ref of each prompt, where it starts, finite; option.Tabular only; nil:
	// Params.Reference and the start of all
	Starts     []float64
	Parameters option.Parameters
	Order      option.PromptOrder
}

// check panics unless the prompts fit p.
func (s *Prompts) check(p *Params) {
	if len(s.First) == 0 {
		return
	}
	Want(len(s.Second) == len(s.First), "Params.Prompts.Second", len(s.Second), "as many numbers as First")
	for _, m := range slices.Concat(s.First, s.Second) {
		Want(m >= 0 && m <= 1, "Params.Prompts", m, "mean rewards within [0, 1]")
	}
	Want(p.Filter != option.Redraw || s.Order == option.Independent, "Params.Prompts.Order", s.Order, "WithReplacement where groups of equal rewards are redrawn")
	Want(len(p.Arms) == 2 && p.Arms[0].Law == option.Bernoulli && p.Arms[1].Law == option.Bernoulli, "Params.Arms", p.Arms, "two Bernoulli arms, with prompts")
	if s.Starts != nil {
		Want(s.Parameters == option.Tabular && len(s.Starts) == len(s.First) && linear.IsFinite(s.Starts...), "Params.Prompts.Starts", s.Starts, "a finite number for each prompt with a policy of its own")
	}
}

// Tabular reports whether p has prompts with a policy each.
func (p *Params) Tabular() bool {
	return len(p.Prompts.First) > 0 && p.Prompts.Parameters == option.Tabular
}

// Prompt returns the bandit of one prompt alone, and where it starts if all start at init.
func (p *Params) Prompt(x int, init []float64) (one Params, start []float64) {
	one = *p
	one.Prompts = Prompts{}
	one.Arms = []option.Arm{{Law: option.Bernoulli, Mean: p.Prompts.First[x]}, {Law: option.Bernoulli, Mean: p.Prompts.Second[x]}}
	if p.Prompts.Starts != nil {
		init = []float64{p.Prompts.Starts[x] / 2, -p.Prompts.Starts[x] / 2}
		one.Reference, one.Start = init, init
	}
	return one, init
}

// Bandits returns the arms of all prompts.
func (p *Params) Bandits() (all [][]option.Arm) {
	for x := range p.Prompts.First {
		one, _ := p.Prompt(x, nil)
		all = append(all, one.Arms)
	}
	return all
}

// Visits returns the bandit of one prompt with the optimizer that acts from one of its
// visits to the next, and the number M = C/B of steps between them: between visits a prompt
// coasts, so that it is an on-policy heavy ball with
//
//	μ_eff = μ^M,   η_eff = η s_M/B,   s_M = (1−μ^M)/(1−μ),
//
// or the reason why that is not so.
func (p *Params) Visits() (visit Params, period int, because scope.Reason) {
	o, prompts := p.Optimizer, len(p.Prompts.First)
	period = prompts / p.GroupsPerStep
	switch {
	case p.Prompts.Order == option.Independent:
		because = scope.NotPredicted.Because("prompts with a policy each that are drawn with replacement")
	case prompts%p.GroupsPerStep != 0:
		because = scope.NotPredicted.Because(fmt.Sprintf("%d prompts that are no multiple of %d groups per step", prompts, p.GroupsPerStep))
	default:
		because = p.NotDerived(visitsOfPrompts)
	}
	visit = *p
	visit.Prompts, visit.GroupsPerStep, visit.Lag = Prompts{}, 1, option.Lag{Kind: option.Block, Interval: 1}
	visit.Optimizer.Momentum = fp.Pow(o.Momentum, float64(period))
	visit.Optimizer.LearningRate = o.LearningRate * Coasted(o.Momentum, period) / float64(p.GroupsPerStep)
	return visit, period, because
}

// Coasted returns s_j = (1−μ^j)/(1−μ), the way of a prompt in j steps from a visit in units of
// that of the first step.
func Coasted(momentum float64, steps int) float64 {
	return (1 - fp.Pow(momentum, float64(steps))) / (1 - momentum)
}

// startingPrompt is a prompt alone, where it starts, and the prompts that are equal to it.
type startingPrompt struct {
	Params
	Init  []float64
	Alike []int // indices in Params.Prompts, ascending
}

// Distinct returns the prompts of p that differ, of which all start at init unless they have
// starts of their own.
func (p *Params) Distinct(init []float64) (all []startingPrompt) {
	seen := make(map[[3]float64]int) // never ranged over
	for x := range p.Prompts.First {
		one, start := p.Prompt(x, init)
		key := [3]float64{p.Prompts.First[x], p.Prompts.Second[x]}
		if start != nil {
			key[2] = start[0] - start[1]
		}
		if i, known := seen[key]; known {
			all[i].Alike = append(all[i].Alike, x)
			continue
		}
		seen[key] = len(all)
		all = append(all, startingPrompt{one, start, []int{x}})
	}
	return all
}
