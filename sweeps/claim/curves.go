package claim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/paper"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// The claims about the mean reward, or the logits, along a run.

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
func compareTrajectory(j *Question, c *plan.Cell) Finding {
	o := j.Outcome(c)
	f := newFinding(rom.Exact)
	f.Replicas = c.Settings.Run.Replicas
	quantity := j.Check.Recorded()
	curve, theory := j.Course(c)
	f.Predicted, f.Diverged = theory, divergenceOf(c, o)
	recorded := j.Trajectory(o, quantity)
	if theory.Out() || recorded == nil || len(recorded.Steps) == 0 || o.Status == store.CellDiverged {
		if left := curve.path.Neglected; len(left) > 0 {
			curve.neglect(&f.Predicted, left[len(left)-1]/math.Abs(curve.unit))
		}
		return f
	}
	band := j.band(c, recorded, quantity)
	worst, rank, unpredicted := math.Inf(-1), 0, -1
	for i, t := range recorded.Steps {
		if math.IsNaN(curve.At(t)) {
			if unpredicted < 0 {
				unpredicted = t
			}
			continue
		}
		if t > 0 && band.lo[i] == band.hi[i] && j.fewKicks(c, t).Out() {
			continue
		}
		share := func(x float64) float64 { return (x - curve.At(t)) / curve.unit }
		deviation, lo, hi := share(band.mean[i]), share(band.lo[i]), share(band.hi[i])
		lo, hi = min(lo, hi), max(lo, hi)
		if math.IsNaN(lo) || math.IsNaN(hi) {
			return newFinding(theory.Kind)
		}
		reach := max(-lo, hi)
		miss := max(lo, -hi) // distance of the interval from 0; < 0 where it contains 0
		ranks, margin := 0, j.Margin(0)
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
			f.Measured, f.Lo, f.Hi = deviation, lo, hi
			curve.neglect(&f.Predicted, curve.neglectedAt(t)/math.Abs(curve.unit))
			if f.Unresolved = ""; hi-lo > 2 {
				f.Unresolved = fmt.Sprintf(
					"the error of the mean is larger than its whole way, %.2g: the quantity hardly moves",
					math.Abs(curve.unit))
			}
			f.Quantity = fmt.Sprintf("deviation of mean %s at step %d, share of %s", Noun(quantity), t,
				unitOf(quantity))
		}
	}
	if unpredicted >= 0 && rank == 0 {
		f.Predicted.Neglected = nil
		f.Predicted.Leave(scope.HigherOrder, math.Inf(1),
			fmt.Sprintf("from step %d on the spread of runs has no finite prediction", unpredicted))
	}
	return f
}

// fewKicks returns why the scatter of runs does not tell the error of a mean: too few forces act in
// their first steps.
func (m *Model) fewKicks(c *plan.Cell, steps int) scope.Reason {
	s := m.Settings(c)
	if s.Estimator.GroupSize == option.Infinite {
		return scope.Reason{}
	}
	params := m.Params(c)
	_, point, reached := m.way(params, c.Start)
	return theory.FewKicks(params, s, c.Start, point, reached, steps)
}

