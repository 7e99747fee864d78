package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claims about the mean reward, or the logits, along a run.
var (
	trajectory = logic{
		quantities: only("worst deviation of mean reward, share of the rise"),
		find:       perCell(findTrajectory),
		picture:    picture{draw: (*judgement).drawCurves},
		noiseless: func(j *judgement, c *Cell, o *store.Outcome) {
			if curve, p := j.curve(c); p.outOfScope == "" {
				o.Record(noiselessSeries(c, sim.ExpectedReward, curve.at))
			}
		},
	}
	saturationFit = logic{
		quantities: saturationQuantities,
		find:       findSaturation,
		picture:    picture{family: byClaim, draw: (*judgement).drawFits},
	}
	earlySlope = logic{quantities: only("stiffness by the early slope"), find: perCell(findEarlySlope)}
)

// sameDeviation is the difference of deviations below which the earlier step is
// named: where only rounding differs, every architecture names the same.
const sameDeviation = 1e-9

// findTrajectory compares the mean reward at every recorded step with the
// predicted curve, as a share of the rise J* − J_0. The band is simultaneous
// over the recorded steps (Bonferroni). The finding is the step that decides:
// one where the band lies farthest outside, if anywhere it does wholly, else
// the one where it reaches farthest.
func findTrajectory(j *judgement, c *Cell, o *store.Outcome) finding {
	f := newFinding(rom.Exact)
	f.replicas = c.Settings.Run.Replicas
	recorded := j.trajectory(o, sim.ExpectedReward)
	if recorded == nil || len(recorded.Steps) == 0 || store.CellStatus(o.Status) == store.CellDiverged {
		f.diverged = o.Failure()
		return f
	}
	curve, of := j.curve(c)
	f.predicted = of
	if of.outOfScope != "" {
		return f
	}
	confidence := 1 - (1-j.confidence)/float64(len(recorded.Steps))
	worst, outside := math.Inf(-1), false
	for i, t := range recorded.Steps {
		e := c.meanReward(recorded, i)
		lo, hi := e.Interval(confidence)
		deviation, lo, hi := (e.Mean-curve.at(t))/curve.rise, (lo-curve.at(t))/curve.rise, (hi-curve.at(t))/curve.rise
		lo, hi = min(lo, hi), max(lo, hi)
		if t == 0 { // every replica starts there
			lo, hi = deviation, deviation
		}
		if math.IsNaN(lo) || math.IsNaN(hi) {
			return newFinding(of.kind) // what is not known cannot agree
		}
		reach := max(-lo, hi)
		miss := max(lo, -hi) // by how much the band misses 0
		isOutside := miss > j.margin(0)
		if isOutside {
			reach = miss
		}
		if isOutside && !outside || isOutside == outside && reach > worst+sameDeviation {
			worst, outside = reach, isOutside
			f.measured, f.lo, f.hi = deviation, lo, hi
			f.quantity = fmt.Sprintf("deviation of mean reward at step %d, share of the rise", t)
		}
	}
	return f
}

// saturationQuantities are those of the fit; the reduced-order model, a sum of
// two exponentials, has a rate of its own but no R².
func saturationQuantities(check *config.Check, _ []*Cell) []string {
	quantities := []string{"rate of the free exponential, per step", "R² of the free exponential"}
	if check.Prediction == rom.LeadingOrder {
		return quantities[:1]
	}
	return quantities
}

// findSaturation compares the free exponential fitted to the mean reward with
// the same fit of the mean-field curve; to leading order its rate with k/γ.
func findSaturation(j *judgement, set CellSet) []finding {
	c := set.Cells[0]
	o := j.outcome(c)
	rate := j.ofRun(c, o, sim.SaturationRate)
	if j.kind == rom.LeadingOrder {
		s := j.settings(c)
		rate.predicted = j.relaxationRate(&s)
		return []finding{rate}
	}
	r2 := j.ofRun(c, o, sim.SaturationR2)
	curve, of := j.curve(c)
	rate.predicted, r2.predicted = of, of
	if of.outOfScope == "" {
		rate.predicted.value, r2.predicted.value = measure.Saturation(curve.sample(sim.FitSteps(sim.SaturationFit, c.Settings.Run.Steps)))
	}
	if j.exactInstead {
		return []finding{rate}
	}
	return []finding{rate, r2}
}

