package cell

import (
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/scope"
)

// Prompt returns the bandit of one prompt alone, and where it starts if all start at init.
func (p *Params) Prompt(x int, init []float64) (one Params, start []float64) {
	one = *p
	one.Prompts, one.turn.place = Prompts{}, x
	one.Arms = []option.Arm{{Law: option.Bernoulli, Mean: p.Prompts.First[x]},
		{Law: option.Bernoulli, Mean: p.Prompts.Second[x]}}
	if p.Prompts.Starts != nil {
		init = []float64{p.Prompts.Starts[x] / 2, -p.Prompts.Starts[x] / 2}
		one.Reference, one.Start = init, init
	}
	return one, init
}

// Visits returns the bandit of one prompt with the optimizer that acts from one of its
// visits to the next, and the number M = C/B of steps between them: between visits a prompt
// coasts, so that it is an on-policy heavy ball, or where M = 1 or it reuses samples a bandit alone,
//
//	μ_eff = μ^M,   η_eff = η s_M/B,   s_M = (1−μ^M)/(1−μ),
//
// or the reason why that is not so.
func (p *Params) Visits() (visit Params, period int, because scope.Reason) {
	o, prompts := p.Optimizer, len(p.Prompts.First)
	period = max(prompts/p.GroupsPerStep, 1)
	switch {
	case p.Prompts.Order >= option.Independent:
		because = scope.NotPredicted.Because("prompts with a policy each that are drawn with replacement")
	case prompts%p.GroupsPerStep != 0 && !p.always():
		because = scope.NotPredicted.Because("prompts of which the groups of a step are no divisor")
	case clips(p):
		because = p.Clipped(math.Inf(1))
	case !p.always() || adam(p):
		because = p.NotDerived(visitsOfPrompts)
	}
	visit = *p
	visit.Prompts, visit.GroupsPerStep = Prompts{}, max(p.GroupsPerStep/prompts, 1)
	if period > 1 && !reused(p) {
		visit.Lag = option.Lag{Kind: option.Block, Interval: 1}
	}
	visit.Optimizer.Momentum = fp.Pow(o.Momentum, float64(period))
	way := (1 - visit.Optimizer.Momentum) / (1 - o.Momentum)
	visit.Optimizer.LearningRate = o.LearningRate * way / float64(p.GroupsPerStep/visit.GroupsPerStep)
	return visit, period, because
}

// ByChance returns the bandit of one prompt to which each group of a step belongs with a chance. It
// is 1/C of prompts that are drawn with replacement. Shuffled epochs are taken for such draws. A
// step then has one group of the prompt with the chance B/C, the B-th part of the gradient, or B/C
// in all. In order it has that group InTurn.
func (p *Params) ByChance() (visit Params, because scope.Reason) {
	visit = *p
	visit.Prompts, visit.Chance = Prompts{Order: p.Prompts.Order}, 1/float64(len(p.Prompts.First))
	prompts, groups := len(p.Prompts.First), p.GroupsPerStep
	switch {
	case p.Prompts.Order == option.Independent:
	case p.Prompts.Order == option.ByFailure:
		_, _, because = p.Visits()
		return visit, because
	case p.Prompts.Order == option.InOrder && groups < prompts:
		visit.turn.groups, visit.turn.prompts = groups, prompts
		fallthrough
	case prompts >= 2*groups || prompts%groups == 0 || groups%prompts == 0:
		visit.GroupsPerStep = max(groups/prompts, 1)
		visit.Chance = min(float64(groups)*visit.Chance, 1)
		each := float64(groups / visit.GroupsPerStep)
		visit.Optimizer.MaxNorm *= each
		if visit.Optimizer.Epsilon *= each; !adam(p) {
			visit.Optimizer.LearningRate /= each
		}
	default:
		return visit, scope.NotPredicted.Because("epochs of prompts of which some steps hold one twice")
	}
	if clips(p) && (p.Filter == option.Redraw || !visit.GroupsCounted()) {
		return visit, p.Clipped(math.Inf(1))
	}
	return visit, p.NotDerived(MeanForceKnown)
}

// turn is the place of a prompt with a policy of its own in epochs in order, with the groups of a
// step. Without prompts it comes by chance or in every step.
type turn struct{ place, groups, prompts int }

// InTurn returns C/B in steps t whose groups have one of this prompt for sure, and 0 in others. It
// is 1 of prompts that do not come in order.
func InTurn(p *Params, t int) float64 {
	switch o := &p.turn; {
	case o.prompts == 0:
		return 1
	case (o.place+o.prompts-Draw(p, t)*o.groups%o.prompts)%o.prompts < o.groups:
		return float64(o.prompts) / float64(o.groups)
	}
	return 0
}

