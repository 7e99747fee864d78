package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// The claims about the mean reward, or the logits, along a run.
var (
	trajectory = logic{
		quantities: only("worst deviation of mean reward, share of the rise"),
		find:       perCell(findTrajectory),
		picture:    picture{draw: (*judgement).drawCurves},
		noiseless: func(j *judgement, c *Cell, o *store.Outcome) {
			if curve, theory := j.curve(c); theory.outOfScope == "" {
				o.SetTrajectory(noiselessSeries(c, sim.ExpectedReward, curve.at))
			}
		},
	}
	modelAmplitude = logic{
		quantities: only("range of the paper's oscillator over that of mean reward, logarithm"),
		find:       perCell(findModelAmplitude),
		picture: picture{family: byClaim, draw: drawOver(overPicture{
			title:    "Range of the paper’s oscillator over that of the run",
			label:    "natural logarithm of the ratio",
			caption:  "Above 0 the oscillator has the larger range.",
			find:     findModelAmplitude,
			theories: []theoryLine{{rom.PaperRule, "equal ranges"}},
		})},
		noiseless: trajectory.noiseless,
	}
	saturationFit = logic{
		quantities: saturationQuantities,
		find:       findSaturation,
		tested:     1,
		picture:    picture{family: byClaim, draw: (*judgement).drawFits},
	}
	earlySlope = logic{quantities: only("stiffness by the early slope"), find: perCell(findEarlySlope)}
)

// sameDeviation is the difference below which two deviations count as equal and the
// earlier step is reported, so that rounding does not decide which.
const sameDeviation = 1e-9

// findTrajectory compares the mean reward at every recorded step with the predicted
// curve, as a share of the rise J* − J_0. The band of intervals is simultaneous over the
// recorded steps (Bonferroni). The finding is that of one step, by rank: first the steps where the curve is known to
// half the margin and the band lies wholly outside the margin, then those where it is known and the mean lies outside,
// then those where the band lies outside a curve that is not known, then all others; of one rank the step where the
// band is farthest outside, or reaches farthest from 0. If the curve has no value somewhere and nothing is outside
// elsewhere, what it neglects is unknown. If a measured number is missing at any step, so is the finding's.
func findTrajectory(j *judgement, c *Cell, o *store.Outcome) finding {
	f := newFinding(rom.Exact)
	f.replicas = c.Settings.Run.Replicas
	curve, theory := j.curve(c)
	f.predicted, f.diverged = theory, divergenceOf(c, o)
	recorded := j.trajectory(o, sim.ExpectedReward)
	if theory.outOfScope != "" || recorded == nil || len(recorded.Steps) == 0 || o.Status == store.CellDiverged {
		if n := len(curve.neglected); n > 0 {
			curve.neglect(&f.predicted, curve.neglected[n-1]/math.Abs(curve.rise))
		}
		return f
	}
	confidence := 1 - (1-j.confidence)/float64(len(recorded.Steps))
	worst, rank, unpredicted := math.Inf(-1), 0, -1
	for i, t := range recorded.Steps {
		if math.IsNaN(curve.at(t)) {
			if unpredicted < 0 {
				unpredicted = t
			}
			continue
		}
		e := c.meanReward(recorded, i)
		lo, hi := e.Interval(confidence)
		deviation, lo, hi := (e.Mean-curve.at(t))/curve.rise, (lo-curve.at(t))/curve.rise, (hi-curve.at(t))/curve.rise
		lo, hi = min(lo, hi), max(lo, hi)
		if t == 0 { // all replicas start at the same policy
			lo, hi = deviation, deviation
		}
		if math.IsNaN(lo) || math.IsNaN(hi) {
			return newFinding(theory.kind)
		}
		reach := max(-lo, hi)
		miss := max(lo, -hi) // distance of the interval from 0; < 0 where it contains 0
		ranks, margin := 0, j.margin(0)
		switch known := curve.neglectedAt(t) <= neglectedShare*margin*math.Abs(curve.rise); {
		case known && miss > margin:
			ranks, reach = 3, miss
		case known && math.Abs(deviation) > margin:
			ranks = 2
		case miss > margin:
			ranks, reach = 1, miss
		}
		if ranks > rank || ranks == rank && reach > worst+sameDeviation {
			worst, rank = reach, ranks
			f.measured, f.lo, f.hi = deviation, lo, hi
			curve.neglect(&f.predicted, curve.neglectedAt(t)/math.Abs(curve.rise))
			f.quantity = fmt.Sprintf("deviation of mean reward at step %d, share of the rise", t)
		}
	}
	if unpredicted >= 0 && rank == 0 {
		f.predicted.neglected = math.Inf(1)
		f.predicted.since = fmt.Sprintf(": from step %d on the spread of runs has no finite prediction", unpredicted)
	}
	return f
}

