package rest

import (
	"math"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxCurved is the largest number of reduced coordinates for which the second
// derivatives of the mean force are computed.
const maxCurved = 24

// curvature holds the second derivatives D_ij = ∂²E[g]/∂y_i∂y_j at a fixed point,
// y = (x, x_old), each a vector of n reduced forces.
type curvature struct {
	n int
	d [][]float64 // D_ij = d[i·2n + j] for i ≤ j
}

// displaced returns the logits of the merged bandit at the displacement x in reduced coordinates.
func (l *linearization) displaced(x []float64) []float64 {
	logits := make([]float64, len(l.logits))
	l.displace(logits, x)
	return logits
}

// displace is displaced into given memory, for callers with many displacements.
func (l *linearization) displace(logits, x []float64) {
	blas64.Gemv(blas.NoTrans, 1, l.q.RawMatrix(), linear.Vector(x), 0, linear.Vector(logits))
	for c, v := range logits {
		logits[c] = l.logits[c] + v/math.Sqrt(l.Count[c])
	}
}

// forceHere is reducedForce at the logits given to model.set.
func (l *linearization) forceHere() []float64 {
	force := make([]float64, len(l.logits))
	l.model.MeanForce(force)
	for c := range force {
		force[c] /= math.Sqrt(l.Count[c])
	}
	return linear.Reduce(l.q, force)
}

// noiseHere returns the covariance of the force in reduced coordinates, n×n, at the logits
// given to model.set.
func (l *linearization) noiseHere() *mat.Dense {
	noise := mat.DenseCopyOf(l.model.Covariance())
	l.isometric(noise)
	return linear.Within(l.q, noise)
}

// along returns d²f/ds² at s = 0 by the five-point formula with step h.
func along(f func(s float64) []float64, h float64) []float64 {
	weights := [5]float64{-1, 16, -30, 16, -1}
	var sum []float64
	for i, w := range weights {
		v := f(float64(i-2) * h)
		if sum == nil {
			sum = make([]float64, len(v))
		}
		for k, x := range v {
			sum[k] += w * x / (12 * h * h)
		}
	}
	return sum
}

// newCurvature computes the curvature by second differences along the coordinates and
// their pairwise sums and differences.
func (l *linearization) newCurvature() *curvature {
	_, n := l.q.Dims()
	c := &curvature{n: n, d: make([][]float64, 4*n*n)}
	l.model.Set(l.logits, l.logits)
	defer l.model.HoldCuts()()
	h := l.model.DifferenceStep()
	y := make([]float64, 2*n)
	direction := func(i, j int, sign float64) []float64 {
		return along(func(s float64) []float64 {
			clear(y)
			y[i] += s
			y[j] += sign * s
			l.model.Set(l.displaced(y[:n]), l.displaced(y[n:])) // at y = (x, x_old)
			return l.forceHere()
		}, h)
	}
	for i := range 2 * n {
		for j := i; j < 2*n; j++ {
			if i == j {
				c.d[i*2*n+i] = direction(i, i, 0)
				continue
			}
			// ∂_i∂_j = ¼(∂²_{i+j} − ∂²_{i−j})
			plus, minus := direction(i, j, 1), direction(i, j, -1)
			for k := range plus {
				plus[k] = 0.25 * (plus[k] - minus[k])
			}
			c.d[i*2*n+j] = plus
		}
	}
	return c
}

// addContracted adds ½ Σ_ij D_ij Cov(y_i, y_j) to force, given the covariance joint of y, 2n×2n.
func (c *curvature) addContracted(force []float64, joint *mat.Dense) {
	for i := range 2 * c.n {
		for j := i; j < 2*c.n; j++ {
			w := joint.At(i, j)
			if i == j {
				w *= 0.5
			}
			floats.AddScaled(force, w, c.d[i*2*c.n+j])
		}
	}
}

// meanState returns the displacement of the mean of the state in each phase, a row each, to first
// order in the covariance of the noise. The curvature of the mean force turns fluctuations into a
// constant force d = ½ Σ ∂²E[g] Cov in each phase, which drives the linear map
// (docs/theory-neglected.md §6: Λ Eδ = ½ Σ ∂²E[g] Cov where x and x_old have the same covariance).
// forces, one row per phase, are the contribution of the relative modes, which are not part of the
// state; d is added to them. The result is nil where the monodromy matrix has the eigenvalue 1.
func (c *curvature) meanState(law *linear.Law, forces *mat.Dense) *mat.Dense {
	for p, joint := range law.Phases {
		c.addContracted(forces.RawRowView(p), joint)
	}
	return law.Respond(forces)
}

// addRelativePush adds the contribution of relative mode x to the constant force of
// each phase, a row of forces: multiplicity × ½ Σ ∂²E[g] Cov, in the reduced coordinates of the
// merged bandit. law is the stationary law of the mode along one of its directions.
func (l *linearization) addRelativePush(forces *mat.Dense, x *relative, law *linear.Law) {
	h := x.split.DifferenceStep()
	displaced := func(s, sOld float64) []float64 {
		x.split.Set(x.displaced(s), x.displaced(sOld))
		all := make([]float64, len(x.logits))
		x.split.MeanForce(all)
		force := make([]float64, len(l.logits))
		copy(force, all)
		for _, g := range all[len(force):] {
			force[x.class] += g // of an arm taken out of the class
		}
		for c := range force {
			force[c] /= math.Sqrt(l.Count[c])
		}
		return linear.Reduce(l.q, force)
	}
	current := along(func(s float64) []float64 { return displaced(s, 0) }, h)
	stale := along(func(s float64) []float64 { return displaced(0, s) }, h)
	both := along(func(s float64) []float64 { return displaced(s, s) }, h)
	for p, joint := range law.Phases {
		d, mixed := forces.RawRowView(p), joint.At(0, 1)
		for k := range d {
			// both = current + stale + 2·mixed derivative
			d[k] += 0.5 * float64(x.Multiplicity) *
				(current[k]*(joint.At(0, 0)-mixed) + stale[k]*(joint.At(1, 1)-mixed) + both[k]*mixed)
		}
	}
}

// rewardCurvature returns mean and variance of the quadratic part of J, ½ tr(∇²J Cov) and
// ½ tr (∇²J Cov)², given the covariance sigma of the reduced coordinates and the variances
// relative along the relative modes: ∂²J/∂θ_a∂θ_b = H_u, u = π∘(m − J).
func (l *linearization) rewardCurvature(sigma *mat.Dense, relative []float64) (
	mean, variance float64) {
	reward := l.model.Expected(l.logits)
	probs := l.model.Now.Probs
	n := len(probs)
	u := make([]float64, n)
	for c, p := range probs {
		u[c] = p * (l.Arms[c].Mean - reward)
	}
	h := mat.NewDense(n, n, nil)
	for a, p := range probs {
		for b, q := range probs {
			v := -u[a]*q - p*u[b]
			if a == b {
				v += u[a]
			}
			h.Set(a, b, v)
		}
	}
	l.isometric(h)
	var product, square mat.Dense
	product.Mul(linear.Within(l.q, h), sigma)
	square.Mul(&product, &product)
	mean, variance = 0.5*mat.Trace(&product), 0.5*mat.Trace(&square)
	for i, x := range l.relatives {
		bend := relative[i] * u[x.class] / l.Count[x.class]
		mean += 0.5 * float64(x.Multiplicity) * bend
		variance += 0.5 * float64(x.Multiplicity) * bend * bend
	}
	return mean, variance
}
