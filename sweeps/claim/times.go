package claim

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// The claim about the time at which a mean reaches a level.

// TimeToLevel names the time that a check is about.
func TimeToLevel(check *config.Check) string {
	if check.Level == nil {
		return "steps until mean reward has made 95 % of its way"
	}
	return fmt.Sprintf("steps until mean %s reaches %g", Noun(check.Recorded()), *check.Level)
}

// Level returns the level that a check of a cell is about, NaN where it is a share of a way that
// starts nowhere. A planted fault does not move it.
func (m *Model) Level(c *plan.Cell) float64 {
	switch {
	case m.Check.Level != nil:
		return *m.Check.Level
	case c.Start == nil:
		return math.NaN()
	}
	right := *m
	right.Fault = config.NoFault
	start, point, _ := right.way(right.Params(c), c.Start)
	return start + theory.WayMade*(point.Reward-start)
}

// compareTime compares the optimizer step at which the mean of the check's quantity first reaches
// the level with that of the predicted curve. Its interval reaches from the step at which one edge
// of the simultaneous band does so to that of the other.
func compareTime(j *Question, c *plan.Cell) Finding {
	o, quantity, level := j.Outcome(c), j.Check.Recorded(), j.Level(c)
	f := newFinding(rom.Exact)
	f.Replicas, f.Estimate = c.Settings.Run.Replicas,
		fmt.Sprintf("%s %s %g", j.Check.Claim.Name, quantity, level)
	curve, predicted := j.Course(c)
	f.Predicted, f.Diverged = predicted, divergenceOf(c, o)
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	fromBelow := false
	if !predicted.Out() {
		fromBelow = level >= curve.At(steps[0])
		curve.predictTime(&f.Predicted, steps, level, fromBelow)
	}
	recorded := j.Trajectory(o, quantity)
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
	at := func(values []float64) float64 {
		return theory.Reaches(recorded.Steps, values, level, fromBelow)
	}
	f.Measured, f.Lo, f.Hi = at(band.mean), at(first), at(second)
	last := float64(recorded.Steps[len(recorded.Steps)-1])
	if math.IsInf(f.Lo, 1) {
		f.Lo, f.Side = last, Unreached
	}
	// of a mean that does not reach it, as of an event that a search did not find
	f.Measured = min(f.Measured, last)
	return f
}

// predictTime sets the number to the time at which the curve reaches the level.
func (c *Curve) predictTime(p *scope.Number, steps []int, level float64, fromBelow bool) {
	_, values := c.Sample(steps)
	neglected := make([]float64, len(steps))
	for i, t := range steps {
		neglected[i] = c.neglectedAt(t)
	}
	time := theory.TimeOf(steps, values, neglected, level, fromBelow)
	p.Value, p.Because, p.Neglected = time.Value, time.Because, time.Neglected
}
