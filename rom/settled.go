package rom

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Settled holds the shares of stationary variances that the steps from ≤ t < to of a run
// have on average. The run starts at rest at the fixed point, where all variances are 0.
type Settled struct {
	Reward  float64 // share of the stationary linear Var J, in [0, 1]; 1 where there is no stationary law
	Largest float64 // the largest share of Var J, of the variance of a logit and of a relative mode; ≥ Reward
	Unknown float64 // with Adam the relative error of Var J by the start of its averages

	Kurtosis float64 // bound on that of one step's force along ∇J; 0: not known
}

// Settled returns the shares of the stationary variances that a run has. A covariance that
// starts at 0 lacks M^r Σ M^rᵀ, Σ the stationary one, after r refresh periods (docs/theory.md §6).
// With random ages this takes their noise as that of the stationary law from the start on.
func (e *Equilibrium) Settled(o Optimizer, l Lag, from, to int) Settled {
	o.check()
	l.check()
	if e.prompts != nil {
		return e.settledTabular(o, l, from, to)
	}
	whole := Settled{Reward: 1, Largest: 1}
	if e.linearization == nil || to <= from || e.params.GroupSize == Infinite || l.Kind == Block && l.Age > maxPeriod {
		return whole
	}
	p := e.params
	p.Optimizer, p.Lag = o, l
	at, m, because := e.dynamicsOf(p)
	if because != "" || m.tooLarge() != "" || !(radius(m.whole.monodromy()) < 1) {
		return whole
	}
	law, ok := m.whole.stationary()
	gradient := at.rewardGradient()
	if !ok || !(form(gradient, law.timeAverage(), gradient) > 0) {
		return whole
	}
	share := law.share(gradient, from, to)
	settled := Settled{Reward: share, Largest: share}
	for a := range at.logits {
		settled.Largest = max(settled.Largest, law.share(at.q.RawRowView(a), from, to))
	}
	for i := range at.relatives {
		relative, ok := m.relative(at, i).stationary()
		if !ok {
			return whole
		}
		settled.Largest = max(settled.Largest, relative.share([]float64{1}, from, to))
	}
	settled.Kurtosis = at.rewardKurtosis()
	if o.Method == Adam {
		settled.Unknown = at.kurtosis()/float64(max(from, 1)) + m.biasCorrection(o, from, to)
	}
	return settled
}

// biasCorrection returns a bound on the relative error of Var J, on average over the steps
// from ≤ t < to, by Adam's factor 1/(1 − β1^t), which a heavy ball lacks. The first
// T = 1/(1−β1) steps then go as far as the force itself. That adds at most 4rT stationary
// variances, r the relaxation rate, or four where T is longer than the relaxation; twice the
// rate stands for that of weak damping. It decays as (1 + rt)² e^{−2rt} or faster.
func (m *linearDynamics) biasCorrection(o Optimizer, from, to int) float64 {
	period := 1.0
	if m.whole.lag.Kind == Block {
		period = float64(m.whole.lag.Age)
	}
	rate := -math.Log(radius(m.whole.monodromy())) / period // of a step
	left := (math.Exp(-2*rate*float64(from)) - math.Exp(-2*rate*float64(to))) / (2 * rate * float64(to-from))
	critical := 1 + rate*float64(from)
	return min(4, 8*rate/(1-o.Beta1)) * critical * critical * left
}

// share returns the share of the stationary variance of aᵀx that the steps from ≤ t < to
// have on average, if x starts at 0; 0 where that variance is 0.
func (s *stationary) share(a []float64, from, to int) float64 {
	whole := form(a, s.timeAverage(), a)
	if !(whole > 0) {
		return 0
	}
	var phases []float64 // stationary, of a refresh period
	s.states(func(state *mat.Dense) {
		n := len(a)
		phases = append(phases, form(a, mat.DenseCopyOf(state.Slice(0, n, 0, n)), a))
	})
	sum := func(steps int) float64 { // of the first steps
		stationary := whole * float64(steps/len(phases)*len(phases))
		for _, x := range phases[:steps%len(phases)] {
			stationary += x
		}
		return stationary - s.missing(a, steps)
	}
	return (sum(to) - sum(from)) / (float64(to-from) * whole)
}

// missing returns Σ_{t<steps} aᵀ(Σ − Cov x_t)a for a state that starts at 0, Σ the
// stationary covariance of the phase and a the given vector.
func (s *stationary) missing(a []float64, steps int) float64 {
	n, period := s.dim(), 1
	if s.lag.Kind == Block {
		period = s.lag.Age
	}
	free, _ := s.start.Dims()
	// phases returns the sum over the given number of phases of a period that begins
	// with x.
	phases := func(x *mat.Dense, count int) float64 {
		state := x
		if s.lag.Kind == Block {
			state = s.refreshed(x)
		}
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
