package rom

import (
	"cmp"
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
	want(len(s.Second) == len(s.First), "Params.Prompts.Second", len(s.Second), "as many numbers as First")
	for _, m := range slices.Concat(s.First, s.Second) {
		want(m >= 0 && m <= 1, "Params.Prompts", m, "mean rewards within [0, 1]")
	}
	want(p.Filter != option.Redraw || s.Order == option.Independent, "Params.Prompts.Order", s.Order, "WithReplacement where groups of equal rewards are redrawn")
	want(len(p.Arms) == 2 && p.Arms[0].Law == option.Bernoulli && p.Arms[1].Law == option.Bernoulli, "Params.Arms", p.Arms, "two Bernoulli arms, with prompts")
	if s.Starts != nil {
		want(s.Parameters == option.Tabular && len(s.Starts) == len(s.First) && linear.IsFinite(s.Starts...), "Params.Prompts.Starts", s.Starts, "a finite number for each prompt with a policy of its own")
	}
}

// tabular reports whether p has prompts with a policy each.
func (p *Params) tabular() bool {
	return len(p.Prompts.First) > 0 && p.Prompts.Parameters == option.Tabular
}

// prompt returns the bandit of one prompt alone, and where it starts if all start at init.
func (p *Params) prompt(x int, init []float64) (one Params, start []float64) {
	one = *p
	one.Prompts = Prompts{}
	one.Arms = []option.Arm{{Law: option.Bernoulli, Mean: p.Prompts.First[x]}, {Law: option.Bernoulli, Mean: p.Prompts.Second[x]}}
	if p.Prompts.Starts != nil {
		init = []float64{p.Prompts.Starts[x] / 2, -p.Prompts.Starts[x] / 2}
		one.Reference, one.Start = init, init
	}
	return one, init
}

// bandits returns the arms of all prompts.
func (p *Params) bandits() (all [][]option.Arm) {
	for x := range p.Prompts.First {
		one, _ := p.prompt(x, nil)
		all = append(all, one.Arms)
	}
	return all
}

// visits returns the bandit of one prompt with the optimizer that acts from one of its
// visits to the next, and the number M = C/B of steps between them: between visits a prompt
// coasts, so that it is an on-policy heavy ball with
//
//	μ_eff = μ^M,   η_eff = η s_M/B,   s_M = (1−μ^M)/(1−μ),
//
// or the reason why that is not so.
func (p *Params) visits() (visit Params, period int, because scope.Reason) {
	o, prompts := p.Optimizer, len(p.Prompts.First)
	period = prompts / p.GroupsPerStep
	switch {
	case p.Prompts.Order == option.Independent:
		because = scope.NotPredicted.Because("prompts with a policy each that are drawn with replacement")
	case prompts%p.GroupsPerStep != 0:
		because = scope.NotPredicted.Because(fmt.Sprintf("%d prompts that are no multiple of %d groups per step", prompts, p.GroupsPerStep))
	default:
		because = p.notDerived(visitsOfPrompts)
	}
	visit = *p
	visit.Prompts, visit.GroupsPerStep, visit.Lag = Prompts{}, 1, option.Lag{Kind: option.Block, Interval: 1}
	visit.Optimizer.Momentum = fp.Pow(o.Momentum, float64(period))
	visit.Optimizer.LearningRate = o.LearningRate * coasted(o.Momentum, period) / float64(p.GroupsPerStep)
	return visit, period, because
}

// coasted returns s_j = (1−μ^j)/(1−μ), the way of a prompt in j steps from a visit in units of
// that of the first step.
func coasted(momentum float64, steps int) float64 {
	return (1 - fp.Pow(momentum, float64(steps))) / (1 - momentum)
}

// promptGroup is the equilibrium of the prompts that are equal.
type promptGroup struct {
	*Equilibrium
	prompts []int // indices in Params.Prompts
	count   float64
}

// startingPrompt is a prompt alone, where it starts, and the prompts that are equal to it.
type startingPrompt struct {
	Params
	start   []float64
	prompts []int // indices in Params.Prompts, ascending
}

// distinct returns the prompts of p that differ, of which all start at init unless they have
// starts of their own.
func (p *Params) distinct(init []float64) (all []startingPrompt) {
	seen := make(map[[3]float64]int) // never ranged over
	for x := range p.Prompts.First {
		one, start := p.prompt(x, init)
		key := [3]float64{p.Prompts.First[x], p.Prompts.Second[x]}
		if start != nil {
			key[2] = start[0] - start[1]
		}
		if i, known := seen[key]; known {
			all[i].prompts = append(all[i].prompts, x)
			continue
		}
		seen[key] = len(all)
		all = append(all, startingPrompt{one, start, []int{x}})
	}
	return all
}

