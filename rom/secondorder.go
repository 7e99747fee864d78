package rom

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/weight"

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

// addContracted adds ½ Σ_ij D_ij Cov(y_i, y_j) to force, given the covariance joint of y, 2n×2n.
func (c *curvature) addContracted(force []float64, joint *mat.Dense) {
	for i := range 2 * c.n {
		for j := i; j < 2*c.n; j++ {
			w := joint.At(i, j)
			if i == j {
				w *= 0.5
			}
			for k, x := range c.d[i*2*c.n+j] {
				force[k] += w * x
			}
		}
	}
}

// meanState returns the displacement of the mean of the state in each phase, a row each, to first order
// in the covariance of the noise. The curvature of the mean force turns fluctuations
// into a constant force d = ½ Σ ∂²E[g] Cov in each phase, which drives the linear map
// (docs/theory-neglected.md §6: Λ Eδ = ½ Σ ∂²E[g] Cov where x and x_old have the same covariance).
// forces, one row per phase, are the contribution of the relative modes, which are not
// part of the state; d is added to them. The result is nil where the monodromy matrix has the eigenvalue 1.
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
	h := x.split.differenceStep()
	displaced := func(s, sOld float64) []float64 {
		x.split.set(x.displaced(s), x.displaced(sOld))
		all := make([]float64, len(x.logits))
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
	for p, joint := range law.Phases {
		d, mixed := forces.RawRowView(p), joint.At(0, 1)
		for k := range d {
			// both = current + stale + 2·mixed derivative
			d[k] += 0.5 * float64(x.multiplicity) *
				(current[k]*(joint.At(0, 0)-mixed) + stale[k]*(joint.At(1, 1)-mixed) + both[k]*mixed)
		}
	}
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

// maxSecondOrder bounds the work of the second order, as secondOrderWork estimates it, to less than half a second.
const maxSecondOrder = 1e9

// secondOrderWork bounds the multiplications that newSecondOrder takes: those of its tensors of rank 3, one walk over
// the phases for each of them, where one pass does.
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
// where Σ_3 is the sum over the three choices of the index that stands alone. The stretch of a whole period gives the K of its first phase. From
// there one pass over the phases sums them, and finds what the period adds to Σ₁ from 0. The Σ₁ of the first phase, which that gives,
// adds (A^pᵀa)ᵀ Σ₁ (A^pᵀa) to the variance of J in phase p, a = ∇J.
func newSecondOrder(law *linear.Law, c *curvature, e *expansion, means *mat.Dense) *secondOrder {
	s := newSecondOrders(law, c, e)
	n, size := s.n, s.size
	for _, state := range law.States {
		whole := s.step.times(law.Lag.Period())
		whole.pass(state, s.thirds)
		for i, gathered := range s.thirds {
			s.thirds[i] = law.Periodic(3, gathered)
		}
		break
	}
	// At the start of a period x_old is x, or with a delay has the same law.
	out := &secondOrder{snapshot: mat.NewDense(n, n, nil), third: make([]float64, n*n*n)}
	for ij := range n * n {
		copy(out.third[ij*n:(ij+1)*n], s.thirds[0][(ij/n*size+ij%n)*size:])
	}
	sums := phaseSums{secondOrders: s, e: e, count: float64(law.Lag.Period()), spread: make([]float64, len(s.terms))}
	rise, rises := mat.NewDense(1, size, nil), make([]float64, size*size) // A^pᵀa, and the sum of its squares
	copy(rise.RawRowView(0), e.reward)
	sums.after = s.step.Rotate(rise, law.A.RawMatrix().Data, make([]float64, size))
	for p, state := range law.States {
		s.enter(state, means.RawRowView(p))
		sums.add()
		s.stepTerms()
		s.step.pass(state, s.thirds)
		for i, x := range rise.RawRowView(0) {
			floats.AddScaled(rises[i*size:(i+1)*size], x, rise.RawRowView(0))
		}
		copy(rise.RawRowView(0), s.step.Rotate(rise, law.A.RawMatrix().Data, s.space[0]))
	}
	for q, term := range s.terms {
		start := law.Periodic(2, term)
		sums.spread[q] += floats.Dot(rises, start)
		for i := range n {
			if q != assumedTerm {
				floats.Add(out.snapshot.RawRowView(i), start[i*size:][:n])
			}
		}
	}
	sums.read(out)
	return out
}

// assumedTerm is the part of Σ₁ by an assumed skewness of the noise.
const assumedTerm = 4

// secondOrders steps the second order of a stationary law through a period. The state s of the recursion
// has size entries; of these the force depends on the dim = 2n entries y at the places at:
// x and x_old, n each.
type secondOrders struct {
	a, gamma     *mat.Dense
	step         *stretch
	n, dim, size int
	at           []int

	curved      []float64 // D: y, y, force
	third       []float64 // T: y, y, y, force
	slope, bend []float64 // C′: y, force, force; C″: y, y, force, force

	// Of the present phase.
	state  *mat.Dense  // Σ
	y, m   *mat.Dense  // Cov y, and a row: the mean of y
	flat   *mat.Dense  // Cov y as a row
	with   *mat.Dense  // Cov(s, y)
	thirds [][]float64 // K, and where S is assumed a second one by S alone
	terms  [][]float64 // parts of Σ₁: by the noise, by the stiffness, by the variance of the mean force, and by each third cumulant

	space [3][]float64 // for products
}

func newSecondOrders(law *linear.Law, c *curvature, e *expansion) *secondOrders {
	n, dim := law.Dim(), 2*law.Dim()
	size, _ := law.A.Dims()
	cube := size * size * size
	s := &secondOrders{a: law.A, gamma: law.Gamma, n: n, dim: dim, size: size, at: law.Places()}
	curved, slope := make([]float64, cube), make([]float64, cube) // of a step
	for i, row := range s.at {
		copy(slope[row*size*size:], linear.Transform(s.gamma, 2, e.slope[i]))
		for j, column := range s.at {
			d := c.d[min(i, j)*dim+max(i, j)]
			s.curved = append(s.curved, d...)
			copy(curved[(row*size+column)*size:], linear.Transform(s.gamma, 1, d))
		}
	}
	s.third, s.slope, s.bend = slices.Concat(e.third...), slices.Concat(e.slope...), slices.Concat(e.bend...)
	skews := [][]float64{linear.Transform(s.gamma, 3, e.skew)}
	if e.assumed {
		skews = [][]float64{make([]float64, cube), skews[0]}
	}
	s.step = newStretch(s.a, linear.Congruence(s.gamma, law.Noise), curved, slope, skews)
	s.thirds, s.terms = group.Zeros(len(skews), cube), group.Zeros(3+len(skews), size*size)
	s.y, s.m, s.with = mat.NewDense(dim, dim, nil), mat.NewDense(1, dim, nil), mat.NewDense(size, dim, nil)
	s.flat = mat.NewDense(1, dim*dim, s.y.RawMatrix().Data)
	for i := range s.space {
		s.space[i] = make([]float64, cube)
	}
	return s
}

// enter sets the phase by the covariance and the mean of its state.
func (s *secondOrders) enter(state *mat.Dense, mean []float64) {
	s.state = state
	all, y, with, m := state.RawMatrix().Data, s.y.RawMatrix().Data, s.with.RawMatrix().Data, s.m.RawRowView(0)
	for j, column := range s.at {
		for i, row := range s.at {
			y[i*s.dim+j] = all[row*s.size+column]
		}
		for a := range s.size {
			with[a*s.dim+j] = all[a*s.size+column]
		}
		m[j] = mean[column]
	}
}

// rotate is Rotate into the given space.
func (s *secondOrders) rotate(a *mat.Dense, t []float64, space int) []float64 {
	return s.step.Rotate(a, t, s.space[space])
}

// stepTerms takes the parts of Σ₁ to the next phase.
func (s *secondOrders) stepTerms() {
	n, dim := s.n, s.dim
	for _, t := range s.terms {
		copy(t, s.rotate(s.a, s.rotate(s.a, t, 0), 1))
	}
	// The noise changes with the state.
	noise := s.rotate(s.m, s.slope, 0)
	floats.AddScaled(noise, 0.5, s.rotate(s.flat, s.bend, 1))
	s.addForces(s.terms[0], noise)
	// The stiffness is that at the mean, and another away from it.
	stiffness := s.rotate(s.m, s.curved, 0)
	floats.AddScaled(stiffness, 0.5, s.rotate(s.flat, s.third, 1))
	s.addCorrelated(s.terms[1], s.rotate(s.with, stiffness, 1))
	// The mean force varies: by ½ tr D_k Cov y D_l Cov y.
	moved, variance := s.rotate(s.y, s.curved, 0), s.space[1][:n*n] // moved: y, force, y
	for k := range n {
		for l := range n {
			v := 0.0
			for i := range dim {
				for j := range dim {
					v += 0.5 * moved[(i*n+k)*dim+j] * moved[(j*n+l)*dim+i]
				}
			}
			variance[k*n+l] = v
		}
	}
	s.addForces(s.terms[2], variance)
	for q, t := range s.thirds {
		c := s.space[1][:n*s.size] // force, state
		clear(c)
		for i, row := range s.at {
			for j, column := range s.at {
				for k := range n {
					d := 0.5 * s.curved[(i*dim+j)*n+k]
					floats.AddScaled(c[k*s.size:(k+1)*s.size], d, t[(row*s.size+column)*s.size:][:s.size])
				}
			}
		}
		s.addCorrelated(s.terms[3+q], c)
	}
}

// addForces adds Γ Q Γᵀ to a covariance of the state, given that of a force.
func (s *secondOrders) addForces(t, q []float64) {
	floats.Add(t, s.rotate(s.gamma, s.rotate(s.gamma, q, 2), 0))
}

// addCorrelated adds Γ cᵀ Aᵀ and its transpose, given cᵀ = Cov(N, s) of the force N beyond linear.
func (s *secondOrders) addCorrelated(t, c []float64) {
	both := s.rotate(s.a, s.rotate(s.gamma, c, 2), 0)
	for a := range s.size {
		for b := range s.size {
			t[a*s.size+b] += both[a*s.size+b] + both[b*s.size+a]
		}
	}
}

// phaseSums holds the sums over the phases of what a secondOrders changes of E J and Var J.
type phaseSums struct {
	*secondOrders
	e *expansion

	after                              []float64 // Aᵀa, a = ∇J
	count                              float64
	spread                             []float64  // of Var J, by each part of Σ₁
	readout                            [3]float64 // of Var J: by K, by m and Σ, and by Σ alone
	mean, assumed                      float64    // of E J by K, and of Var J by the K of an assumed S
	shift, shiftSquare, variance, next float64    // of E J, its square, Var J and Cov(J, J of the next step), to first order
}

// add adds the present phase.
func (p *phaseSums) add() {
	n, size, a, b, t := p.n, p.size, p.e.reward, p.e.rewardBend, p.e.rewardThird
	first, state := 0.0, p.state.RawMatrix().Data
	for i := range n {
		first += a[i] * p.m.At(0, i)
		along, bent, twisted := 0.0, 0.0, 0.0 // (Σa)_i, (bm)_i and (t : Σ)_i
		for j := range n {
			first += 0.5 * b[i*n+j] * state[i*size+j]
			along += a[j] * state[i*size+j]
			bent += b[i*n+j] * p.m.At(0, j)
			for q, term := range p.terms {
				p.spread[q] += a[i] * a[j] * term[i*size+j]
			}
			ahead, back := 0.0, 0.0 // (bΣ)_ij and (bΣ)_ji
			for k := range n {
				ahead += b[i*n+k] * state[k*size+j]
				back += b[j*n+k] * state[k*size+i]
				twisted += t[(i*n+j)*n+k] * state[j*size+k]
				for q, third := range p.thirds {
					by := a[i] * b[j*n+k] * third[(i*size+j)*size+k]
					if q > 0 {
						p.assumed += by
						continue
					}
					p.readout[0] += by
					p.mean += t[(i*n+j)*n+k] * third[(i*size+j)*size+k] / 6
				}
			}
			p.readout[2] += 0.5 * ahead * back
		}
		p.variance += a[i] * along
		p.readout[1] += 2 * along * bent
		p.readout[2] += along * twisted
	}
	for j, x := range p.after { // aᵀAΣa
		for i := range n {
			p.next += x * a[i] * state[j*size+i]
		}
	}
	p.shift += first
	p.shiftSquare += first * first
}

// read sets the averages over the phases.
func (p *phaseSums) read(out *secondOrder) {
	out.mean, out.assumed = p.mean/p.count, p.assumed/p.count
	shift := p.shift / p.count
	readout := append(p.readout[:], max(p.shiftSquare-p.count*shift*shift, 0)) // the mean moves with the phase
	for q, x := range p.spread {
		if q == assumedTerm {
			out.assumed += x / p.count
			continue
		}
		out.spread += x / p.count
		out.size += math.Abs(x) / p.count
	}
	for _, x := range readout {
		out.readout += x / p.count
		out.size += math.Abs(x) / p.count
	}
	if p.variance > 0 {
		out.fast = 1 - p.next/p.variance
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
