package linear

import (
	"math"
	"math/bits"

	"grposim/option"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Lyapunov solves X = A X Aᵀ + Q for a stable A and a symmetric Q by doubling: X ← X + A X Aᵀ,
// A ← A². After k rounds X is the sum of 2^k terms of the series Σ A^i Q A^iᵀ. ok is false where
// the series does not converge or the residual ‖X − A X Aᵀ − Q‖ exceeds 1e-9 ‖X‖.
func Lyapunov(a, q *mat.Dense) (x *mat.Dense, ok bool) {
	n, _ := a.Dims()
	x = mat.DenseCopyOf(q)
	factor := mat.DenseCopyOf(a)
	largest := func(m *mat.Dense) float64 { return Norm(m.RawMatrix().Data) }
	for range 64 {
		more := Congruence(factor, x)
		x.Add(x, more)
		if !Finite(x) {
			return nil, false
		}
		last := true // of each coordinate: at a small learning rate velocities vary far more than logits
		for i := range n {
			last = last && more.At(i, i) <= 1e-17*x.At(i, i)
		}
		if last {
			break
		}
		factor = product(factor, factor)
	}
	x = mat.DenseCopyOf(SymmetricPart(x)) // it is symmetric except for rounding
	residual := Sum(Congruence(a, x), q)
	residual.Sub(x, residual)
	miss := largest(residual)
	return x, !math.IsNaN(miss) && miss <= 1e-9*largest(x)
}

// Congruence returns A X Aᵀ.
func Congruence(a, x *mat.Dense) *mat.Dense {
	rows, columns := a.Dims()
	out := mat.NewDense(rows, rows, nil)
	congruence(out, mat.NewDense(rows, columns, nil), a, x)
	return out
}

// congruence is Congruence into out, by way of A X in half.
func congruence(out, half, a, x *mat.Dense) {
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a.RawMatrix(), x.RawMatrix(), 0, half.RawMatrix())
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, half.RawMatrix(), a.RawMatrix(), 0, out.RawMatrix())
}

// Law is the stationary law of a System s′ = A s + Γ ξ, s the state of step.
type Law struct {
	*System
	A, Gamma *mat.Dense // A and Γ
	kicks    *mat.Dense // Γ Cov[ξ] Γᵀ
	// inside is the map of a step inside a period, and fresh the noise that each step adds: A and
	// kicks. Reused samples give the same ξ in all steps, so that there it is part of the state and no
	// step adds noise.
	inside, fresh *mat.Dense
	// start is the covariance of the state at the end of a period, without the position that a
	// refresh drops.
	start *mat.Dense
	// cycle is stateSum of a whole period; nil: it has not been needed.
	cycle *mat.Dense
}

// Law returns the stationary law; ok is false where Lyapunov finds none.
func (s *System) Law() (law Law, ok bool) {
	law = Law{System: s}
	law.A, law.Gamma = s.step()
	law.kicks = Congruence(law.Gamma, s.Noise)
	law.inside, law.fresh = law.A, law.kicks
	size, _ := law.A.Dims()
	if s.Samples != option.Fresh {
		n := s.Dim()
		law.inside, law.fresh = Identity(size+n), mat.NewDense(size+n, size+n, nil)
		law.inside.Slice(0, size, 0, size).(*mat.Dense).Copy(law.A)
		law.inside.Slice(0, size, size, size+n).(*mat.Dense).Copy(law.Gamma)
	}
	period := s.Monodromy()
	free, _ := period.Dims()
	// The noise of a whole period, W_K = Σ_{j<K} A^j Q A^jᵀ.
	whole := after(law.inside, law.entered(mat.NewDense(size, size, nil)), law.fresh, s.Lag.Period())
	noise := Sum(Congruence(whole.power, whole.x), whole.noise).Slice(0, free, 0, free)
	if law.start, ok = Lyapunov(period, mat.DenseCopyOf(noise)); ok && s.AgeDraws > 0 {
		ok = law.addAgeNoise()
	}
	return law, ok
}

