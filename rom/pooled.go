package rom

import (
	"math"

	"grposim/rom/fp"
)

// pooledNode is a node of the quadrature over t of docs/theory-trainers.md §11.4, in which a function of
// the scale d√Q + ε of all groups of a step is a product over the groups: with V = Q,
//
//	1/(d√V + ε) = Σ first e^{−tV},   1/(d√V + ε)² = Σ second e^{−tV}
type pooledNode struct {
	t, first, second float64
	damped           []float64 // e^{−tR(1−R)/B} by the number of successes; nil for large groups
}

// mostDamped is the largest group size for which pooledNode.damped is kept.
const mostDamped = 1 << 12

// pooledNodes returns the nodes for PooledStd. Q = (1/B) Σ R(1−R) is between that of one group with
// a lone success, beyond which the integrand vanishes, and ¼. The rule is that of
// groupLaw.integrate, with a smaller step.
func (m *model) pooledNodes() []pooledNode {
	if m.pooled != nil {
		return m.pooled
	}
	const h = 0.2
	epsilon := m.Advantage.Epsilon / m.deviation
	least := (1 - 1/m.size) / m.size / float64(m.GroupsPerStep)
	for x := -4.4; ; x += h {
		left := fp.Exp(-x)
		t := fp.Exp(x-left) / (0.25 + epsilon*epsilon)
		dt := h * t * (1 + left)
		first, second := laplace(epsilon * math.Sqrt(t))
		node := pooledNode{t: t, first: dt / math.Sqrt(t) * first / m.deviation, second: dt * second / (m.deviation * m.deviation)}
		for s := 0; m.GroupSize <= mostDamped && s <= m.GroupSize; s++ {
			node.damped = append(node.damped, m.dampedBy(t, s))
		}
		m.pooled = append(m.pooled, node)
		if t*least > lostExponent {
			return m.pooled
		}
	}
}

// dampedBy returns e^{−tR(1−R)/B} of a group with s successes.
func (m *model) dampedBy(t float64, s int) float64 {
	return fp.Exp(-t / float64(m.GroupsPerStep) * (float64(s) / m.size) * ((m.size - float64(s)) / m.size))
}

// countLaw is the law of a number of successes.
type countLaw struct {
	first, stride int
	weights       []float64
}

func newCountLaw(n int, j, rest float64) countLaw {
	first, stride, weights := binomial(n, j, rest, nil)
	return countLaw{first, stride, weights}
}

// mean returns E f(S).
func (l countLaw) mean(f func(s int) float64) (sum float64) {
	for i, w := range l.weights {
		sum += w * f(l.first+i*l.stride)
	}
	return sum
}

// pooledPhi returns φ and φ′ with PooledStd. With x = R(1−R), e = e^{−tx/B}, ψ = E e and T one of the
// two rewarded and not rewarded samples less, as in phi,
//
//	φ = (1 − 1/G) Σ first E[e(T+1)] ψ^{B−1},   T ~ Binomial(G−2, J)
func (m *model) pooledPhi(j, rest float64) (phi, slope float64) {
	n, b := m.GroupSize, float64(m.GroupsPerStep)
	all, fewer, pair := newCountLaw(n, j, rest), newCountLaw(n-1, j, rest), newCountLaw(n-2, j, rest)
	single := pair
	if n > 2 {
		single = newCountLaw(n-3, j, rest)
	}
	for _, node := range m.pooledNodes() {
		e := func(s int) float64 {
			if node.damped != nil {
				return node.damped[s]
			}
			return m.dampedBy(node.t, s)
		}
		own, psi := pair.mean(func(t int) float64 { return e(t + 1) }), all.mean(e)
		ownSlope := (m.size - 2) * single.mean(func(t int) float64 { return e(t+2) - e(t+1) })
		psiSlope := m.size * fewer.mean(func(t int) float64 { return e(t+1) - e(t) })
		others := node.first * math.Pow(psi, b-1)
		phi += others * own
		slope += others * (ownSlope + (b-1)*own*psiSlope/psi)
	}
	return (1 - 1/m.size) * phi, (1 - 1/m.size) * slope
}

// pooledMoments returns the moments of a step with PooledStd as those of one group: variances are
// B times as large. Given the numbers of successes of all groups the mean force is √Q
// (d = 1, ε = 0) along one direction.
func (m *model) pooledMoments(j, rest float64) (g groupMoments) {
	b := float64(m.GroupsPerStep)
	all := newCountLaw(m.GroupSize, j, rest)
	square, joint := 0.0, 0.0 // E (Q/s)², E (Q/s)(R̄ − J)
	for _, node := range m.pooledNodes() {
		var psi, x, xx, up, down, xr, r float64
		for i, w := range all.weights {
			s := float64(all.first + i*all.stride)
			share, other := s/m.size, (m.size-s)/m.size
			q := share * other
			w *= fp.Exp(-node.t / b * q)
			psi += w
			x += w * q
			xx += w * q * q
			up += w * q * other
			down += w * q * share
			r += w * (share - j)
			xr += w * q * (share - j)
		}
		one, two := math.Pow(psi, b-1), 0.0
		if b > 1 {
			two = (b - 1) * math.Pow(psi, b-2)
		}
		g.mean += node.first * one * x
		g.up += node.second * one * up
		g.down += node.second * one * down
		square += node.second * (one*xx + two*x*x) / b
		joint += node.first * (one*xr + two*x*r) / b
	}
	g.share = j
	g.variance = b * (square - g.mean*g.mean)
	g.covariance = b * joint
	return g
}
