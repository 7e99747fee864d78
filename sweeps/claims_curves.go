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
				o.SetTrajectory(noiselessSeries(c, sim.ExpectedReward, curve.at))
			}
		},
	}
	saturationFit = logic{
		quantities: saturationQuantities,
		find:       findSaturation,
		picture:    picture{family: byClaim, draw: (*judgement).drawFits},
	}
	earlySlope = logic{quantities: only("stiffness by the early slope"), find: perCell(findEarlySlope)}
	recurrence = logic{
		quantities: only("worst deviation of the logit gap from the map"),
		find:       perCell(findRecurrence),
		picture:    picture{family: byClaim, draw: (*judgement).drawOrbits},
		noiseless: func(j *judgement, c *Cell, o *store.Outcome) {
			o.SetTrajectory(noiselessSeries(c, sim.LogitGap, j.refreshes(c)))
		},
	}
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
	f := unmeasured(rom.Exact)
	f.replicas = c.Settings.Run.Replicas
	recorded := j.trajectory(o, sim.ExpectedReward)
	if recorded == nil || len(recorded.Steps) == 0 || store.CellStatus(o.Status) == store.CellDiverged {
		f.failed = o.Failure()
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
			return unmeasured(of.kind) // what is not known cannot agree
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
	rate := j.measured(c, o, sim.SaturationRate)
	if j.kind == rom.LeadingOrder {
		s := j.settings(c)
		rate.predicted = j.relaxationRate(&s)
		return []finding{rate}
	}
	r2 := j.measured(c, o, sim.SaturationR2)
	curve, of := j.curve(c)
	rate.predicted, r2.predicted = of, of
	if of.outOfScope == "" {
		rate.predicted.value, r2.predicted.value = measure.Saturation(curve.sample(sim.FitSteps(sim.SaturationFit, c.Settings.Run.Steps)))
	}
	if j.inPlace {
		return []finding{rate}
	}
	return []finding{rate, r2}
}

// findEarlySlope compares the stiffness that the paper reads off the first
// steps with the same reading of the mean-field curve; by its rule it is the
// stiffness of the stiffest mode.
func findEarlySlope(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.measured(c, o, sim.EarlySlope)
	if j.kind == rom.PaperRule {
		p := j.prediction(c)
		f.predicted = predicted{value: p.Stiffness.Total, kind: rom.PaperRule, outOfScope: withoutFixedPoint(p)}
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
	params := Params(&s, j.factors)
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

// findRecurrence compares the logit gap from refresh to refresh with the map
// that a block of infinitely many steps is. Where the recorded steps skip
// refreshes only neighbours are compared.
func findRecurrence(j *judgement, c *Cell, o *store.Outcome) finding {
	f := unmeasured(rom.Exact)
	recorded := j.trajectory(o, sim.LogitGap)
	if recorded == nil {
		f.failed = o.Failure()
		return f
	}
	if !c.Sim.Deterministic() {
		f.predicted.outOfScope = "at finite G the noise of every step enters the gap: the recurrence is that of the mean field"
		return f
	}
	gaps := recorded.Series(sim.LogitGap)
	params := j.params(c)
	f.measured = 0
	for i := 1; i < len(recorded.Steps); i++ {
		if recorded.Steps[i]-recorded.Steps[i-1] != c.Settings.Lag.Interval {
			continue
		}
		next, scope := refreshedGap(params, float64(gaps.Mean[i-1]))
		if !scope.In {
			f.predicted.outOfScope = scope.Because
			return f
		}
		if d := float64(gaps.Mean[i]) - next; math.IsNaN(d) || math.Abs(d) > math.Abs(f.measured) {
			f.measured = d
		}
	}
	f.lo, f.hi = f.measured, f.measured
	return f
}

// refreshedGap returns the logit gap of two arms at the end of an endless block
// that begins with the gap z.
func refreshedGap(params rom.Params, z float64) (next float64, scope rom.Scope) {
	logits, scope := rom.Refreshed(params, []float64{z / 2, -z / 2})
	if !scope.In {
		return 0, scope
	}
	return logits[0] - logits[1], scope
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
	of.outOfScope = cmp.Or(scope.Because, j.inexact(force))
	return cv, of
}
