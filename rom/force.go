package rom

import (
	"math"
	"slices"

	"grposim/option"
)

// MeanForce writes the mean force E[g](θ, θ_old) into dst (docs/theory.md §2) and
// returns its Kind. dst, theta and old have one entry per arm.
//
// It is Exact at finite G where rewards take two values:
// E[c_a] = φ_G π_old,a [w⁺_a m_a(1−J) − w⁻_a(1−m_a)J], g = c − πΣc, with m and J
// the probabilities of the upper value. It is Exact for every reward law at G = ∞,
// without scale and clip, and where the compositions of a group, the numbers of its
// samples from each of the laws of which rewards are mixtures, are at most 10,000, or
// 1,000 with normal rewards, see composedResponse; with the std scale and without a clip
// also where an integral over groups needs at most 2 ms, see groupIntegral. With a largest norm
// that may clip the force of two arms it is the mean of the clipped force, Exact, see cutForce; for
// other finite groups it is not clipped. Otherwise the
// reward part is of first order in 1/G, see expandedResponse. The KL part is exact in
// every case: a sampled estimator averages to κ∘π_old − π_K Σκπ_old.
func MeanForce(dst []float64, p Params, theta, old []float64) Kind {
	p = p.checked()
	checkLogits("dst", dst, len(p.Arms))
	checkLogits("theta", theta, len(p.Arms))
	checkLogits("old", old, len(p.Arms))
	m := newModel(&p)
	m.set(theta, old)
	m.meanForce(dst)
	return m.kind()
}

// set sets the current logits and those of the snapshot, and computes the
// importance weights and κ there.
func (m *model) set(theta, old []float64) {
	m.now.set(theta)
	if slices.Equal(theta, old) {
		copy(m.past.probs, m.now.probs)
		copy(m.past.logs, m.now.logs)
	} else {
		m.past.set(old)
	}
	m.weigh()
	m.score()
	m.shiftRewards()
}

// chances returns J = Σπ_a m_a and 1−J as sums of non-negative terms.
func chances(probs, success []float64) (j, rest float64) {
	for a, p := range probs {
		j += p * success[a]
		rest += p * (1 - success[a])
	}
	return j, rest
}

// outcomes writes the probabilities α of the arms among the successes and δ among the
// failures; 0 where there are none.
func (m *model) outcomes(alpha, delta []float64, j, rest float64) {
	for a, old := range m.past.probs {
		alpha[a], delta[a] = 0, 0
		if j > 0 {
			alpha[a] = old * m.success[a] / j
		}
		if rest > 0 {
			delta[a] = old * (1 - m.success[a]) / rest
		}
	}
}

// meanForce writes E[g] at the logits given to set.
func (m *model) meanForce(dst []float64) {
	if m.limited() {
		dst[0], _, _ = m.cutMoments()
		dst[0] *= m.Factors.Stiffness
		dst[1] = -dst[0]
		return
	}
	m.ownForce(dst)
	factor := m.Factors.Stiffness * m.drawnShare()
	for a := range dst {
		dst[a] *= factor
	}
}

// ownForce writes the mean force of a group of this bandit, without Factors.Stiffness.
func (m *model) ownForce(dst []float64) {
	m.rewardForce(dst)
	m.subtractPenalty(dst)
	m.addEntropy(dst)
}

// rewardForce writes the reward part of E[g], without Factors.Stiffness.
func (m *model) rewardForce(dst []float64) {
	m.unprojected(dst)
	project(dst, m.now.probs)
}

// unprojected writes E[c], c_a the mean weighted advantage of a group's samples of arm a.
func (m *model) unprojected(dst []float64) {
	switch {
	case m.prompts != nil:
		m.overPrompts(dst, (*model).unprojected)
	case m.success != nil:
		j, rest := chances(m.past.probs, m.success)
		if m.Filter != option.KeepAll && (j <= 0 || rest <= 0) { // no group can have both rewards
			clear(dst)
			return
		}
		factor := m.phi(j, rest)
		for a, old := range m.past.probs {
			s := m.success[a]
			slope := m.up[a] * (s - j)
			if m.up[a] != m.down[a] {
				slope = m.up[a]*s*rest - m.down[a]*(1-s)*j
			}
			dst[a] = factor * old * slope
		}
		if excess := m.excess(j, rest); excess != 0 {
			for a, old := range m.past.probs {
				dst[a] += excess * old * (m.up[a]*m.success[a] + m.down[a]*(1-m.success[a]))
			}
		}
	case m.GroupSize == option.Infinite:
		m.prepare()
		factor, _, _ := m.generalScale(m.spread())
		for a, old := range m.past.probs {
			dst[a] = factor * old * m.states[a].weighted(1, m.up[a], m.down[a])
		}
	default:
		m.response(dst)
		for a, old := range m.past.probs {
			dst[a] *= old
		}
	}
}

