package rom

import (
	"math"

	"grposim/option"
)

// inverseScale returns the advantage per r_i − r̄ in a group of two-valued rewards
// with the share R of successes, 0 < R < 1, where r_i − r̄ is measured in units of
// span: 1/(s + ε/span), s = √(R(1−R)) times the correction of the sample
// deviation; span itself without scale. rest is 1 − R.
func (m *model) inverseScale(share, rest float64) float64 {
	switch m.Advantage.Scale {
	case option.NoScale:
		return m.span
	case option.MeanScale, option.BatchMean:
		return 1 / share
	}
	return 1 / (m.deviation*math.Sqrt(share*rest) + m.Advantage.Epsilon/m.span)
}

// pool returns the number of samples whose rewards decide the scale of the advantages: G, or
// N = GB where it is that of the step.
func (m *model) pool() int {
	if m.Advantage.Scale.OfStep() {
		return m.GroupSize * m.GroupsPerStep
	}
	return m.GroupSize
}

// maxScales is the number of successes below which a model keeps the scales of groups.
const maxScales = 1 << 12

// informative returns inverseScale for a group of T+1 successes, 0 ≤ T ≤ G−2. It
// has at least one success and one failure, so s > 0.
func (m *model) informative(t int) float64 {
	if t < len(m.scales) && m.scales[t] != 0 {
		return m.scales[t]
	}
	s := float64(t + 1)
	pool := float64(m.pool())
	scale := m.inverseScale(s/pool, (pool-s)/pool)
	if m.scales == nil {
		m.scales = make([]float64, min(m.pool(), maxScales))
	}
	if t < len(m.scales) {
		m.scales[t] = scale
	}
	return scale
}

// phi returns φ_G(J) = h_G/(J(1−J)), h_G = E[R u⁺], the factor of the mean
// force E[g_a] = π_a(m_a − J)φ_G (docs/theory.md §2), from the probabilities J
// of a success and 1−J of a failure.
//
// S(G−S) Binomial(S; G, J) = G(G−1)J(1−J) Binomial(S−1; G−2, J) turns the sum
// over groups into φ_G = c(1 − 1/G) E[1/s((T+1)/G)], T ~ Binomial(G−2, J),
// which neither divides by J(1−J) nor contains groups without variance; c is
// G/(G−1) for leave-one-out and else 1, 1/s stands for inverseScale. Without
// scale it is c(1 − 1/G) span; at G = ∞ it is inverseScale at R = J, and 0 where no
// reward varies. A filter multiplies it by filterFactor.
func (m *model) phi(j, rest float64) float64 {
	factor, _ := m.filterFactor(j, rest)
	return factor * m.phiOfAll(j, rest)
}

// phiOfAll is phi without a filter.
func (m *model) phiOfAll(j, rest float64) float64 {
	if m.givenBaseline() {
		return 1
	}
	if m.tabled() {
		phi, _ := m.tablePhi(j, rest)
		return phi
	}
	if m.GroupSize == option.Infinite {
		if j <= 0 || rest <= 0 || m.Advantage.Baseline == option.SecondBest { // two of the best are certain
			return 0
		}
		return m.inverseScale(j, rest)
	}
	c := m.baseline * (1 - 1/m.size)
	if m.Advantage.Scale == option.NoScale {
		return c * m.span
	}
	if m.Advantage.Scale == option.PooledStd {
		phi, _ := m.pooledPhi(j, rest)
		return phi
	}
	first, stride, weights := binomial(m.pool()-2, j, rest, m.weights)
	m.weights = weights
	sum := 0.0
	for i, w := range weights {
		sum += w * m.informative(first+i*stride)
	}
	return c * sum
}

