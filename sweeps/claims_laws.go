package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
)

// lawsPicture is that of the claims about laws fitted to the logged reward: of all checks one.
var lawsPicture = picture{family: func(*config.Check) string { return "laws" }, draw: drawLaws}

// What the claims compare with.
const (
	// the least R² of the critically damped law on training reward, as the paper reports it
	paperBar    = 0.91
	leastGain   = 0.5 // the Gain of a forecast whose error is twice that of persistence
	halfOfPairs = 0.5 // share of pairs from which on a plateau counts as forecast
)

// law returns the law that a check fits, fault included.
func (m *model) law() measure.Law { return measure.Law(cmp.Or(m.fault.Law, m.check.Law)) }

// lawFitNumbers compares the R² of a law with that of the mean-field curve under the noise of the
// log. By the paper's rule it is compared with the paper's bar; of another law its distance from
// the paper's law with 0.
func lawFitNumbers(m *model, _ []*Cell) []scalar {
	quantity := "R² of the " + m.check.Law + " law"
	switch {
	case m.kind != rom.PaperRule:
		return []scalar{{quantity: quantity, estimate: sim.LoggedR2(measure.Law(m.check.Law)), predict: func(m *model, c *Cell) scope.Number { return m.loggedR2(c, m.law()) }}}
	case m.check.Law != string(measure.CriticallyDamped):
		return []scalar{atLeast("R² of the critically-damped law less that of the "+m.check.Law, sim.LoggedLead(m.law()), 0)}
	}
	return []scalar{atLeast(quantity, sim.LoggedR2(m.law()), paperBar)}
}

// forecastNumbers compares with a half the error of persistence over that of a law, and the share
// of pairs whose plateau the law finds.
func forecastNumbers(m *model, _ []*Cell) []scalar {
	by := " by the " + m.check.Law + " law from 30 %"
	return []scalar{
		atLeast("error of persistence / error of the forecast"+by, sim.LoggedGain(m.law()), leastGain),
		atLeast("share of pairs with the plateau found"+by, sim.LoggedPlateau(m.law()), halfOfPairs),
	}
}

// atLeast returns a number that is claimed not to be below a bound.
func atLeast(quantity, estimate string, bound float64) scalar {
	return scalar{quantity: quantity, estimate: estimate, side: FromBelow, predict: func(*model, *Cell) scope.Number {
		return scope.Number{Value: bound, Kind: rom.PaperRule}
	}}
}

// logNoise returns the variance of the mean of two logs about the mean-field curve at each step
// that is read: Var r/(2GB), 0 at G = ∞.
func (m *model) logNoise(c *Cell) []float64 {
	params, at := m.params(c), sim.FitSteps(sim.LoggedFit, c.Settings.Run.Steps)
	variance := make([]float64, len(at))
	if c.deterministic() {
		return variance
	}
	s := m.settings(c)
	samples := 2 * float64(s.Estimator.GroupSize) * float64(s.Estimator.GroupsPerStep)
	next := 0
	rom.MeanField(params, c.start, c.Settings.Run.Steps, func(t int, theta []float64) {
		if at[next] == t {
			variance[next] = m.fault.Scale.Noise * force.RewardVariance(params, theta) / samples
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
func (m *model) loggedR2(c *Cell, law measure.Law) scope.Number {
	curve, theory := m.by("").curve(c)
	if theory.Out() {
		return theory
	}
	steps, reward := curve.sample(sim.FitSteps(sim.LoggedFit, c.Settings.Run.Steps))
	noise := m.logNoise(c)
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
		theory.Because = scope.Undecided.Because("the mean-field curve has too few points, or does not change")
	}
	size := 0.0
	for _, displaced := range curve.displaced(steps, reward) {
		other, _ := r2(displaced)
		size = max(size, math.Abs(other-value))
	}
	curve.neglect(&theory, size)
	s := m.settings(c)
	if v := m.predictSettings(&s).Exact.StationaryVariance.ExpectedReward; v != nil {
		theory.Leave(scope.Sampling, n**v/2/(square+scatter))
	}
	if explained < 6*math.Log(n)*scatter/n {
		theory.Leave(scope.Sampling, 2*math.Log(n)*scatter/n/(square+scatter))
	}
	return theory
}

// drawLaws returns a picture of the laws fitted to the mean-field curve of the last cell, with the
// simulated reward and the log's noise. The paper's law also forecasts the curve from its first 30
// %.
func drawLaws(j *judgement, d *figureSource) Figure {
	set := d.sets[len(d.sets)-1]
	c := set.Cells[0]
	f := Figure{Title: "Laws fitted to a run without inertia, " + cmp.Or(withoutVariant(set.Label, c.Variant), "the only cell"), XLabel: "optimizer step", YLabel: "reward"}
	f.Caption = "The run has no inertia. Where several laws, with and without inertia, follow its curve within the noise of a log, a good fit does not identify the dynamics. The forecast is fitted to the left of the vertical line only."
	curve, theory := j.by("").curve(c)
	recorded := j.trajectory(j.outcome(c), sim.ExpectedReward)
	if recorded == nil || theory.Out() {
		return f
	}
	steps, reward := curve.sample(sim.FitSteps(sim.LoggedFit, c.Settings.Run.Steps))
	line := func(name, group string, mark Mark, at func(i int) float64) {
		s := FigureSeries{Name: name, Group: group, Mark: mark}
		for i, t := range steps {
			s.Points = append(s.Points, BarePoint(float64(t), at(i)))
		}
		f.Series = append(f.Series, s)
	}
	const quantile95 = 1.645 // of the standard normal law
	noise := FigureSeries{Name: "mean of two logs, 5–95 %", Group: "reward", Mark: Spread}
	for i, v := range j.logNoise(c) {
		noise.Points = append(noise.Points, FigurePoint{float64(steps[i]), reward[i], reward[i] - quantile95*math.Sqrt(v), reward[i] + quantile95*math.Sqrt(v)})
	}
	f.Series = append(f.Series, noise)
	line("mean field", "reward", Predicted, func(i int) float64 { return reward[i] })
	for _, l := range measure.Laws {
		if fit, ok := measure.FitLaw(l, steps, reward); ok {
			line(fmt.Sprintf("%s, R² = %.3f", l, fit.R2), string(l), Reference, func(i int) float64 { return fit.At(steps[i]) })
		}
	}
	known := measure.KnownPoints(len(steps))
	origin := float64(steps[known-1])
	if fit, ok := measure.FitLaw(measure.CriticallyDamped, steps[:known], reward[:known]); ok {
		forecast := FigureSeries{Name: fmt.Sprintf("critically-damped, from the first 30 %%, plateau %.2g", fit.Plateau), Group: "forecast", Mark: Boundary}
		for _, t := range steps {
			if x := fit.At(t); x <= 1.2*slices.Max(reward) {
				forecast.Points = append(forecast.Points, BarePoint(float64(t), x))
			}
		}
		f.Series = append(f.Series, forecast)
	}
	f.Series = append(f.Series, FigureSeries{Name: "30 %", Group: "forecast", Mark: Boundary,
		Points: []FigurePoint{BarePoint(origin, 0), BarePoint(origin, 1.2*slices.Max(reward))}})
	f.Series = append(f.Series, FigureSeries{Name: "simulated mean of J", Group: "reward", Mark: Measured, Points: j.means(c, recorded, steps[len(steps)-1])})
	return f
}
