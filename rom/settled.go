package rom

import (
	"fmt"
	"math"

	"grposim/option"
	"grposim/rom/linear"

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
// starts at 0 lacks M^r Σ M^rᵀ, Σ the stationary one, after r refresh periods (docs/theory.md §6).
// With random ages this takes their noise as that of the stationary law from the start on.
func (e *Equilibrium) Settled(o option.Optimizer, l option.Lag, from, to int) Settled {
	l.Complete()
	must(o.Check)
	must(l.Check)
	if e.prompts != nil {
		return e.settledTabular(o, l, from, to)
	}
	whole := Settled{Reward: 1, Largest: 1}
	if e.linearization == nil || to <= from || e.params.GroupSize == option.Infinite || linear.NewLag(&l).Period() > linear.MaxPeriod {
		return whole
	}
	p := e.params
	p.Optimizer, p.Lag = o, l
	at, m, because := e.dynamicsOf(p)
	if because != "" || m.TooLarge() != "" {
		return whole
	}
	largest := linear.Radius(m.Whole.Monodromy())
	if !(largest < 1) {
		return whole
	}
	law, ok := m.Whole.Law()
	gradient := at.rewardGradient()
	if !ok || !(linear.Form(gradient, law.TimeAverage(), gradient) > 0) {
		return whole
	}
	beta1 := 0.0
	if o.Kind == option.Adam {
		beta1 = o.Beta1
	}
	lacks, since := law.Lacks(beta1)
	share := law.Share(lacks, gradient, from-since, to-since)
	settled := Settled{Reward: share, Largest: share, Kurtosis: at.rewardKurtosis()}
	for a := range at.logits {
		settled.Largest = max(settled.Largest, law.Share(lacks, at.q.RawRowView(a), from-since, to-since))
	}
	for i := range at.relatives {
		relative, ok := m.Relative(i, at.relatives[i].noise).Law()
		if !ok {
			return whole
		}
		lacks, since := relative.Lacks(beta1)
		settled.Largest = max(settled.Largest, relative.Share(lacks, []float64{1}, from-since, to-since))
	}
	if o.Kind == option.Adam {
		settled.Unknown = at.averageError(o, float64(max(from, 1)))
	}
	if from < since {
		settled.Unknown += linear.LargestStart
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
func (l *linearization) escape(p Params, law *linear.Law, largest float64) string {
	sigma := law.TimeAverage()
	n, _ := sigma.Dims()
	var axes mat.EigenSym
	if p.Optimizer.Kind == option.Adam || !axes.Factorize(mat.NewSymDense(n, sigma.RawMatrix().Data), true) {
		return ""
	}
	var vectors mat.Dense
	axes.VectorsTo(&vectors)
	steps := math.Ceil(3 * float64(law.Lag.Period()) / -math.Log(largest))
	if steps > longestReturn {
		return ""
	}
	if int(steps) > l.model.affordable(maxFlowWork) {
		p.integral = nil // the expansion in 1/G is good enough to tell whether a path comes back
	}
	deviations, followed, back := float64(escapeDeviations), 1, 2.0
	if !math.IsInf(p.smoothRange(), 1) && !law.Lag.OnPolicy() {
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