// findModelAmplitude compares with 0, from below, the logarithm of the range of the paper's
// oscillator over that of the mean reward.
func findModelAmplitude(j *judgement, c *Cell, o *store.Outcome) finding {
	j = j.paper()
	f := newFinding(rom.PaperRule)
	curve, theory := j.curve(c)
	f.predicted, f.side = theory, FromBelow
	recorded := j.trajectory(o, sim.ExpectedReward)
	if theory.outOfScope != "" || recorded == nil || o.Status == store.CellDiverged {
		return f
	}
	measured := make([]float64, len(recorded.Steps))
	for i := range measured {
		measured[i] = c.meanReward(recorded, i).Mean
	}
	_, model := curve.sample(recorded.Steps)
	f.measured = math.Log(measure.Spread(model) / measure.Spread(measured))
	f.lo, f.hi = f.measured, f.measured
	return f
}

// saturationQuantities returns the quantities of the fit: rate and R², or the rate alone
// to leading order, where the predicted rate is not that of a fit.
func saturationQuantities(check *config.Check, _ []*Cell) []string {
	quantities := []string{"rate of the free exponential, per step", "R² of the free exponential"}
	if check.Prediction == rom.LeadingOrder {
		return quantities[:1]
	}
	return quantities
}

// findSaturation compares an exponential fitted to the mean reward with the same fit to
// the mean-field curve, and to leading order its rate with the relaxation rate k/γ.
func findSaturation(j *judgement, set CellSet) []finding {
	c := set.Cells[0]
	o := j.outcome(c)
	rate := j.ofRun(c, o, sim.SaturationRate)
	if j.kind == rom.LeadingOrder {
		s := j.settings(c)
		rate.predicted = j.relaxationRate(&s)
		rate.predicted.outOfScope = cmp.Or(rate.predicted.outOfScope, rom.Unclipped(j.params(c), math.Inf(1)).Because)
		return []finding{rate}
	}
	r2 := j.ofRun(c, o, sim.SaturationR2)
	curve, theory := j.curve(c)
	rate.predicted, r2.predicted = theory, theory
	if theory.outOfScope == "" {
		steps, reward := curve.sample(sim.FitSteps(sim.SaturationFit, c.Settings.Run.Steps))
		rate.predicted.value, r2.predicted.value = measure.Saturation(steps, reward)
		if math.IsNaN(rate.predicted.value) {
			rate.predicted.outOfScope = "no exponential fits the predicted curve"
			r2.predicted.outOfScope = rate.predicted.outOfScope
		}
		ofRate, ofR2 := 0.0, 0.0
		for _, displaced := range curve.displaced(steps, reward) {
			otherRate, otherR2 := measure.Saturation(steps, displaced)
			ofRate = max(ofRate, math.Abs(otherRate-rate.predicted.value))
			ofR2 = max(ofR2, math.Abs(otherR2-r2.predicted.value))
		}
		curve.neglect(&rate.predicted, ofRate)
		curve.neglect(&r2.predicted, ofR2)
	}
	if j.exactInstead {
		return []finding{rate}
	}
	return []finding{rate, r2}
}

// findEarlySlope compares the stiffness that the paper's fit to the first steps gives
// with that of the same fit to the mean-field curve, by the rule at the stiffness with λ
// of the stiffest mode, and by the paper's rule with the stiffness in its formulas.
func findEarlySlope(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.ofRun(c, o, sim.EarlySlope)
	if j.kind == rom.PaperRule {
		stiffness, scope := j.paperStiffness(c)
		f.predicted = predicted{value: stiffness, kind: rom.PaperRule, outOfScope: scope.Because}
		return f
	}
	if j.kind == rom.RuleAtStiffness {
		p := j.prediction(c)
		f.predicted = predicted{value: p.Stiffness.Total, kind: rom.RuleAtStiffness, outOfScope: theory.MissingFixedPoint(p)}
		return f
	}
	curve, theory := j.curve(c)
	f.predicted = theory
	if theory.outOfScope == "" {
		s := j.settings(c)
		steps, reward := curve.sample(sim.FitSteps(sim.EarlySlopeFit, c.Settings.Run.Steps))
		f.predicted.value = measure.EarlySlope(steps, reward, s.Optimizer.LearningRate)
		size := 0.0
		for _, displaced := range curve.displaced(steps, reward) {
			size = max(size, math.Abs(measure.EarlySlope(steps, displaced, s.Optimizer.LearningRate)-f.predicted.value))
		}
		curve.neglect(&f.predicted, size)
	}
	return f
}