// passage holds the result of n steps s′ = A s + ξ from a state of the covariance X.
type passage struct {
	x     *mat.Dense // X
	power *mat.Dense // A^n
	noise *mat.Dense // W_n = Σ_{j<n} A^j Q A^jᵀ, Q = Cov ξ
	sum   *mat.Dense // S_n, of the covariances before each of the steps
}

// after returns the passage of n ≥ 1 steps by doubling:
//
//	S_{n+1} = X + A S_n Aᵀ + n Q,   S_{2n} = S_n + A^n S_n A^nᵀ + n W_n
func after(a, x, q *mat.Dense, steps int) passage {
	p := passage{x, mat.DenseCopyOf(a), mat.DenseCopyOf(q), mat.DenseCopyOf(x)}
	size, _ := a.Dims()
	half, more := mat.NewDense(size, size, nil), mat.NewDense(size, size, nil)
	// pass sets y to first + B y Bᵀ + n c.
	pass := func(y, first, b *mat.Dense, n float64, c *mat.Dense) {
		congruence(more, half, b, y)
		start, by, times, out := first.RawMatrix().Data, more.RawMatrix().Data, c.RawMatrix().Data, y.RawMatrix().Data
		for i, v := range times {
			out[i] = n*v + by[i] + start[i]
		}
	}
	for bit, n := bits.Len(uint(steps))-2, 1.0; bit >= 0; bit-- {
		pass(p.sum, p.sum, p.power, n, p.noise)
		pass(p.noise, p.noise, p.power, 0, p.noise)
		more.Mul(p.power, p.power)
		more, p.power = p.power, more
		if n *= 2; steps>>bit&1 == 1 {
			pass(p.sum, x, a, n, q)
			pass(p.noise, q, a, 0, q)
			more.Mul(a, p.power)
			more, p.power = p.power, more
			n++
		}
	}
	return p
}

// MeanSquares returns E (r·(x, x_old))² averaged over the phases, for each row r of the given
// matrix; with reused samples and 3n columns E (r·(x, x_old, ξ))².
func (s *Law) MeanSquares(rows *mat.Dense) []float64 {
	count, columns := rows.Dims()
	sum, n := s.jointSum(s.Lag.Period()), s.Dim()
	if columns > 2*n {
		at, size := s.Places(), len(s.A.RawRowView(0))
		for i := range n {
			at = append(at, size+i)
		}
		sum = among(s.stateSum(s.Lag.Period()), at)
	}
	squares := Congruence(rows, sum)
	means := make([]float64, count)
	for a := range means {
		means[a] = squares.At(a, a) / float64(s.Lag.Period())
	}
	return means
}

// stateSum returns the sum of the covariance of the state over the first phases of a period, as
// many as given. Nothing may write into it.
func (s *Law) stateSum(phases int) *mat.Dense {
	whole := phases == s.Lag.Period()
	if whole && s.cycle != nil {
		return s.cycle
	}
	x := s.entered(s.refreshed(s.start))
	if phases == 0 {
		x.Zero()
		return x
	}
	sum := after(s.inside, x, s.fresh, phases).sum
	if whole {
		s.cycle = sum
	}
	return sum
}

// jointSum is stateSum of (x, x_old).
func (s *Law) jointSum(phases int) *mat.Dense {
	if at := s.Places(); at != nil {
		return among(s.stateSum(phases), at)
	}
	joint := s.aged()
	joint.Scale(float64(phases), joint)
	return joint
}

// among returns the entries of m in the given rows and columns.
func among(m *mat.Dense, at []int) *mat.Dense {
	out := mat.NewDense(len(at), len(at), nil)
	out.Apply(func(i, j int, _ float64) float64 { return m.At(at[i], at[j]) }, out)
	return out
}

