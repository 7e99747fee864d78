package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"grposim/fp"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/cell"
	"grposim/rom/paper"
	"grposim/rom/rest"
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

// idealCourse returns the mean of the check's quantity in a run without noise.
func idealCourse(m *model, c *Cell) func(t int) float64 {
	if curve, theory := m.course(c); !theory.Out() {
		return curve.at
	}
	return nil
}

// sameDeviation is the difference below which two deviations count as equal and the
// earlier step is reported, so that rounding does not decide which.
const sameDeviation = 1e-9

// compareTrajectory compares the mean of the check's quantity at every recorded step with the
// predicted curve, as a share of the curve's unit. The band holds at all steps together
// (Bonferroni). The finding is that of one step. First are steps where the curve is known to half
// the margin and the band outside it. Then come those where it is known and the mean outside, then
// those where the band is outside. Of one rank it is the step whose band is farthest outside, or
// reaches farthest from 0. Where a measured number is missing, so is the finding's. A step is
// passed over if no replica has yet drawn the rare samples that move the mean.
func compareTrajectory(j *judgement, c *Cell) finding {
	o := j.outcome(c)
	f := newFinding(rom.Exact)
	f.replicas = c.Settings.Run.Replicas
	quantity := j.check.Recorded()
	curve, theory := j.course(c)
	f.predicted, f.diverged = theory, divergenceOf(c, o)
	recorded := j.trajectory(o, quantity)
	if theory.Out() || recorded == nil || len(recorded.Steps) == 0 || o.Status == store.CellDiverged {
		if n := len(curve.neglected); n > 0 {
			curve.neglect(&f.predicted, curve.neglected[n-1]/math.Abs(curve.unit))
		}
		return f
	}
	band := j.band(c, recorded, quantity)
	worst, rank, unpredicted := math.Inf(-1), 0, -1
	for i, t := range recorded.Steps {
		if math.IsNaN(curve.at(t)) {
			if unpredicted < 0 {
				unpredicted = t
			}
			continue
		}
		if t > 0 && band.lo[i] == band.hi[i] && j.fewKicks(c, t).Out() {
			continue
		}
		share := func(x float64) float64 { return (x - curve.at(t)) / curve.unit }
		deviation, lo, hi := share(band.mean[i]), share(band.lo[i]), share(band.hi[i])
		lo, hi = min(lo, hi), max(lo, hi)
		if math.IsNaN(lo) || math.IsNaN(hi) {
			return newFinding(theory.Kind)
		}
		reach := max(-lo, hi)
		miss := max(lo, -hi) // distance of the interval from 0; < 0 where it contains 0
		ranks, margin := 0, j.margin(0)
		switch known := curve.neglectedAt(t) <= scope.Decisive*margin*math.Abs(curve.unit); {
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
			curve.neglect(&f.predicted, curve.neglectedAt(t)/math.Abs(curve.unit))
			if f.unresolved = ""; hi-lo > 2 {
				f.unresolved = fmt.Sprintf("the error of the mean is larger than its whole way, %.2g: the quantity hardly moves", math.Abs(curve.unit))
			}
			f.quantity = fmt.Sprintf("deviation of mean %s at step %d, share of %s", nounOf(quantity), t, unitOf(quantity))
		}
	}
	if unpredicted >= 0 && rank == 0 {
		f.predicted.Neglected = nil
		f.predicted.Leave(scope.HigherOrder, math.Inf(1), fmt.Sprintf("from step %d on the spread of runs has no finite prediction", unpredicted))
	}
	return f
}

// fewKicks returns why the scatter of runs does not tell the error of a mean: too few forces act in
// their first steps.
func (m *model) fewKicks(c *Cell, steps int) scope.Reason {
	s := m.settings(c)
	if s.Estimator.GroupSize == option.Infinite {
		return scope.Reason{}
	}
	params := theory.Params(&s, m.fault.Scale)
	_, point, reached := m.way(params, c.start)
	return theory.FewKicks(params, &s, c.start, point, reached, steps)
}

// nounOf returns a recorded quantity in words, and unitOf what a deviation of its mean is a share
// of.
func nounOf(quantity sim.Quantity) string {
	if quantity == sim.ExpectedReward {
		return "reward"
	}
	return strings.ReplaceAll(string(quantity), "_", " ")
}

func unitOf(quantity sim.Quantity) string {
	if quantity == sim.ExpectedReward {
		return "the rise"
	}
	return "its predicted range"
}

// band is a simultaneous confidence band of a mean over the replicas, by the recorded step.
type band struct{ mean, lo, hi []float64 }

