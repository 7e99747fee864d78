package theory

import (
	"math"

	"grposim/rom"
	"grposim/sweeps/config"
)

// Names of the regimes of the linear dynamics.
const (
	Overdamped  = "overdamped"
	Oscillatory = "oscillatory"
	Unstable    = "unstable"
)

// Regime holds the predictions for one point of a map; each is NaN where the theory does not apply.
type Regime struct {
	// spectral radius of the linear dynamics, per step; unstable from 1 on; of cells alone with a
	// delay
	Radius float64
	// a function that is 0 where stability changes and positive where the linear dynamics is unstable
	Margin  float64
	Rule    float64 // ηλK/(1−μ) at the stiffest mode: the paper's rule is 1
	Damping float64 // ζ of the reduced-order model
	Rate    float64 // η, never NaN
	Onset   float64 // the smallest η at which multipliers are complex

	unstable bool // Radius is above 1 by more than rounding
}

// Name returns the name of the regime by the linear dynamics, "" where that is not known.
func (r Regime) Name() string {
	switch {
	case r.unstable:
		return Unstable
	case r.Radius >= 1: // rounding would decide
		return ""
	case r.Rate >= r.Onset:
		return Oscillatory
	case r.Radius < 1 && r.Rate < r.Onset:
		return Overdamped
	}
	return ""
}

// NewRegime returns the regime of settings with the given prediction.
func NewRegime(s *config.Settings, p *rom.Prediction) Regime {
	value := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	nan := math.NaN()
	r := Regime{Radius: nan, Margin: nan, Rule: nan, Damping: nan, Rate: s.Optimizer.LearningRate, Onset: nan}
	if p.FixedPoint == nil {
		return r
	}
	linear, _ := p.Linear()
	r.unstable = linear.IsUnstable()
	r.Radius, r.Onset = value(linear.SpectralRadius), value(linear.OscillationLearningRate)
	if r.Margin = min(r.Radius, 2) - 1; linear.StabilityMargin != nil {
		r.Margin = *linear.StabilityMargin
	}
	r.Rule = r.Rate / value(p.RuleAtStiffness.CriticalLearningRate)
	r.Damping = p.Oscillator.DampingRatio
	return r
}
