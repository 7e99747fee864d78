package group

import (
	"math"

	"grposim/fp"
)

// pooled is the form of PooledStd.
type pooled struct {
	ofGroup
	kept []pooledNode // see nodes; nil: not computed yet
}

func newPooled(c *Counts) advantage { return &pooled{ofGroup: ofGroup{Counts: c}} }

// bound is c(1 − 1/G)/s of a step with one success, of all of them the least deviation.
func (a *pooled) bound() float64 {
	one := (1 - 1/a.size) / a.size / float64(a.e.GroupsPerStep) // Q of a lone success
	return a.baseline * (1 - 1/a.size) * (1 / (a.deviation*math.Sqrt(one) + a.e.Advantage.Epsilon))
}

// pooledNode is a node of the quadrature over t of docs/theory-trainers.md §11.4. There a function
// of the scale d√Q + ε of all groups of a step is a product over the groups. With V = Q,
//
//	1/(d√V + ε) = Σ first e^{−tV},   1/(d√V + ε)² = Σ second e^{−tV}
type pooledNode struct {
	t, first, second float64
	damped           []float64 // e^{−tR(1−R)/B} by the number of successes; nil for large groups
}

// lostExponent is the logarithm of what an integrand may be neglected by.
const lostExponent = 44.0

// mostDamped is the largest group size for which pooledNode.damped is kept.
const mostDamped = 1 << 12

// nodes returns those of the quadrature. Q = (1/B) Σ R(1−R) is between that of one group with
// a lone success, beyond which the integrand vanishes, and ¼. The rule is that of
// the trapezoidal rule after t = exp(x − e^{−x}).
func (a *pooled) nodes() []pooledNode {
	if a.kept != nil {
		return a.kept
	}
	const h = 0.2
	epsilon := a.e.Advantage.Epsilon / a.deviation
	least := (1 - 1/a.size) / a.size / float64(a.e.GroupsPerStep)
	for x := -4.4; ; x += h {
		left := fp.MathExp(-x)
		t := fp.MathExp(x-left) / (0.25 + epsilon*epsilon)
		dt := h * t * (1 + left)
		first, second := laplace(epsilon * math.Sqrt(t))
		node := pooledNode{t: t, first: dt / math.Sqrt(t) * first / a.deviation, second: dt * second / (a.deviation * a.deviation)}
		for s := 0; a.e.GroupSize <= mostDamped && s <= a.e.GroupSize; s++ {
			node.damped = append(node.damped, a.dampedBy(t, s))
		}
		a.kept = append(a.kept, node)
		if t*least > lostExponent {
			return a.kept
		}
	}
}

// dampedBy returns e^{−tR(1−R)/B} of a group with s successes.
func (a *pooled) dampedBy(t float64, s int) float64 {
	return fp.MathExp(-t / float64(a.e.GroupsPerStep) * (float64(s) / a.size) * ((a.size - float64(s)) / a.size))
}

func (a *pooled) phi(j, rest float64) float64 {
	phi, _ := a.phiAndSlope(j, rest)
	return phi
}

func (a *pooled) slope(j, rest float64) float64 {
	_, slope := a.phiAndSlope(j, rest)
	return slope
}

// phiAndSlope returns φ and φ′. As in ofGroup, T + 1 is the number of successes of a group with at
// least one success and one failure. With x = R(1−R), e = e^{−tx/B}, ψ = E e,
//
//	φ = (1 − 1/G) Σ first E[e(T+1)] ψ^{B−1},   T ~ Binomial(G−2, J)
func (a *pooled) phiAndSlope(j, rest float64) (phi, slope float64) {
	n, b := a.e.GroupSize, float64(a.e.GroupsPerStep)
	all, fewer, pair := NewBinomial(n, j, rest, nil), NewBinomial(n-1, j, rest, nil), NewBinomial(n-2, j, rest, nil)
	single := pair
	if n > 2 {
		single = NewBinomial(n-3, j, rest, nil)
	}
	for _, node := range a.nodes() {
		e := func(s int) float64 {
			if node.damped != nil {
				return node.damped[s]
			}
			return a.dampedBy(node.t, s)
		}
		own, psi := pair.Mean(func(t int) float64 { return e(t + 1) }), all.Mean(e)
		ownSlope := (a.size - 2) * single.Mean(func(t int) float64 { return e(t+2) - e(t+1) })
		psiSlope := a.size * fewer.Mean(func(t int) float64 { return e(t+1) - e(t) })
		others := node.first * fp.Pow(psi, b-1)
		phi += others * own
		slope += others * (ownSlope + (b-1)*own*psiSlope/psi)
	}
	return (1 - 1/a.size) * phi, (1 - 1/a.size) * slope
}

