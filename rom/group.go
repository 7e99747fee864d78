package rom

import "math"

// inverseScale returns what multiplies r_i − r̄ in units of the two rewards'
// distance, for a group with the share R of successes (0 < R < 1):
// 1/(s + ε) with s = √(R(1−R)) times the sample correction, or the distance
// itself without scale.
func (m *model) inverseScale(share, rest float64) float64 {
	if m.Scale == Unscaled {
		return m.span
	}
	return 1 / (m.deviation*math.Sqrt(share*rest) + m.Epsilon/m.span)
}

// informative is inverseScale of a group of T+1 successes: with at least one
// success and one failure the advantages are never undefined.
func (m *model) informative(t int) float64 {
	s := float64(t + 1)
	return m.inverseScale(s/m.size, (m.size-s)/m.size)
}

// phi returns φ_G(J) = h_G/(J(1−J)), h_G = E[R u⁺], the factor of the mean
// force E[g_a] = π_a(m_a − J)φ_G (docs/theory.md §2), from the probabilities J
// of a success and 1−J of a failure.
//
// S(G−S) Binomial(S; G, J) = G(G−1)J(1−J) Binomial(S−1; G−2, J) turns the sum
// over groups into φ_G = c(1 − 1/G) E[1/s((T+1)/G)], T ~ Binomial(G−2, J),
// which neither divides by J(1−J) nor sees a group without variance. Without
// scale it is c(1 − 1/G); at G = ∞ it is 1/(√(J(1−J)) + ε), and 0 where no
// reward varies.
func (m *model) phi(j, rest float64) float64 {
	if m.GroupSize == Infinite {
		if j <= 0 || rest <= 0 {
			return 0
		}
		return m.inverseScale(j, rest)
	}
	c := m.baseline * (1 - 1/m.size)
	if m.Scale == Unscaled {
		return c * m.span
	}
	first, stride, weights := binomial(m.GroupSize-2, j, rest, m.weights)
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
	if m.Scale == Unscaled {
		return 0
	}
	if m.GroupSize == Infinite {
		if j <= 0 || rest <= 0 {
			return 0
		}
		inverse := m.inverseScale(j, rest)
		return -inverse * inverse * (rest - j) / (2 * math.Sqrt(j*rest))
	}
	n := m.GroupSize - 2
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

// groupMoments are the sums over S ~ Binomial(G, J) that the covariance of a
// group's force needs, q = R u⁺ = −(1−R)u⁻.
type groupMoments struct {
	mean       float64 // h_G = E q
	up, down   float64 // E[R u⁺²], E[(1−R) u⁻²]
	variance   float64 // Var q
	covariance float64 // Cov(q, R)
}

// moments returns the group moments at J, of a finite group.
func (m *model) moments(j, rest float64) groupMoments {
	if j <= 0 || rest <= 0 {
		return groupMoments{}
	}
	q := func(s int) (value, inverse, share, other float64) {
		if s == 0 || s == m.GroupSize {
			return 0, 0, float64(s) / m.size, 1 - float64(s)/m.size
		}
		share, other = float64(s)/m.size, (m.size-float64(s))/m.size
		inverse = m.baseline * m.inverseScale(share, other)
		return share * other * inverse, inverse, share, other
	}
	first, stride, weights := binomial(m.GroupSize, j, rest, m.weights)
	m.weights = weights
	var g groupMoments
	for i, w := range weights {
		value, inverse, share, other := q(first + i*stride)
		g.mean += w * value
		g.up += w * value * inverse * other
		g.down += w * value * inverse * share
	}
	// Centred in a second pass: at p = ½ the variance is 1/G² of the square.
	for i, w := range weights {
		value, _, share, _ := q(first + i*stride)
		g.variance += w * (value - g.mean) * (value - g.mean)
		g.covariance += w * (value - g.mean) * (share - j)
	}
	return g
}