// band returns the band of a recorded quantity. At step 0 all replicas have the same policy. Shares
// have Wilson's interval: of groups, and of samples where all replicas have the same share. Each
// replica then counts as one sample, since no share scatters more.
func (j *judgement) band(c *Cell, recorded *store.Trajectory, quantity sim.Quantity) (b band) {
	confidence := 1 - (1-j.confidence)/float64(len(recorded.Steps))
	for i, t := range recorded.Steps {
		e := c.meanOf(recorded, quantity, i)
		lo, hi := e.Interval(confidence)
		replicas := float64(c.Settings.Run.Replicas)
		switch {
		case t == 0 && slices.Contains(ofPolicy, quantity):
			lo, hi = e.Mean, e.Mean
		case quantity == sim.ZeroVarianceFraction:
			lo, hi = e.Share(replicas*float64(c.Settings.Estimator.GroupsPerStep), confidence)
		case quantity == sim.ClipFraction && e.StdErr == 0:
			lo, hi = e.Share(replicas, confidence)
		}
		b.mean, b.lo, b.hi = append(b.mean, e.Mean), append(b.lo, lo), append(b.hi, hi)
	}
	return b
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
	_, model := curve.sample(recorded.Steps)
	return f.exactly(math.Log(measure.Spread(model) / measure.Spread(c.rewards(recorded))))
}

