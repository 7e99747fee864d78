package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// The claims about the mean reward, or the logits, along a run.

var amplitudePicture = overPicture{
	title:    "Range of the paper’s oscillator over that of the run",
	label:    "natural logarithm of the ratio",
	caption:  "Above 0 the oscillator has the larger range.",
	theories: []theoryLine{{rom.PaperRule, "equal ranges"}},
}

// idealReward returns the mean reward of a run without noise.
func idealReward(m *model, c *Cell) func(t int) float64 {
	if curve, theory := m.curve(c); !theory.Out() {
		return curve.at
	}
	return nil
}

// sameDeviation is the difference below which two deviations count as equal and the
// earlier step is reported, so that rounding does not decide which.
const sameDeviation = 1e-9

// compareTrajectory compares the mean reward at every recorded step with the predicted
// curve, as a share of the rise J* − J_0. The band of intervals is simultaneous over the
// recorded steps (Bonferroni). The finding is that of one step, by rank: first the steps where the curve is known to
// half the margin and the band lies wholly outside the margin, then those where it is known and the mean lies outside,
// then those where the band lies outside a curve that is not known, then all others; of one rank the step where the
// band is farthest outside, or reaches farthest from 0. If the curve has no value somewhere and nothing is outside
// elsewhere, what it neglects is unknown. If a measured number is missing at any step, so is the finding's.
func compareTrajectory(j *judgement, c *Cell) finding {
	o := j.outcome(c)
	f := newFinding(rom.Exact)
	f.replicas = c.Settings.Run.Replicas
	curve, theory := j.curve(c)
	f.predicted, f.diverged = theory, divergenceOf(c, o)
	recorded := j.trajectory(o, sim.ExpectedReward)
	if theory.Out() || recorded == nil || len(recorded.Steps) == 0 || o.Status == store.CellDiverged {
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
			return newFinding(theory.Kind)
		}
		reach := max(-lo, hi)
		miss := max(lo, -hi) // distance of the interval from 0; < 0 where it contains 0
		ranks, margin := 0, j.margin(0)
		switch known := curve.neglectedAt(t) <= scope.Decisive*margin*math.Abs(curve.rise); {
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
		f.predicted.Neglected = nil
		f.predicted.Leave(scope.HigherOrder, math.Inf(1), fmt.Sprintf("from step %d on the spread of runs has no finite prediction", unpredicted))
	}
	return f
}

