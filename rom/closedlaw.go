package rom

import (
	"math"

	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

// closedLaw holds the moments of J of a softmax policy whose steps are small and whose noise is that of its score, however
// large its fluctuations.
//
// The mean force is F h with F = diag π − ππᵀ and h = m − β log(π/π_ref), up to a factor, and the covariance of the noise of
// samples with advantages of one mean square is c F. As ∇·F = −2Fπ, the stationary density p of dθ = F h dt + √(cF) dW, for which
// F h p = ½ c ∇·(F p), has ∇ log p = 2h/c + 2π, which is a gradient:
//
//	p(θ) ∝ (Σ_a e^{θ_a})² × a normal density of variance s² = c/(2β) in every direction of the centred logits,
//
// centred on the fixed point θ*. The factor is a sum of exponentials, (Σ e^θ)² π_a π_b = e^{θ_a+θ_b}, so that with ε = e^{s²} − 1,
// d_a = m_a − J* and π = π* all moments of second order of the policy are sums:
//
//	E J − J* = ε Σπ²d/(1 + εΣπ²),   E (J − J*)² = ε Σπ²d²/(1 + εΣπ²)
//
// To first order in s² Var J is s²Σπ²d², linear theory's |∇J|² s². For one rare arm this is the law log π/π* ~ N(−2s², 2s²).
type closedLaw struct {
	variance float64 // Var J
	second   float64 // of Var J, the term of second order
	spread   float64 // s², in squared logits
	side     float64 // √2 Σπ²d/√Σπ²d², within [−1, 1] for two arms: see kicks
}

// closedLaw returns the law whose Var J of first order is given.
func (l *linearization) closedLaw(first float64) closedLaw {
	probs := policyAt(l.logits)
	reward := expected(l.Arms, probs)
	var a, b, d float64 // Σπ², Σπ²d and Σπ²d²
	for c, p := range probs {
		x, square := l.Arms[c].Mean-reward, p*p/l.count[c]
		a += square
		b += square * x
		d += square * x * x
	}
	s := first / d
	grown := 1 / math.Expm1(s)
	shift := b / (grown + a)
	return closedLaw{
		variance: d/(grown+a) - shift*shift, spread: s,
		second: first * s * (0.5 - a - b*b/d), side: min(1, max(-1, math.Sqrt2*b/math.Sqrt(d))),
	}
}

// kicks returns what steps of finite length change in Var J of the law, relative to it, and the size of what this leaves out. Let y = log π
// of a rare arm, V = 2s² its variance and k its step where a sample comes. With the clock ∫π dt, y is a linear process with kicks, of third cumulant
// κ = (2/3) V E k³/E k² and fourth V E k⁴/(2 E k²) to order k². As E π² and (E π)² are E e^y/E e^{−y} and 1/(E e^{−y})² of that process,
// both have the factor e^{κ/3}, and the fourth changes each E e^{±y} by a 24th of itself. In J a step of y is
// −|∇J|y/√2 times w = √2 Σπ²d/√Σπ²d², which is 1 for a rare arm worse than the others, −1 for a better one and 0 halfway; what
// differs from the law of a rare arm is left out, and κ²/18. In the fourth, arms count by their share of Σπ²d², and twice, because half of it may be that of the arm that
// makes room.
func (law *closedLaw) kicks(l *linearization, m *motion) (change, size float64) {
	gain, draws := m.Whole.Rate/(1-m.Whole.Momentum), l.model.size*float64(l.GroupsPerStep)
	if l.Samples == option.Reused {
		gain *= float64(m.Whole.Lag.Period())
	}
	probs := policyAt(l.logits)
	reward := expected(l.Arms, probs)
	var sum, all float64
	for c, p := range probs {
		x := l.Arms[c].Mean - reward
		share := p * p * x * x / l.count[c]
		all += share
		if p > 0 {
			sum += share * 4 * gain * gain * l.noise.At(c, c) / (p * draws)
		}
	}
	gradient, skew, n := l.rewardGradient(), l.expansion().skew, l.expansion().n
	third, square := 0.0, 0.0
	for i, x := range skew {
		third += x * gradient[i/(n*n)] * gradient[i/n%n] * gradient[i%n]
	}
	for _, x := range gradient {
		square += x * x
	}
	lean := -4. / 9 * law.spread * gain * math.Sqrt2 * third / (math.Sqrt(square) * linear.Form(gradient, m.Whole.Noise, gradient))
	change = lean * law.side
	return math.Expm1(change), law.spread/6*sum/all + math.Abs(lean) - math.Abs(change) + change*change/2
}

// memory returns the relative size of what lag and momentum make of the next order in s². In the time 1/(1−μ) + ā that they
// remember, ā the mean age of the snapshot, J relaxes by r = ηλ/(1−μ) times it, λ the stiffness along ∇J. The stiffness of a
// rare arm grows as π does, by e^{2s²} where the law weighs E π², and is at most β; linear theory has its value at π*, and the second order
// its slope: (e^{2s²} − 1 − 2s²) r/2, at most s⁴ (of a relaxation of 1, which is s⁴ to lowest order).
func (law *closedLaw) memory(l *linearization, m *motion) float64 {
	gradient, still := l.rewardGradient(), 1/(1-m.Whole.Momentum)
	square := 0.0
	for _, x := range gradient {
		square += x * x
	}
	stiffness := (linear.Form(gradient, m.Whole.Fresh, gradient) + linear.Form(gradient, m.Whole.Stale, gradient)) / square
	remembered := m.Whole.Rate * still * (still + m.Whole.Lag.Age(linear.MeanAge))
	s := law.spread
	return min((math.Expm1(2*s)-2*s)/2*math.Abs(stiffness)*remembered, s*s*min(1, l.pull()*remembered))
}

// resum replaces the second order of Var J, of a stationary law of which linear theory has the given Var J, by the closed
// law where this leaves out less. Relative to the whole it leaves out e^x − 1, x the difference of the two to second order in
// s², which is what noise that is not that of the score, lag and long steps make, what kicks leave out, and the effect of
// memory.
//
// Case: three arms (0.86, 0.92, 0.57), G = 4, std, β = 0.0146, η = 0.204, μ = 0.5, where the second arm has all but 9e-4. Var J is
// 9.4e-9 by linear theory, −4.7e-9 to second order, and 3.0e-9 by the closed law, whose own second order is −4.7e-9.
func (l *linearization) resum(prediction *Prediction, higher *scope.Sizes, m *motion, first float64, second *secondOrder) {
	if second.assumed != 0 || len(l.relatives) > 0 {
		return
	}
	law := l.closedLaw(first)
	beyond := math.Abs(second.spread+second.readout-law.second) / first
	change, kicks := law.kicks(l, m)
	variance := law.variance * (1 + change)
	if size := variance * (math.Expm1(beyond) + kicks + law.memory(l, m)); size < higher.RewardVariance {
		prediction.Moments.RewardVariance, higher.RewardVariance = &variance, size
	}
}
