package force

import (
	"grposim/rom/cell"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

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
func Mean(dst []float64, p cell.Params, theta, old []float64) scope.Kind {
	p = p.Checked()
	cell.CheckLogits("dst", dst, len(p.Arms))
	cell.CheckLogits("theta", theta, len(p.Arms))
	cell.CheckLogits("old", old, len(p.Arms))
	m := New(&p)
	m.Set(theta, old)
	m.MeanForce(dst)
	return m.Kind()
}

// MeanForce writes E[g] at the logits given to set.
func (m *Model) MeanForce(dst []float64) {
	if m.Limited() {
		dst[0], _ = m.CutMoments()
		dst[0] *= m.Factors.Stiffness
		dst[1] = -dst[0]
		return
	}
	m.rewardForce(dst)
	m.SubtractPenalty(dst)
	m.AddEntropy(dst)
	floats.Scale(m.Factors.Stiffness, dst)
}

// rewardForce writes the reward part of E[g], without Factors.Stiffness.
func (m *Model) rewardForce(dst []float64) {
	m.Law.Mean(dst)
	project(dst, m.Now.Probs)
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
