package rest

import (
	"cmp"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/scope"
)

// promptGroup is the equilibrium of the prompts that are equal.
type promptGroup struct {
	*Equilibrium
	prompts []int // indices in Params.Prompts
	count   float64
	chance  float64 // that a group of a step is of one of them, where groups may be redrawn
}

// newTabularEquilibrium returns the equilibrium of prompts with a policy each. Its fixed
// point has the mean over the prompts of their logits, policies and rewards.
func newTabularEquilibrium(p cell.Params) *Equilibrium {
	e := &Equilibrium{params: p}
	for _, one := range p.Distinct(p.Start) {
		one.Params = cell.WithoutNorm(one.Params)
		one.GroupsPerStep = max(p.GroupsPerStep/len(p.Prompts.First), 1)
		e.prompts = append(e.prompts, promptGroup{NewEquilibrium(one.Params), one.Alike,
			float64(len(one.Alike)), 1})
	}
	e.prediction.ForceKind = scope.Exact
	e.prediction.excludeAll(scope.NoNumber.Because("each prompt has a policy of its own"))
	n := float64(len(p.Prompts.First))
	mean := fixed.Point{Logits: make([]float64, 2), Policy: make([]float64, 2)}
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
	all := 0.0
	for i := range e.prompts {
		g := &e.prompts[i]
		if p.Filter == option.Redraw { // of other prompts, too: it is as frequent as its unequal groups
			point, _ := g.Reached()
			g.chance = 1 - force.New(&g.merged.Params).Law.EqualRewards(point.Policy)
		}
		all += g.count * g.chance
	}
	for i := range e.prompts {
		e.prompts[i].chance /= all
	}
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
	if prediction.FixedPoint == nil {
		return prediction
	}
	p := e.underNorm(o, l)
	visit, _, because := cell.AtRest(&p)
	if !because.Out() && of&StationaryLaw == 0 {
		because = scope.NoNumber.Because("a part without the noise was asked for")
	}
	if prediction.Noise = because.Scope(); because.Out() {
		return prediction
	}
	n, sums, missing := float64(len(p.Prompts.First)), [6]float64{}, [6]bool{}
	for _, g := range e.prompts {
		one := e.visited(&g, &visit)
		q := one.PredictPart(visit.Optimizer, visit.Lag, Multipliers|StationaryLaw)
		if !q.Noise.In {
			prediction.Noise = scope.OfPart.Because("a prompt", q.Noise.Because).Scope()
			if prediction.MeanKnown = q.MeanKnown; !q.MeanKnown {
				return prediction
			}
		}
		w, m := g.count/n, &q.Moments
		d, _ := q.Linear()
		for i, x := range []*float64{m.RewardShift, m.ZeroVariance, m.ZeroVarianceShift,
			m.RewardVariance, d.StationaryVariance.ExpectedReward, d.StationaryVariance.LogitGap} {
			if missing[i] = missing[i] || x == nil; x != nil {
				sums[i] += w * *x
			}
		}
		prediction.Neglected.AddAll(q.Neglected, w, w/n, w)
		prediction.Moments.Because = cmp.Or(prediction.Moments.Because, m.Because)
		if p.Samples == option.Fresh && visit.Chance > 0 && p.Prompts.Order < option.Independent {
			last, missed := one.PredictPart(visit.Optimizer,
				option.Lag{Kind: option.Block, Interval: 1}, Multipliers|StationaryLaw), math.Inf(1)
			if v := last.LinearVariance(); v != nil {
				missed = math.Abs(*q.LinearVariance() - *v)
			}
			prediction.Neglected.Add(scope.HigherOrder, scope.Sizes{RewardVariance: w / n * missed})
		}
	}
	if !prediction.Noise.In {
		prediction.Neglected.Add(scope.HigherOrder, scope.Sizes{RewardMean: math.Abs(sums[0])})
		return prediction
	}
	numbers := [6]*float64{}
	for i := range sums {
		if i > 2 {
			sums[i] /= n
		}
		if !missing[i] {
			numbers[i] = &sums[i]
		}
	}
	m := &prediction.Moments
	m.RewardShift, m.ZeroVariance, m.ZeroVarianceShift, m.RewardVariance = numbers[0], numbers[1],
		numbers[2], numbers[3]
	prediction.Exact.StationaryVariance = Variance{ExpectedReward: numbers[4], LogitGap: numbers[5]}
	return prediction
}

// underNorm returns the parameters with an optimizer and a lag, without a largest norm that the
// gradients at the fixed points do not meet.
func (e *Equilibrium) underNorm(o option.Optimizer, l option.Lag) cell.Params {
	p := e.params
	p.Optimizer, p.Lag = o, l
	return cell.Meeting(p, func(free cell.Params) (most float64, ok bool) {
		chance := 0.0
		for _, g := range e.prompts {
			one := g.params
			one.Optimizer, one.Lag = free.Optimizer, l
			point, ok := g.Reached()
			if !ok {
				return 0, false
			}
			most = max(most, force.New(&one).NormMet(point.Logits, point.Logits))
			chance = max(chance, g.chance)
		}
		return p.NormOfPrompts(most, chance), true
	})
}

// visited returns the equilibrium of a prompt with its visits.
func (e *Equilibrium) visited(g *promptGroup, visit *cell.Params) *Equilibrium {
	if visit.Chance == 0 || g.linearization == nil {
		return g.Equilibrium
	}
	p, merged := g.params, g.merged
	p.GroupsPerStep, p.Chance = visit.GroupsPerStep, g.chance
	merged.GroupsPerStep, merged.Chance = visit.GroupsPerStep, g.chance
	return newEquilibrium(p, merged, g.logits)
}

// settledTabular is Settled for prompts with a policy each, from the visits in those steps.
func (e *Equilibrium) settledTabular(o option.Optimizer, l option.Lag, from, to int) Settled {
	p := e.underNorm(o, l)
	visit, period, because := cell.AtRest(&p)
	if because.Out() {
		return Settled{Reward: 1}
	}
	var settled Settled
	for _, g := range e.prompts {
		one := e.visited(&g, &visit).Settled(visit.Optimizer, visit.Lag, from/period, to/period)
		settled.Reward += g.count / float64(len(p.Prompts.First)) * one.Reward
		settled.Unknown = max(settled.Unknown, one.Unknown)
	}
	return settled
}
