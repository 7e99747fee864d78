package rom

import "math"

// This file has the oscillator of arXiv:2606.30789 in the paper's own symbols
// (docs/theory.md §9): K is the stiffness, τ = K_ref the age of the snapshot in
// steps, and the whole force is evaluated at the snapshot,
//
//	M e″ + C e′ + K e = 0,   M = [(1+μ) + Kητ²]/(2η),   C = [(1−μ) − Kητ]/η.

// PaperDampingRatio is the paper's ζ = C/(2√(MK)) =
// [(1−μ) − Kητ]/√(2Kη[(1+μ) + Kητ²]), for Kη > 0. It is negative beyond the
// threshold Kητ = 1 − μ.
func PaperDampingRatio(stiffness, rate, momentum float64, age int) float64 {
	o := paperOscillator(stiffness*rate, momentum, age)
	return o.Damping / (2 * math.Sqrt(o.Mass*o.Spring))
}

// PaperOnset returns the κ = Kη at which the paper's ζ is 1, the positive root of
//
//	τ²κ² + 2bκ = (1−μ)²,   b = (1+μ) + (1−μ)τ;   τ = 0: (1−μ)²/(2(1+μ)).
func PaperOnset(momentum float64, age int) float64 {
	free, lag := 1-momentum, float64(age)
	b := 1 + momentum + free*lag
	return free * free / (b + math.Hypot(b, lag*free))
}

// PaperCurve returns the paper's order parameter at t ≥ 0 steps, from rest at
// start towards end: end + e(t), e(0) = start − end, e′(0) = 0. It holds for K ≥ 0
// and any damping, negative included.
func PaperCurve(stiffness, rate, momentum float64, age int, start, end float64) func(t float64) float64 {
	o := paperOscillator(stiffness*rate, momentum, age)
	return func(t float64) float64 { return end + (start-end)*o.response(t) }
}

// paperOscillator returns the paper's M, C and K, each times η.
func paperOscillator(kappa, momentum float64, age int) Oscillator {
	lag := float64(age)
	return Oscillator{
		LagSteps: lag,
		Mass:     0.5 * (1 + momentum + kappa*lag*lag),
		Damping:  1 - momentum - kappa*lag,
		Spring:   kappa,
	}
}