// entered returns the covariance of the state of inside at the first step of a period, given that
// of the state.
func (s *Law) entered(state *mat.Dense) *mat.Dense {
	size, _ := state.Dims()
	all, _ := s.inside.Dims()
	x := mat.NewDense(all, all, nil)
	x.Slice(0, size, 0, size).(*mat.Dense).Copy(state)
	if all > size {
		x.Slice(size, all, size, all).(*mat.Dense).Copy(s.System.Noise)
	}
	return x
}

// States yields the phases of a period, beginning with the step of the refresh, and the covariance
// of the state before the step in each. Behind the state are reused samples. It is overwritten by
// the next.
func (s *Law) States(yield func(phase int, state *mat.Dense) bool) {
	state, turned := s.entered(s.refreshed(s.start)), mat.DenseCopyOf(s.inside.T())
	for k := 0; yield(k, state) && k+1 < s.Lag.Period(); k++ {
		state.Mul(product(s.inside, state), turned)
		state.Add(state, s.fresh)
	}
}

// refreshed returns the covariance of the state just after a refresh, given that at the end of a
// period; the same without refreshes.
func (s *Law) refreshed(before *mat.Dense) *mat.Dense {
	if !s.refreshes() {
		return before
	}
	size, _ := s.A.Dims()
	state := mat.NewDense(size, size, nil)
	state.Apply(func(i, j int, _ float64) float64 { return before.At(s.beforeRefresh(i), s.beforeRefresh(j)) }, state)
	return state
}

// Places returns the places in the state of the 2n coordinates of (x, x_old); nil where x_old is a
// mean of several positions.
func (s *Law) Places() []int {
	old, ok := s.Lag.place()
	if !ok {
		return nil
	}
	n := s.Dim()
	at := make([]int, 2*n)
	for i := range n {
		at[i], at[n+i] = i, old*n+i
	}
	return at
}

// Phases yields the phases as States does, with the covariance of (x, x_old), 2n×2n. With
// random ages x_old is the position of a random age.
func (s *Law) Phases(yield func(phase int, joint *mat.Dense) bool) {
	at := s.Places()
	if at == nil {
		yield(0, s.aged())
		return
	}
	for phase, state := range s.States {
		if !yield(phase, among(state, at)) {
			return
		}
	}
}

// aged returns the covariance of (x, x_{t−a}) with a random age a. x_{t−a} has the covariance of x.
// With x it has the covariance of y = Σ p_j x_{t−j}.
func (s *Law) aged() *mat.Dense {
	n := s.Dim()
	with := s.withMean()
	joint := mat.NewDense(2*n, 2*n, nil)
	block := func(i, j int) *mat.Dense { return joint.Slice(i, i+n, j, j+n).(*mat.Dense) }
	block(0, 0).Copy(s.start)
	block(n, n).Copy(s.start)
	block(n, 0).Copy(with)
	block(0, n).Copy(with.Slice(0, n, 0, n).T())
	return joint
}

// withMean returns the covariance of y = Σ p_j x_{t−j} with the whole state.
func (s *Law) withMean() *mat.Dense {
	n := s.Dim()
	size, _ := s.A.Dims()
	with := mat.NewDense(n, size, nil)
	for k, weight := range s.Lag.weights() {
		for i := range n {
			floats.AddScaled(with.RawRowView(i), weight, s.start.RawRowView(k*n+i))
		}
	}
	return with
}

// ageNoise returns the covariance of the force due to random ages, Λ_s Cov_p(x_{t−a}) Λ_sᵀ/B_a. All
// x_{t−j} have the covariance of x, so that Cov_p(x_{t−a}) is Cov x − Cov Σ p_j x_{t−j} = Cov x −
// Cov y.
func (s *Law) ageNoise() *mat.Dense {
	n := s.Dim()
	with, spread := s.withMean(), mat.NewDense(n, n, nil)
	spread.Copy(s.start.Slice(0, n, 0, n))
	for k, weight := range s.Lag.weights() {
		for i := range n {
			floats.AddScaled(spread.RawRowView(i), -weight, with.RawRowView(i)[k*n:(k+1)*n])
		}
	}
	noise := Congruence(s.Stale, spread)
	noise.Scale(1/float64(s.AgeDraws), noise)
	return noise
}

