package rom

import (
	"math"

	"grposim/rom/fp"
	"grposim/rom/linear"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
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

// displaced returns the logits of the merged bandit at the displacement x in reduced
// coordinates.
func (l *linearization) displaced(x []float64) []float64 {
	logits := make([]float64, len(l.logits))
	l.displace(logits, x)
	return logits
}

// displace is displaced into given memory, for callers with many displacements.
func (l *linearization) displace(logits, x []float64) {
	blas64.Gemv(blas.NoTrans, 1, l.q.RawMatrix(), vector(x), 0, vector(logits))
	for c, v := range logits {
		logits[c] = l.logits[c] + v/math.Sqrt(l.count[c])
	}
}

// reducedForce returns the mean force at the displacement y = (x, x_old), both in
// reduced coordinates.
func (l *linearization) reducedForce(y []float64) []float64 {
	n := len(y) / 2
	l.model.set(l.displaced(y[:n]), l.displaced(y[n:]))
	return l.forceHere()
}

// forceHere is reducedForce at the logits given to model.set.
func (l *linearization) forceHere() []float64 {
	force := make([]float64, len(l.logits))
	l.model.meanForce(force)
	for c := range force {
		force[c] /= math.Sqrt(l.count[c])
	}
	return reduce(l.q, force)
}

// differenceStep returns the step h of second differences, small enough to stay
// inside the smooth range of the weights. The error of the fourth-order formula, h⁴/90 times
// the sixth derivative, and rounding over h² are both about 1e-11.
func (m *model) differenceStep() float64 {
	return min(5e-3, weight.Range(&m.Importance)/8)
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
	l.model.set(l.logits, l.logits)
	l.model.law.Approach()
	defer l.model.holdCuts()()
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

// meanState returns the displacement of the mean of the state in each phase, to first order
// in the covariance of the noise. The curvature of the mean force turns fluctuations
// into a constant force d = ½ Σ ∂²E[g] Cov in each phase, which drives the linear map
// (docs/theory-neglected.md §6: Λ Eδ = ½ Σ ∂²E[g] Cov where x and x_old have the same covariance).
// extra, one force per phase, is the contribution of the relative modes, which are not
// part of the state; nil: none. The result is nil where the monodromy matrix has the eigenvalue 1.
func (c *curvature) meanState(law *linear.Law, extra [][]float64) []*mat.VecDense {
	var forces [][]float64
	law.Phases(func(joint *mat.Dense) {
		d := c.contract(joint)
		if extra != nil {
			for k := range d {
				d[k] += extra[len(forces)][k]
			}
		}
		forces = append(forces, d)
	})
	return law.Respond(forces)
}

// relativePush returns the contribution of relative mode x to the constant force of
// each phase: multiplicity × ½ Σ ∂²E[g] Cov, in the reduced coordinates of the
// merged bandit. law is the stationary law of the mode along one of its directions.
func (l *linearization) relativePush(x *relative, law *linear.Law) [][]float64 {
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
	law.Phases(func(joint *mat.Dense) {
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

// rewardCurvature returns mean and variance of the quadratic part of J, ½ tr(∇²J Cov) and
// ½ tr (∇²J Cov)², given the covariance sigma of the reduced coordinates and the variances
// relative along the relative modes: ∂²J/∂θ_a∂θ_b = H_u, u = π∘(m − J).
func (l *linearization) rewardCurvature(sigma *mat.Dense, relative []float64) (mean, variance float64) {
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
	var product, square mat.Dense
	product.Mul(linear.Within(l.q, h), sigma)
	square.Mul(&product, &product)
	mean, variance = 0.5*mat.Trace(&product), 0.5*mat.Trace(&square)
	for i, x := range l.relatives {
		bend := relative[i] * u[x.class] / l.count[x.class]
		mean += 0.5 * float64(x.multiplicity) * bend
		variance += 0.5 * float64(x.multiplicity) * bend * bend
	}
	return mean, variance
}

// maxSecondOrder bounds the work of the second order in multiplications, about half a second.
const maxSecondOrder = 1e9

// secondOrderWork estimates the multiplications that newSecondOrder takes: those of its
// tensors of rank 3.
func secondOrderWork(law *linear.Law) float64 {
	size, _ := law.A.Dims()
	free, _ := law.Monodromy().Dims()
	fourth := func(x int) float64 { return fp.Pow(float64(x), 4) }
	return 6*float64(law.Lag.Period())*fourth(size) + 90*fourth(free)
}

// secondOrder holds the terms of second order in the noise, summed over their kinds and
// averaged over the phases.
type secondOrder struct {
	spread  float64 // of Var J through Cov x
	readout float64 // of Var J through the curvature of J in x
	size    float64 // of Var J, the sum of the moduli of all terms
	assumed float64 // of Var J through a third cumulant that is not known but assumed
	mean    float64 // of E J through the third derivative of J in x
	fast    float64 // 1 − Corr(J_t, J_{t+1}) of first order, within [0, 2]

	snapshot *mat.Dense // change of Cov x_old, n×n
	third    []float64  // third cumulant of x_old, n×n×n
}

// newSecondOrder returns the terms of second order in the noise (docs/theory-neglected.md §6), given
// the means of first order. With the force E[g] = −Λy + ½ D yy + (1/6) T yyy, its
// covariance C + C′y + ½ C″yy and its third cumulant S, K the third cumulant of the
// state s, m its mean and Σ its covariance of first order, in y and s by their indices,
//
//	K′ = A⊗A⊗A K + Σ_3 (AΣD ΣAᵀ)Γ + Σ_3 AΣ ΓC′Γᵀ + Γ⊗Γ⊗Γ S
//	Σ₁′ = A Σ₁ Aᵀ + A c Γᵀ + (A c Γᵀ)ᵀ + Γ (C′m + ½ C″Σ + ½ DΣΣD) Γᵀ
//	c = Cov(s, force beyond linear) = ½ D K + D m Σ + ½ TΣΣ
//
// where Σ_3 is the sum over the three choices of the index that stands alone.
func newSecondOrder(law *linear.Law, c *curvature, e *expansion, means []*mat.VecDense) *secondOrder {
	s := &secondOrders{law: law, c: c, e: e, means: means, n: law.Dim(), dim: 2 * law.Dim(), at: law.Places()}
	s.size, _ = law.A.Dims()
	law.States(func(state *mat.Dense) { s.states = append(s.states, state) })
	drawn := s.drawn()
	third := s.cumulants(func(_ int, state *mat.Dense) linear.Tensor { return s.thirdSource(state, drawn) })
	out := s.read(third, [][]linear.Tensor{s.covariance(s.noise), s.covariance(s.stiffness), s.viaThird(third), s.covariance(s.forceVariance)})
	if e.assumed {
		s.assume(out, drawn)
	}
	return out
}

// secondOrders computes the second order of a stationary law. The state s of the recursion
// has size entries; of these the force depends on the dim = 2n entries y at the places at:
// x and x_old, n each.
type secondOrders struct {
	law    *linear.Law
	c      *curvature
	e      *expansion
	means  []*mat.VecDense // of the state, by step of the period
	states []*mat.Dense    // its covariance, by step of the period

	n, dim, size int
	at           []int
}

// gamma returns Γ, which the force ξ of coordinate k enters the state by.
func (s *secondOrders) gamma(a, k int) float64 { return s.law.Gamma.At(a, k) }

// y returns the covariance of two entries of y.
func (s *secondOrders) y(state *mat.Dense, i, j int) float64 { return state.At(s.at[i], s.at[j]) }

// cumulants returns the periodic solution of the recursion of a cumulant, given what each
// step adds.
func (s *secondOrders) cumulants(part func(p int, state *mat.Dense) linear.Tensor) []linear.Tensor {
	var sources []linear.Tensor
	for p, state := range s.states {
		sources = append(sources, part(p, state))
	}
	return s.law.Periodic(sources)
}

// covariance is cumulants for a covariance.
func (s *secondOrders) covariance(part func(p int, state *mat.Dense) *mat.Dense) []linear.Tensor {
	return s.cumulants(func(p int, state *mat.Dense) linear.Tensor {
		return linear.Tensor{Rank: 2, Data: part(p, state).RawMatrix().Data}
	})
}

// addSymmetric adds the three products of a pair and a single entry to a third cumulant.
func (s *secondOrders) addSymmetric(t linear.Tensor, pair func(a, b int) float64, alone func(a int) float64) {
	for a := range s.size {
		for b := range s.size {
			v := pair(a, b)
			if v == 0 {
				continue
			}
			for k := range s.size {
				w := v * alone(k)
				t.Data[(a*s.size+b)*s.size+k] += w
				t.Data[(a*s.size+k)*s.size+b] += w
				t.Data[(k*s.size+a)*s.size+b] += w
			}
		}
	}
}

// drawn returns the third cumulant that the skewness of the force of one step adds.
func (s *secondOrders) drawn() linear.Tensor {
	drawn := linear.NewTensor(s.size, 3)
	for a := range s.dim {
		for b := range s.dim {
			for k := range s.dim {
				drawn.Data[(a*s.size+b)*s.size+k] = s.gamma(a, a%s.n) * s.gamma(b, b%s.n) * s.gamma(k, k%s.n) * s.e.skew[(a%s.n*s.n+b%s.n)*s.n+k%s.n]
			}
		}
	}
	return drawn
}

// thirdSource returns what a step adds to the third cumulant of the state: the curvature of the
// mean force, the slope of the noise and, unless it is assumed, the skewness of the noise.
func (s *secondOrders) thirdSource(state *mat.Dense, drawn linear.Tensor) linear.Tensor {
	var moved mat.Dense
	moved.Mul(s.law.A, state)
	t := linear.NewTensor(s.size, 3)
	d := mat.NewDense(s.dim, s.dim, nil)
	across := mat.NewDense(s.size, s.dim, nil) // Cov(A s, y)
	for a := range s.size {
		for i := range s.dim {
			across.Set(a, i, moved.At(a, s.at[i]))
		}
	}
	for k := range s.n {
		for i := range s.dim {
			for j := range s.dim {
				d.Set(i, j, s.c.d[min(i, j)*s.dim+max(i, j)][k])
			}
		}
		pair := linear.Congruence(across, d)
		s.addSymmetric(t, pair.At, func(a int) float64 { return s.gamma(a, k) })
	}
	for i := range s.dim {
		pair := linear.Congruence(s.law.Gamma, mat.NewDense(s.n, s.n, s.e.slope[i]))
		s.addSymmetric(t, pair.At, func(a int) float64 { return across.At(a, i) })
	}
	if !s.e.assumed {
		t.Add(drawn)
	}
	return t
}

// correlated returns A c Γᵀ and its transpose, given c = Cov(s_a, N_k) of the force N
// beyond linear.
func (s *secondOrders) correlated(cov func(a, k int) float64) *mat.Dense {
	m := mat.NewDense(s.size, s.n, nil)
	m.Apply(func(a, k int, _ float64) float64 { return cov(a, k) }, m)
	var moved, one, both mat.Dense
	moved.Mul(s.law.A, m)
	one.Mul(&moved, s.law.Gamma.T())
	both.Add(&one, one.T())
	return &both
}

// viaThird returns the covariance that third cumulants give by the curvature of the mean force.
func (s *secondOrders) viaThird(third []linear.Tensor) []linear.Tensor {
	return s.covariance(func(p int, _ *mat.Dense) *mat.Dense {
		return s.correlated(func(a, k int) float64 {
			sum := 0.0
			for i := range s.dim {
				for j := range s.dim {
					sum += 0.5 * s.c.d[min(i, j)*s.dim+max(i, j)][k] * third[p].Data[(a*s.size+s.at[i])*s.size+s.at[j]]
				}
			}
			return sum
		})
	})
}

// noise returns the covariance that a step adds because its noise changes with the state.
func (s *secondOrders) noise(p int, state *mat.Dense) *mat.Dense {
	sum := mat.NewDense(s.n, s.n, nil)
	data := sum.RawMatrix().Data
	for i := range s.dim {
		for l, v := range s.e.slope[i] {
			data[l] += v * s.means[p].AtVec(s.at[i])
		}
		for j := range s.dim {
			for l, v := range s.e.bend[i*s.dim+j] {
				data[l] += 0.5 * v * s.y(state, i, j)
			}
		}
	}
	return linear.Congruence(s.law.Gamma, sum)
}

// stiffness returns that by the stiffness at the mean, and away from it.
func (s *secondOrders) stiffness(p int, state *mat.Dense) *mat.Dense {
	return s.correlated(func(a, k int) float64 {
		sum := 0.0
		for i := range s.dim {
			for j := range s.dim {
				sum += s.c.d[min(i, j)*s.dim+max(i, j)][k] * s.means[p].AtVec(s.at[i]) * state.At(a, s.at[j])
				for l := range s.dim {
					sum += 0.5 * s.e.third[(i*s.dim+j)*s.dim+l][k] * state.At(a, s.at[i]) * s.y(state, j, l)
				}
			}
		}
		return sum
	})
}

// forceVariance returns that by the variance of the mean force.
func (s *secondOrders) forceVariance(p int, state *mat.Dense) *mat.Dense {
	sum := mat.NewDense(s.n, s.n, nil)
	for k := range s.n {
		for l := range s.n {
			v := 0.0
			for i := range s.dim {
				for j := range s.dim {
					d := s.c.d[min(i, j)*s.dim+max(i, j)][k]
					for i2 := range s.dim {
						for j2 := range s.dim {
							v += 0.5 * d * s.c.d[min(i2, j2)*s.dim+max(i2, j2)][l] * s.y(state, i, i2) * s.y(state, j, j2)
						}
					}
				}
			}
			sum.Set(k, l, v)
		}
	}
	return linear.Congruence(s.law.Gamma, sum)
}

// read returns what the third cumulants and the terms of the covariance change of E J and Var J,
// averaged over the period.
func (s *secondOrders) read(third []linear.Tensor, terms [][]linear.Tensor) *secondOrder {
	n := s.n
	out := &secondOrder{snapshot: mat.NewDense(n, n, nil), third: make([]float64, n*n*n)}
	count := float64(len(s.states))
	a, b, t := s.e.reward, s.e.rewardBend, s.e.rewardThird
	spread, readout := make([]float64, len(terms)), make([]float64, 3)
	shift, shiftSquare, variance, next := 0.0, 0.0, 0.0, 0.0
	for p, state := range s.states {
		var moved mat.Dense
		moved.Mul(s.law.A, state)
		first := 0.0
		for i := range n {
			mi := s.means[p].AtVec(i)
			first += a[i] * mi
			for j := range n {
				first += 0.5 * b[i*n+j] * state.At(i, j)
				variance += a[i] * a[j] * state.At(i, j)
				next += a[i] * a[j] * moved.At(i, j)
				for q, term := range terms {
					spread[q] += a[i] * a[j] * term[p].Data[i*s.size+j] / count
				}
				for k := range n {
					cube := third[p].Data[(i*s.size+j)*s.size+k] / count
					readout[0] += a[i] * b[j*n+k] * cube
					out.mean += t[(i*n+j)*n+k] * cube / 6
					readout[1] += 2 * a[i] * b[j*n+k] * state.At(i, j) * s.means[p].AtVec(k) / count
					for l := range n {
						readout[2] += (0.5*b[i*n+j]*b[k*n+l]*state.At(j, k)*state.At(l, i) +
							a[i]*t[(j*n+k)*n+l]*state.At(i, j)*state.At(k, l)) / count
					}
				}
			}
		}
		shift += first / count
		shiftSquare += first * first / count
	}
	readout = append(readout, max(shiftSquare-shift*shift, 0)) // the mean moves with the phase
	for _, x := range spread {
		out.spread += x
		out.size += math.Abs(x)
	}
	for _, x := range readout {
		out.readout += x
		out.size += math.Abs(x)
	}
	if variance > 0 {
		out.fast = 1 - next/variance
	}
	// At the start of a period x_old is x, or with a delay has the same s.law.
	for i := range n {
		for j := range n {
			for _, term := range terms {
				out.snapshot.Set(i, j, out.snapshot.At(i, j)+term[0].Data[i*s.size+j])
			}
			for k := range n {
				out.third[(i*n+j)*n+k] = third[0].Data[(i*s.size+j)*s.size+k]
			}
		}
	}
	return out
}

// assume adds what the skewness of the noise would change, where it is not known.
func (s *secondOrders) assume(out *secondOrder, drawn linear.Tensor) {
	n, a, b, count := s.n, s.e.reward, s.e.rewardBend, float64(len(s.states))
	assumed := s.cumulants(func(int, *mat.Dense) linear.Tensor { return drawn })
	for p, term := range s.viaThird(assumed) {
		for i := range n {
			for j := range n {
				out.assumed += a[i] * a[j] * term.Data[i*s.size+j] / count
				for k := range n {
					out.assumed += a[i] * b[j*n+k] * assumed[p].Data[(i*s.size+j)*s.size+k] / count
				}
			}
		}
	}
}

// derivative returns ∂^r f/∂y_i…∂y_k at y = 0, r the number of indices at, for y of
// dim entries, by central differences: Σ ± f(±h e_i … ±h e_k)/(2h)^r over all signs.
// Its truncation error is h²/6 for each index times two more derivatives.
func derivative(f func(y []float64) []float64, dim int, h float64, at ...int) []float64 {
	y := make([]float64, dim)
	var sum []float64
	for signs := range 1 << len(at) {
		clear(y)
		weight := fp.Pow(2*h, -float64(len(at)))
		for k, i := range at {
			if signs>>k&1 == 1 {
				y[i] -= h
				weight = -weight
			} else {
				y[i] += h
			}
		}
		v := f(y)
		if sum == nil {
			sum = make([]float64, len(v))
		}
		for k, x := range v {
			sum[k] += weight * x
		}
	}
	return sum
}