// saturationNumbers compares an exponential fitted to the mean reward with the same fit to the
// mean-field curve. To leading order its rate is the relaxation rate k/γ.
func saturationNumbers(m *model, cells []*Cell) []scalar {
	rate := scalar{quantity: "rate of the free exponential, per step", estimate: sim.SaturationRate}
	r2 := scalar{quantity: "R² of the free exponential", estimate: sim.SaturationR2, tested: true}
	fit := sync.OnceValue(func() []scope.Number {
		both := m.ofFit(cells[0], sim.SaturationFit, func(steps []int, reward []float64) []float64 {
			rate, r2 := measure.Saturation(steps, reward)
			return []float64{rate, r2}
		})
		if !both[0].Out() && math.IsNaN(both[0].Value) {
			both[0].Because = scope.Undecided.Because("no exponential fits the predicted curve")
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
		p.Because = cmp.Or(p.Because, cell.Unclipped(m.params(c), math.Inf(1)).Because)
		return p
	}
	if m.check.Prediction == rom.LeadingOrder { // whose rate is not that of a fit
		return []scalar{rate}
	}
	r2.predict = func(*model, *Cell) scope.Number { return fit()[1] }
	return []scalar{rate, r2}
}

// ofFit returns the numbers that a fit to the predicted curve of a cell gives, at least one. They
// neglect as much as they move if the curve is displaced by what it leaves out.
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

// earlySlope returns the stiffness that the paper's fit to the first steps gives of the mean-field
// curve. By the rules it is λ of the stiffest mode, or the stiffness in the paper's formulas.
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

// paperStiffness returns the stiffness in the paper's formulas for a run from the start of a cell.
func (m *model) paperStiffness(c *Cell) (float64, rom.Scope) {
	params := m.params(c)
	params.Start = c.start
	return rest.PaperStiffness(params)
}

// curve is a predicted mean of a recorded quantity over optimizer steps, given by values or by a
// formula.
type curve struct {
	steps  []int                   // all recorded or fitted steps, ascending
	values []float64               // the mean at steps; nil: given by form
	form   func(t float64) float64 // the mean at step t; nil: given by values
	// of deviations: of J the rise J* − J_0, without a fixed point that to the best arm; of others the
	// range of the curve over the recorded steps
	unit float64

	// deviation is the standard deviation over runs at each step, NaN or nil where it is not known.
	deviation []float64

	// neglected is the size of what values leaves out, the largest up to each step. rounding is the
	// part of it by rounding errors. nil: not known.
	neglected, rounding []float64
}

// at returns the mean at a recorded or fitted step.
func (c *curve) at(t int) float64 {
	if c.values == nil {
		return c.form(float64(t))
	}
	return c.values[c.place(t)]
}

// place returns the index of a recorded or fitted step.
func (c *curve) place(t int) int {
	i, _ := slices.BinarySearch(c.steps, t)
	return i
}

// neglectedAt returns the predicted size of what the curve leaves out at a recorded or
// fitted step, in units of the quantity, ≥ 0.
func (c *curve) neglectedAt(t int) float64 {
	if c.neglected == nil {
		return 0
	}
	return c.neglected[c.place(t)]
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
	values := make([]float64, len(steps))
	for i, t := range steps {
		values[i] = c.at(t)
	}
	return steps, values
}

// displaced returns values at the given steps plus, and minus, what the curve leaves out there. A
// fit to a curve that still creeps moves far to one side only.
func (c *curve) displaced(steps []int, values []float64) (both [][]float64) {
	for _, sign := range [2]float64{1, -1} {
		out := make([]float64, len(values))
		for i, t := range steps {
			out[i] = values[i] + sign*c.neglectedAt(t)
		}
		both = append(both, out)
	}
	return both
}

// course returns the predicted mean of the check's quantity in a cell, with its kind and scope (no
// value). The unit of quantities other than J is the range over the recorded steps.
func (m *model) course(c *Cell) (cv curve, p scope.Number) {
	quantity := m.check.Recorded()
	if c.Settings.Deep() {
		p.Kind, p.Because = cmp.Or(m.kind, rom.Exact), scope.Networks.Because("the mean path")
		return curve{}, p
	}
	if quantity == sim.ExpectedReward {
		return m.curve(c)
	}
	s := m.settings(c)
	params := theory.Params(&s, m.fault.Scale)
	of, because := theory.Observed(&s, quantity)
	p.Kind = cmp.Or(m.kind, rom.Exact)
	if p.Because = cmp.Or(because, m.fewKicks(c, s.Run.Steps)); p.Out() {
		return curve{}, p
	}
	recorded, steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag), theory.ComparedSteps(&c.Settings)
	between := quantity.SinceRecord(c.Settings.Lag)
	if between {
		steps = theory.EveryStep(c.Settings.Run.Steps)
	}
	path := theory.Part(m.along(c, params, of, steps), quantity)
	p.Kind = cmp.Or(m.kind, path.Kind)
	if p.Because = cmp.Or(path.Scope.Because, m.missingExact(path.Kind)); p.Out() {
		return curve{}, p
	}
	if cv.follow(steps, path); between {
		cv = curve{
			steps: recorded, values: theory.SinceRecord(cv.values, recorded),
			neglected: theory.SinceRecord(cv.neglected, recorded), rounding: theory.SinceRecord(cv.rounding, recorded),
		}
	}
	_, values := cv.sample(recorded)
	if cv.unit = measure.Spread(slices.DeleteFunc(values, math.IsNaN)); cv.unit < stillCurve {
		p.Because = scope.Undecided.Because(fmt.Sprintf("the predicted mean of %s does not move", quantity))
	}
	return cv, p
}

// along returns the predicted mean of an observed number over the runs of a cell at the given
// steps.
func (m *model) along(c *Cell, params rom.Params, of rom.Observed, steps []int) *rom.Path {
	size := theory.Sized
	if m.faulty() {
		size = theory.Unsized
	}
	return m.cache.Mean(of, params, &c.Settings, c.start, steps, size)
}

// follow sets the curve to a path that along returned.
func (c *curve) follow(steps []int, path *rom.Path) {
	c.steps = steps
	c.values, c.deviation, c.neglected, c.rounding = path.Mean, path.Deviation, path.Neglected, path.Rounding
}

// stillCurve is the range of a predicted mean, or of its rise, up to which rounding decides a share
// of it.
const stillCurve = 1e-9

// curve returns the predicted mean reward of a cell, with its kind and scope (no value):
//
//	exact          the mean-field map with the mean force at the cell's G, plus the shift
//	               by the noise of finite groups
//	paper-rule     that map at G = ∞; for cells at G = ∞ the paper's oscillator, with the
//	               stiffness from the early slope
//	leading-order  the closed form of the reduced-order model
//
// The mean path needs no fixed point; without one its rise is that to the best arm. With a planted
// fault what it neglects is not known.
func (m *model) curve(c *Cell) (cv curve, p scope.Number) {
	params := m.params(c)
	if m.kind == rom.PaperRule {
		params.GroupSize = option.Infinite
	}
	p.Kind = m.kind
	if c.start == nil {
		p.Because = scope.NotReached.Because()
		return curve{}, p
	}
	start, point, ok := m.way(params, c.start)
	if byFormula := m.kind == rom.LeadingOrder || m.kind == rom.PaperRule && c.Settings.Estimator.GroupSize == option.Infinite; !ok && byFormula {
		p.Because = scope.NotReached.Because()
		return curve{}, p
	}
	cv.unit = point.Reward - start
	if math.Abs(cv.unit) < stillCurve {
		p.Because = scope.Undecided.Because("it starts at the reward where it ends")
		return curve{}, p
	}
	if because := theory.FewKicks(params, &c.Settings, c.start, point, ok, c.Settings.Run.Steps); because.Out() {
		p.Because = because
		return curve{}, p
	}
	if m.kind == rom.LeadingOrder {
		form, within := rest.ClosedForm(params, c.start)
		cv.form, p.Because = form, within.Because
		return cv, p
	}
	if m.kind == rom.PaperRule && c.Settings.Estimator.GroupSize == option.Infinite {
		s := m.settings(c)
		stiffness, within := m.paperStiffness(c)
		p.Because = within.Because
		cv.form = paper.Curve(stiffness, s.Optimizer.LearningRate, s.Optimizer.Momentum, paperAge(&s), start, point.Reward)
		return cv, p
	}
	steps := theory.ComparedSteps(&c.Settings)
	r := theory.ComeToRest(m.along(c, params, rom.Reward, steps), steps, func() *theory.AtRest {
		s := m.settings(c)
		return m.atRest(&s)
	})
	cv.follow(steps, r)
	p.Kind = cmp.Or(p.Kind, r.Kind)
	p.Because = cmp.Or(r.Scope.Because, m.missingExact(r.Kind))
	return cv, p
}

// maxCurves is the largest number of cells whose curves a picture shows.
const maxCurves = 7

// thinned returns at most maxCurves of the sets, evenly spaced, with the first and the last.
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

// drawnOf returns the part of a title that says how many of the cells are drawn; "" for all.
func drawnOf(sets []CellSet) string {
	if len(sets) <= maxCurves {
		return ""
	}
	return fmt.Sprintf(" (%d of %d cells)", maxCurves, len(sets))
}

// shortRun is the largest number of steps drawn on a linear axis; longer runs are drawn
// on a logarithmic one.
const shortRun = 1000

// coursesOf returns an empty picture of means of a recorded quantity over steps.
func coursesOf(quantity sim.Quantity, title string, sets []CellSet) Figure {
	f := Figure{Title: title + drawnOf(sets), XLabel: "optimizer step", YLabel: labelOf(quantity)}
	for _, set := range sets {
		if set.Cells[0].Settings.Run.Steps > shortRun {
			f.XScale = LogAxis
		}
	}
	return f
}

// labelOf returns the label of an axis of a recorded quantity.
func labelOf(quantity sim.Quantity) string {
	i := slices.IndexFunc(QuantityColumns, func(c store.Column) bool { return c.Name == string(quantity) })
	switch label := nounOf(quantity); {
	case quantity == sim.ExpectedReward:
		return "expected reward J"
	case i < 0 || QuantityColumns[i].Unit == pureRatio:
		return label
	default:
		return label + " [" + QuantityColumns[i].Unit + "]"
	}
}

// drawCurves returns a picture of the mean of the checks' quantity over steps against the predicted
// curve. Runs without noise are drawn as lines where the prediction is not the exact one.
func drawCurves(j *judgement, d *figureSource) Figure {
	sets := d.sets
	against := map[rom.Kind]string{rom.LeadingOrder: "reduced-order model", rom.PaperRule: "paper’s curve"}[j.kind]
	quantity := j.check.Recorded()
	mean := "Mean " + nounOf(quantity)
	f := coursesOf(quantity, mean+" against the predicted curve", sets)
	f.Caption = "Where the theory holds, the points, which are means over the replicas, follow the line of their colour at every step."
	if against != "" {
		f.Title = mean + " against the " + against + drawnOf(sets)
		f.Caption = "Where the " + against + " holds, it follows the simulated mean reward at every step; the gap between them is its error."
	}
	for _, set := range thinned(sets) {
		c := set.Cells[0]
		name := withoutVariant(set.Label, c.Variant)
		recorded := j.trajectory(j.outcome(c), quantity)
		if recorded == nil {
			continue
		}
		series := recorded.Series(quantity)
		measured := FigureSeries{Name: name, Group: name, Mark: Measured}
		predicted := FigureSeries{Name: name + " predicted", Group: name, Mark: Predicted}
		spread := FigureSeries{Name: name + " 5–95 %", Group: name, Mark: Spread}
		every := 8
		if c.deterministic() && against != "" {
			measured.Name, measured.Mark, every = "simulated", Predicted, 1
			predicted.Name, predicted.Mark = against, Reference
		}
		curve, theory := j.course(c)
		for i, t := range recorded.Steps {
			if t == 0 && f.XScale == LogAxis {
				continue
			}
			x, q := float64(t), series.Quantiles[i]
			if i%every == 0 {
				e := c.meanOf(recorded, quantity, i)
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
	f := coursesOf(sim.ExpectedReward, "A free exponential fitted to the mean reward", sets)
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
			exponential.Points = append(exponential.Points, BarePoint(x, end-amplitude*fp.MathExp(-rate.Mean*x)))
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
		w, e := float64(after-before)/2, fp.MathExp(-rate*float64(t))
		weight += w
		x += w * e
		y += w * reward[i]
		xx += w * e * e
		xy += w * e * reward[i]
	}
	slope := (weight*xy - x*y) / (weight*xx - x*x)
	return (y - slope*x) / weight, -slope
}
