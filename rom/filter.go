package rom

import "math"

// differ returns P = 1 − J^G − (1−J)^G, the probability that the rewards of a group are not
// all equal, and its derivative G((1−J)^{G−1} − J^{G−1}) in J = j, rest = 1 − J.
func (m *model) differ(j, rest float64) (p, slope float64) {
	small := min(j, rest)
	p = -math.Expm1(m.size*math.Log1p(-small)) - math.Pow(small, m.size)
	return p, m.size * (math.Pow(rest, m.size-1) - math.Pow(j, m.size-1))
}

// filterFactor returns what a filter of groups of equal rewards multiplies φ by, and the
// derivative of that in J (docs/theory.md §11.3): 1/P where they are redrawn; where they are
// dropped (1 − (1−P)^B)/P, of the mean of those that are left, or 0, which is B for P → 0.
func (m *model) filterFactor(j, rest float64) (factor, slope float64) {
	if m.Filter == KeepAll {
		return 1, 0
	}
	p, dp := m.differ(j, rest)
	if m.Filter == Redraw {
		return 1 / p, -dp / p / p
	}
	if p == 0 {
		return float64(m.Groups), 0
	}
	b := float64(m.Groups)
	some := -math.Expm1(b * math.Log1p(-p))
	return some / p, dp * (b*math.Pow(1-p, b-1) - some/p) / p
}

// successes returns the law of the number S of successes of a group that exerts a force, as
// binomial: Binomial(G, J), given 0 < S < G where a filter leaves no others.
func (m *model) successes(j, rest float64) (first, stride int, weights []float64) {
	first, stride, weights = binomial(m.GroupSize, j, rest, m.weights)
	m.weights = weights
	if m.Filter == KeepAll {
		return first, stride, weights
	}
	sum := 0.0
	for i := range weights {
		if s := first + i*stride; s == 0 || s == m.GroupSize {
			weights[i] = 0
		}
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return first, stride, weights
}

// sampleShares writes the expected share of each arm among the samples of a step: π_old,
// where groups are redrawn π_a[m_a(1 − J^{G−1}) + (1−m_a)(1 − (1−J)^{G−1})]/P.
func (m *model) sampleShares(dst []float64) {
	copy(dst, m.past.probs)
	if m.Filter != Redraw {
		return
	}
	j, rest := chances(m.past.probs, m.success)
	if j <= 0 || rest <= 0 {
		return
	}
	p, _ := m.differ(j, rest)
	few, many := -math.Expm1((m.size-1)*math.Log(j)), -math.Expm1((m.size-1)*math.Log(rest))
	if rest < j {
		few = -math.Expm1((m.size - 1) * math.Log1p(-rest))
	} else {
		many = -math.Expm1((m.size - 1) * math.Log1p(-j))
	}
	for a, s := range m.success {
		dst[a] *= (s*few + (1-s)*many) / p
	}
}

// dropped turns the covariance v of a group that exerts a force, of the mean f, into B times
// that of the mean of the n groups that are left of B: with W = P(n ≥ 1),
//
//	E[1/n; n ≥ 1] v + W(1−W) f fᵀ
func (m *model) dropped(v [][]float64, f []float64, p float64) {
	first, stride, weights := binomial(m.Groups, p, 1-p, nil)
	inverse := 0.0
	for i, w := range weights {
		if n := first + i*stride; n > 0 {
			inverse += w / float64(n)
		}
	}
	b := float64(m.Groups)
	none := math.Pow(1-p, b)
	for a, row := range v {
		for c := range row {
			row[c] = b * (inverse*row[c] + none*(1-none)*f[a]*f[c])
		}
	}
}

// resamples reports whether groups are redrawn under a sampled KL gradient, whose mean then
// depends on the rewards.
func (m *model) resamples() bool {
	return m.Filter == Redraw && m.Strength > 0 && m.KLEstimator != ExactKL
}