// compareAmplitude compares with 0, from below, the logarithm of the range of the paper's
// oscillator over that of the mean reward.
func compareAmplitude(j *judgement, c *Cell) finding {
	o := j.outcome(c)
	j = j.paper()
	f := newFinding(rom.PaperRule)
	curve, theory := j.curve(c)
	f.predicted, f.side = theory, FromBelow
	recorded := j.trajectory(o, sim.ExpectedReward)
	if theory.Out() || recorded == nil || o.Status == store.CellDiverged {
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

// saturationNumbers compares an exponential fitted to the mean reward with the same fit to
// the mean-field curve, and to leading order its rate with the relaxation rate k/γ.
func saturationNumbers(m *model, cells []*Cell) []scalar {
	rate := scalar{quantity: "rate of the free exponential, per step", estimate: sim.SaturationRate}
	r2 := scalar{quantity: "R² of the free exponential", estimate: sim.SaturationR2, tested: true}
	fit := sync.OnceValue(func() []scope.Number {
		both := m.ofFit(cells[0], sim.SaturationFit, func(steps []int, reward []float64) []float64 {
			rate, r2 := measure.Saturation(steps, reward)
			return []float64{rate, r2}
		})
		if !both[0].Out() && math.IsNaN(both[0].Value) {
			both[0].Because = scope.NoExponential.Because()
			both[1].Because = both[0].Because
		}
		return both
	})
	rate.predict = func(m *model, c *Cell) scope.Number {
		if m.kind != rom.LeadingOrder {
			return fit()[0]
		}
		s := m.settings(c)
		p := m.relaxationRate(&s)
		p.Because = cmp.Or(p.Because, rom.Unclipped(m.params(c), math.Inf(1)).Because)
		return p
	}
	if m.check.Prediction == rom.LeadingOrder { // whose rate is not that of a fit
		return []scalar{rate}
	}
	r2.predict = func(*model, *Cell) scope.Number { return fit()[1] }
	return []scalar{rate, r2}
}

// ofFit returns the numbers that a fit to the predicted curve of a cell gives, at least one. They neglect as
// much as they move if the curve is displaced by what it leaves out.
func (m *model) ofFit(c *Cell, kind sim.CurveFit, fit func(steps []int, reward []float64) []float64) []scope.Number {
	curve, theory := m.curve(c)
	if theory.Out() {
		return []scope.Number{theory, theory} // no fit gives more
	}
	steps, reward := curve.sample(sim.FitSteps(kind, c.Settings.Run.Steps))
	values := fit(steps, reward)
	sizes := make([]float64, len(values))
	for _, displaced := range curve.displaced(steps, reward) {
		for i, other := range fit(steps, displaced) {
			sizes[i] = max(sizes[i], math.Abs(other-values[i]))
		}
	}
	var all []scope.Number
	for i, value := range values {
		p := theory
		p.Value = value
		curve.neglect(&p, sizes[i])
		all = append(all, p)
	}
	return all
}

// earlySlope returns the stiffness that the paper's fit to the first steps gives of the
// mean-field curve, by the rule at the stiffness λ of the stiffest mode, and by the paper's
// rule the stiffness in its formulas.
func (m *model) earlySlope(c *Cell) scope.Number {
	switch m.kind {
	case rom.PaperRule:
		stiffness, within := m.paperStiffness(c)
		return scope.Number{Value: stiffness, Kind: rom.PaperRule, Because: within.Because}
	case rom.RuleAtStiffness:
		p := m.prediction(c)
		return scope.Number{Value: p.Stiffness.Total, Kind: rom.RuleAtStiffness, Because: theory.MissingFixedPoint(p)}
	}
	s := m.settings(c)
	return m.ofFit(c, sim.EarlySlopeFit, func(steps []int, reward []float64) []float64 {
		return []float64{measure.EarlySlope(steps, reward, s.Optimizer.LearningRate)}
	})[0]
}

// paperStiffness returns the stiffness in the paper's formulas for a run from the start
// of a cell.
func (m *model) paperStiffness(c *Cell) (float64, rom.Scope) {
	params := m.params(c)
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
func (c *curve) neglect(p *scope.Number, size float64) {
	if math.IsNaN(size) && !math.IsNaN(p.Value) {
		size = math.Inf(1)
	}
	p.Neglected = nil
	if n := len(c.rounding) - 1; n >= 0 && c.rounding[n] >= c.neglected[n]/2 {
		p.Leave(scope.Rounding, size, "the mean field is chaotic, so that rounding decides it")
		return
	}
	p.Leave(scope.HigherOrder, size)
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
func (m *model) curve(c *Cell) (cv curve, p scope.Number) {
	params := m.params(c)
	if m.kind == rom.PaperRule {
		params.GroupSize = option.Infinite
	}
	p.Kind = m.kind
	if c.start == nil {
		p.Because = scope.NoFixedPoint.Because()
		return curve{}, p
	}
	start := rom.ExpectedReward(params, c.start)
	point, ok := m.cache.Equilibrium(params).Reached()
	if byFormula := m.kind == rom.LeadingOrder || m.kind == rom.PaperRule && c.Settings.Estimator.GroupSize == option.Infinite; !ok && byFormula {
		p.Because = scope.NoFixedPoint.Because()
		return curve{}, p
	}
	if !ok {
		point.Reward = rom.BestReward(params)
	}
	cv.rise = point.Reward - start
	if math.Abs(cv.rise) < 1e-9 {
		p.Because = scope.NoRise.Because()
		return curve{}, p
	}
	if because := theory.FewKicks(params, &c.Settings, c.start, point, ok); because.Out() {
		p.Because = because
		return curve{}, p
	}
	if m.kind == rom.LeadingOrder {
		form, within := rom.ClosedForm(params, c.start)
		cv.form, p.Because = form, within.Because
		return cv, p
	}
	if m.kind == rom.PaperRule && c.Settings.Estimator.GroupSize == option.Infinite {
		s := m.settings(c)
		stiffness, within := m.paperStiffness(c)
		p.Because = within.Because
		cv.form = rom.PaperCurve(stiffness, s.Optimizer.LearningRate, s.Optimizer.Momentum, paperAge(&s), start, point.Reward)
		return cv, p
	}
	cv.steps = theory.ComparedSteps(&c.Settings)
	size := theory.Sized
	if m.faulty() {
		size = theory.Unsized
	}
	r := m.cache.Mean(rom.Reward, params, &c.Settings, c.start, cv.steps, size)
	if theory.Unbounded(r) {
		s := m.settings(c)
		r = theory.ComeToRest(r, m.atRest(&s))
	}
	cv.reward, cv.neglected, cv.rounding = r.Mean, r.Neglected, r.Rounding
	p.Kind = cmp.Or(p.Kind, r.Kind)
	p.Because = cmp.Or(r.Scope.Because, m.missingExact(r.Kind))
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
func drawCurves(j *judgement, d *figureSource) Figure {
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
			if !theory.Out() {
				predicted.Points = append(predicted.Points, BarePoint(x, curve.at(t)))
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
func drawFits(j *judgement, d *figureSource) Figure {
	sets := d.sets
	f := curvesOf("A free exponential fitted to the mean reward", sets)
	f.Caption = "The mean field should pass through the simulated points. A fitted exponential that does so too shows only that the curve has this form: compare its rate with that of the reduced-order model, which has no fitted constant."
	f.XScale = LinearAxis // the fit gives every step the same weight
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
		measured := FigureSeries{Name: "simulated", Group: group, Mark: Measured, Points: j.means(c, recorded, recorded.Steps[len(recorded.Steps)-1])}
		predicted := FigureSeries{Name: "mean field", Group: group, Mark: Predicted}
		exponential := FigureSeries{Name: fit, Group: group, Mark: Reference}
		oscillator := FigureSeries{Name: "reduced-order model", Group: group, Mark: Reference}
		steps := recorded.Steps
		end, amplitude := exponentialAt(rate.Mean, steps, c.rewards(recorded))
		for _, t := range steps {
			x := float64(t)
			exponential.Points = append(exponential.Points, BarePoint(x, end-amplitude*math.Exp(-rate.Mean*x)))
			if !exact.Out() {
				predicted.Points = append(predicted.Points, BarePoint(x, curve.at(t)))
			}
			if !leading.Out() {
				oscillator.Points = append(oscillator.Points, BarePoint(x, closed.at(t)))
			}
		}
		f.Series = append(f.Series, predicted, exponential, oscillator, measured)
	}
	return f
}

// means returns the mean reward of a run with its intervals, at recorded steps that are at least
// a thirtieth of a length apart.
func (j *judgement) means(c *Cell, recorded *store.Trajectory, length int) (points []FigurePoint) {
	last := math.Inf(-1)
	for i, t := range recorded.Steps {
		if x := float64(t); x >= last+float64(length)/30 {
			last = x
			e := c.meanReward(recorded, i)
			lo, hi := e.Interval(j.confidence)
			points = append(points, FigurePoint{x, e.Mean, lo, hi})
		}
	}
	return points
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
