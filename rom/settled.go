package rom

import "gonum.org/v1/gonum/mat"

// Settled returns the share of the stationary linear Var J that the average over the
// steps from ≤ t < to has on average, of replicas that start at the fixed point at
// rest, and with Adam the relative error of Var J by the steps of the second moment
// that are missing at step from. The share is 1 where there is no stationary law.
//
// A covariance that starts at 0 lacks M^r Σ M^rᵀ, Σ the stationary one, after r refresh
// periods (docs/theory.md §6).
func (e *Equilibrium) Settled(o Optimizer, l Lag, from, to int) (share, unknown float64) {
	o.check()
	l.check()
	if e.linearization == nil || to <= from || e.params.GroupSize == Infinite || l.Kind == Block && l.Age > maxPeriod {
		return 1, 0
	}
	p := e.params
	p.Optimizer, p.Lag = o, l
	at, m, because := e.dynamicsOf(p)
	if because != "" || m.tooLarge() != "" || !(radius(m.whole.monodromy()) < 1) {
		return 1, 0
	}
	law, ok := m.whole.stationary()
	if !ok {
		return 1, 0
	}
	gradient := at.rewardGradient()
	whole := form(gradient, law.timeAverage(), gradient)
	if !(whole > 0) {
		return 1, 0
	}
	if o.Method == Adam {
		unknown = at.kurtosis() / float64(max(from, 1))
	}
	var phases []float64 // stationary, of a refresh period
	law.states(func(state *mat.Dense) {
		n := len(gradient)
		phases = append(phases, form(gradient, mat.DenseCopyOf(state.Slice(0, n, 0, n)), gradient))
	})
	sum := func(steps int) float64 { // of the first steps
		stationary := whole * float64(steps/len(phases)*len(phases))
		for _, x := range phases[:steps%len(phases)] {
			stationary += x
		}
		return stationary - law.missing(gradient, steps)
	}
	return (sum(to) - sum(from)) / (float64(to-from) * whole), unknown
}

// missing returns Σ_{t<steps} aᵀ(Σ − Cov x_t)a for a state that starts at 0, Σ the
// stationary covariance of the phase and a the given vector.
func (s *stationary) missing(a []float64, steps int) float64 {
	n, period := s.dim(), 1
	if s.lag.Kind == Block {
		period = s.lag.Age
	}
	size, _ := s.a.Dims()
	free, _ := s.start.Dims()
	// phases returns the sum over the given number of phases of a period that begins
	// with x.
	phases := func(x *mat.Dense, count int) float64 {
		state := mat.NewDense(size, size, nil)
		state.Apply(func(i, j int, _ float64) float64 { return x.At(i%free, j%free) }, state)
		sum := 0.0
		for range count {
			sum += form(a, mat.DenseCopyOf(state.Slice(0, n, 0, n)), a)
			state = congruence(s.a, state)
		}
		return sum
	}
	// Σ_{r<k} M^r Σ M^rᵀ and M^k Σ M^kᵀ by the binary digits of k.
	sum, last := mat.NewDense(free, free, nil), s.start
	factor, partial := s.monodromy(), s.start // M^{2^i}, Σ_{r<2^i} M^r Σ M^rᵀ
	passed := identity(free)                  // M to the power of the digits so far
	for k := steps / period; k > 0; k >>= 1 {
		if k&1 == 1 {
			sum.Add(sum, congruence(passed, partial))
			var next mat.Dense
			next.Mul(passed, factor)
			passed = &next
			last = congruence(factor, last)
		}
		more := congruence(factor, partial)
		more.Add(more, partial)
		partial = more
		var next mat.Dense
		next.Mul(factor, factor)
		factor = &next
	}
	return phases(sum, period) + phases(last, steps%period)
}
