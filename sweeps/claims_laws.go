package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claims about laws fitted to the logged reward.
var (
	lawFit = logic{
		quantities: lawQuantity,
		find:       perCell(findLaw),
		picture:    picture{family: byLaw, draw: (*judgement).drawLaws},
	}
	lawForecast = logic{
		quantities: forecastQuantities,
		find:       findForecast,
		picture:    lawFit.picture,
	}
)

// What the claims compare with.
const (
	paperBar    = 0.91 // the least R² of the critically damped law on training reward, as the paper reports it
	leastGain   = 0.5  // the Gain of a forecast whose error is twice that of persistence
	halfOfPairs = 0.5  // share of pairs from which on a plateau counts as forecast
)

// lawQuantity returns the quantity of the fit of a law.
func lawQuantity(check *config.Check, _ []*Cell) []string {
	if check.Prediction == rom.PaperRule && check.Law != string(measure.CriticallyDamped) {
		return []string{"R² of the critically-damped law less that of the " + check.Law}
	}
	return []string{"R² of the " + check.Law + " law"}
}

// law returns the law that a check fits, fault included.
func (j *judgement) law() measure.Law { return measure.Law(cmp.Or(j.fault.Law, j.check.Law)) }

// findLaw compares the R² of a law with that of the mean-field curve under the noise of
// the log; by the paper's rule with the paper's bar or, for another law than the paper's,
// its distance from the paper's law with 0.
func findLaw(j *judgement, c *Cell, o *store.Outcome) finding {
	if j.kind != rom.PaperRule {
		f := j.ofRun(c, o, sim.LoggedR2(measure.Law(j.check.Law)))
		f.predicted = j.loggedR2(c, j.law())
		return f
	}
	name, bound := sim.LoggedR2(j.law()), paperBar
	if j.check.Law != string(measure.CriticallyDamped) {
		name, bound = sim.LoggedLead(j.law()), 0
	}
	return j.atLeast(c, o, name, bound)
}

// atLeast returns the finding that an estimate is not below a bound.
func (j *judgement) atLeast(c *Cell, o *store.Outcome, name string, bound float64) finding {
	f := j.ofRun(c, o, name)
	f.predicted, f.side = predicted{value: bound, kind: rom.PaperRule}, FromBelow
	return f
}

// forecastQuantities returns the quantities of a forecast.
func forecastQuantities(check *config.Check, _ []*Cell) []string {
	by := " by the " + check.Law + " law from 30 %"
	return []string{"error of persistence / error of the forecast" + by, "share of pairs with the plateau found" + by}
}

// findForecast compares the error of persistence, over that of a law, with a half, and so
// the share of pairs in which the law finds the plateau.
func findForecast(j *judgement, set CellSet) []finding {
	c := set.Cells[0]
	o := j.outcome(c)
	return []finding{
		j.atLeast(c, o, sim.LoggedGain(j.law()), leastGain),
		j.atLeast(c, o, sim.LoggedPlateau(j.law()), halfOfPairs),
	}
}

// logNoise returns, for each step that is read, the variance of the mean of two logs about
// the mean-field curve: Var r/(2GB) at the mean-field policy, 0 at G = ∞.
func (j *judgement) logNoise(c *Cell) []float64 {
	params, at := j.params(c), sim.FitSteps(sim.LoggedFit, c.Settings.Run.Steps)
	variance := make([]float64, len(at))
	if c.deterministic() {
		return variance
	}
	s := j.settings(c)
	samples := 2 * float64(s.Estimator.GroupSize) * float64(s.Estimator.GroupsPerStep)
	next := 0
	rom.MeanField(params, c.start, c.Settings.Run.Steps, func(t int, theta []float64) {
		if at[next] == t {
			variance[next] = j.fault.Scale.Noise * rom.RewardVariance(params, theta) / samples
			next++
		}
	})
	return variance
}

// loggedR2 returns the predicted R² of a law on the mean of two logs. With f(t) the
// mean-field curve, v(t) the variance of the log about it, n the number of steps read and
// k that of the law's parameters,
//
//	R² = 1 − [Σ residual(f)² + (1 − k/n) Σ v]/[Σ (f − mean)² + (1 − 1/n) Σ v],
//
// where the residuals are those of the fit to f. The scatter of the policies of the two
// runs is neglected: a fit can follow it, because it changes slowly, and so explain Var J/2
// at every step. The best of n shapes explains at most about 2 ln n times the mean of v of noise alone.
// Where what the fit to f explains does not exceed that by twice its own standard deviation, 6 ln n
// times the mean of v, the law may be fitted to noise, and this much is neglected.
func (j *judgement) loggedR2(c *Cell, law measure.Law) predicted {
	curve, theory := j.by("").curve(c)
	if theory.outOfScope != "" {
		return theory
	}
	steps, reward := curve.sample(sim.FitSteps(sim.LoggedFit, c.Settings.Run.Steps))
	noise := j.logNoise(c)
	n := float64(len(reward))
	// all returns the sum of squares of a log about its mean, and the part of it by noise.
	all := func(reward []float64) (square, scatter float64) {
		mean := measure.Mean(reward).Mean
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
	if theory.value = value; math.IsNaN(value) || square+scatter < rounding*rounding {
		theory.outOfScope = "the mean-field curve has too few points, or does not change but for rounding"
	}
	size := 0.0
	for _, displaced := range curve.displaced(steps, reward) {
		other, _ := r2(displaced)
		size = max(size, math.Abs(other-value))
	}
	curve.neglect(&theory, size)
	s := j.settings(c)
	if v := j.predictSettings(&s).Exact.StationaryVariance.ExpectedReward; v != nil {
		theory.neglected += n * *v / 2 / (square + scatter)
	}
	if explained < 6*math.Log(n)*scatter/n {
		theory.neglected += 2 * math.Log(n) * scatter / n / (square + scatter)
	}
	return theory
}

// drawLaws returns a picture of the laws fitted to the mean-field curve of the last of the
// cells, and of the forecast of it by the paper's law from its first 30 %, with the
// simulated mean reward and the noise of the log.
func (j *judgement) drawLaws(d *figureSource) Figure {
	set := d.sets[len(d.sets)-1]
	c := set.Cells[0]
	f := Figure{Title: "Laws fitted to a run without inertia, " + cmp.Or(withoutVariant(set.Label, c.Variant), "the only cell"), XLabel: "optimizer step", YLabel: "reward"}
	f.Caption = "The run has no inertia. Where several laws, with and without inertia, follow its curve within the noise of a log, a good fit does not identify the dynamics. The forecast is fitted to the left of the vertical line only."
	curve, theory := j.by("").curve(c)
	recorded := j.trajectory(j.outcome(c), sim.ExpectedReward)
	if recorded == nil || theory.outOfScope != "" {
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
	measured := FigureSeries{Name: "simulated mean of J", Group: "reward", Mark: Measured}
	last := math.Inf(-1)
	for i, t := range recorded.Steps {
		if x := float64(t); x >= last+float64(steps[len(steps)-1])/30 {
			last = x
			e := c.meanReward(recorded, i)
			lo, hi := e.Interval(j.confidence)
			measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
		}
	}
	f.Series = append(f.Series, measured)
	return f
}

// byLaw is the family of all checks about laws.
func byLaw(*config.Check) string { return "laws" }