// newTabularEquilibrium returns the equilibrium of prompts with a policy each. Its fixed
// point has the mean over the prompts of their logits, policies and rewards.
func newTabularEquilibrium(p Params) *Equilibrium {
	e := &Equilibrium{params: p}
	for _, one := range p.distinct(p.Start) {
		one.GroupsPerStep = 1
		e.prompts = append(e.prompts, promptGroup{NewEquilibrium(one.Params), one.prompts, float64(len(one.prompts))})
	}
	e.prediction.ForceKind = Exact
	e.prediction.excludeAll(scope.NoNumber.Because("each prompt has a policy of its own"))
	n := float64(len(p.Prompts.First))
	mean := FixedPoint{Logits: make([]float64, 2), Policy: make([]float64, 2)}
	for _, g := range e.prompts {
		point, ok := g.Reached()
		if !ok {
			e.prediction.excludeAll(scope.OfPart.Because("a prompt", g.prediction.Exact.Scope.Because))
			return e
		}
		for a := range 2 {
			mean.Logits[a] += g.count * point.Logits[a] / n
			mean.Policy[a] += g.count * point.Policy[a] / n
		}
		mean.Reward += g.count * point.Reward / n
	}
	e.prediction.FixedPoint = &mean
	return e
}

// ReachedBy returns the mean of J over some of the prompts with a policy each, at the fixed points
// that they reach; ok is false if a prompt reaches none. prompts are indices in Params.Prompts, at
// least one.
func (e *Equilibrium) ReachedBy(prompts []int) (reward float64, ok bool) {
	if e.prompts == nil || e.prediction.FixedPoint == nil {
		return 0, false
	}
	for _, g := range e.prompts {
		point, _ := g.Reached()
		for _, x := range g.prompts {
			if slices.Contains(prompts, x) {
				reward += point.Reward / float64(len(prompts))
			}
		}
	}
	return reward, true
}

// predictTabular is PredictPart for prompts with a policy each: the stationary moments of
// their mean reward, of which the prompts are independent.
func (e *Equilibrium) predictTabular(o option.Optimizer, l option.Lag, of Extent) Prediction {
	prediction := e.prediction
	p := e.params
	p.Optimizer, p.Lag = o, l
	visit, period, because := p.visits()
	switch {
	case prediction.FixedPoint == nil:
		return prediction
	case !because.Out() && o.Momentum > 0 && period > 1:
		because = scope.NotPredicted.Because("the variance of prompts that coast with momentum between their visits")
	case !because.Out() && of&StationaryLaw == 0:
		because = scope.NoNumber.Because("a part without the noise was asked for")
	}
	prediction.Noise = Scope{In: !because.Out(), Because: because}
	if because.Out() {
		return prediction
	}
	n := float64(len(p.Prompts.First))
	var shift, linear, variance, share, moved, gap float64
	for _, g := range e.prompts {
		q := g.PredictPart(visit.Optimizer, visit.Lag, Multipliers|StationaryLaw)
		if m := q.Moments; !q.Noise.In || q.variance() == nil || m.RewardShift == nil || m.ZeroVariance == nil || m.ZeroVarianceShift == nil {
			prediction.Noise = Scope{Because: scope.OfPart.Because("a prompt", cmp.Or(q.Noise.Because, q.Moments.Because))}
			return prediction
		}
		w := g.count / n
		shift += w * *q.Moments.RewardShift
		share += w * *q.Moments.ZeroVariance
		moved += w * *q.Moments.ZeroVarianceShift
		linear += w * *q.variance() / n
		variance += w * *q.Moments.RewardVariance / n
		gap += w * *q.Exact.StationaryVariance.LogitGap / n
		prediction.Neglected.AddAll(q.Neglected, w, w/n, w)
	}
	prediction.Moments = Moments{RewardShift: &shift, RewardVariance: &variance, ZeroVariance: &share, ZeroVarianceShift: &moved}
	prediction.Exact.StationaryVariance = Variance{LogitGap: &gap, ExpectedReward: &linear}
	return prediction
}

// settledTabular is Settled for prompts with a policy each, from the visits in those steps.
func (e *Equilibrium) settledTabular(o option.Optimizer, l option.Lag, from, to int) Settled {
	p := e.params
	p.Optimizer, p.Lag = o, l
	visit, period, because := p.visits()
	if because.Out() {
		return Settled{Reward: 1, Largest: 1}
	}
	var settled Settled
	for _, g := range e.prompts {
		one := g.Settled(visit.Optimizer, visit.Lag, from/period, to/period)
		settled.Reward += g.count / float64(len(p.Prompts.First)) * one.Reward
		settled.Largest = max(settled.Largest, one.Largest)
	}
	return settled
}

// unsettledTabular is Unsettled for prompts with a policy each: the mean of what is left of
// the way of each, which bounds the effect on the mean reward.
func unsettledTabular(p Params, init []float64, from, to int) (left scope.Sizes, within Scope) {
	visit, period, because := p.visits()
	if because.Out() {
		return left, Scope{Because: because}
	}
	n := float64(len(p.Prompts.First))
	for x := range p.Prompts.First {
		one, start := p.prompt(x, init)
		one.GroupsPerStep, one.Lag, one.Optimizer = 1, visit.Lag, visit.Optimizer
		at := NewEquilibrium(one).PredictPart(visit.Optimizer, visit.Lag, Multipliers|StationaryLaw)
		if at.FixedPoint == nil {
			return left, at.Exact.Scope
		}
		by, within := new(Settled).Unsettled(one, &at, start, from/period, max(to/period, from/period+1))
		if !within.In {
			return left, within
		}
		left = left.Plus(scope.Sizes{RewardMean: by.RewardMean / n, RewardVariance: by.RewardVariance / n, ZeroVariance: by.ZeroVariance / n})
	}
	return left, Scope{In: true}
}
