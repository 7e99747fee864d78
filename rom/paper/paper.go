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

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/linear"
	"grposim/rom/path"
	"grposim/rom/scope"
)

// First the oscillator of arXiv:2606.30789 in the paper's own symbols
// (docs/theory.md §9): K is the stiffness, τ = K_ref the age of the snapshot in
// steps, and the whole force is evaluated at the snapshot,
//
//	M e″ + C e′ + K e = 0,   M = [(1+μ) + Kητ²]/(2η),   C = [(1−μ) − Kητ]/η.

// DampingRatio is the paper's ζ = C/(2√(MK)) = [(1−μ) − Kητ]/√(2Kη[(1+μ) + Kητ²]), for Kη > 0. It
// is negative beyond the threshold Kητ = 1 − μ.
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

// Curve returns the paper's order parameter at t ≥ 0 steps, from rest at start towards end:
// end + e(t), e(0) = start − end, e′(0) = 0. It holds for K ≥ 0 and any damping, negative included.
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

// oscillator returns the constants of the reduced-order model of one mode (docs/theory.md §4):
//
//	k = ηλ,  γ = 1 − μ − ηλ_s ā,  m = (1+μ)/2 + ½ηλ_s E[age²].
//
// Nesterov's force acts as η[(1+μ)g_t − μg_{t−1}], which to second order adds μk to γ and
// −μ(½k + ηλ_s ā) to m. Factors.Lag multiplies the age, Factors.Mass the mass.
func OscillatorOf(s *linear.Mode, factors cell.Factors) Oscillator {
	mu, k, stale := s.Momentum, s.Rate*s.Total(), s.Rate*s.Stale
	age := s.Lag.Age(linear.MeanAge) * factors.Lag
	square := s.Lag.Age(linear.SquareAge) * factors.Lag * factors.Lag
	o := Oscillator{
		LagSteps: age,
		Mass:     0.5*(1+mu) + 0.5*stale*square,
		Damping:  1 - mu - stale*age,
		Spring:   k,
	}
	if s.Method == option.Nesterov {
		o.Damping += mu * k
		o.Mass -= mu * (0.5*k + stale*age)
	}
	o.Mass *= factors.Mass
	if o.Spring > 0 && o.Mass > 0 {
		o.DampingRatio = o.Damping / (2 * math.Sqrt(o.Mass) * math.Sqrt(o.Spring))
	}
	switch {
	case o.Spring <= 0 || o.Damping <= 0:
		o.Regime = "unstable"
	case o.DampingRatio < 1 && o.Mass > 0:
		o.Regime = "oscillatory"
	default:
		o.Regime = "overdamped"
	}
	return o
}

// Decay returns the decay rate of the free motion per step, to leading order: k/γ
// if it is overdamped, and γ/2m, the rate of the envelope, if it oscillates. A
// negative rate is growth. ok is false where neither formula holds: without a
// positive mass, or where negative damping causes growth without oscillation.
func (o Oscillator) Decay() (rate float64, ok bool) {
	switch {
	case o.Mass <= 0:
		return 0, false
	case o.Damping*o.Damping < 4*o.Mass*o.Spring:
		return o.Damping / (2 * o.Mass), true
	}
	return o.Spring / o.Damping, o.Damping > 0
}

// Response returns x(t)/x(0) of m x″ + γ x′ + k x = 0 from rest, for m > 0:
// e^{−at}(cosh bt + (a/b) sinh bt), a = γ/2m, b² = a² − k/m; with
// t_{1,2} = 1/(a ∓ b) it is (t_1e^{−t/t_1} − t_2e^{−t/t_2})/(t_1 − t_2), and b
// is imaginary if underdamped. t ≥ 0 is in steps.
func (o Oscillator) Response(t float64) float64 {
	a := o.Damping / (2 * o.Mass)
	square := a*a - o.Spring/o.Mass
	switch b := math.Sqrt(math.Abs(square)); {
	case b*t < 1e-6: // the double root, to (bt)²
		return fp.MathExp(-a*t) * (1 + a*t)
	case square < 0:
		return fp.MathExp(-a*t) * (math.Cos(b*t) + a/b*math.Sin(b*t))
	default:
		slow, fast := fp.MathExp(-(a-b)*t), fp.MathExp(-(a+b)*t)
		return 0.5*(slow+fast) + 0.5*a/b*(slow-fast)
	}
}

// ringing returns the learning rate at which ζ = 1: the smallest positive root of 4 m(η)
// k(η) − γ(η)², a quadratic because γ, m and k are linear in η. It holds for λ > 0.
func RingingRate(s *linear.Mode, factors cell.Factors) linear.Threshold {
	excess := func(rate float64) float64 { // 4mk − γ²
		moved := *s
		moved.Rate = rate
		o := OscillatorOf(&moved, factors)
		return 4*o.Mass*o.Spring - o.Damping*o.Damping
	}
	// Negative at η = 0, where γ = 1 − μ and k = 0.
	zero, one, two := excess(0), excess(1), excess(2)
	c := zero
	a := 0.5 * (two - 2*one + zero)
	b := one - zero - a
	disc := b*b - 4*a*c
	if disc < 0 {
		return linear.Never
	}
	if !linear.IsFinite(disc) {
		return linear.Threshold{}
	}
	// The smaller positive root of aη² + bη + c, c < 0, without cancellation.
	root := math.Sqrt(disc)
	q := -0.5 * (b + math.Copysign(root, b))
	best := linear.Never
	for _, rate := range [2]float64{c / q, q / a} {
		if rate > 0 {
			best = best.Or(linear.KnownAt(rate))
		}
	}
	return best
}

// Oscillator holds the constants of the reduced-order model m x″ + γ x′ + k x = ξ of the stiffest
// mode, time in optimizer steps (docs/theory.md §4).
type Oscillator struct {
	LagSteps     float64 `json:"lag_steps"`     // mean age ā of the snapshot in steps, ≥ 0
	Mass         float64 `json:"mass"`          // m
	Damping      float64 `json:"damping"`       // γ; ≤ 0 is unstable
	Spring       float64 `json:"spring"`        // k = ηλ
	DampingRatio float64 `json:"damping_ratio"` // ζ = γ/(2√(mk)); 0 where k ≤ 0 or m ≤ 0
	Regime       string  `json:"regime"`        // "overdamped", "oscillatory" or "unstable"
}