// ageShare returns g, the noise of random ages of one mode over the other noise N > 0, under the
// law due to N alone. It is (κφ)² (X_00 − pᵀXp)/B_a, X the covariance of positions of unit noise.
func (s *Law) ageShare() float64 { return s.ageNoise().At(0, 0) / s.System.Noise.At(0, 0) }

// mostAgeRounds bounds the rounds of addAgeNoise. They shrink by g in each, so that more are of a law
// too near to where it is infinite.
const mostAgeRounds = 200

// addAgeNoise adds to a law under the noise N alone that of random ages, which follows from the law
// itself. With the share g of one mode the whole law is 1/(1−g) of the given one; of several modes
// it is the sum of the laws under the age noise of the one before. ok is false where that is
// infinite: the variance grows without bound.
func (s *Law) addAgeNoise() (ok bool) {
	if Norm(s.System.Noise.RawMatrix().Data) == 0 {
		return true // a law of variance 0 has no age noise
	}
	if s.Dim() == 1 {
		g := s.ageShare()
		if !(g < 1) {
			return false
		}
		s.start.Scale(1/(1-g), s.start)
		s.kicks.Scale(1/(1-g), s.kicks)
		return true
	}
	last := *s
	for range mostAgeRounds {
		kicks := Congruence(s.Gamma, last.ageNoise())
		if last.start, ok = Lyapunov(s.A, kicks); !ok {
			return false
		}
		s.kicks.Add(s.kicks, kicks)
		s.start = Sum(s.start, last.start)
		if mat.Trace(last.start) < 1e-14*mat.Trace(s.start) {
			return true
		}
	}
	return false
}

// Snapshot returns the covariance of x_old, n×n, which is the same in all phases.
func (s *Law) Snapshot() *mat.Dense {
	n := s.Dim()
	return mat.DenseCopyOf(s.jointSum(1).Slice(n, 2*n, n, 2*n))
}

// TimeAverage returns the covariance of x averaged over the phases, n×n.
func (s *Law) TimeAverage() *mat.Dense {
	n, period := s.Dim(), s.Lag.Period()
	average := mat.NewDense(n, n, nil)
	average.Scale(1/float64(period), s.stateSum(period).Slice(0, n, 0, n))
	return average
}

// Respond returns the displacement of the mean of the state under a constant force in each phase.
// Both have a row for each phase. It is nil where the monodromy matrix has the eigenvalue 1.
func (s *Law) Respond(forces *mat.Dense) *mat.Dense {
	phases, _ := forces.Dims()
	size, _ := s.A.Dims()
	states := mat.NewDense(phases+1, size, nil)
	pass := func() {
		for p := range phases {
			state, force, next := states.RawRowView(p), forces.RawRowView(p), states.RawRowView(p+1)
			for i := range next {
				next[i] = floats.Dot(s.A.RawRowView(i), state) + floats.Dot(s.Gamma.RawRowView(i), force)
			}
		}
	}
	pass() // the last row is the state at the end of a period that starts at 0
	period := s.Monodromy()
	free, _ := period.Dims()
	closing := Identity(free)
	closing.Sub(closing, period)
	var start mat.VecDense
	if err := start.SolveVec(closing, mat.NewVecDense(free, states.RawRowView(phases)[:free])); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			return nil
		}
	}
	for i, x := range states.RawRowView(0) {
		states.Set(0, i, x+start.AtVec(s.beforeRefresh(i)))
	}
	pass()
	return states.Slice(0, phases, 0, size).(*mat.Dense)
}
