package linear

import (
	"math"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// Lyapunov solves X = A X Aᵀ + Q for a stable A and a symmetric Q by doubling:
// X ← X + A X Aᵀ, A ← A². After k rounds X is the sum of 2^k terms of the series
// Σ A^i Q A^iᵀ. ok is false where the series does not converge or the residual
// ‖X − A X Aᵀ − Q‖ exceeds 1e-9 ‖X‖.
func Lyapunov(a, q *mat.Dense) (x *mat.Dense, ok bool) {
	n, _ := a.Dims()
	x = mat.DenseCopyOf(q)
	factor := mat.DenseCopyOf(a)
	largest := func(m *mat.Dense) float64 { return norm(m.RawMatrix().Data) }
	for range 64 {
		more := Congruence(factor, x)
		x.Add(x, more)
		if !Finite(x) {
			return nil, false
		}
		last := true // of each coordinate: with a small learning rate velocities vary far more than logits
		for i := range n {
			last = last && more.At(i, i) <= 1e-17*x.At(i, i)
		}
		if last {
			break
		}
		var next mat.Dense
		next.Mul(factor, factor)
		factor = &next
	}
	// X is symmetric except for rounding.
	for i := range n {
		for j := range i {
			v := 0.5 * (x.At(i, j) + x.At(j, i))
			x.Set(i, j, v)
			x.Set(j, i, v)
		}
	}
	residual := Congruence(a, x)
	residual.Add(residual, q)
	residual.Sub(x, residual)
	miss := largest(residual)
	return x, !math.IsNaN(miss) && miss <= 1e-9*largest(x)
}

// Congruence returns A X Aᵀ.
func Congruence(a, x *mat.Dense) *mat.Dense {
	var left, out mat.Dense
	left.Mul(a, x)
	out.Mul(&left, a.T())
	return &out
}

// Law is the stationary law of a System s′ = A s + Γ ξ, s the state of step.
type Law struct {
	*System
	A, Gamma *mat.Dense // A and Γ
	kicks    *mat.Dense // Γ Cov[ξ] Γᵀ
	sum      *mat.Dense // of gather: S_k
	// start is the covariance of the state at the end of a period, without the position that a
	// refresh drops.
	start *mat.Dense
	// powers are M, M², M⁴, … of the monodromy matrix, as far as they have been needed.
	powers []*mat.Dense
}

// Law returns the stationary law; ok is false where Lyapunov finds none.
func (s *System) Law() (law Law, ok bool) {
	law = Law{System: s}
	law.A, law.Gamma = s.step()
	law.kicks = Congruence(law.Gamma, s.Noise)
	// The noise of a whole period, W_K = Σ_{j<K} A^j Q A^jᵀ.
	size, _ := law.A.Dims()
	law.sum = mat.NewDense(size, s.Dim(), nil)
	gathered := mat.NewDense(size, size, nil)
	if law.long() {
		gathered = law.gathered()
	} else {
		for k := range s.Lag.Period() {
			gathered = law.gather(gathered, k)
		}
	}
	period := s.Monodromy()
	free, _ := period.Dims()
	if law.start, ok = Lyapunov(period, mat.DenseCopyOf(gathered.Slice(0, free, 0, free))); ok && s.AgeDraws > 0 {
		ok = law.addAgeNoise()
	}
	return law, ok
}

// longPeriod is the period from which on sums over its steps are found by doubling: where all that is wanted is a sum.
const longPeriod = 1000

// long reports whether the sums over a period are found by doubling.
func (s *Law) long() bool { return s.Lag.Period() > longPeriod && s.Samples == option.Fresh }

// gathered returns the noise of a long period, by W_{k+m} = A^m W_k A^mᵀ + W_m.
func (s *Law) gathered() *mat.Dense {
	size, _ := s.A.Dims()
	all, step, noise := mat.NewDense(size, size, nil), mat.DenseCopyOf(s.A), mat.DenseCopyOf(s.kicks)
	for k := s.Lag.Period(); k > 0; k /= 2 { // step and noise are those of 1, 2, 4, … steps
		if k%2 == 1 {
			all = Congruence(step, all)
			all.Add(all, noise)
		}
		more := Congruence(step, noise)
		noise.Add(noise, more)
		var next mat.Dense
		next.Mul(step, step)
		step = &next
	}
	return all
}

// MeanSquares returns E (r·(x, x_old))² averaged over the phases, for each row r of the given matrix. In a long period the sum over the phases
// is tr G_K S_0 + tr H_K Q, S_0 the covariance after the refresh, Q the noise of a step, G_K = Σ_{k<K} A^kᵀ r rᵀ A^k and H_K = Σ_{k<K} G_k:
//
//	G_{k+m} = G_k + A^kᵀ G_m A^k,   H_{k+m} = H_k + m G_k + A^kᵀ H_m A^k
func (s *Law) MeanSquares(rows *mat.Dense) []float64 {
	count, _ := rows.Dims()
	sums, phases := make([]float64, count), float64(s.Lag.Period())
	places := s.Places()
	if !s.long() || places == nil {
		phases = 0
		s.Phases(func(joint *mat.Dense) {
			square := Congruence(rows, joint)
			for a := range sums {
				sums[a] += square.At(a, a)
			}
			phases++
		})
	} else {
		start := s.refreshed(s.start)
		size, _ := s.A.Dims()
		for a := range sums {
			row := make([]float64, size)
			for i, place := range places {
				row[place] += rows.At(a, i)
			}
			sums[a] = s.sumOfSquares(row, start)
		}
	}
	for a := range sums {
		sums[a] /= phases
	}
	return sums
}

// sumOfSquares returns the sum over the phases of E (r·s)², s the state of the given covariance at first.
func (s *Law) sumOfSquares(row []float64, start *mat.Dense) float64 {
	size := len(row)
	step := mat.DenseCopyOf(s.A) // and G and H of 1, 2, 4, … steps
	g, h := mat.NewDense(size, size, nil), mat.NewDense(size, size, nil)
	g.Outer(1, mat.NewVecDense(size, row), mat.NewVecDense(size, row))
	power, all, twice := Identity(size), mat.NewDense(size, size, nil), mat.NewDense(size, size, nil) // of the steps so far
	after := func(power, g, x *mat.Dense) { x.Add(x, Congruence(mat.DenseCopyOf(power.T()), g)) }
	for k, m := s.Lag.Period(), 1.0; k > 0; k, m = k/2, 2*m {
		if k%2 == 1 {
			var more mat.Dense
			more.Scale(m, all)
			twice.Add(twice, &more)
			after(power, h, twice)
			after(power, g, all)
			var next mat.Dense
			next.Mul(step, power)
			power = &next
		}
		var more, next mat.Dense
		more.Scale(m, g)
		older := mat.DenseCopyOf(h)
		h.Add(h, &more)
		after(step, older, h)
		older = mat.DenseCopyOf(g)
		after(step, older, g)
		next.Mul(step, step)
		step = &next
	}
	sum := 0.0
	for i := range size {
		for j := range size {
			sum += all.At(i, j)*start.At(i, j) + twice.At(i, j)*s.kicks.At(i, j)
		}
	}
	return sum
}

// gather returns the covariance of the state after step k of a period, given the covariance before
// it. Reused samples give the same ξ in all steps: with S_k = Σ_{j<k} A^j Γ
// the covariance after k steps is A^k Σ A^kᵀ + S_k Cov[ξ] S_kᵀ.
func (s *Law) gather(state *mat.Dense, k int) *mat.Dense {
	state = Congruence(s.A, state)
	if s.Samples == option.Fresh {
		state.Add(state, s.kicks)
		return state
	}
	if k == 0 {
		s.sum.Zero()
	}
	var next mat.Dense
	next.Mul(s.A, s.sum)
	past := Congruence(&next, s.System.Noise) // A S Cov[ξ] SᵀAᵀ, which Congruence has moved
	s.sum.Add(&next, s.Gamma)
	state.Sub(state, past)
	state.Add(state, Congruence(s.sum, s.System.Noise))
	return state
}

// States calls visit with the covariance of the state before the step in each phase of
// a period, beginning with the step of the refresh.
func (s *Law) States(visit func(state *mat.Dense)) {
	state := s.refreshed(s.start)
	for k := range s.Lag.Period() {
		if k > 0 {
			state = s.gather(state, k-1)
		}
		visit(state)
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

// Phases calls visit with the covariance of (x, x_old), 2n×2n, in each phase of States. With
// random ages x_old is the position of a random age.
func (s *Law) Phases(visit func(joint *mat.Dense)) {
	at := s.Places()
	if at == nil {
		visit(s.aged())
		return
	}
	s.States(func(state *mat.Dense) {
		joint := mat.NewDense(len(at), len(at), nil)
		joint.Apply(func(i, j int, _ float64) float64 { return state.At(at[i], at[j]) }, joint)
		visit(joint)
	})
}

// aged returns the covariance of (x, x_{t−a}) with a random age a: x_{t−a} has the
// covariance of x, and with x that of y = Σ p_j x_{t−j}.
func (s *Law) aged() *mat.Dense {
	n := s.Dim()
	with := s.withMean()
	joint := mat.NewDense(2*n, 2*n, nil)
	for i := range n {
		for j := range n {
			joint.Set(i, j, s.start.At(i, j))
			joint.Set(n+i, n+j, s.start.At(i, j))
			joint.Set(n+i, j, with.At(i, j))
			joint.Set(j, n+i, with.At(i, j))
		}
	}
	return joint
}

// withMean returns the covariance of y = Σ p_j x_{t−j} with the whole state.
func (s *Law) withMean() *mat.Dense {
	n := s.Dim()
	size, _ := s.A.Dims()
	with := mat.NewDense(n, size, nil)
	for k, weight := range s.Lag.weights() {
		for i := range n {
			for j := range size {
				with.Set(i, j, with.At(i, j)+weight*s.start.At(k*n+i, j))
			}
		}
	}
	return with
}

// ageNoise returns the covariance of the force due to random ages under the law s,
// Λ_s Cov_p(x_{t−a}) Λ_sᵀ/B_a. All x_{t−j} have the covariance of x, so that Cov_p(x_{t−a}),
// which is Σ p_j Cov x_{t−j} − Cov Σ p_j x_{t−j}, is Cov x − Cov y.
func (s *Law) ageNoise() *mat.Dense {
	n := s.Dim()
	with, spread := s.withMean(), mat.NewDense(n, n, nil)
	spread.Copy(s.start.Slice(0, n, 0, n))
	for k, weight := range s.Lag.weights() {
		for i := range n {
			for j := range n {
				spread.Set(i, j, spread.At(i, j)-weight*with.At(i, k*n+j))
			}
		}
	}
	noise := Congruence(s.Stale, spread)
	noise.Scale(1/float64(s.AgeDraws), noise)
	return noise
}

// ageShare returns g, the noise of random ages of one mode over the other noise N > 0, under
// the law due to N alone: (κφ)² (X_00 − pᵀXp)/B_a, X the covariance of positions of unit noise.
func (s *Law) ageShare() float64 { return s.ageNoise().At(0, 0) / s.System.Noise.At(0, 0) }

// addAgeNoise adds to a law under the noise N alone that of random ages, which is in
// proportion to the law itself: of one mode a share g, so that the whole law is 1/(1−g) of
// the given one. ok is false for g ≥ 1 (the variance grows without bound) and for several
// modes.
func (s *Law) addAgeNoise() (ok bool) {
	if s.Dim() > 1 {
		return false
	}
	if s.System.Noise.At(0, 0) == 0 {
		return true // a law of variance 0 has no age noise
	}
	g := s.ageShare()
	if !(g < 1) {
		return false
	}
	s.start.Scale(1/(1-g), s.start)
	s.kicks.Scale(1/(1-g), s.kicks)
	return true
}

// Snapshot returns the covariance of x_old, n×n, which is the same in all phases.
func (s *Law) Snapshot() *mat.Dense {
	var sigma *mat.Dense
	n := s.Dim()
	s.Phases(func(joint *mat.Dense) {
		if sigma == nil {
			sigma = mat.DenseCopyOf(joint.Slice(n, 2*n, n, 2*n))
		}
	})
	return sigma
}

// TimeAverage returns the covariance of x averaged over the phases, n×n.
func (s *Law) TimeAverage() *mat.Dense {
	n, count := s.Dim(), 0.0
	sum := mat.NewDense(n, n, nil)
	s.Phases(func(joint *mat.Dense) {
		sum.Add(sum, joint.Slice(0, n, 0, n))
		count++
	})
	sum.Scale(1/count, sum)
	return sum
}

// Respond returns the displacement of the mean of the state in each phase under a constant force in
// each phase; nil where the monodromy matrix has the eigenvalue 1.
func (s *Law) Respond(forces [][]float64) []*mat.VecDense {
	n := s.Dim()
	size, _ := s.A.Dims()
	push := func(state *mat.VecDense, force []float64) *mat.VecDense {
		var next, moved mat.VecDense
		next.MulVec(s.A, state)
		moved.MulVec(s.Gamma, mat.NewVecDense(n, force))
		next.AddVec(&next, &moved)
		return &next
	}
	// The state at the end of a period that starts at 0.
	gathered := mat.NewVecDense(size, nil)
	for _, force := range forces {
		gathered = push(gathered, force)
	}
	period := s.Monodromy()
	free, _ := period.Dims()
	closing := Identity(free)
	closing.Sub(closing, period)
	var start mat.VecDense
	if err := start.SolveVec(closing, gathered.SliceVec(0, free)); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			return nil
		}
	}
	state := mat.NewVecDense(size, nil)
	for i := range size {
		state.SetVec(i, start.AtVec(s.beforeRefresh(i)))
	}
	states := []*mat.VecDense{state}
	for _, force := range forces[:len(forces)-1] {
		state = push(state, force)
		states = append(states, state)
	}
	return states
}