// phiSlope returns φ_G′(J): a binomial expectation has the derivative
// d/dJ E[f(T)] = n E[f(T′+1) − f(T′)], T′ ~ Binomial(n−1, J).
func (m *model) phiSlope(j, rest float64) float64 {
	slope := m.slopeOfAll(j, rest)
	if m.Filter == option.KeepAll {
		return slope
	}
	factor, filtered := m.filterFactor(j, rest)
	return factor*slope + filtered*m.phiOfAll(j, rest)
}

// slopeOfAll is phiSlope without a filter.
func (m *model) slopeOfAll(j, rest float64) float64 {
	if m.tabled() {
		_, slope := m.tablePhi(j, rest)
		return slope
	}
	if m.Advantage.Scale == option.NoScale {
		return 0
	}
	if m.GroupSize == option.Infinite {
		if j <= 0 || rest <= 0 || m.Advantage.Baseline == option.SecondBest { // two of the best are certain
			return 0
		}
		inverse := m.inverseScale(j, rest)
		if m.Advantage.Scale == option.MeanScale {
			return -inverse * inverse
		}
		return -inverse * inverse * (rest - j) / (2 * math.Sqrt(j*rest))
	}
	if m.Advantage.Scale == option.PooledStd {
		_, slope := m.pooledPhi(j, rest)
		return slope
	}
	n := m.pool() - 2
	if n == 0 {
		return 0
	}
	first, stride, weights := binomial(n-1, j, rest, m.weights)
	m.weights = weights
	sum := 0.0
	for i, w := range weights {
		t := first + i*stride
		sum += w * (m.informative(t+1) - m.informative(t))
	}
	return m.baseline * (1 - 1/m.size) * float64(n) * sum
}

// groupMoments holds the expectations over the number of successes
// S ~ Binomial(G, J), given 0 < S < G with a filter, on which the covariance of a group's force depends: R = S/G,
// u⁺ and u⁻ the advantages of a success and of a failure, q = R u⁺ = −(1−R)u⁻.
type groupMoments struct {
	mean       float64 // h_G = E q
	up, down   float64 // E[R u⁺²], E[(1−R) u⁻²]
	variance   float64 // Var q
	covariance float64 // Cov(q, R)
	share      float64 // E R
	spread     float64 // Var R

	// Of tabled advantages and of a given baseline also, with e = R u⁺ + (1−R) u⁻:
	excess, excessVariance   float64 // E e, Var e
	excessAlong, excessShare float64 // Cov(q, e), Cov(e, R)
}

// moments returns the moments of a finite group at J = j, rest = 1 − J; all are 0
// where no reward varies, unless the baseline is given.
func (m *model) moments(j, rest float64) groupMoments {
	switch {
	case m.atRest(j, rest):
		return groupMoments{}
	case m.givenBaseline():
		return m.givenMoments(j, rest)
	case m.tabled():
		return m.tableMoments(j, rest)
	case m.Advantage.Scale == option.PooledStd:
		return m.pooledMoments(j, rest)
	case m.Advantage.Scale.OfStep():
		return m.batchMoments(j, rest)
	}
	q := func(s int) (value, inverse, share, other float64) {
		if s == 0 || s == m.GroupSize {
			return 0, 0, float64(s) / m.size, 1 - float64(s)/m.size
		}
		share, other = float64(s)/m.size, (m.size-float64(s))/m.size
		inverse = m.baseline * m.informative(s-1)
		return share * other * inverse, inverse, share, other
	}
	first, stride, weights := m.successes(j, rest)
	var g groupMoments
	for i, w := range weights {
		value, inverse, share, other := q(first + i*stride)
		g.mean += w * value
		g.up += w * value * inverse * other
		g.down += w * value * inverse * share
		g.share += w * share
	}
	// Centred in a second pass: at J = ½ Var q is only about 1/G² of E q².
	for i, w := range weights {
		value, _, share, _ := q(first + i*stride)
		g.variance += w * (value - g.mean) * (value - g.mean)
		g.covariance += w * (value - g.mean) * (share - j)
		g.spread += w * (share - g.share) * (share - g.share)
	}
	return g
}
