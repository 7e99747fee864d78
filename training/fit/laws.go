package fit

import (
	"math"

	"grposim/fp"
	"grposim/sim/measure"
)

// law is a family of curves y(t) = start + (plateau − start) g(t; θ), with g(0) = 0 and g → 1. The
// start of the logistic is its limit at t → −∞.
type law struct {
	name  Name
	shape []parameter
	at    func(t float64, shape []float64) float64 // g(t; shape)
}

// Name is the name of a law.
type Name string

const (
	ConstantLaw Name = "constant"      // y = start
	Exponential Name = "exponential"   // g = 1 − e^{−t/T}: the overdamped oscillator
	Inertial    Name = "inertial"      // the damped oscillator from rest, all regimes
	ThreePhase  Name = "three-phase"   // g = 1 − (1 + ω t) e^{−ω t}: the oscillator at ζ = 1
	Logistic    Name = "logistic"      // g = 1/(1 + e^{−(t−t₀)/w})
	ScalingLaw  Name = "scaling-curve" // g = 1/(1 + (t_mid/t)^B): a sigmoid in log compute
)

// parameter is a shape parameter of a law, positive, searched on a logarithmic grid.
type parameter struct {
	name   string
	lo, hi float64 // in units of the known length of the curve, or of its inverse
	is     Dimension
	grid   int // values tried before the search
}

// Dimension is the unit of a parameter.
type Dimension string

const (
	OfReward  Dimension = "reward" // start, plateau, level
	Ratio     Dimension = "1"
	Duration  Dimension = "steps"
	Frequency Dimension = "radians per step"
)

// bounds returns the range of the parameter for a curve of the given length.
func (p parameter) bounds(known float64) (lo, hi float64) {
	switch p.is {
	case Duration:
		return p.lo * known, p.hi * known
	case Frequency:
		return p.lo / known, p.hi / known
	}
	return p.lo, p.hi
}

// laws are the families that Fit compares, the constant first.
var laws = []law{
	{name: ConstantLaw, at: func(float64, []float64) float64 { return 0 }},
	{name: Exponential, shape: []parameter{{"timescale", 0.002, 20, Duration, 60}},
		at: func(t float64, p []float64) float64 { return measure.Exponential.Shape(1/p[0], 0, t) }},
	{name: Inertial, shape: []parameter{
		{"frequency", 0.1, 400, Frequency, 60}, {"damping_ratio", 0.02, 20, Ratio, 14}},
		at: func(t float64, p []float64) float64 { return oscillator(p[0]*t, p[1]) }},
	{name: ThreePhase, shape: []parameter{{"frequency", 0.1, 400, Frequency, 60}},
		at: func(t float64, p []float64) float64 { return measure.CriticallyDamped.Shape(p[0], 0, t) }},
	{name: Logistic, shape: []parameter{{"midpoint", 0.02, 4, Duration, 40},
		{"width", 0.005, 2, Duration, 12}},
		at: func(t float64, p []float64) float64 { return measure.Logistic.Shape(1/p[1], p[0], t) }},
	{name: ScalingLaw, shape: []parameter{{"midpoint", 0.01, 10, Duration, 40},
		{"exponent", 0.3, 40, Ratio, 12}},
		at: func(t float64, p []float64) float64 {
			if t <= 0 {
				return 0
			}
			return 1 / (1 + fp.MathExp(p[1]*math.Log(p[0]/t)))
		}},
}

// oscillator is the solution of g″ + 2ζ g′ + g = 1 from rest at g = 0, after the phase x = ω t ≥ 0.
// The damping ratio is ζ > 0. Before x = 0 it is 0.
func oscillator(x, zeta float64) float64 {
	if x <= 0 {
		return 0
	}
	switch d := zeta*zeta - 1; {
	case math.Abs(d)*x*x < 1e-6: // sin and sinh of a small argument: their series
		return 1 - fp.MathExp(-zeta*x)*(1+zeta*x+d*x*x/2*(1+zeta*x/3))
	case d < 0:
		w := math.Sqrt(-d)
		return 1 - fp.MathExp(-zeta*x)*(math.Cos(w*x)+zeta/w*math.Sin(w*x))
	default:
		w := math.Sqrt(d)
		slow, fast := 1/(zeta+w), zeta+w // decay rates, whose product is 1
		return 1 - (fast*fp.MathExp(-slow*x)-slow*fp.MathExp(-fast*x))/(2*w)
	}
}
