package rom

import (
	"math"

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

// reducedForce returns the mean force at the displacement y = (x, x_old), both in
// reduced coordinates.
func (l *linearization) reducedForce(y []float64) []float64 {
	n := len(y) / 2
	shift := func(x []float64) []float64 {
		var out mat.VecDense
		out.MulVec(l.q, mat.NewVecDense(n, x))
		logits := make([]float64, len(l.logits))
		for c, v := range out.RawVector().Data {
			logits[c] = l.logits[c] + v/math.Sqrt(l.count[c])
		}
		return logits
	}
	l.model.set(shift(y[:n]), shift(y[n:]))
	force := make([]float64, len(l.logits))
	l.model.meanForce(force)
	for c := range force {
		force[c] /= math.Sqrt(l.count[c])
	}
	return reduce(l.q, force)
}

// differenceStep returns the step h of second differences, small enough to stay
// inside the range of a clip. The error of the fourth-order formula, h⁴/90 times
// the sixth derivative, and rounding over h² are both about 1e-11.
func (m *model) differenceStep() float64 {
	if m.Weighting == Clipped {
		return min(5e-3, m.ClipLow/8, m.ClipHigh/8)
	}
	return 5e-3
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
	h := l.model.differenceStep()
	y := make([]float64, 2*n)
	direction := func(i, j int, sign float64) []float64 {
		return along(func(s float64) []float64 {
			clear(y)
			y[i] += s
			y[j] += sign * s
			return l.reducedForce(y)
		}, h)
	}
	for i := range 2 * n {
		for j := i; j < 2*n; j++ {
			if i == j {
				d := direction(i, i, 0)
				c.d[i*2*n+i] = d
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

// contract returns ½ Σ_ij D_ij Cov(y_i, y_j), given the covariance joint of y, 2n×2n.
func (c *curvature) contract(joint *mat.Dense) []float64 {
	out := make([]float64, c.n)
	for i := range 2 * c.n {
		for j := i; j < 2*c.n; j++ {
			w := joint.At(i, j)
			if i == j {
				w *= 0.5
			}
			for k, x := range c.d[i*2*c.n+j] {
				out[k] += w * x
			}
		}
	}
	return out
}

// shifts returns the displacements of the mean of x, averaged over the phases, and of
// x_old, to first order in the covariance of the noise. The curvature of the mean
// force turns fluctuations into a constant force d = ½ Σ ∂²E[g] Cov in each phase,
// which drives the linear map (docs/theory.md §6: Λ Eδ = ½ Σ ∂²E[g] Cov where x and
// x_old have the same covariance). extra, one force per phase, is the contribution of
// the relative modes, which are not part of s; nil: none. Both are nil where the
// monodromy matrix has the eigenvalue 1.
func (s *stationary) shifts(c *curvature, extra [][]float64) (mean, old []float64) {
	n := s.dim()
	size, _ := s.a.Dims()
	var pushes [][]float64
	s.phases(func(joint *mat.Dense) {
		d := c.contract(joint)
		if extra != nil {
			for k := range d {
				d[k] += extra[len(pushes)][k]
			}
		}
		pushes = append(pushes, d)
	})
	push := func(state *mat.VecDense, d []float64) {
		var next, moved mat.VecDense
		next.MulVec(s.a, state)
		moved.MulVec(s.gamma, mat.NewVecDense(n, d))
		state.AddVec(&next, &moved)
	}
	// The state at the end of a period that starts at 0.
	gathered := mat.NewVecDense(size, nil)
	for _, d := range pushes {
		push(gathered, d)
	}
	period := s.monodromy()
	free, _ := period.Dims()
	closing := identity(free)
	closing.Sub(closing, period)
	var start mat.VecDense
	if err := start.SolveVec(closing, gathered.SliceVec(0, free)); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			return nil, nil
		}
	}
	mean = make([]float64, n)
	if s.lag.Kind == Delay {
		copy(mean, start.RawVector().Data[:n])
		return mean, mean
	}
	state := mat.NewVecDense(size, nil)
	for i := range size {
		state.SetVec(i, start.AtVec(i%free))
	}
	old = make([]float64, n)
	copy(old, start.RawVector().Data[:n])
	for _, d := range pushes {
		for k := range mean {
			mean[k] += state.AtVec(k) / float64(len(pushes))
		}
		push(state, d)
	}
	return mean, old
}

// relativePush returns the contribution of relative mode x to the constant force of
// each phase: multiplicity × ½ Σ ∂²E[g] Cov, in the reduced coordinates of the
// merged bandit. law is the stationary law of the mode along one of its directions.
func (l *linearization) relativePush(x *relative, law *stationary) [][]float64 {
	h := x.split.differenceStep()
	displaced := func(s, sOld float64) []float64 {
		theta := append([]float64{}, x.logits...)
		past := append([]float64{}, x.logits...)
		theta[x.a] += s / math.Sqrt2
		theta[x.b] -= s / math.Sqrt2
		past[x.a] += sOld / math.Sqrt2
		past[x.b] -= sOld / math.Sqrt2
		x.split.set(theta, past)
		all := make([]float64, len(theta))
		x.split.meanForce(all)
		force := make([]float64, len(l.logits))
		copy(force, all)
		for _, g := range all[len(force):] {
			force[x.class] += g // of an arm taken out of the class
		}
		for c := range force {
			force[c] /= math.Sqrt(l.count[c])
		}
		return reduce(l.q, force)
	}
	current := along(func(s float64) []float64 { return displaced(s, 0) }, h)
	stale := along(func(s float64) []float64 { return displaced(0, s) }, h)
	both := along(func(s float64) []float64 { return displaced(s, s) }, h)
	var pushes [][]float64
	law.phases(func(joint *mat.Dense) {
		d := make([]float64, len(current))
		mixed := joint.At(0, 1)
		for k := range d {
			// both = current + stale + 2·mixed derivative
			d[k] = 0.5 * float64(x.multiplicity) *
				(current[k]*(joint.At(0, 0)-mixed) + stale[k]*(joint.At(1, 1)-mixed) + both[k]*mixed)
		}
		pushes = append(pushes, d)
	})
	return pushes
}

// rewardCurvature returns ½ tr(∇²J Cov), given the covariance sigma of the reduced
// coordinates and the variances relative along the relative modes:
// ∂²J/∂θ_a∂θ_b = H_u, u = π∘(m − J).
func (l *linearization) rewardCurvature(sigma *mat.Dense, relative []float64) float64 {
	reward := l.model.expected(l.logits)
	probs := l.model.now.probs
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
	var product mat.Dense
	product.Mul(within(l.q, h), sigma)
	sum := 0.5 * mat.Trace(&product)
	for i, x := range l.relatives {
		sum += 0.5 * float64(x.multiplicity) * relative[i] * u[x.class] / l.count[x.class]
	}
	return sum
}

// rewardVariance returns Var J of two arms, Unscaled and ExactKL, to second order in
// the noise:
//
//	J′²V[1 + V(pq − (1−2p)d_1 + ½d_2)],  d_1 = D′/D, d_2 = D″/D of D(z) = Var[2g_1]
//
// with J′ = dJ/dz and v = V, which is Var z to first order (docs/theory.md §6); 0
// without noise.
func (l *linearization) rewardVariance(v float64) float64 {
	m := l.model
	variance := func(s float64) []float64 {
		logits := []float64{l.logits[0] + s/2, l.logits[1] - s/2}
		m.set(logits, logits)
		return []float64{4 * m.covariance().At(0, 0)}
	}
	h := m.differenceStep()
	d := variance(0)[0]
	if d == 0 {
		return 0
	}
	slope := 0.0
	for i, w := range [5]float64{1, -8, 0, 8, -1} {
		if w != 0 {
			slope += w * variance(float64(i-2) * h)[0] / (12 * h)
		}
	}
	d1, d2 := slope/d, along(variance, h)[0]/d
	m.set(l.logits, l.logits)
	p, q := m.now.probs[0], m.now.probs[1]
	gain := p * q * (l.Arms[0].Mean - l.Arms[1].Mean)
	return gain * gain * v * (1 + v*(p*q-(1-2*p)*d1+0.5*d2))
}
