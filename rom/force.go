package rom

import "gonum.org/v1/gonum/floats"

// MeanForce writes the mean force E[g](θ, θ_old) into dst (docs/theory.md §2) and
// returns its Kind. dst, theta and old have one entry per arm.
//
// It is Exact at finite G where rewards take two values:
// E[c_a] = φ_G π_old,a [w⁺_a m_a(1−J) − w⁻_a(1−m_a)J], g = c − πΣc, with m and J
// the probabilities of the upper value. It is Exact for every reward law at G = ∞, and
// without scale and clip. Else the reward part is of first order in 1/G, see group.Expanded.
// With a largest norm that may clip the force of two arms it is the mean of the clipped force,
// Exact, see cutForce; for other finite groups it is not clipped. The KL part is exact in
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

// meanForce writes E[g] at the logits given to set.
func (m *model) meanForce(dst []float64) {
	if m.limited() {
		dst[0], _ = m.cutMoments()
		dst[0] *= m.Factors.Stiffness
		dst[1] = -dst[0]
		return
	}
	m.rewardForce(dst)
	m.subtractPenalty(dst)
	m.addEntropy(dst)
	floats.Scale(m.Factors.Stiffness, dst)
}

// rewardForce writes the reward part of E[g], without Factors.Stiffness.
func (m *model) rewardForce(dst []float64) {
	m.law.Mean(dst)
	project(dst, m.now.probs)
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
