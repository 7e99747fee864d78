package theory

import (
	"math"
	"slices"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/deep"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/sweeps/config"
)

// atNetwork returns the prediction for settings whose policy is a network, as far as it is derived
// (docs/theory-deep.md). Exact is that of the matrices Λ_f and Λ, LeadingOrder that of the one number
// λ, as if the whole force were stale, and RuleAtStiffness the paper's rule at λ.
func (cache *Cache) atNetwork(s *config.Settings, factors rom.Factors, of rom.Extent) *rom.Prediction {
	key, t := networkKey{string(config.Canonical(*s)), factors, of}, cache.predictions
	t.mutex.Lock()
	p, known := t.ofNetworks[key]
	t.mutex.Unlock()
	if !known {
		p = cache.network(s).predict(s, factors, of)
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.ofNetworks[key] = p
	}
	return p
}

// networkKey holds everything that the prediction of a cell with a network depends on.
type networkKey struct {
	settings string
	factors  rom.Factors
	of       rom.Extent
}

// predict is Cache.atNetwork.
func (n *policyNetwork) predict(s *config.Settings, factors rom.Factors, of rom.Extent) *rom.Prediction {
	p := new(rom.Prediction)
	p.ForceKind = rom.Exact
	out := func(because scope.Reason) *rom.Prediction {
		p.Exact.Scope.Because, p.LeadingOrder.Scope.Because, p.Noise.Because = because, because, because
		return p
	}
	switch {
	case n.point == nil || n.weights == nil:
		return out(scope.NoFixedPoint.Because())
	case s.Optimizer.Kind == option.Adam:
		return out(scope.Networks.Because("Adam"))
	}
	p.FixedPoint = &rom.FixedPoint{Reward: n.point.Reward}
	point := n.at(factors)
	exact := n.space().Dynamics(point, linear.Update{
		Method: s.Optimizer.Kind, Rate: s.Optimizer.LearningRate, Momentum: s.Optimizer.Momentum, Lag: linear.NewLag(&s.Lag),
	})
	p.Stiffness = rom.ModeStiffness{Total: exact.Modes()[0].Total(), Fresh: deep.Largest(n.atRest(), point.Fresh, 1, math.MaxInt)[0].Value}
	p.Exact, p.LeadingOrder = dynamicsOf(exact, of), dynamicsOf(exact.OneNumber(), of)
	rule := (1 - s.Optimizer.Momentum) / p.Stiffness.Total / max(grpo.LagAge(&s.Lag), 1)
	p.RuleAtStiffness.CriticalLearningRate = &rule
	p.Noise.Because = scope.Networks.Because("the stationary law")
	return p
}

// at returns the fixed point with the constants of the theory scaled by factors.
func (p *policyNetwork) at(factors rom.Factors) *deep.Point {
	if factors == rom.Unit {
		return p.point
	}
	scaled := slices.Clone(p.params)
	for x := range scaled {
		scaled[x].Factors = factors
	}
	return deep.At(scaled, p.point.Logits)
}

// dynamicsOf returns the parts of the linear dynamics of a network.
func dynamicsOf(d *deep.Dynamics, of rom.Extent) rom.Dynamics {
	r := rom.Dynamics{Scope: rom.Scope{In: true}, Neutral: d.Neutral}
	if of&rom.Multipliers != 0 {
		if radius := d.SpectralRadius(); !math.IsNaN(radius) {
			r.SpectralRadius = &radius
		}
	}
	if of&rom.CriticalRate != 0 {
		r.CriticalLearningRate, r.Searched.LearningRate = d.Threshold(linear.CriticalRate).Result()
	}
	if of&rom.CriticalInterval != 0 {
		r.CriticalRefreshInterval, r.Searched.RefreshInterval = d.Threshold(linear.CriticalInterval).Result()
	}
	return r
}
