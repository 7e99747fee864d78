// Package paper has the formulas under test in the symbols of arXiv:2606.30789, and the
// reduced-order model that they are the leading order of.
//
//  1. OscillatorOf gives the constants of m x″ + γ x′ + k x = ξ of one mode.
//  2. Stiffness measures K on a mean path, as the paper does.
//  3. RuleOf and Sufficient give thresholds by formulas at such a stiffness.
package paper

import (
	"fmt"
	"math"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/path"
	"grposim/rom/scope"
)

// This file has the oscillator of arXiv:2606.30789 in the paper's own symbols
// (docs/theory.md §9): K is the stiffness, τ = K_ref the age of the snapshot in
// steps, and the whole force is evaluated at the snapshot,
//
//	M e″ + C e′ + K e = 0,   M = [(1+μ) + Kητ²]/(2η),   C = [(1−μ) − Kητ]/η.

// DampingRatio is the paper's ζ = C/(2√(MK)) =
// [(1−μ) − Kητ]/√(2Kη[(1+μ) + Kητ²]), for Kη > 0. It is negative beyond the
// threshold Kητ = 1 − μ.
func DampingRatio(stiffness, rate, momentum, age float64) float64 {
	o := paperOscillator(stiffness*rate, momentum, age)
	return o.Damping / (2 * math.Sqrt(o.Mass*o.Spring))
}

// Onset returns the κ = Kη at which the paper's ζ is 1, the positive root of
//
//	τ²κ² + 2bκ = (1−μ)²,   b = (1+μ) + (1−μ)τ;   τ = 0: (1−μ)²/(2(1+μ)).
func Onset(momentum, age float64) float64 {
	free, lag := 1-momentum, age
	b := 1 + momentum + free*lag
	return free * free / (b + math.Hypot(b, lag*free))
}

// Curve returns the paper's order parameter at t ≥ 0 steps, from rest at
// start towards end: end + e(t), e(0) = start − end, e′(0) = 0. It holds for K ≥ 0
// and any damping, negative included.
func Curve(stiffness, rate, momentum, age, start, end float64) func(t float64) float64 {
	o := paperOscillator(stiffness*rate, momentum, age)
	return func(t float64) float64 { return end + (start-end)*o.Response(t) }
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

// paperStiffness is PaperStiffness at G = ∞ with the reward of the fixed point that is reached;
// ok is false where there is none.
func Stiffness(p cell.Params, reward float64, ok bool) (float64, scope.Scope) {
	p.Optimizer = option.Optimizer{Kind: option.HeavyBall, LearningRate: baselineRate}
	p.Lag = option.Lag{Kind: option.Block, Interval: 1}
	if !ok {
		return 0, scope.PaperFormula.Because("no fixed point at G = ∞ is reached from the start").Scope()
	}
	p = p.Checked()
	start := p.From()
	probs := make([]float64, len(start))
	below := func(theta []float64) float64 {
		cell.Softmax(probs, theta)
		return reward - cell.Expected(p.Arms, probs)
	}
	first := below(start)
	if math.Abs(first) < 1e-9 {
		return 0, scope.PaperFormula.Because("the baseline run starts at the fixed point").Scope()
	}
	const middle = baselineSteps / 2.0
	square, product, passed := 0.0, 0.0, -1
	_, within := path.Follow(p, start, baselineSteps, func(t int, theta []float64) (more bool) {
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
		within = scope.PaperFormula.Because(
			fmt.Sprintf("the baseline run passes the fixed point at step %d", passed)).Scope()
	}
	if !within.In {
		return 0, within
	}
	slope := product / square
	return slope / (baselineRate * (1 + slope)), within
}