// findEarlySlope compares the stiffness that the paper reads off the first
// steps with the same reading of the mean-field curve; by its rule it is the
// stiffness of the stiffest mode.
func findEarlySlope(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.ofRun(c, o, sim.EarlySlope)
	if j.kind == rom.PaperRule {
		p := j.prediction(c)
		f.predicted = predicted{value: p.Stiffness.Total, kind: rom.PaperRule, outOfScope: missingFixedPoint(p)}
		return f
	}
	curve, of := j.curve(c)
	f.predicted = of
	if of.outOfScope == "" {
		s := j.settings(c)
		steps, reward := curve.sample(sim.FitSteps(sim.EarlySlopeFit, c.Settings.Run.Steps))
		f.predicted.value = measure.EarlySlope(steps, reward, s.Optimizer.LearningRate)
	}
	return f
}

// paperBaselineRate is the small learning rate of the run from which the paper
// reads its stiffness; the paper does not state it.
const paperBaselineRate = 0.01

// paperStiffness is the stiffness that the paper's own formulas go with: the
// early slope of the baseline without momentum and lag, from where the cell
// starts; at the fixed point, where there is no slope, λ of the stiffest mode.
func (j *judgement) paperStiffness(c *Cell) predicted {
	stiffness := func(x float64) predicted { return predicted{value: x, kind: rom.PaperRule} }
	none := func(because string) predicted { return predicted{kind: rom.PaperRule, outOfScope: because} }
	s := j.settings(c)
	s.Estimator.GroupSize = grpo.Infinite
	s.Lag = grpo.Lag{Kind: grpo.Block, Interval: 1}
	s.Optimizer = grpo.Optimizer{Kind: grpo.HeavyBall, LearningRate: paperBaselineRate, Schedule: grpo.Schedule{Kind: grpo.ConstantRate}}
	params := Params(&s, j.fault.Scale)
	if c.Settings.Policy.Init.Kind == config.AtFixedPoint {
		p := rom.Predict(params)
		if p.FixedPoint == nil {
			return none(noFixedPoint)
		}
		return stiffness(p.Stiffness.Total)
	}
	point, ok := rom.Reached(params)
	if !ok {
		return none(noFixedPoint)
	}
	steps := sim.FitSteps(sim.EarlySlopeFit, 10*measure.EarlySteps)
	reward := make([]float64, 0, len(steps))
	_, scope := rom.MeanField(params, c.Sim.Init, measure.EarlySteps, func(_ int, theta []float64) {
		reward = append(reward, rom.ExpectedReward(params, theta))
	})
	if !scope.In {
		return none(scope.Because)
	}
	return stiffness(measure.EarlySlope(steps, append(reward, point.Reward, point.Reward), paperBaselineRate))
}

// curve is a predicted mean reward over steps.
type curve struct {
	steps  []int     // at which anything compares a curve
	reward []float64 // at steps; nil where form is
	form   func(t float64) float64
	rise   float64 // J* − J_0
}

// at returns the reward at a step that is recorded or fitted.
func (c *curve) at(t int) float64 {
	if c.reward == nil {
		return c.form(float64(t))
	}
	i, _ := slices.BinarySearch(c.steps, t)
	return c.reward[i]
}