// paperStiffness returns the stiffness in the paper's formulas for a run from the start
// of a cell.
func (j *judgement) paperStiffness(c *Cell) (float64, rom.Scope) {
	params := j.params(c)
	params.Start = c.start
	return rom.PaperStiffness(params)
}

// curve is a predicted mean reward over optimizer steps, given by values or by a formula.
type curve struct {
	steps  []int                   // all recorded or fitted steps, ascending
	reward []float64               // J at steps; nil: given by form
	form   func(t float64) float64 // J at step t; nil: given by reward
	rise   float64                 // J* − J_0, without a fixed point that to the best arm

	// neglected is the predicted size of what reward leaves out at each step, up to
	// that step the largest, and rounding the part of it by rounding errors; nil: not known.
	neglected, rounding []float64
}

// at returns the reward at a recorded or fitted step.
func (c *curve) at(t int) float64 {
	if c.reward == nil {
		return c.form(float64(t))
	}
	i, _ := slices.BinarySearch(c.steps, t)
	return c.reward[i]
}

// neglectedAt returns the predicted size of what the curve leaves out at a recorded or
// fitted step, in units of reward, ≥ 0.
func (c *curve) neglectedAt(t int) float64 {
	if c.neglected == nil {
		return 0
	}
	i, _ := slices.BinarySearch(c.steps, t)
	return c.neglected[i]
}

// neglect sets the size of what a value predicted from the curve leaves out, infinite if it
// is NaN and the value is not.
func (c *curve) neglect(p *predicted, size float64) {
	if p.neglected = size; math.IsNaN(size) && !math.IsNaN(p.value) {
		p.neglected = math.Inf(1)
	}
	if n := len(c.rounding) - 1; n >= 0 && c.rounding[n] >= c.neglected[n]/2 {
		p.since = ": the mean field is chaotic, so that rounding decides it"
	}
}

// sample returns the given steps and the curve at them.
func (c *curve) sample(steps []int) ([]int, []float64) {
	reward := make([]float64, len(steps))
	for i, t := range steps {
		reward[i] = c.at(t)
	}
	return steps, reward
}

// displaced returns the reward at the given steps plus, and minus, what the curve leaves out there. Fits to
// both show how far that moves a fit to the curve: one that creeps on after a fast rise moves far to one
// side only.
func (c *curve) displaced(steps []int, reward []float64) (both [][]float64) {
	for _, sign := range [2]float64{1, -1} {
		out := make([]float64, len(reward))
		for i, t := range steps {
			out[i] = reward[i] + sign*c.neglectedAt(t)
		}
		both = append(both, out)
	}
	return both
}

