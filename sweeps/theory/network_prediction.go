package theory

import (
	"fmt"
	"math"
	"slices"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/deep"
	"grposim/rom/fixed"
	"grposim/rom/linear"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sweeps/config"
)

// atNetwork returns the prediction for settings whose policy is a network, as far as it is derived
// (docs/theory-deep.md). Exact is that of the matrices Λ_f and Λ. LeadingOrder has one number λ, as
// if the whole force were stale; RuleAtStiffness is the paper's rule at λ. Of variances
// LeadingOrder is the law at the fixed point of the start, and Exact that along its slide.
func (cache *Cache) atNetwork(s *config.Settings, factors rom.Factors, of rest.Extent) *rom.Prediction {
	key := fmt.Sprintf("%s %v %v", config.Canonical(*s), factors, of)
	return cache.ofNetworks.get(key, 1, maxPredictions, func() *rom.Prediction {
		switch {
		case factors == rom.Unit:
			return cache.network(s).predict(s, of)
		case of&(rest.StationaryLaw|rest.CriticalInterval) != 0:
			return cache.network(s).with(factors).predict(s, of)
		}
		return stiffer(cache.atNetwork(s, rom.Unit, of), factors.Stiffness)
	})
}

// with returns the network with the constants of the theory scaled by factors; n itself without a
// fixed point.
func (n *policyNetwork) with(factors rom.Factors) *policyNetwork {
	if n.rest(); n.point == nil {
		return n
	}
	other := *n
	other.params = slices.Clone(n.params)
	for x := range other.params {
		other.params[x].Factors = factors
	}
	other.point = deep.At(other.params, n.point.Logits)
	return &other
}

// stiffer returns a prediction with all stiffness matrices scaled by a factor: the dynamics depends
// on ηΛ alone.
func stiffer(p *rom.Prediction, factor float64) *rom.Prediction {
	scaled := *p
	for _, x := range []*float64{&scaled.Stiffness.Total, &scaled.Stiffness.Fresh, &scaled.Stiffness.Stale, &scaled.Stiffness.Slowest} {
		*x *= factor
	}
	scaled.Exact.SpectralRadius, scaled.LeadingOrder.SpectralRadius = nil, nil // at another rate
	for _, rate := range []**float64{&scaled.Exact.CriticalLearningRate, &scaled.LeadingOrder.CriticalLearningRate,
		&scaled.Exact.OscillationLearningRate, &scaled.RuleAtStiffness.CriticalLearningRate} {
		if *rate != nil {
			*rate = new(**rate / factor)
		}
	}
	return &scaled
}

// largestState is the size of the matrix of a delay up to which its spectrum is taken. One takes
// time with its cube: 0.5 s of 600, some 20 s of 2000, and a critical rate takes some twenty.
const largestState = 2000

// mostOfModes is the largest sum of the cubes of the states of single modes under a delay, some ten
// spectra each: seconds.
const mostOfModes = 1e7

// stiffestFresh returns λ_f, the largest eigenvalue of Λ_f at the fixed point. It doubles the
// products until what they leave is below 1e-9 of it.
func (n *policyNetwork) stiffestFresh() float64 {
	at := n.atRest()
	for products := 8; ; products *= 2 {
		if e := deep.Largest(at, n.point.Fresh, 1, products)[0]; e.Residual <= 1e-9*math.Abs(e.Value) || products >= len(n.point.Logits) {
			return e.Value
		}
	}
}

