package sweeps

import (
	"cmp"
	"fmt"
	"math"

	"grposim/fp"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// The claim about the share of replicas that end where theory says.

var arrivalPicture = overPicture{
	title: "Replicas that end where theory says", label: "share of replicas",
	caption:  "Each point is the share of replicas whose reward at the end is that of the end of the mean path, within the distance that the verdict gives.",
	theories: []theoryLine{{"", "predicted"}},
}

// arrival is the claim about the share of replicas that arrive.
type arrival struct{ path }

// noiseless adds the end of the predicted path as that of the only replica.
func (arrival) noiseless(m *model, c *Cell, o *store.Outcome) {
	if end := m.end(c); !end.Out() {
		o.Ends = []store.Number{store.Number(end.reward)}
	}
}

// endOf returns the mean of the given J over the recorded steps of the last quarter of a run. There
// is at least one such step, the last.
func endOf(steps []int, at func(i int) float64) float64 {
	sum, n := 0.0, 0
	for i := len(steps) - 1; i >= 0 && 4*steps[i] >= 3*steps[len(steps)-1]; i-- {
		sum, n = sum+at(i), n+1
	}
	return sum / float64(n)
}

// endsOf returns the end of every replica, NaN of one that diverged; nil where none was kept.
func endsOf(c *Cell, ends []sim.End) (all []store.Number) {
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	for i := range ends {
		end := math.NaN()
		if e := &ends[i]; e.DivergedAt < 0 {
			end = endOf(steps, func(n int) float64 { return e.Rewards[n] })
		}
		all = append(all, store.Number(end))
	}
	return all
}

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
func (m *model) end(c *Cell) (e expectedEnd) {
	s := m.settings(c)
	if s.Deep() {
		return m.endOfNetwork(c)
	}
	target := theory.NewTarget(&s, c.start, m.predictSettings(&s))
	e.reward, e.distance, e.Kind = target.Reward, theory.NearInMean*target.Span+target.Rounding(), cmp.Or(m.kind, rom.Exact)
	curve, path := m.course(c)
	if e.Kind, e.Because = path.Kind, path.Because; e.Out() {
		return e
	}
	steps := sim.RecordedSteps(s.Run.Steps, s.Lag)
	at := func(of func(t int) float64) float64 { return endOf(steps, func(i int) float64 { return of(steps[i]) }) }
	reward := at(curve.at)
	if math.IsNaN(reward) {
		e.Because = scope.UnknownSize.Because("the mean path has no finite end")
		return e
	}
	e.reward = reward
	spread := 0.0
	if !c.deterministic() {
		spread = at(curve.deviationAt)
	}
	unknown := at(curve.neglectedAt)
	if wide := farOfSpread * spread; wide > farOfRange*target.Span {
		e.Because = scope.Undecided.Because(fmt.Sprintf("at its end runs differ by %.2g, so that those that arrived are not told from others", spread))
		return e
	}
	e.distance = max(e.distance, farOfSpread*spread)
	arrive := theory.Arrival(m.params(c), c.start, s.Run.Steps)
	if arrive.Value < 1 {
		e.Kind = cmp.Or(m.kind, arrive.Kind)
		arrive.Because = cmp.Or(arrive.Because, m.missingExact(arrive.Kind))
	}
	if e.Value, e.Because = arrive.Value, arrive.Because; e.Out() {
		return e
	}
	e.Neglected = arrive.Neglected
	switch left := e.distance - unknown; {
	case !(left > 0) || math.IsNaN(spread):
		e.Leave(scope.HigherOrder, math.Inf(1), "the end of the mean path, or how far runs differ there, is not known to within the distance")
	case spread > 0:
		e.Leave(scope.HigherOrder, fp.MathExp(-1-left/spread))
	}
	return e
}

// endOfNetwork is end of a cell with a network: where its contexts are at their fixed points. How
// many runs arrive there is not derived.
func (m *model) endOfNetwork(c *Cell) (e expectedEnd) {
	p, arms := m.prediction(c), c.Settings.Bandit.Arms
	e.Kind, e.Because = cmp.Or(m.kind, rom.Exact), cmp.Or(theory.MissingFixedPoint(p), scope.Networks.Because("the share of runs that arrive"))
	if p.FixedPoint != nil {
		e.reward, e.distance = p.FixedPoint.Reward, theory.NearInMean*math.Abs(arms[0].Mean-arms[1].Mean)
	}
	return e
}

// deviationAt returns the predicted standard deviation over runs at a recorded or fitted step, NaN
// where it is not known.
func (c *curve) deviationAt(t int) float64 {
	if c.deviation == nil {
		return math.NaN()
	}
	return c.deviation[c.place(t)]
}

// compareArrival compares the share of replicas that have arrived with the predicted one.
func compareArrival(j *judgement, c *Cell) finding {
	o := j.outcome(c)
	f := newFinding(rom.Exact)
	end := j.end(c)
	f.predicted = end.Number
	f.quantity = fmt.Sprintf("share of replicas that end within %.2g of J = %.4g", end.distance, end.reward)
	if len(o.Ends) == 0 {
		return f
	}
	var arrived, others []float64
	for _, x := range o.Ends {
		there := math.Abs(float64(x)-end.reward) <= end.distance
		arrived = append(arrived, indicator(there))
		if !there && !math.IsNaN(float64(x)) {
			others = append(others, float64(x))
		}
	}
	e := measure.Mean(arrived)
	if c.deterministic() {
		e = measure.Certain(arrived[0])
	}
	f.measured, f.replicas = e.Mean, len(arrived)
	f.lo, f.hi = e.Share(float64(len(arrived)), j.confidence)
	if others != nil {
		f.instead = fmt.Sprintf("%d of %d replicas end elsewhere, at J = %.4g on average", len(others), len(arrived), measure.Average(others))
	}
	return f
}
