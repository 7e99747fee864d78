package claim

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/path"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// What the claims compare with.
const (
	// the least R² of the critically damped law on training reward, as the paper reports it
	paperBar    = 0.91
	leastGain   = 0.5 // the Gain of a forecast whose error is twice that of persistence
	halfOfPairs = 0.5 // share of pairs from which on a plateau counts as forecast
)

// law returns the law that a check fits, fault included.
func (m *Model) law() measure.Law { return measure.Law(cmp.Or(m.Fault.Law, m.Check.Law)) }

// lawFitNumbers compares the R² of a law with that of the mean-field curve under the noise of the
// log. By the paper's rule it is compared with the paper's bar; of another law its distance from
// the paper's law with 0.
func lawFitNumbers(m *Model, _ []*plan.Cell) []scalar {
	quantity := "R² of the " + m.Check.Law + " law"
	switch {
	case m.Kind != rom.PaperRule:
		return []scalar{{quantity: quantity, estimate: sim.LoggedR2(measure.Law(m.Check.Law)),
			predict: func(m *Model, c *plan.Cell) scope.Number { return m.loggedR2(c, m.law()) }}}
	case m.Check.Law != string(measure.CriticallyDamped):
		return []scalar{atLeast("R² of the critically-damped law less that of the "+m.Check.Law,
			sim.LoggedLead(m.law()), 0)}
	}
	return []scalar{atLeast(quantity, sim.LoggedR2(m.law()), paperBar)}
}

// forecastNumbers compares with a half the error of persistence over that of a law, and the share
// of pairs whose plateau the law finds.
func forecastNumbers(m *Model, _ []*plan.Cell) []scalar {
	by := " by the " + m.Check.Law + " law from 30 %"
	return []scalar{
		atLeast("error of persistence / error of the forecast"+by, sim.LoggedGain(m.law()), leastGain),
		atLeast("share of pairs with the plateau found"+by, sim.LoggedPlateau(m.law()), halfOfPairs),
	}
}

// atLeast returns a number that is claimed not to be below a bound.
func atLeast(quantity, estimate string, bound float64) scalar {
	return scalar{quantity: quantity, estimate: estimate, side: FromBelow,
		predict: func(*Model, *plan.Cell) scope.Number {
			return scope.Number{Value: bound, Kind: rom.PaperRule}
		}}
}

// LogNoise returns the variance of the mean of two logs about the mean-field curve at each step
// that is read: Var r/(2GB), 0 at G = ∞.
func (m *Model) LogNoise(c *plan.Cell) []float64 {
	params, at := m.Params(c), sim.FitSteps(sim.LoggedFit, c.Settings.Run.Steps)
	variance := make([]float64, len(at))
	if c.Deterministic() {
		return variance
	}
	s := m.Settings(c)
	samples := 2 * float64(s.Estimator.GroupSize) * float64(s.Estimator.GroupsPerStep)
	next := 0
	path.MeanField(params, c.Start, c.Settings.Run.Steps, func(t int, theta []float64) {
		if at[next] == t {
			variance[next] = m.Fault.Scale.Noise * force.RewardVariance(params, theta) / samples
			next++
		}
	})
	return variance
}

// loggedR2 returns the predicted R² of a law on the mean of two logs. f(t) is the mean-field curve,
// v(t) the variance of the log about it, n the number of steps and k that of the parameters:
//
//	R² = 1 − [Σ residual(f)² + (1 − k/n) Σ v]/[Σ (f − mean)² + (1 − 1/n) Σ v].
//
// The residuals are those of the fit to f. The scatter of the two policies changes slowly: a fit
// can follow it, and explain Var J/2 at every step. The best of n shapes explains at most about 2
// ln n times the mean of v by noise alone. A law may be fitted to noise if it explains less than 6
// ln n times that mean, two standard deviations more. This much is then neglected.
func (m *Model) loggedR2(c *plan.Cell, law measure.Law) scope.Number {
	curve, theory := m.By("").Curve(c)
	if theory.Out() {
		return theory
	}
	steps, reward := curve.Sample(sim.FitSteps(sim.LoggedFit, c.Settings.Run.Steps))
	noise := m.LogNoise(c)
	n := float64(len(reward))
	// all returns the sum of squares of a log about its mean, and the part of it by noise.
	all := func(reward []float64) (square, scatter float64) {
		mean := measure.Average(reward)
		for i, v := range noise {
			square += (reward[i] - mean) * (reward[i] - mean)
			scatter += v
		}
		return square, scatter
	}
	// r2 returns R² of a log about a curve, and what the fit to the curve alone explains of its
	// sum of squares.
	r2 := func(reward []float64) (value, explained float64) {
		fit, ok := measure.FitLaw(law, steps, reward)
		if !ok {
			return math.NaN(), 0
		}
		square, scatter := all(reward)
		residual := (1-fit.R2)*square + (1-float64(law.Parameters())/n)*scatter
		return 1 - residual/(square+(1-1/n)*scatter), fit.R2 * square
	}
	value, explained := r2(reward)
	square, scatter := all(reward)
	rounding := 0x1p-52 * n * floats.Norm(reward, 2) // of the mean, at every step
	if theory.Value = value; math.IsNaN(value) || square+scatter < rounding*rounding {
		theory.Because = scope.Undecided.Because(
			"the mean-field curve has too few points, or does not change")
	}
	size := 0.0
	for _, displaced := range curve.displaced(steps, reward) {
		other, _ := r2(displaced)
		size = max(size, math.Abs(other-value))
	}
	curve.neglect(&theory, size)
	if v := m.prediction(c).Exact.StationaryVariance.ExpectedReward; v != nil {
		theory.Leave(scope.Sampling, n**v/2/(square+scatter))
	}
	if explained < 6*math.Log(n)*scatter/n {
		theory.Leave(scope.Sampling, 2*math.Log(n)*scatter/n/(square+scatter))
	}
	return theory
}

// modeNumbers compares with 1 the share of replicas with the check's failure mode, by our criteria,
// or for the paper's rule by the paper's.
func modeNumbers(m *Model, _ []*plan.Cell) []scalar {
	share, quantity := plan.NamedShare, "share of replicas named "+m.Check.Mode
	if m.Check.Prediction == rom.PaperRule {
		quantity += " by the paper's diagnostics"
	}
	if m.Kind == rom.PaperRule {
		share = plan.PaperNamedShare
	}
	return []scalar{{
		quantity: quantity, estimate: share(diagnose.Mode(cmp.Or(m.Fault.Mode, m.Check.Mode))),
		predict: func(m *Model, _ *plan.Cell) scope.Number {
			return scope.Number{Value: 1, Kind: cmp.Or(m.Kind, rom.Exact)}
		},
		instead: func(o *store.Outcome) string { return namedInstead(o, share) },
	}}
}

// namedInstead says which modes were named in how many replicas, for a verdict that does not agree.
func namedInstead(o *store.Outcome, share func(diagnose.Mode) string) string {
	var counts []string
	for _, mode := range diagnose.Modes {
		if e, ok := o.Estimate(share(mode)); ok && e.Mean > 0 {
			n := max(e.DF, 0) + 1
			counts = append(counts, fmt.Sprintf("%s in %.0f of %d", mode, e.Mean*float64(n), n))
		}
	}
	if counts == nil {
		return ""
	}
	return "named: " + strings.Join(counts, ", ")
}
