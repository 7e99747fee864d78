package rom

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// maxCurved is the largest number of reduced coordinates for which the second
// derivatives of the mean force are computed.
const maxCurved = 24

// curvature holds D_ij = ∂²E[g]/∂y_i∂y_j of y = (x, x_old) at a fixed point, as
// vectors of reduced forces.
type curvature struct {
	n int
	d [][]float64 // d[i·2n + j], i ≤ j
}

// reducedForce returns the mean force at the displacement y = (x, x_old).
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

// differenceStep is the displacement of second differences, inside the range
// of a clip: the error of the fourth-order formula, h⁴/90 of a sixth
// derivative, and rounding over h² are both about 1e-11.
func (m *model) differenceStep() float64 {
	if m.Weighting == Clipped {
		return min(5e-3, m.ClipLow/8, m.ClipHigh/8)
	}
	return 5e-3
}

// along returns d²f/ds² at s = 0 by the five-point formula.
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

// contract returns ½ Σ_ij D_ij Cov(y_i, y_j).
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

// shifts returns the displacement of the mean of x, over time and of x_old, to
// first order in the noise: the curvature of the mean force turns fluctuations
// into a constant force d = ½ Σ ∂²E[g] Cov in each phase, which pushes the
// linear map (docs/theory.md §6: Λ Eδ = ½ Σ ∂²E[g] Cov where one covariance
// serves for x and x_old). extra is the contribution of what is not in law,
// phase by phase. nil where the period's map has the eigenvalue 1.
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
	// What one period adds to a start at 0.
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

// relativePush returns what the relative motion of a class, with the joint
// variances of (x, x_old) in its phases along one direction, adds to the
// constant force of each phase: multiplicity × ½ Σ ∂²E[g] Cov, in the reduced
// coordinates of the merged bandit.
func (l *linearization) relativePush(x *relative, law *stationary) [][]float64 {
	h := x.split.differenceStep()
	move := func(s, sOld float64) []float64 {
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
			force[x.class] += g // arms taken out of their class
		}
		for c := range force {
			force[c] /= math.Sqrt(l.count[c])
		}
		return reduce(l.q, force)
	}
	current := along(func(s float64) []float64 { return move(s, 0) }, h)
	stale := along(func(s float64) []float64 { return move(0, s) }, h)
	both := along(func(s float64) []float64 { return move(s, s) }, h)
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

// rewardCurvature returns ½ tr(∇²J Cov) of the reduced coordinates and of the
// relative motions with the variances relative: ∂²J/∂θ_a∂θ_b = H_u,
// u = π∘(m − J).
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

// rewardVariance returns Var J of two arms without scale, exact KL, to second
// order in the noise:
//
//	J′²V[1 + V(pq − (1−2p)d_1 + ½d_2)],  d_1 = D′/D, d_2 = D″/D of D(z) = Var[2g_1]
//
// with V = Var z to first order (docs/theory.md §6); 0 without noise.
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