// Beside returns mean and variance of R, the sum of g_1² over the other prompts in a step of this
// one. Σ is that sum in any step, and in order in this one. By chance N other prompts have Bc/(B−1)
// of the rest:
//
//	f E Σ,   f (Var Σ − (1/c − 1)(E Σ)²/N),   f = (B−1)/(Nc)
func Beside(p *Params, sum, variance float64) [2]float64 {
	all, groups := float64(len(p.Prompts.First)), float64(p.GroupsPerStep)
	others := all
	if p.Prompts.Order == option.InOrder {
		return [2]float64{sum, max(variance, 0)}
	}
	if p.Prompts.Order < option.Independent {
		groups, others = min(groups, all), all-1
	}
	f := (groups - 1) / max(others, 1) * all / groups
	return [2]float64{f * sum, f * max(variance-max(all/groups-1, 0)*sum*sum/others, 0)}
}

// NormOfPrompts returns each √(n/B), which bounds the norm of the gradient of all prompts where each
// bounds that of one group of a prompt. n is the most groups that a step has of a prompt. With
// replacement, a group of one with the given chance at most, it is exceeded in one step of 1e5.
func (p *Params) NormOfPrompts(each, chance float64) float64 {
	prompts, groups := float64(len(p.Prompts.First)), float64(p.GroupsPerStep)
	most := math.Ceil(groups / prompts)
	switch {
	case p.Prompts.Order == option.ByFailure:
		most = groups
	case p.Prompts.Order == option.Independent: // by the mean number of sets of n+1 groups of a prompt
		n := 0.0
		for sets := 1 / chance; sets > 1e-5; n++ {
			sets *= (groups - n) / (n + 1) * chance
		}
		most = n - 1
	case math.Mod(prompts, groups) != 0: // a step may end one epoch and begin another
		most++
	}
	return each * math.Sqrt(min(most, groups)/groups)
}

// AtRest returns the bandit of one prompt with the optimizer that acts at its fixed point, and the
// number of steps of a visit. It is that of Visits where it has the variance of all steps. Else each
// group of a step is of the prompt with the chance 1/C, in any order. The mean force is 0 there, so
// that when a visit comes matters to second order only.
func AtRest(p *Params) (visit Params, period int, because scope.Reason) {
	visit, period, because = p.Visits()
	coasts := period > 1 && (p.Optimizer.Momentum > 0 || reused(p))
	if p.Prompts.Order == option.ByFailure || !because.Out() && !coasts {
		return visit, period, because
	}
	visit = *p
	visit.Prompts, visit.Chance = Prompts{}, 1/float64(len(p.Prompts.First))
	return visit, 1, p.NotDerived(DynamicsAtRest)
}

// always reports whether each step has as many groups of each prompt.
func (p *Params) always() bool {
	return p.Prompts.Order < option.Independent && p.GroupsPerStep%len(p.Prompts.First) == 0
}

// DrawnAsByChance reports whether shuffled epochs of prompts are taken for draws with replacement,
// but for those of a step. For a prompt with a policy of its own see ByChance. Of prompts that share
// a policy it is so under Adam or a norm that acts, and where steps do not fill an epoch.
func (p *Params) DrawnAsByChance() bool {
	chance := p.Chance > 0 && p.Chance < 1 && p.Prompts.Order == option.Shuffled
	return chance || prompts(p) && !p.Tabular() && p.Prompts.Order == option.Shuffled && (adam(p) ||
		p.LimitedOnTheWay() || p.cut > 0 || len(p.Prompts.First)%p.GroupsPerStep != 0)
}

// Visited returns the bandit of a prompt with the lag and the optimizer of its visits.
func (p Params) Visited(visit *Params) Params {
	p.GroupsPerStep, p.Lag, p.Optimizer = visit.GroupsPerStep, visit.Lag, visit.Optimizer
	p.Chance, p.Prompts.Order = visit.Chance, visit.Prompts.Order
	p.turn.groups, p.turn.prompts = visit.turn.groups, visit.turn.prompts
	return p
}

// StartingPrompt is a prompt alone, where it starts, and the prompts that are equal to it.
type StartingPrompt struct {
	Params
	Init  []float64
	Alike []int // indices in Params.Prompts, ascending
}

// Distinct returns the prompts of p that differ, in order all. They start at init unless they have
// starts of their own.
func (p *Params) Distinct(init []float64) (all []StartingPrompt) {
	seen := make(map[[4]float64]int) // never ranged over
	for x := range p.Prompts.First {
		one, start := p.Prompt(x, init)
		key := [4]float64{p.Prompts.First[x], p.Prompts.Second[x]}
		if start != nil {
			key[2] = start[0] - start[1]
		}
		if p.Prompts.Order == option.InOrder && !p.always() {
			key[3] = float64(x)
		}
		i, known := seen[key]
		if !known {
			i, all = len(all), append(all, StartingPrompt{one, start, nil})
			seen[key] = i
		}
		all[i].Alike = append(all[i].Alike, x)
	}
	return all
}
