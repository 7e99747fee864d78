package claim

import (
	"cmp"
	"fmt"
	"math"

	"grposim/fp"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// The claim about the share of replicas that end where theory says.

// expectedEnd is where theory says that the runs of a cell end. Its Number is the predicted share
// of them; where that is out, the place is the fixed point, without one the best arms.
type expectedEnd struct {
	scope.Number
	reward, distance float64 // J at the end, and the largest |J − reward| of a run that has arrived
}

// Sizes of a distance.
const (
	// standard deviations of J over runs that have arrived: e^{−5} of an exponential law lies beyond
	// on one side
	farOfSpread = 4.
	// share of the range of rewards beyond which runs on different arms may count as one
	farOfRange = 0.25
)

// end returns where theory says that the runs of a cell end.
func (m *Model) end(c *plan.Cell) (e expectedEnd) {
	s := m.Settings(c)
	if s.Deep() {
		return m.endOfNetwork(c)
	}
	target := theory.NewTarget(s, c.Start, m.predictSettings(s))
	e.reward, e.distance, e.Kind = target.Reward, theory.NearInMean*target.Span+target.Rounding(),
		cmp.Or(m.Kind, rom.Exact)
	curve, path := m.Course(c)
	if e.Kind, e.Because = path.Kind, path.Because; e.Out() {
		return e
	}
	steps := sim.RecordedSteps(s.Run.Steps, s.Lag)
	at := func(of func(t int) float64) float64 {
		return plan.EndOf(steps, func(i int) float64 { return of(steps[i]) })
	}
	reward := at(curve.At)
	if math.IsNaN(reward) {
		e.Because = scope.UnknownSize.Because("the mean path has no finite end")
		return e
	}
	e.reward = reward
	spread := 0.0
	if !c.Deterministic() {
		spread = at(curve.deviationAt)
	}
	unknown := at(curve.neglectedAt)
	if wide := farOfSpread * spread; wide > farOfRange*target.Span {
		e.Because = scope.Undecided.Because(
			fmt.Sprintf("at its end runs differ by %.2g, so that those that arrived are not told from "+
				"others", spread))
		return e
	}
	e.distance = max(e.distance, farOfSpread*spread)
	arrive := theory.Arrival(m.Params(c), c.Start, s.Run.Steps)
	if arrive.Value < 1 {
		e.Kind = cmp.Or(m.Kind, arrive.Kind)
		arrive.Because = cmp.Or(arrive.Because, m.missingExact(arrive.Kind))
	}
	if e.Value, e.Because = arrive.Value, arrive.Because; e.Out() {
		return e
	}
	e.Neglected = arrive.Neglected
	switch left := e.distance - unknown; {
	case !(left > 0) || math.IsNaN(spread):
		e.Leave(scope.HigherOrder, math.Inf(1),
			"the end of the mean path, or how far runs differ there, is not known to within the distance")
	case spread > 0:
		e.Leave(scope.HigherOrder, fp.MathExp(-1-left/spread))
	}
	return e
}

// endOfNetwork is end of a cell with a network: where its contexts are at their fixed points. How
// many runs arrive there is not derived.
func (m *Model) endOfNetwork(c *plan.Cell) (e expectedEnd) {
	p, arms := m.prediction(c), c.Settings.Bandit.Arms
	e.Kind, e.Because = cmp.Or(m.Kind, rom.Exact),
		cmp.Or(theory.MissingFixedPoint(p), scope.Networks.Because("the share of runs that arrive"))
	if p.FixedPoint != nil {
		e.reward, e.distance = p.FixedPoint.Reward, theory.NearInMean*math.Abs(arms[0].Mean-arms[1].Mean)
	}
	return e
}

// deviationAt returns the predicted standard deviation over runs at a recorded or fitted step, NaN
// where it is not known.
func (c *Curve) deviationAt(t int) float64 {
	if c.path.Deviation == nil {
		return math.NaN()
	}
	return c.path.Deviation[c.place(t)]
}

// compareArrival compares the share of replicas that have arrived with the predicted one.
func compareArrival(j *Question, c *plan.Cell) Finding {
	o := j.Outcome(c)
	f := newFinding(rom.Exact)
	end := j.end(c)
	f.Predicted = end.Number
	f.Quantity = fmt.Sprintf("share of replicas that end within %.2g of J = %.4g", end.distance,
		end.reward)
	if len(o.Ends) == 0 || end.distance == 0 { // or theory knows of no end
		return f
	}
	var arrived, others []float64
	for _, x := range o.Ends {
		there := math.Abs(float64(x)-end.reward) <= end.distance
		arrived = append(arrived, measure.Indicator(there))
		if !there && !math.IsNaN(float64(x)) {
			others = append(others, float64(x))
		}
	}
	e := measure.Mean(arrived)
	if c.Deterministic() {
		e = measure.Certain(arrived[0])
	}
	f.Measured, f.Replicas = e.Mean, len(arrived)
	f.Lo, f.Hi = e.Share(float64(len(arrived)), j.Confidence)
	if others != nil {
		f.Instead = fmt.Sprintf("%d of %d replicas end elsewhere, at J = %.4g on average", len(others),
			len(arrived), measure.Average(others))
	}
	return f
}