// moments returns the moments of a step as those of one group: variances are
// B times as large. Given the numbers of successes of all groups the mean force is √Q
// (d = 1, ε = 0) along one direction.
func (a *pooled) moments(j, rest float64) (g moments) {
	b := float64(a.e.GroupsPerStep)
	all := NewBinomial(a.e.GroupSize, j, rest, nil)
	square, joint := 0.0, 0.0 // E (Q/s)², E (Q/s)(R̄ − J)
	for _, node := range a.nodes() {
		var psi, x, xx, up, down, xr, r float64
		for i, w := range all.Weights {
			s := float64(all.At(i))
			share, other := s/a.size, (a.size-s)/a.size
			q := share * other
			w *= fp.MathExp(-node.t / b * q)
			psi += w
			x += w * q
			xx += w * q * q
			up += w * q * other
			down += w * q * share
			r += w * (share - j)
			xr += w * q * (share - j)
		}
		one, two := fp.Pow(psi, b-1), 0.0
		if b > 1 {
			two = (b - 1) * fp.Pow(psi, b-2)
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

// laplace returns the densities φ_1 and φ_2 at z = ε√t ≥ 0 of
//
//	1/(s+ε) = ∫dt t^{−½} φ_1 e^{−ts²},   1/(s+ε)² = ∫dt φ_2 e^{−ts²}.
//
// φ_1 = 1/√π − z e^{z²}erfc z and φ_2 = (1+2z²)e^{z²}erfc z − 2z/√π. They are e^{z²} times the
// first and four times the second iterated integral of erfc. For large z these follow from the
// continued fraction of their ratios r_n = i^nerfc/i^{n−1}erfc, r_{n−1} = 1/(2z + 2n r_n).
func laplace(z float64) (first, second float64) {
	if z < 2 {
		scaled := fp.MathExp(z*z) * fp.Erfc(z)
		return 1/math.Sqrt(math.Pi) - z*scaled, (1+2*z*z)*scaled - 2*z/math.Sqrt(math.Pi)
	}
	ratio := 0.0
	product := [3]float64{}
	for n := 60; n > 0; n-- {
		ratio = 1 / (2*z + 2*float64(n)*ratio)
		if n <= 3 {
			product[n-1] = ratio // r_{n−1}
		}
	}
	first = 2 / math.Sqrt(math.Pi) * product[0] * product[1]
	return first, 4 * first * product[2]
}

// ofStep is the form of advantages that are divided by the standard deviation or the mean of
// all N = GB rewards of the step.
type ofStep struct{ ofGroup }

func newOfStep(c *Counts) advantage { return &ofStep{ofGroup{Counts: c}} }

// moments returns the moments of a step as those of one group: variances are B times as large.
// Given T successes in the step, the numbers S and F = G − S of a group are hypergeometric,
//
//	E[(S)_i (F)_k | T] = (G)_{i+k} (T)_i (N−T)_k/(N)_{i+k},
//
// (x)_i = x(x−1)…(x−i+1), and alike for two groups together.
func (a *ofStep) moments(j, rest float64) (g moments) {
	b := float64(a.e.GroupsPerStep)
	n := a.size * b
	falling := func(x float64, i int) float64 {
		p := 1.0
		for k := range i {
			p *= x - float64(k)
		}
		return p
	}
	law := a.binomial(int(n), j, rest)
	at := func(i int) (q, inverse, share, t float64) {
		t = float64(law.At(i))
		if t == 0 || t == n {
			return 0, 0, t / n, t
		}
		inverse = a.baseline * a.row.inverse(a.Counts, t/n, (n-t)/n)
		return inverse * (1 - 1/a.size) / (1 - 1/n) * (t / n) * ((n - t) / n), inverse, t / n, t
	}
	for i, w := range law.Weights {
		q, inverse, share, t := at(i)
		one := func(s, f int) float64 { // of one group
			return falling(a.size, s+f) * falling(t, s) * falling(n-t, f) / falling(n, s+f)
		}
		g.mean += w * q
		g.share += w * share
		if inverse == 0 {
			continue
		}
		size := a.size * a.size * a.size
		pair, few, many := one(1, 1), one(1, 2), one(2, 1)
		four := 0.0
		if n > 3 {
			four = one(2, 2)
		}
		g.up += w * inverse * inverse * (few + pair) / size
		g.down += w * inverse * inverse * (many + pair) / size
		// Q = mean of R(1−R) over the groups
		square := (four + few + many + pair) / b
		if a.e.GroupsPerStep > 1 {
			two := falling(a.size, 2) * falling(a.size, 2) * falling(t, 2) * falling(n-t, 2) / falling(n, 4)
			square += (1 - 1/b) * two
		}
		g.variance += w * (inverse*inverse*square/(size*a.size) - q*q)
	}
	for i, w := range law.Weights {
		q, _, share, _ := at(i)
		g.variance += w * (q - g.mean) * (q - g.mean)
		g.covariance += w * (q - g.mean) * (share - j)
	}
	g.variance *= b
	g.covariance *= b
	return g
}
