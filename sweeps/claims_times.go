package sweeps

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// The claim about the time at which a mean reaches a level.

// timeToLevel names the time that a check is about.
func timeToLevel(check *config.Check) string {
	if check.Level == nil {
		return "steps until mean reward has made 95 % of its way"
	}
	return fmt.Sprintf("steps until mean %s reaches %g", nounOf(check.Recorded()), *check.Level)
}

// level returns the level that a check of a cell is about, NaN where it is a share of a way that
// starts nowhere. A planted fault does not move it.
func (m *model) level(c *Cell) float64 {
	switch {
	case m.check.Level != nil:
		return *m.check.Level
	case c.start == nil:
		return math.NaN()
	}
	right := *m
	right.fault = config.NoFault
	start, point, _ := right.way(right.params(c), c.start)
	return start + theory.WayMade*(point.Reward-start)
}

// compareTime compares the optimizer step at which the mean of the check's quantity first reaches
// the level with that of the predicted curve. Its interval reaches from the step at which one edge
// of the simultaneous band does so to that of the other.
func compareTime(j *judgement, c *Cell) finding {
	o, quantity, level := j.outcome(c), j.check.Recorded(), j.level(c)
	f := newFinding(rom.Exact)
	f.replicas, f.estimate = c.Settings.Run.Replicas, fmt.Sprintf("%s %s %g", j.check.Claim.Name, quantity, level)
	curve, predicted := j.course(c)
	f.predicted, f.diverged = predicted, divergenceOf(c, o)
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	fromBelow := false
	if !predicted.Out() {
		fromBelow = level >= curve.at(steps[0])
		curve.predictTime(&f.predicted, steps, level, fromBelow)
	}
	recorded := j.trajectory(o, quantity)
	if recorded == nil || len(recorded.Steps) == 0 || o.Status == store.CellDiverged {
		return f
	}
	band := j.band(c, recorded, quantity)
	if predicted.Out() {
		fromBelow = level >= band.mean[0]
	}
	first, second := band.hi, band.lo
	if !fromBelow {
		first, second = second, first
	}
	at := func(values []float64) float64 { return theory.Reaches(recorded.Steps, values, level, fromBelow) }
	f.measured, f.lo, f.hi = at(band.mean), at(first), at(second)
	last := float64(recorded.Steps[len(recorded.Steps)-1])
	if math.IsInf(f.lo, 1) {
		f.lo, f.side = last, Unreached
	}
	// of a mean that does not reach it, as of an event that a search did not find
	f.measured = min(f.measured, last)
	return f
}

// predictTime sets the number to the time at which the curve reaches the level.
func (c *curve) predictTime(p *scope.Number, steps []int, level float64, fromBelow bool) {
	_, values := c.sample(steps)
	neglected := make([]float64, len(steps))
	for i, t := range steps {
		neglected[i] = c.neglectedAt(t)
	}
	time := theory.TimeOf(steps, values, neglected, level, fromBelow)
	p.Value, p.Because, p.Neglected = time.Value, time.Because, time.Neglected
}

// way returns J at the start and the fixed point that runs reach from there, without one the reward
// of the best arms.
func (m *model) way(params rom.Params, start []float64) (from float64, point rest.FixedPoint, reached bool) {
	if point, reached = m.cache.Equilibrium(params).Reached(); !reached {
		point.Reward = force.BestReward(params)
	}
	return force.ExpectedReward(params, start), point, reached
}

// drawTimes returns a picture of the times over the swept parameter over which the cells form
// lines; without one of the curves and the level.
func drawTimes(j *judgement, d *figureSource) Figure {
	var cells []*Cell
	for _, set := range d.sets {
		cells = append(cells, set.Cells[0])
	}
	if abscissa(cells) != "" {
		f := figureOver(j, d.sets, overPicture{
			title: "Optimizer " + timeToLevel(j.check), label: "optimizer steps",
			caption:  "Points are the steps at which the mean over the replicas first reaches the level, with their intervals. The theory holds where they lie on its line; a run that is too short has no point of its own, and its interval is open above.",
			theories: []theoryLine{{"", "predicted"}},
		}, compareTime)
		f.YScale = LogAxis
		return f
	}
	f := drawCurves(j, d)
	for _, set := range thinned(d.sets) {
		c := set.Cells[0]
		at := j.level(c)
		if math.IsNaN(at) {
			continue
		}
		level := FigureSeries{Name: "level", Group: withoutVariant(set.Label, c.Variant), Mark: Reference}
		for _, t := range []int{1, c.Settings.Run.Steps} {
			level.Points = append(level.Points, BarePoint(float64(t), at))
		}
		f.Series = append(f.Series, level)
	}
	return f
}
