package rom

import (
	"fmt"
	"math"

	"grposim/option"
	"grposim/rom/scope"
)

// This file has the oscillator of arXiv:2606.30789 in the paper's own symbols
// (docs/theory.md §9): K is the stiffness, τ = K_ref the age of the snapshot in
// steps, and the whole force is evaluated at the snapshot,
//
//	M e″ + C e′ + K e = 0,   M = [(1+μ) + Kητ²]/(2η),   C = [(1−μ) − Kητ]/η.

// PaperDampingRatio is the paper's ζ = C/(2√(MK)) =
// [(1−μ) − Kητ]/√(2Kη[(1+μ) + Kητ²]), for Kη > 0. It is negative beyond the
// threshold Kητ = 1 − μ.
func PaperDampingRatio(stiffness, rate, momentum, age float64) float64 {
	o := paperOscillator(stiffness*rate, momentum, age)
	return o.Damping / (2 * math.Sqrt(o.Mass*o.Spring))
}

// PaperOnset returns the κ = Kη at which the paper's ζ is 1, the positive root of
//
//	τ²κ² + 2bκ = (1−μ)²,   b = (1+μ) + (1−μ)τ;   τ = 0: (1−μ)²/(2(1+μ)).
func PaperOnset(momentum, age float64) float64 {
	free, lag := 1-momentum, age
	b := 1 + momentum + free*lag
	return free * free / (b + math.Hypot(b, lag*free))
}

// PaperCurve returns the paper's order parameter at t ≥ 0 steps, from rest at
// start towards end: end + e(t), e(0) = start − end, e′(0) = 0. It holds for K ≥ 0
// and any damping, negative included.
func PaperCurve(stiffness, rate, momentum, age, start, end float64) func(t float64) float64 {
	o := paperOscillator(stiffness*rate, momentum, age)
	return func(t float64) float64 { return end + (start-end)*o.response(t) }
}

// paperOscillator returns the paper's M, C and K, each times η.
func paperOscillator(kappa, momentum, lag float64) Oscillator {
	return Oscillator{
		LagSteps: lag,
		Mass:     0.5 * (1 + momentum + kappa*lag*lag),
		Damping:  1 - momentum - kappa*lag,
		Spring:   kappa,
	}
}

// The baseline run from which the paper reads its stiffness. Its learning rate is "small",
// not stated; at 0.01 the stand-in of docs/theory.md §9 has the paper's K = 0.12.
const (
	baselineRate  = 0.01
	baselineSteps = 100
)

// PaperStiffness returns the stiffness K of the paper's formulas as the paper measures
// it (docs/theory.md §9), in units of force per logit: on the mean-field curve J of
// p at G = ∞ without momentum and lag, with η = 0.01, from Params.Start,
//
//	K = λ/(η(1+λ)),   λ the least-squares slope, per step, of −ln|J* − J_t|, t = 0 … 100,
//
// where J* is the reward of the fixed point that is reached at G = ∞. Optimizer, Lag,
// GroupSize and Measured of p are not used. The scope is out where there is no such
// fixed point, where the curve starts within 1e-9 of J* or passes it, so that there is no
// slope, and where it leaves the range of floating point.
func PaperStiffness(p Params) (float64, Scope) {
	if p.tabular() {
		return 0, Scope{Because: scope.NoNumber.Because("each prompt has a policy of its own")}
	}
	p.GroupSize, p.Measured = option.Infinite, nil
	point, ok := Reached(p)
	return paperStiffness(p, point, ok)
}

// paperStiffness is PaperStiffness at G = ∞ with the fixed point that is reached; ok is
// false where there is none.
func paperStiffness(p Params, point FixedPoint, ok bool) (float64, Scope) {
	p.Optimizer = option.Optimizer{Kind: option.HeavyBall, LearningRate: baselineRate}
	p.Lag = option.Lag{Kind: option.Block, Interval: 1}
	if !ok {
		return 0, Scope{Because: scope.PaperFormula.Because("no fixed point at G = ∞ is reached from the start")}
	}
	p = p.checked()
	start := p.Start
	if start == nil {
		start = p.Reference
	}
	probs := make([]float64, len(start))
	below := func(theta []float64) float64 {
		softmax(probs, theta)
		return point.Reward - expected(p.Arms, probs)
	}
	first := below(start)
	if math.Abs(first) < 1e-9 {
		return 0, Scope{Because: scope.PaperFormula.Because("the baseline run starts at the fixed point")}
	}
	const middle = baselineSteps / 2.0
	square, product, passed := 0.0, 0.0, -1
	_, within := meanField(p, start, baselineSteps, func(t int, theta []float64) (more bool) {
		gap := below(theta) / first
		if !(gap > 0) && passed < 0 {
			passed = t
		}
		x := float64(t) - middle
		square += x * x
		product -= x * math.Log(gap)
		return true
	})
	if within.In && passed >= 0 {
		within = Scope{Because: scope.PaperFormula.Because(fmt.Sprintf("the baseline run passes the fixed point at step %d", passed))}
	}
	if !within.In {
		return 0, within
	}
	slope := product / square
	return slope / (baselineRate * (1 + slope)), within
}
