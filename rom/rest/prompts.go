package rest

import (
	"cmp"
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
}

// newTabularEquilibrium returns the equilibrium of prompts with a policy each. Its fixed
// point has the mean over the prompts of their logits, policies and rewards.
func newTabularEquilibrium(p cell.Params) *Equilibrium {
	e := &Equilibrium{params: p}
	for _, one := range p.Distinct(p.Start) {
		one.Params = cell.WithoutNorm(one.Params)
		one.GroupsPerStep = 1
		e.prompts = append(e.prompts, promptGroup{NewEquilibrium(one.Params), one.Alike,
			float64(len(one.Alike))})
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
	p := e.underNorm(o, l)
	visit, period, because := p.Visits()
	switch {
	case prediction.FixedPoint == nil:
		return prediction
	case !because.Out() && o.Momentum > 0 && period > 1:
		because = scope.NotPredicted.Because(
			"the variance of prompts that coast with momentum between their visits")
	case !because.Out() && p.Samples == option.Reused && period > 1:
		because = scope.NotPredicted.Because("the variance of prompts that reuse samples by epochs")
	case !because.Out() && of&StationaryLaw == 0:
		because = scope.NoNumber.Because("a part without the noise was asked for")
	}
	if prediction.Noise = because.Scope(); because.Out() {
		return prediction
	}
	n := float64(len(p.Prompts.First))
	var shift, linear, variance, share, moved, gap float64
	for _, g := range e.prompts {
		q := g.PredictPart(visit.Optimizer, visit.Lag, Multipliers|StationaryLaw)
		if m := q.Moments; !q.Noise.In || q.LinearVariance() == nil || m.RewardShift == nil ||
			m.ZeroVariance == nil || m.ZeroVarianceShift == nil {
			because = cmp.Or(q.Noise.Because, q.Moments.Because)
			prediction.Noise = scope.OfPart.Because("a prompt", because).Scope()
			return prediction
		}
		w := g.count / n
		shift += w * *q.Moments.RewardShift
		share += w * *q.Moments.ZeroVariance
		moved += w * *q.Moments.ZeroVarianceShift
		linear += w * *q.LinearVariance() / n
		variance += w * *q.Moments.RewardVariance / n
		gap += w * *q.Exact.StationaryVariance.LogitGap / n
		prediction.Neglected.AddAll(q.Neglected, w, w/n, w)
	}
	prediction.Moments = Moments{RewardShift: &shift, RewardVariance: &variance, ZeroVariance: &share,
		ZeroVarianceShift: &moved}
	prediction.Exact.StationaryVariance = Variance{LogitGap: &gap, ExpectedReward: &linear}
	return prediction
}

// underNorm returns the parameters with an optimizer and a lag, without a largest norm that the
// gradients at the fixed points do not meet.
func (e *Equilibrium) underNorm(o option.Optimizer, l option.Lag) cell.Params {
	p := e.params
	p.Optimizer, p.Lag = o, l
	return cell.Meeting(p, func(free cell.Params) (most float64, ok bool) {
		for _, g := range e.prompts {
			one := g.params
			one.Optimizer, one.Lag = free.Optimizer, l
			point, ok := g.Reached()
			if !ok {
				return 0, false
			}
			most = max(most, force.New(&one).NormMet(point.Logits, point.Logits))
		}
		return p.NormOfPrompts(most), true
	})
}

// settledTabular is Settled for prompts with a policy each, from the visits in those steps.
func (e *Equilibrium) settledTabular(o option.Optimizer, l option.Lag, from, to int) Settled {
	p := e.underNorm(o, l)
	visit, period, because := p.Visits()
	if because.Out() {
		return Settled{Reward: 1}
	}
	var settled Settled
	for _, g := range e.prompts {
		one := g.Settled(visit.Optimizer, visit.Lag, from/period, to/period)
		settled.Reward += g.count / float64(len(p.Prompts.First)) * one.Reward
	}
	return settled
}
