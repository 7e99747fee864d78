package rom

import (
	"math"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// lyapunov solves X = A X Aᵀ + Q for a stable A and a symmetric Q by doubling:
// X ← X + A X Aᵀ, A ← A². After k rounds X is the sum of 2^k terms of the series
// Σ A^i Q A^iᵀ. ok is false where the series does not converge or the residual
// ‖X − A X Aᵀ − Q‖ exceeds 1e-9 ‖X‖.
func lyapunov(a, q *mat.Dense) (x *mat.Dense, ok bool) {
	n, _ := a.Dims()
	x = mat.DenseCopyOf(q)
	factor := mat.DenseCopyOf(a)
	largest := func(m *mat.Dense) float64 { return norm(m.RawMatrix().Data) }
	for range 64 {
		more := congruence(factor, x)
		x.Add(x, more)
		if !finite(x) {
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
	residual := congruence(a, x)
	residual.Add(residual, q)
	residual.Sub(x, residual)
	miss := largest(residual)
	return x, !math.IsNaN(miss) && miss <= 1e-9*largest(x)
}

// congruence returns A X Aᵀ.
func congruence(a, x *mat.Dense) *mat.Dense {
	var left, out mat.Dense
	left.Mul(a, x)
	out.Mul(&left, a.T())
	return &out
}

// stationary is the stationary law of a linear recursion s′ = A s + Γ ξ, s the state
// of linear.step.
type stationary struct {
	*linear
	a, gamma *mat.Dense // A and Γ
	noise    *mat.Dense // Γ Cov[ξ] Γᵀ
	sum      *mat.Dense // of gather: S_k; block only
	// start is the covariance at the start of a period: of the state without its oldest
	// snapshot before a refresh (block), or of s.
	start *mat.Dense
	// powers are M, M², M⁴, … of the monodromy matrix, as far as they have been needed.
	powers []*mat.Dense
}

// stationary returns the stationary law; ok is false where lyapunov finds none.
func (l *linear) stationary() (law stationary, ok bool) {
	law = stationary{linear: l}
	law.a, law.gamma = l.step()
	law.noise = congruence(law.gamma, l.noise)
	if l.lag.Kind != option.Block {
		if law.start, ok = lyapunov(law.a, law.noise); ok && l.lag.Kind == option.Random && l.ageDraws > 0 {
			ok = law.addAgeNoise()
		}
		return law, ok
	}
	// The noise of a whole block, W_K = Σ_{j<K} A^j Q A^jᵀ.
	size, _ := law.a.Dims()
	free := size - l.dim()
	law.sum = mat.NewDense(size, l.dim(), nil)
	gathered := mat.NewDense(size, size, nil)
	for k := range l.lag.Interval {
		gathered = law.gather(gathered, k)
	}
	law.start, ok = lyapunov(l.monodromy(), mat.DenseCopyOf(gathered.Slice(0, free, 0, free)))
	return law, ok
}

// gather adds the noise of step k of a block to the covariance state of the state before it
// and returns that after it. Reused samples give the same ξ in all steps: with S_k = Σ_{j<k} A^j Γ
// the covariance after k steps is A^k Σ A^kᵀ + S_k Cov[ξ] S_kᵀ.
func (s *stationary) gather(state *mat.Dense, k int) *mat.Dense {
	state = congruence(s.a, state)
	if s.samples == option.Fresh {
		state.Add(state, s.noise)
		return state
	}
	if k == 0 {
		s.sum.Zero()
	}
	var next mat.Dense
	next.Mul(s.a, s.sum)
	past := congruence(&next, s.linear.noise) // A S Cov[ξ] SᵀAᵀ, which congruence has moved
	s.sum.Add(&next, s.gamma)
	state.Sub(state, past)
	state.Add(state, congruence(s.sum, s.linear.noise))
	return state
}

// states calls visit with the covariance of the state before the step in each phase of
// a refresh period, beginning with the step of the refresh; without a block it calls visit
// once.
func (s *stationary) states(visit func(state *mat.Dense)) {
	if s.lag.Kind != option.Block {
		visit(s.start)
		return
	}
	state := s.refreshed(s.start)
	for k := range s.lag.Interval {
		if k > 0 {
			state = s.gather(state, k-1)
		}
		visit(state)
	}
}

// refreshed returns the covariance of the state just after a refresh, given that of the
// state without its oldest snapshot before it.
func (s *stationary) refreshed(before *mat.Dense) *mat.Dense {
	size, _ := s.a.Dims()
	state := mat.NewDense(size, size, nil)
	state.Apply(func(i, j int, _ float64) float64 { return before.At(s.beforeRefresh(i), s.beforeRefresh(j)) }, state)
	return state
}

// places returns the places in the state of the 2n coordinates of (x, x_old). The ages are
// not random.
func (s *stationary) places() []int {
	n := s.dim()
	old := 1 + s.memory()
	if s.lag.Kind == option.Delay && s.lag.Interval == 0 {
		old = 0
	}
	at := make([]int, 2*n)
	for i := range n {
		at[i], at[n+i] = i, old*n+i
	}
	return at
}

// phases calls visit with the covariance of (x, x_old), 2n×2n, in each phase of states. With
// random ages x_old is the position of a random age.
func (s *stationary) phases(visit func(joint *mat.Dense)) {
	if s.lag.Kind == option.Random {
		visit(s.aged())
		return
	}
	at := s.places()
	s.states(func(state *mat.Dense) {
		joint := mat.NewDense(len(at), len(at), nil)
		joint.Apply(func(i, j int, _ float64) float64 { return state.At(at[i], at[j]) }, joint)
		visit(joint)
	})
}

// aged returns the covariance of (x, x_{t−a}) with a random age a: x_{t−a} has the
// covariance of x, and with x that of y = Σ p_j x_{t−j}.
func (s *stationary) aged() *mat.Dense {
	n := s.dim()
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
func (s *stationary) withMean() *mat.Dense {
	n := s.dim()
	size, _ := s.a.Dims()
	with := mat.NewDense(n, size, nil)
	for k, weight := range s.old() {
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
func (s *stationary) ageNoise() *mat.Dense {
	n := s.dim()
	with, spread := s.withMean(), mat.NewDense(n, n, nil)
	spread.Copy(s.start.Slice(0, n, 0, n))
	for k, weight := range s.old() {
		for i := range n {
			for j := range n {
				spread.Set(i, j, spread.At(i, j)-weight*with.At(i, k*n+j))
			}
		}
	}
	noise := congruence(s.stale, spread)
	noise.Scale(1/float64(s.ageDraws), noise)
	return noise
}

// ageShare returns g, the noise of random ages of one mode over the other noise N > 0, under
// the law due to N alone: (κφ)² (X_00 − pᵀXp)/B_a, X the covariance of positions of unit noise.
func (s *stationary) ageShare() float64 { return s.ageNoise().At(0, 0) / s.linear.noise.At(0, 0) }

// meanSquareRate returns the smallest learning rate at which g of addAgeNoise reaches 1,
// which is below that of the mean, at which the covariance is infinite.
func (s *scalar) meanSquareRate() threshold {
	critical := s.criticalRate()
	if !critical.known || critical.at == 0 {
		return critical
	}
	const points, beyond = 24, 4
	return firstCrossing(func(rate float64) float64 {
		moved := *s
		moved.rate, moved.ageDraws = rate, 0
		l := moved.linear()
		l.noise = single(1)
		law, ok := l.stationary()
		if !ok {
			return beyond
		}
		law.ageDraws = s.ageDraws
		return min(law.ageShare(), beyond)
	}, 1e-3*critical.at, critical.at*(1-1e-9), points)
}

// addAgeNoise adds to a law under the noise N alone that of random ages, which is in
// proportion to the law itself: of one mode a share g, so that the whole law is 1/(1−g) of
// the given one. ok is false for g ≥ 1 (the variance grows without bound) and for several
// modes.
func (s *stationary) addAgeNoise() (ok bool) {
	if s.dim() > 1 {
		return false
	}
	if s.linear.noise.At(0, 0) == 0 {
		return true // nor has a law of variance 0 age noise
	}
	g := s.ageShare()
	if !(g < 1) {
		return false
	}
	s.start.Scale(1/(1-g), s.start)
	s.noise.Scale(1/(1-g), s.noise)
	return true
}

// snapshot returns the covariance of x_old, n×n, which is the same in all phases.
func (s *stationary) snapshot() *mat.Dense {
	var sigma *mat.Dense
	n := s.dim()
	s.phases(func(joint *mat.Dense) {
		if sigma == nil {
			sigma = mat.DenseCopyOf(joint.Slice(n, 2*n, n, 2*n))
		}
	})
	return sigma
}

// timeAverage returns the covariance of x averaged over the phases, n×n.
func (s *stationary) timeAverage() *mat.Dense {
	n, count := s.dim(), 0.0
	sum := mat.NewDense(n, n, nil)
	s.phases(func(joint *mat.Dense) {
		sum.Add(sum, joint.Slice(0, n, 0, n))
		count++
	})
	sum.Scale(1/count, sum)
	return sum
}