// comparedSteps lists the steps of a run that are recorded or fitted, in order.
func comparedSteps(s *config.Settings) []int {
	steps := sim.RecordedSteps(s.Run.Steps, s.Lag)
	for _, fit := range []sim.CurveFit{sim.SaturationFit, sim.EarlySlopeFit} {
		steps = append(steps, sim.FitSteps(fit, s.Run.Steps)...)
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// sample returns the curve at the given steps, with them.
func (c *curve) sample(steps []int) ([]int, []float64) {
	reward := make([]float64, len(steps))
	for i, t := range steps {
		reward[i] = c.at(t)
	}
	return steps, reward
}

// curve returns the predicted trajectory of a cell: the nonlinear mean-field
// map with the exact drift; the paper's (paper-rule): the G = ∞ curve for every
// G, and at G = ∞ its oscillator at its early-slope stiffness; or the closed
// form of the reduced-order model (leading-order).
func (j *judgement) curve(c *Cell) (cv curve, of predicted) {
	params := j.params(c)
	if j.kind == rom.PaperRule {
		params.GroupSize = rom.Infinite
	}
	of.kind = j.kind
	start := rom.ExpectedReward(params, c.Sim.Init)
	point, ok := rom.Reached(params)
	if !ok {
		of.outOfScope = noFixedPoint
		return curve{}, of
	}
	cv.rise = point.Reward - start
	if math.Abs(cv.rise) < 1e-9 {
		of.outOfScope = "the run starts at the fixed point: there is no rise to compare"
		return curve{}, of
	}
	if j.kind == rom.LeadingOrder {
		form, scope := rom.ClosedForm(params, c.Sim.Init)
		cv.form, of.outOfScope = form, scope.Because
		return cv, of
	}
	if j.kind == rom.PaperRule && c.Settings.Estimator.GroupSize == grpo.Infinite {
		s := j.settings(c)
		of = j.paperStiffness(c)
		cv.form = rom.PaperCurve(of.value, s.Optimizer.LearningRate, s.Optimizer.Momentum, paperAge(&s), start, point.Reward)
		return cv, of
	}
	cv.steps = comparedSteps(&c.Settings)
	cv.reward = make([]float64, len(cv.steps))
	next := 0
	force, scope := rom.MeanField(params, c.Sim.Init, c.Settings.Run.Steps, func(t int, theta []float64) {
		if cv.steps[next] == t {
			cv.reward[next] = rom.ExpectedReward(params, theta)
			next++
		}
	})
	of.kind = cmp.Or(of.kind, force)
	of.outOfScope = cmp.Or(scope.Because, j.missingExact(force))
	return cv, of
}

// maxCurves is how many curves a picture can tell apart.
const maxCurves = 7

// thinned returns at most maxCurves of the sets, evenly spaced, with the first
// and the last.
func thinned(sets []CellSet) []CellSet {
	if len(sets) <= maxCurves {
		return sets
	}
	var some []CellSet
	for i := range maxCurves {
		some = append(some, sets[i*(len(sets)-1)/(maxCurves-1)])
	}
	return some
}

// ofHowMany says in a title that not all cells are drawn.
func drawnOf(sets []CellSet) string {
	if len(sets) <= maxCurves {
		return ""
	}
	return fmt.Sprintf(" (%d of %d cells)", maxCurves, len(sets))
}

// shortRun is the length up to which a run is drawn over its steps, not over
// their logarithm.
const shortRun = 1000

// curvesOf begins a picture of mean rewards over steps.
func curvesOf(title string, sets []CellSet) Figure {
	f := Figure{Title: title + drawnOf(sets), XLabel: "optimizer step", YLabel: "expected reward J"}
	for _, set := range sets {
		if set.Cells[0].Settings.Run.Steps > shortRun {
			f.XScale = LogAxis
		}
	}
	return f
}

// drawCurves shows the mean reward over steps against the predicted curve.
// Without noise, and against another theory than the exact, what was simulated
// is a curve itself.
func (j *judgement) drawCurves(d *drawing) Figure {
	sets := d.sets
	against := map[rom.Kind]string{rom.LeadingOrder: "reduced-order model", rom.PaperRule: "paper’s curve"}[j.kind]
	f := curvesOf("Mean reward against the predicted curve", sets)
	if against != "" {
		f.Title = "Mean reward against the " + against + drawnOf(sets)
	}
	for _, set := range thinned(sets) {
		c := set.Cells[0]
		name := withoutVariant(set.Label, c.Variant)
		recorded := j.trajectory(j.outcome(c), sim.ExpectedReward)
		if recorded == nil {
			continue
		}
		reward := recorded.Series(sim.ExpectedReward)
		measured := FigureSeries{Name: name, Group: name, Mark: Measured}
		predicted := FigureSeries{Name: name + " predicted", Group: name, Mark: Predicted}
		spread := FigureSeries{Name: name + " 5–95 %", Group: name, Mark: Spread}
		every := 8
		if c.Sim.Deterministic() && against != "" {
			measured.Name, measured.Mark, every = "simulated", Predicted, 1
			predicted.Name, predicted.Mark = against, Reference
		}
		curve, of := j.curve(c)
		for i, t := range recorded.Steps {
			if t == 0 && f.XScale == LogAxis {
				continue
			}
			x, q := float64(t), reward.Quantiles[i]
			if i%every == 0 {
				e := c.meanReward(recorded, i)
				lo, hi := e.Interval(j.confidence)
				if measured.Mark == Predicted {
					lo, hi = math.NaN(), math.NaN()
				}
				measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
			}
			spread.Points = append(spread.Points, FigurePoint{x, float64(q[2]), float64(q[0]), float64(q[4])})
			if of.outOfScope == "" {
				predicted.Points = append(predicted.Points, FigurePoint{x, curve.at(t), math.NaN(), math.NaN()})
			}
		}
		if len(sets) == 1 && !c.Sim.Deterministic() {
			f.Series = append(f.Series, spread)
		}
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}

// drawFits shows the mean reward, the mean-field curve, the free exponential
// that was fitted to it, and the curve of the reduced-order model.
func (j *judgement) drawFits(d *drawing) Figure {
	sets := d.sets
	const points = 30
	f := curvesOf("A free exponential fitted to the mean reward", sets)
	f.XScale = LinearAxis // as it was fitted
	nan := math.NaN()
	for _, set := range thinned(sets) {
		c := set.Cells[0]
		o := j.outcome(c)
		rate, fitted := o.Estimate(sim.SaturationRate)
		r2, _ := o.Estimate(sim.SaturationR2)
		recorded := j.trajectory(o, sim.ExpectedReward)
		if recorded == nil || !fitted {
			continue
		}
		group, fit := withoutVariant(set.Label, c.Variant), "free exponential, fitted"
		if quality := fmt.Sprintf(", R² = %.4f", r2.Mean); len(sets) == 1 {
			fit += quality
		} else {
			group += quality
		}
		curve, exact := j.by("").curve(c)
		closed, leading := j.by(rom.LeadingOrder).curve(c)
		measured := FigureSeries{Name: "simulated", Group: group, Mark: Measured}
		predicted := FigureSeries{Name: "mean field", Group: group, Mark: Predicted}
		exponential := FigureSeries{Name: fit, Group: group, Mark: Reference}
		oscillator := FigureSeries{Name: "reduced-order model", Group: group, Mark: Reference}
		steps := recorded.Steps
		end, amplitude := exponentialAt(rate.Mean, steps, c.rewards(recorded))
		last := math.Inf(-1)
		for i, t := range steps {
			x := float64(t)
			if gap := float64(steps[len(steps)-1]) / points; x >= last+gap {
				last = x
				e := c.meanReward(recorded, i)
				lo, hi := e.Interval(j.confidence)
				measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
			}
			exponential.Points = append(exponential.Points, FigurePoint{x, end - amplitude*math.Exp(-rate.Mean*x), nan, nan})
			if exact.outOfScope == "" {
				predicted.Points = append(predicted.Points, FigurePoint{x, curve.at(t), nan, nan})
			}
			if leading.outOfScope == "" {
				oscillator.Points = append(oscillator.Points, FigurePoint{x, closed.at(t), nan, nan})
			}
		}
		f.Series = append(f.Series, predicted, exponential, oscillator, measured)
	}
	return f
}

// rewards are the recorded means of J.
func (c *Cell) rewards(t *store.Trajectory) []float64 {
	reward := make([]float64, len(t.Steps))
	for i := range reward {
		reward[i] = c.meanReward(t, i).Mean
	}
	return reward
}

// exponentialAt returns the a and b of J(t) = a − b e^{−rate·t} that come
// nearest to a curve, each step of the run counted alike: a recorded one stands
// for those up to halfway to its neighbours.
func exponentialAt(rate float64, steps []int, reward []float64) (a, b float64) {
	var weight, x, y, xx, xy float64
	for i, t := range steps {
		before, after := steps[max(i-1, 0)], steps[min(i+1, len(steps)-1)]
		w, e := float64(after-before)/2, math.Exp(-rate*float64(t))
		weight += w
		x += w * e
		y += w * reward[i]
		xx += w * e * e
		xy += w * e * reward[i]
	}
	slope := (weight*xy - x*y) / (weight*xx - x*x)
	return (y - slope*x) / weight, -slope
}
