package fit

import (
	"math"

	"grposim/rom/fp"
)

// law is a family of curves y(t) = start + (plateau − start) g(t; θ), with g(0) = 0
// (but for the logistic, whose start is its limit at t → −∞) and g → 1.
type law struct {
	name  Name
	shape []parameter
	grow  func(g, time []float64, shape []float64) // writes g(time[i]; shape) to g[i]
	kind  kind
}

// Name is the name of a law.
type Name string

const (
	ConstantLaw Name = "constant"      // y = start
	Exponential Name = "exponential"   // g = 1 − e^{−t/T}: the overdamped oscillator
	Inertial    Name = "inertial"      // the damped oscillator from rest, all regimes
	ThreePhase  Name = "three-phase"   // g = 1 − (1 + ω t) e^{−ω t}: the oscillator at ζ = 1
	SoftmaxROM  Name = "softmax-rom"   // the mean field of a two-arm bandit with inertia
	Logistic    Name = "logistic"      // g = 1/(1 + e^{−(t−t₀)/w})
	ScalingLaw  Name = "scaling-curve" // g = 1/(1 + (t_mid/t)^B): a sigmoid in log compute
)

// kind says what a law can do besides saturate.
type kind int

const (
	monotone    kind = iota // never falls below what it has reached
	oscillating             // may overshoot
	flat                    // no growth
)

// parameter is a shape parameter of a law, positive, searched on a logarithmic grid.
type parameter struct {
	name   string
	lo, hi float64 // in units of the known length of the curve, or of its inverse
	is     Dimension
	grid   int // values tried before the search
}

// Dimension says what a parameter is.
type Dimension string

const (
	OfReward   Dimension = "reward"    // start, plateau, level
	Ratio      Dimension = "ratio"     // a number without a unit
	Duration   Dimension = "duration"  // a time from the start on
	AtMidpoint Dimension = "width"     // a time about the midpoint
	Frequency  Dimension = "frequency" // an angle in radians per time
)

// bounds returns the range of the parameter for a curve of the given length.
func (p parameter) bounds(known float64) (lo, hi float64) {
	switch p.is {
	case Duration, AtMidpoint:
		return p.lo * known, p.hi * known
	case Frequency:
		return p.lo / known, p.hi / known
	}
	return p.lo, p.hi
}

// pointwise is a law whose g depends on the time alone.
func pointwise(g func(t float64, shape []float64) float64) func(g, time, shape []float64) {
	return func(out, time, shape []float64) {
		for i, t := range time {
			out[i] = g(t, shape)
		}
	}
}

// laws are the families that Fit compares, the constant first.
var laws = []law{
	{name: ConstantLaw, kind: flat, grow: pointwise(func(float64, []float64) float64 { return 0 })},
	{name: Exponential, shape: []parameter{{"timescale", 0.002, 20, Duration, 60}},
		grow: pointwise(func(t float64, p []float64) float64 { return -math.Expm1(-t / p[0]) })},
	{name: Inertial, kind: oscillating, shape: []parameter{{"frequency", 0.1, 400, Frequency, 60}, {"damping_ratio", 0.02, 20, Ratio, 14}},
		grow: pointwise(func(t float64, p []float64) float64 { return oscillator(p[0]*t, p[1]) })},
	{name: ThreePhase, shape: []parameter{{"frequency", 0.1, 400, Frequency, 60}},
		grow: pointwise(func(t float64, p []float64) float64 { return oscillator(p[0]*t, 1) })},
	{name: SoftmaxROM, shape: []parameter{{"timescale", 0.005, 5, Duration, 24}, {"start_probability", 1e-6, 0.9, Ratio, 7}, {"inertia_time", 1e-4, 1, Duration, 4}},
		grow: softmaxGrowth},
	{name: Logistic, shape: []parameter{{"midpoint", 0.02, 4, Duration, 40}, {"width", 0.005, 2, AtMidpoint, 12}},
		grow: pointwise(func(t float64, p []float64) float64 { return 1 / (1 + fp.Exp(-(t-p[0])/p[1])) })},
	{name: ScalingLaw, shape: []parameter{{"midpoint", 0.01, 10, Duration, 40}, {"exponent", 0.3, 40, Ratio, 12}},
		grow: pointwise(func(t float64, p []float64) float64 {
			if t <= 0 {
				return 0
			}
			return 1 / (1 + fp.Exp(p[1]*math.Log(p[0]/t)))
		})},
}

// oscillator is the solution of g″ + 2ζ g′ + g = 1 from rest at g = 0, after the phase
// x = ω t ≥ 0, for a damping ratio ζ > 0. Before x = 0 it is 0.
func oscillator(x, zeta float64) float64 {
	if x <= 0 {
		return 0
	}
	switch d := zeta*zeta - 1; {
	case math.Abs(d)*x*x < 1e-6: // sin and sinh of a small argument: their series
		return 1 - fp.Exp(-zeta*x)*(1+zeta*x+d*x*x/2*(1+zeta*x/3))
	case d < 0:
		w := math.Sqrt(-d)
		return 1 - fp.Exp(-zeta*x)*(math.Cos(w*x)+zeta/w*math.Sin(w*x))
	default:
		w := math.Sqrt(d)
		slow, fast := 1/(zeta+w), zeta+w // decay rates, whose product is 1
		return 1 - (fast*fp.Exp(-slow*x)-slow*fp.Exp(-fast*x))/(2*w)
	}
}

// softmaxGrowth is the mean field of a bandit with two arms of rewards 1 and 0 under
// the std scale, without KL (docs/theory.md §2): the difference x of the logits obeys
//
//	m x″ + x′ = 2√(p(1−p)) / T, p = σ(x), p(0) = p₀, x′(0) = 0,
//
// with the timescale T and the inertia m, in time; g = (p − p₀)/(1 − p₀). In u =
// sinh(x/2) the force is 1/(T√(1+u²)) and p = ½ + ½ u/√(1+u²); without inertia u grows
// linearly. It is integrated by Heun's method in steps of at most T/4 and 1/200 of the
// time, in which the velocity relaxes exactly towards the force, so that a small inertia
// needs no smaller steps; g is interpolated between them. From u = 500 on, where 1 − p is
// 1e-6, g is 1, so that the steps are some thousand whatever the time. Error below 2e-3.
func softmaxGrowth(g, time, shape []float64) {
	const saturated = 500
	timescale, start, inertia := shape[0], shape[1], shape[2]
	step := min(time[len(time)-1]/200, timescale/4)
	stay := fp.Exp(-step / inertia)
	glide := inertia / step * (1 - stay) // mean of e^{−s/m} over a step
	u, v, t := (start-0.5)/math.Sqrt(start*(1-start)), 0.0, 0.0
	root := math.Sqrt(1 + u*u)
	before := start
	p := start
	for i, at := range time {
		for t < at && u < saturated {
			f := 1 / (timescale * root)
			ahead := u + step/2*root*(f+(v-f)*glide)
			rootAhead := math.Sqrt(1 + ahead*ahead)
			f = (f + 1/(timescale*rootAhead)) / 2
			u += step / 4 * (root + rootAhead) * (f + (v-f)*glide)
			v = f + (v-f)*stay
			root = math.Sqrt(1 + u*u)
			t += step
			before, p = p, 0.5+0.5*u/root
		}
		if u >= saturated {
			g[i] = 1
			continue
		}
		z := before
		if t > 0 && at > 0 {
			z = p + (before-p)*(t-at)/step
		}
		g[i] = (z - start) / (1 - start)
	}
}