// predict is Cache.atNetwork of the theory as derived.
func (n *policyNetwork) predict(s *config.Settings, of rest.Extent) *rom.Prediction {
	p := new(rom.Prediction)
	p.ForceKind = rom.Exact
	out := func(because scope.Reason) *rom.Prediction {
		p.Exact.Scope.Because, p.LeadingOrder.Scope.Because, p.Noise.Because = because, because, because
		return p
	}
	n.rest()
	switch {
	case n.because.Out():
		return out(n.because)
	case s.Optimizer.Kind == option.Adam:
		return out(scope.Networks.Because("Adam"))
	}
	p.FixedPoint = &fixed.Point{Reward: n.point.Reward}
	exact := n.space().Dynamics(n.point, linear.Update{
		Method: s.Optimizer.Kind, Rate: s.Optimizer.LearningRate, Momentum: s.Optimizer.Momentum, Lag: linear.NewLag(&s.Lag),
	})
	modes := exact.Modes()
	total, fresh := modes[0].Total(), n.stiffestFresh()
	if math.Abs(total-fresh) <= linear.Negligible*total { // nothing is stale
		fresh = total
	}
	p.Stiffness = rest.ModeStiffness{Total: total, Fresh: fresh, Stale: total - fresh, Slowest: modes[len(modes)-1].Total()}
	p.RuleAtStiffness.CriticalLearningRate = new((1 - s.Optimizer.Momentum) / p.Stiffness.Total / max(grpo.LagAge(&s.Lag), 1))
	if tau, n := s.Lag.Interval, exact.Whole.Dim(); s.Lag.Kind == option.Delay && float64(n)*fp.Pow(float64(tau+2), 3) > mostOfModes {
		return out(scope.Networks.Because(fmt.Sprintf("a delay of %d steps, where each of %d directions has a state of %d numbers,", tau, n, tau+2)))
	}
	p.LeadingOrder = dynamicsOf(exact.OneNumber(), of)
	if tau := s.Lag.Interval; s.Lag.Kind == option.Delay && exact.Mixed && (tau+2)*exact.Whole.Dim() > largestState {
		p.Exact.Scope.Because = scope.Networks.Because(fmt.Sprintf("a delay of %d steps, where a part of the gradient is fresh and each of %d directions has a state of %d numbers,", tau, exact.Whole.Dim(), tau+2))
		p.Noise.Because = p.Exact.Scope.Because
		return p
	}
	p.Exact = dynamicsOf(exact, of)
	if of&rest.Onset != 0 && !exact.Mixed { // of modes that mix no simulation finds it
		p.Exact.OscillationLearningRate, p.Exact.Searched.Onset = exact.Threshold(linear.OnsetRate).Result()
	}
	switch {
	case s.Estimator.GroupSize == option.Infinite:
		p.Noise.Because = scope.NoNoise.Because()
	case of&rest.StationaryLaw == 0: // not asked for
	case s.Optimizer.Schedule.Kind != option.ConstantRate || s.Optimizer.Schedule.Warmup > 0:
		p.Noise.Because = scope.RateVaries.Because("is not constant")
	case s.Policy.Init.Kind != config.AtFixedPoint: // deep.Window is of a run from there
		p.Noise.Because = scope.Networks.Because("the variance of a run that does not start at the fixed point")
	default: // noise carries weights along their fixed points, where the variance is another one
		p.Noise.Because = scope.Networks.Because("the variance beyond its leading order")
		if law, err := exact.Law(modes, deep.Window{From: s.Run.BurnIn, To: s.Run.Steps}); err == nil {
			p.LeadingOrder.StationaryVariance.ExpectedReward = &law.Reward
		}
	}
	return p
}

// dynamicsOf returns the parts of the linear dynamics of a network.
func dynamicsOf(d *deep.Dynamics, of rest.Extent) rom.Dynamics {
	r := rom.Dynamics{Scope: rom.Scope{In: true}, Neutral: d.Neutral}
	if of&rest.Multipliers != 0 {
		if radius := d.SpectralRadius(); !math.IsNaN(radius) {
			r.SpectralRadius = &radius
		}
	}
	if of&rest.CriticalRate != 0 {
		r.CriticalLearningRate, r.Searched.LearningRate = d.Threshold(linear.CriticalRate).Result()
	}
	if of&rest.CriticalInterval != 0 {
		r.CriticalRefreshInterval, r.Searched.RefreshInterval = d.Threshold(linear.CriticalInterval).Result()
	}
	return r
}