// response writes E[c_a]/π_old,a of a finite group: the mean weighted advantage of the
// samples of arm a.
func (m *model) response(dst []float64) {
	switch {
	case m.prompts != nil:
		m.unprojected(dst)
		for a, old := range m.past.probs {
			dst[a] /= old
		}
	case m.groups != nil && (m.Advantage.Scale == option.StdScale || m.clips()):
		m.composedResponse(dst)
	case m.integral != nil && !m.clips():
		m.integratedResponse(dst)
	default:
		m.expandedResponse(dst)
	}
}

// project writes c − πΣc over c.
func project(c, probs []float64) {
	sum := 0.0
	for _, x := range c {
		sum += x
	}
	for a, p := range probs {
		c[a] -= p * sum
	}
}

// subtractPenalty subtracts β times the mean KL gradient.
func (m *model) subtractPenalty(dst []float64) {
	if m.KL.Coefficient == 0 || m.KL.In == option.InReward {
		return
	}
	at := m.anchor()
	if m.KL.In == option.InLoss && m.KL.Gradient == option.ExactKL {
		kl := 0.0
		for a, p := range at.probs {
			kl += p * (at.logs[a] - m.reference[a])
		}
		for a, p := range at.probs {
			dst[a] -= m.KL.Coefficient * p * (at.logs[a] - m.reference[a] - kl)
		}
		return
	}
	c := m.x
	m.sampleShares(c)
	for a := range c {
		c[a] *= m.KL.Coefficient * m.kappa[a]
	}
	project(c, at.probs)
	for a := range dst {
		dst[a] -= c[a]
	}
}

// prepare computes every arm's partial moments about J_old and returns J_old.
func (m *model) prepare() float64 {
	mean := 0.0
	for a, old := range m.past.probs {
		mean += old * (m.Arms[a].Mean + m.shift[a])
	}
	for a, arm := range m.Arms {
		m.states[a] = partialMoments(arm, mean-m.shift[a])
	}
	return mean
}

// spread returns the variance of a single reward drawn under π_old, after prepare; 0
// where all rewards of positive probability are equal. That is decided by their values,
// because their computed mean and so the sum of squares has rounding errors.
func (m *model) spread() float64 {
	sum, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for a, old := range m.past.probs {
		if old == 0 {
			continue
		}
		sum += old * m.states[a].full(2)
		if l, h, ok := armSupport(m.Arms[a]); ok {
			low, high = min(low, l+m.shift[a]), max(high, h+m.shift[a])
		} else {
			low, high = math.Inf(-1), math.Inf(1)
		}
	}
	if low == high {
		return 0
	}
	return sum
}

// generalScale returns F(V) = 1/(√V + ε), F′ and F″ at the variance V of a single
// reward, where √V is multiplied by the correction of the sample deviation.
// Without scale F = 1 and F′ = F″ = 0; for V = 0 all three are 0.
func (m *model) generalScale(variance float64) (f, slope, curvature float64) {
	if variance <= 0 {
		return 0, 0, 0
	}
	if m.Advantage.Scale == option.NoScale {
		return 1, 0, 0
	}
	s, d := math.Sqrt(variance), m.deviation
	f = 1 / (d*s + m.Advantage.Epsilon)
	slope = -d * f * f / (2 * s)
	curvature = d*f*f/(4*s*s*s) + d*d*f*f*f/(2*s*s)
	return f, slope, curvature
}

// expandedResponse writes E[c_a]/π_old,a to first order in 1/G for any reward law
// (docs/theory.md §2), exactly without scale and clip. With x = r − J_old, X = w x e_a, Y = w e_a, s² = E x²,
// a group's N = X̄ − x̄Ȳ and variance V = s² + (x²−s²)‾ − x̄² give
//
//	E[N F(V)] = F X(1−1/G) + {F′[Cov(X, x²) − s²X − μ_3 Y] + ½F″(μ_4 − s⁴)X}/G
//
// where X and Y stand for their expectations. With F = 1/√V, and because E Y
// projects to 0, this is the formula of docs/theory.md. A clip weighs x by its
// sign, a kink at x = 0 that the group's mean x̄ ~ N(0, s²/G) blurs. That adds
// F(w⁺−w⁻) times the increase of E x⁺ by the blur, which is of order 1/G
// for a density and for an atom away from 0, and of order G^{−1/2} for an atom
// within s/√G of 0.
func (m *model) expandedResponse(dst []float64) {
	mean := m.prepare()
	var mu [5]float64
	for j := 2; j <= 4; j++ {
		for a, old := range m.past.probs {
			mu[j] += old * m.states[a].full(j)
		}
	}
	f, slope, curvature := m.generalScale(mu[2])
	for a := range dst {
		s, up, down := &m.states[a], m.up[a], m.down[a]
		x := s.weighted(1, up, down)
		y := s.weighted(0, up, down)
		cov := s.weighted(3, up, down) - mu[2]*x
		order := slope*(cov-mu[2]*x-mu[3]*y) + 0.5*curvature*(mu[4]-mu[2]*mu[2])*x
		dst[a] = m.baseline * (f*x*(1-1/m.size) + order/m.size)
		if up != down {
			dst[a] += m.baseline * f * (up - down) * blur(m.Arms[a], mean, math.Sqrt(mu[2]/m.size))
		}
	}
}