// curve returns the predicted mean reward of a cell, with its kind and scope (no value):
//
//	exact          the mean-field map with the mean force at the cell's G, plus the shift
//	               by the noise of finite groups
//	paper-rule     that map at G = ∞; for cells at G = ∞ the paper's oscillator, with the
//	               stiffness from the early slope
//	leading-order  the closed form of the reduced-order model
//
// The mean path needs no fixed point, the other curves do, as does a cell that starts at one. Where the flow reaches
// none, as at β = 0, the rise is that to the best arm, the largest there can be. With a planted fault what it
// neglects is not known: a fault changes no scope of this kind.
func (j *judgement) curve(c *Cell) (cv curve, p predicted) {
	params := j.params(c)
	if j.kind == rom.PaperRule {
		params.GroupSize = option.Infinite
	}
	p.kind = j.kind
	if c.start == nil {
		p.outOfScope = theory.NoFixedPoint
		return curve{}, p
	}
	start := rom.ExpectedReward(params, c.start)
	point, ok := j.cache.Equilibrium(params).Reached()
	if byFormula := j.kind == rom.LeadingOrder || j.kind == rom.PaperRule && c.Settings.Estimator.GroupSize == option.Infinite; !ok && byFormula {
		p.outOfScope = theory.NoFixedPoint
		return curve{}, p
	}
	if !ok {
		point.Reward = rom.BestReward(params)
	}
	cv.rise = point.Reward - start
	if math.Abs(cv.rise) < 1e-9 {
		p.outOfScope = "the run starts at the reward where it ends: there is no rise to compare"
		return curve{}, p
	}
	if because := theory.FewKicks(params, &c.Settings, c.start, point, ok); because != "" {
		p.outOfScope = because
		return curve{}, p
	}
	if j.kind == rom.LeadingOrder {
		form, scope := rom.ClosedForm(params, c.start)
		cv.form, p.outOfScope = form, scope.Because
		return cv, p
	}
	if j.kind == rom.PaperRule && c.Settings.Estimator.GroupSize == option.Infinite {
		s := j.settings(c)
		stiffness, scope := j.paperStiffness(c)
		p.outOfScope = scope.Because
		cv.form = rom.PaperCurve(stiffness, s.Optimizer.LearningRate, s.Optimizer.Momentum, paperAge(&s), start, point.Reward)
		return cv, p
	}
	cv.steps = theory.ComparedSteps(&c.Settings)
	size := theory.Sized
	if j.faulty() {
		size = theory.Unsized
	}
	r := j.cache.MeanReward(params, &c.Settings, c.start, cv.steps, size)
	if theory.Unbounded(r) {
		s := j.settings(c)
		r = theory.ComeToRest(r, &s, j.prediction(c), j.settled(&s))
	}
	cv.reward, cv.neglected, cv.rounding = r.Reward, r.Neglected, r.Rounding
	p.kind = cmp.Or(p.kind, r.Kind)
	p.outOfScope = cmp.Or(r.Scope.Because, j.missingExact(r.Kind))
	return cv, p
}

// maxCurves is the largest number of cells whose curves a picture shows.
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

// drawnOf returns the part of a title that says how many of the cells are drawn; "" for
// all.
func drawnOf(sets []CellSet) string {
	if len(sets) <= maxCurves {
		return ""
	}
	return fmt.Sprintf(" (%d of %d cells)", maxCurves, len(sets))
}

// shortRun is the largest number of steps drawn on a linear axis; longer runs are drawn
// on a logarithmic one.
const shortRun = 1000

// curvesOf returns an empty picture of mean rewards over steps.
func curvesOf(title string, sets []CellSet) Figure {
	f := Figure{Title: title + drawnOf(sets), XLabel: "optimizer step", YLabel: "expected reward J"}
	for _, set := range sets {
		if set.Cells[0].Settings.Run.Steps > shortRun {
			f.XScale = LogAxis
		}
	}
	return f
}

// drawCurves returns a picture of the mean reward over steps against the predicted
// curve. Runs without noise are drawn as lines where the prediction is not the exact one.
func (j *judgement) drawCurves(d *figureSource) Figure {
	sets := d.sets
	against := map[rom.Kind]string{rom.LeadingOrder: "reduced-order model", rom.PaperRule: "paper’s curve"}[j.kind]
	f := curvesOf("Mean reward against the predicted curve", sets)
	f.Caption = "Where the theory holds, the points, which are means over the replicas, follow the line of their colour at every step."
	if against != "" {
		f.Title = "Mean reward against the " + against + drawnOf(sets)
		f.Caption = "Where the " + against + " holds, it follows the simulated mean reward at every step; the gap between them is its error."
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
		if c.deterministic() && against != "" {
			measured.Name, measured.Mark, every = "simulated", Predicted, 1
			predicted.Name, predicted.Mark = against, Reference
		}
		curve, theory := j.curve(c)
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
			if theory.outOfScope == "" {
				predicted.Points = append(predicted.Points, FigurePoint{x, curve.at(t), math.NaN(), math.NaN()})
			}
		}
		if len(sets) == 1 && !c.deterministic() {
			f.Series = append(f.Series, spread)
		}
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}

// drawFits returns a picture of the mean reward, the exponential fitted to it, the
// mean-field curve, and the curve of the reduced-order model.
func (j *judgement) drawFits(d *figureSource) Figure {
	sets := d.sets
	const points = 30
	f := curvesOf("A free exponential fitted to the mean reward", sets)
	f.Caption = "The mean field should pass through the simulated points. A fitted exponential that does so too shows only that the curve has this form: compare its rate with that of the reduced-order model, which has no fitted constant."
	f.XScale = LinearAxis // the fit gives every step the same weight
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

// exponentialAt returns the a and b that fit J(t) = a − b e^{−rate·t} to a curve by least
// squares. A recorded step has the weight of the steps up to halfway to its neighbours.
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