// Noun returns a recorded quantity in words, and unitOf what a deviation of its mean is a share of.
func Noun(quantity sim.Quantity) string {
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
func (j *Question) band(c *plan.Cell, recorded *store.Trajectory, quantity sim.Quantity) (b band) {
	confidence := 1 - (1-j.Confidence)/float64(len(recorded.Steps))
	for i, t := range recorded.Steps {
		e := c.MeanOf(recorded, quantity, i)
		lo, hi := e.Interval(confidence)
		replicas := float64(c.Settings.Run.Replicas)
		switch {
		case t == 0 && slices.Contains(OfPolicy, quantity):
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
func compareAmplitude(j *Question, c *plan.Cell) Finding {
	o := j.Outcome(c)
	j = j.paper()
	f := newFinding(rom.PaperRule)
	curve, theory := j.Curve(c)
	f.Predicted, f.Side = theory, FromBelow
	recorded := j.Trajectory(o, sim.ExpectedReward)
	if theory.Out() || recorded == nil || o.Status == store.CellDiverged {
		return f
	}
	_, model := curve.Sample(recorded.Steps)
	return f.exactly(math.Log(measure.Spread(model) / measure.Spread(c.Rewards(recorded))))
}

// saturationNumbers compares an exponential fitted to the mean reward with the same fit to the
// mean-field curve. To leading order its rate is the relaxation rate k/γ.
func saturationNumbers(m *Model, cells []*plan.Cell) []scalar {
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
	rate.predict = func(m *Model, c *plan.Cell) scope.Number {
		if m.Kind != rom.LeadingOrder {
			return fit()[0]
		}
		p := m.relaxationRate(m.Settings(c))
		p.Because = cmp.Or(p.Because, cell.Unclipped(m.Params(c), math.Inf(1)).Because)
		return p
	}
	if m.Check.Prediction == rom.LeadingOrder { // whose rate is not that of a fit
		return []scalar{rate}
	}
	r2.predict = func(*Model, *plan.Cell) scope.Number { return fit()[1] }
	return []scalar{rate, r2}
}

// ofFit returns the numbers that a fit to the predicted curve of a cell gives, at least one. They
// neglect as much as they move if the curve is displaced by what it leaves out.
func (m *Model) ofFit(c *plan.Cell, kind sim.CurveFit,
	fit func(steps []int, reward []float64) []float64) []scope.Number {
	curve, theory := m.Curve(c)
	if theory.Out() {
		return []scope.Number{theory, theory} // no fit gives more
	}
	steps, reward := curve.Sample(sim.FitSteps(kind, c.Settings.Run.Steps))
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
func (m *Model) earlySlope(c *plan.Cell) scope.Number {
	switch {
	case m.Kind == rom.RuleAtStiffness:
		p := m.prediction(c)
		return scope.Number{Value: p.Stiffness.Total, Kind: rom.RuleAtStiffness,
			Because: theory.MissingFixedPoint(p)}
	case c.Settings.Deep():
		return scope.Number{Kind: cmp.Or(m.Kind, rom.Exact), Because: scope.Networks.Because("the mean path")}
	case m.Kind == rom.PaperRule:
		stiffness, within := m.paperStiffness(c)
		return scope.Number{Value: stiffness, Kind: rom.PaperRule, Because: within.Because}
	}
	return m.ofFit(c, sim.EarlySlopeFit, func(steps []int, reward []float64) []float64 {
		return []float64{measure.EarlySlope(steps, reward, m.Settings(c).Optimizer.LearningRate)}
	})[0]
}

// paperStiffness returns the stiffness in the paper's formulas for a run from the start of a cell.
func (m *Model) paperStiffness(c *plan.Cell) (float64, rom.Scope) {
	params := m.Params(c)
	params.Start = c.Start
	return rest.PaperStiffness(params)
}

// Curve is a predicted mean of a recorded quantity over optimizer steps, given by values or by a
// formula.
type Curve struct {
	steps []int                   // all recorded or fitted steps, ascending
	path  rom.Path                // at steps; without Mean the mean is given by form
	form  func(t float64) float64 // the mean at step t; nil: given by path
	// of deviations: of J the rise J* − J_0, without a fixed point that to the best arm; of others the
	// range of the curve over the recorded steps
	unit float64
}

// At returns the mean at a recorded or fitted step.
func (c *Curve) At(t int) float64 {
	if c.path.Mean == nil {
		return c.form(float64(t))
	}
	return c.path.Mean[c.place(t)]
}

// place returns the index of a recorded or fitted step.
func (c *Curve) place(t int) int {
	i, _ := slices.BinarySearch(c.steps, t)
	return i
}

// neglectedAt returns the predicted size of what the curve leaves out at a recorded or
// fitted step, in units of the quantity, ≥ 0.
func (c *Curve) neglectedAt(t int) float64 {
	if c.path.Neglected == nil {
		return 0
	}
	return c.path.Neglected[c.place(t)]
}

// neglect sets the size of what a value predicted from the curve leaves out, infinite if it
// is NaN and the value is not.
func (c *Curve) neglect(p *scope.Number, size float64) {
	if math.IsNaN(size) && !math.IsNaN(p.Value) {
		size = math.Inf(1)
	}
	p.Neglected = nil
	p.Leave(scope.HigherOrder, size)
}

// Sample returns the given steps and the curve at them.
func (c *Curve) Sample(steps []int) ([]int, []float64) {
	return steps, config.Each(steps, c.At)
}

// displaced returns values at the given steps plus, and minus, what the curve leaves out there. A
// fit to a curve that still creeps moves far to one side only.
func (c *Curve) displaced(steps []int, values []float64) (both [][]float64) {
	for _, sign := range [2]float64{1, -1} {
		out := make([]float64, len(values))
		for i, t := range steps {
			out[i] = values[i] + sign*c.neglectedAt(t)
		}
		both = append(both, out)
	}
	return both
}

// Course returns the predicted mean of the check's quantity in a cell, with its kind and scope (no
// value). The unit of quantities other than J is the range over the recorded steps.
func (m *Model) Course(c *plan.Cell) (cv Curve, p scope.Number) {
	quantity := m.Check.Recorded()
	if p.Kind = cmp.Or(m.Kind, rom.Exact); c.Settings.Deep() {
		p.Because = scope.Networks.Because("the mean path")
		return Curve{}, p
	}
	if quantity == sim.ExpectedReward {
		return m.Curve(c)
	}
	s := m.Settings(c)
	params := theory.Params(s, m.Fault.Scale)
	of, because := theory.Observed(quantity)
	if p.Because = cmp.Or(because, m.fewKicks(c, s.Run.Steps)); p.Out() {
		return Curve{}, p
	}
	recorded, steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag),
		theory.ComparedSteps(&c.Settings)
	between := quantity.SinceRecord(c.Settings.Lag)
	if between {
		steps = theory.EveryStep(c.Settings.Run.Steps)
	}
	path := theory.Part(m.along(c, params, of, steps), quantity)
	p.Kind = cmp.Or(m.Kind, path.Kind)
	if p.Because = cmp.Or(path.Scope.Because, m.missingExact(path.Kind)); p.Out() {
		return Curve{}, p
	}
	if cv.steps, cv.path = steps, *path; between {
		cv = Curve{steps: recorded, path: rom.Path{
			Mean:      theory.SinceRecord(path.Mean, recorded),
			Neglected: theory.SinceRecord(path.Neglected, recorded),
		}}
	}
	_, values := cv.Sample(recorded)
	if cv.unit = measure.Spread(slices.DeleteFunc(values, math.IsNaN)); cv.unit < stillCurve {
		p.Because = scope.Undecided.Because(
			fmt.Sprintf("the predicted mean of %s does not move", quantity))
	}
	return cv, p
}

// along returns the predicted mean of an observed number over the runs of a cell at the given
// steps.
func (m *Model) along(c *plan.Cell, params rom.Params, of rom.Observed, steps []int) *rom.Path {
	path := m.cache.Mean(of, params, &c.Settings, c.Start, steps)
	if m.faulty() { // what it neglects is not known
		of := *path
		of.Neglected, path = nil, &of
	}
	return path
}

// stillCurve is the range of a predicted mean, or of its rise, up to which rounding decides a share
// of it.
const stillCurve = 1e-9

// Curve returns the predicted mean reward of a cell, with its kind and scope (no value):
//
//	exact          the mean-field map with the mean force at the cell's G, plus the shift
//	               by the noise of finite groups
//	paper-rule     that map at G = ∞; for cells at G = ∞ the paper's oscillator, with the
//	               stiffness from the early slope
//	leading-order  the closed form of the reduced-order model
//
// The mean path needs no fixed point; without one its rise is that to the best arm. With a planted
// fault what it neglects is not known.
func (m *Model) Curve(c *plan.Cell) (cv Curve, p scope.Number) {
	params := m.Params(c)
	if m.Kind == rom.PaperRule {
		params.GroupSize = option.Infinite
	}
	p.Kind = m.Kind
	if c.Start == nil {
		p.Because = scope.NotReached.Because()
		return Curve{}, p
	}
	start, point, ok := m.way(params, c.Start)
	if byFormula := m.Kind == rom.LeadingOrder ||
		m.Kind == rom.PaperRule && c.Settings.Estimator.GroupSize == option.Infinite; !ok && byFormula {
		p.Because = scope.NotReached.Because()
		return Curve{}, p
	}
	cv.unit = point.Reward - start
	if math.Abs(cv.unit) < stillCurve {
		p.Because = scope.Undecided.Because("it starts at the reward where it ends")
		return Curve{}, p
	}
	if because := theory.FewKicks(params, &c.Settings, c.Start, point, ok,
		c.Settings.Run.Steps); because.Out() {
		p.Because = because
		return Curve{}, p
	}
	if m.Kind == rom.LeadingOrder {
		form, within := rest.ClosedForm(params, c.Start)
		cv.form, p.Because = form, within.Because
		return cv, p
	}
	if m.Kind == rom.PaperRule && c.Settings.Estimator.GroupSize == option.Infinite {
		s := m.Settings(c)
		stiffness, within := m.paperStiffness(c)
		p.Because = within.Because
		cv.form = paper.Curve(stiffness, s.Optimizer.LearningRate, s.Optimizer.Momentum, paperAge(s),
			start, point.Reward)
		return cv, p
	}
	steps := theory.ComparedSteps(&c.Settings)
	r := theory.ComeToRest(m.along(c, params, rom.Reward, steps), steps, func() *theory.AtRest {
		return m.atRest(m.Settings(c))
	})
	cv.steps, cv.path = steps, *r
	p.Kind = cmp.Or(p.Kind, r.Kind)
	p.Because = cmp.Or(r.Scope.Because, m.missingExact(r.Kind))
	return cv, p
}

// OfPolicy are the recorded quantities of which the value at the last step is compared:
// those of the policy. Those of the samples are the noise of a single step.
var OfPolicy = append(sim.Strata.Parts(), sim.ExpectedReward, sim.TrueReward, sim.Entropy,
	sim.Collision, sim.KLReference, sim.LogitGap)

// way returns J at the start and the fixed point that runs reach from there, without one the reward
// of the best arms.
func (m *Model) way(
	params rom.Params, start []float64,
) (from float64, point fixed.Point, reached bool) {
	if point, reached = m.cache.Equilibrium(params).Reached(); !reached {
		point.Reward = force.BestReward(params)
	}
	return force.ExpectedReward(params, start), point, reached
}
