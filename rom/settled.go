package rom

import (
	"fmt"
	"math"

	"grposim/option"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Settled holds the shares of stationary variances that the steps from ≤ t < to of a run
// have on average. The run starts at rest at the fixed point, where all variances are 0.
type Settled struct {
	Reward  float64 // share of the stationary linear Var J; 1 where there is no stationary law, above 1 with Adam only
	Largest float64 // the largest share of Var J, of the variance of a logit and of a relative mode; ≥ Reward
	Unknown float64 // with Adam the relative error of Var J by the steps of the second moment that are missing at step from, and by those of the first at an earlier one

	Kurtosis float64 // bound on that of one step's force along ∇J; 0: not known
	Escape   string  // why the noise may take a run to another attractor; ""
}

// Settled returns the shares of the stationary variances that a run has. A covariance that
// starts at 0 lacks M^r Σ M^rᵀ, Σ the stationary one, after r refresh periods (docs/theory-neglected.md §6).
// With random ages this takes their noise as that of the stationary law from the start on.
func (e *Equilibrium) Settled(o option.Optimizer, l option.Lag, from, to int) Settled {
	l.Complete()
	must(o.Check)
	must(l.Check)
	if e.prompts != nil {
		return e.settledTabular(o, l, from, to)
	}
	whole := Settled{Reward: 1, Largest: 1}
	if e.linearization == nil || to <= from || e.params.GroupSize == option.Infinite || l.Kind == option.Block && l.Interval > maxPeriod {
		return whole
	}
	p := e.params
	p.Optimizer, p.Lag = o, l
	at, m, because := e.dynamicsOf(p)
	if because != "" || m.tooLarge() != "" {
		return whole
	}
	largest := radius(m.whole.monodromy())
	if !(largest < 1) {
		return whole
	}
	law, ok := m.whole.stationary()
	gradient := at.rewardGradient()
	if !ok || !(form(gradient, law.timeAverage(), gradient) > 0) {
		return whole
	}
	lacks, since := law.lacks(o)
	share := law.share(lacks, gradient, from-since, to-since)
	settled := Settled{Reward: share, Largest: share, Kurtosis: at.rewardKurtosis()}
	for a := range at.logits {
		settled.Largest = max(settled.Largest, law.share(lacks, at.q.RawRowView(a), from-since, to-since))
	}
	for i := range at.relatives {
		relative, ok := m.relative(at, i).stationary()
		if !ok {
			return whole
		}
		lacks, since := relative.lacks(o)
		settled.Largest = max(settled.Largest, relative.share(lacks, []float64{1}, from-since, to-since))
	}
	if o.Kind == option.Adam {
		settled.Unknown = at.averageError(o, float64(max(from, 1)))
	}
	if from < since {
		settled.Unknown += largestStart
	}
	settled.Escape = at.escape(p, &law, largest)
	return settled
}

// A run meets displacements of up to escapeDeviations standard deviations, whose law far out is
// not normal. Smaller ones than leastEscape, in logits, are not followed, and none for more than
// longestReturn steps.
const escapeDeviations, leastEscape, longestReturn = 7, 0.2, 20000

// escape returns why a run may leave the basin of attraction of the fixed point; "" where the
// mean field comes back at least half of the way in three relaxation times from
// escapeDeviations standard deviations on both sides, along the direction of the largest
// variance; with a lag and bounds of the importance weights three quarters of it from further away, along all
// axes of the law. Another attractor, a limit cycle or a saturated policy, can be near a fixed point
// that is stable, where momentum or lag carries the policy far past it. law is the stationary
// law at the parameters p, and largest the modulus of its dominant multiplier.
func (l *linearization) escape(p Params, law *stationary, largest float64) string {
	sigma := law.timeAverage()
	n, _ := sigma.Dims()
	var axes mat.EigenSym
	if p.Optimizer.Kind == option.Adam || !axes.Factorize(mat.NewSymDense(n, sigma.RawMatrix().Data), true) {
		return ""
	}
	var vectors mat.Dense
	axes.VectorsTo(&vectors)
	steps := math.Ceil(3 * float64(law.period()) / -math.Log(largest))
	if steps > longestReturn {
		return ""
	}
	if int(steps) > l.model.affordable(maxFlowWork) {
		p.integral = nil // the expansion in 1/G is good enough to tell whether a path comes back
	}
	deviations, followed, back := float64(escapeDeviations), 1, 2.0
	if !math.IsInf(p.smoothRange(), 1) && !staleness(p.Lag).onPolicy() {
		// Ratios leave the bounds of their weights by the steps of the noise, which are √(2/κ) times
		// those of the mean force κx at one deviation x, and a fast mode makes longer ones. From so far
		// another attractor may lie half of the way back.
		deviations, followed, back = deviations*(1+math.Sqrt(2/(1-largest))), n, 4
	}
	home, x := l.arms(l.logits), make([]float64, n)
	for k := n - 1; k >= n-followed; k-- {
		size, axis := deviations*math.Sqrt(max(axes.Values(nil)[k], 0)), mat.Col(nil, k, &vectors)
		if !(size > leastEscape) {
			break
		}
		for _, side := range [2]float64{size, -size} {
			start, end := l.arms(l.displaced(floats.ScaleTo(x, side, axis))), math.Inf(1)
			_, scope := meanField(p, start, int(steps), func(_ int, theta []float64) bool {
				end = distance(theta, home)
				return true
			})
			if scope.In && !(end < distance(start, home)/back) {
				return fmt.Sprintf("from %.2g standard deviations away the mean field does not come back to the fixed point, so that the noise may take a run to another attractor", deviations)
			}
		}
	}
	return ""
}

// period returns the number of steps of the monodromy matrix.
func (l *linear) period() int {
	if l.lag.Kind == option.Block {
		return l.lag.Interval
	}
	return 1
}

// correctedFor is the number of times 1/(1−β1) after which Adam's correction 1/(1−β1^t) is
// taken for 1; largestStart bounds what it adds to a variance, in stationary ones: the first
// T = 1/(1−β1) steps go as far as the force itself, which adds 2Tη², the stationary one being
// η²/(2r), up to the relaxation time 1/r.
const correctedFor, largestStart = 7, 4

// lacks returns what the covariance of a run that starts at 0 lacks of the stationary one at
// the start of a period: at step 0, or with Adam at the step since, before which its first
// moment is corrected. Its steps of x are 1/(1 − β1^t) times those of a heavy ball.
func (s *stationary) lacks(o option.Optimizer) (covariance *mat.Dense, since int) {
	if o.Kind != option.Adam || o.Beta1 == 0 {
		return s.start, 0
	}
	period := s.period()
	periods := int(math.Ceil(correctedFor / (1 - o.Beta1) / float64(period)))
	free, _ := s.start.Dims()
	size, _ := s.a.Dims()
	state, gone := mat.NewDense(free, free, nil), 1.0
	var a, noise mat.Dense
	for range periods {
		if s.lag.Kind == option.Block {
			state = s.refreshed(state)
		}
		for range period {
			gone *= o.Beta1
			a.CloneFrom(s.a)
			noise.CloneFrom(s.noise)
			for i := range s.dim() { // x′ = x + (step of x)/(1 − β1^t)
				a.Set(i, i, a.At(i, i)-1)
				for j := range size {
					a.Set(i, j, a.At(i, j)/(1-gone))
					noise.Set(i, j, noise.At(i, j)/(1-gone))
					noise.Set(j, i, noise.At(j, i)/(1-gone))
				}
				a.Set(i, i, a.At(i, i)+1)
			}
			state = congruence(&a, state)
			state.Add(state, &noise)
		}
		state = mat.DenseCopyOf(state.Slice(0, free, 0, free))
	}
	state.Sub(s.start, state)
	return state, periods * period
}

// share returns the share of the stationary variance of aᵀx that the steps from ≤ t < to
// after the start of a period have on average, if the covariance lacks what is given there; 0
// where that variance is 0.
func (s *stationary) share(lacks *mat.Dense, a []float64, from, to int) float64 {
	from, to = max(from, 0), max(to, max(from, 0)+1)
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
		return stationary - s.missing(lacks, a, steps)
	}
	return (sum(to) - sum(from)) / (float64(to-from) * whole)
}

// missing returns Σ_{t<steps} aᵀ(Σ − Cov x_t)a for a state that lacks the given part of the
// stationary covariance Σ of the phase at the start of a period, a the given vector.
func (s *stationary) missing(lacks *mat.Dense, a []float64, steps int) float64 {
	n, period := s.dim(), s.period()
	free, _ := lacks.Dims()
	// phases returns the sum over the given number of phases of a period that begins
	// with x.
	phases := func(x *mat.Dense, count int) float64 {
		state := x
		if s.lag.Kind == option.Block {
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
	sum, last := mat.NewDense(free, free, nil), lacks
	factor, partial := s.monodromy(), lacks // M^{2^i}, Σ_{r<2^i} M^r Σ M^rᵀ
	passed := identity(free)                // M to the power of the digits so far
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
