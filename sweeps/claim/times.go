package claim

import (
	"fmt"
	"math"
	"slices"

	"grposim/rom"
	"grposim/rom/fixed"
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
	time := theory.TimeOf(steps, values, config.Each(steps, c.neglectedAt), level, fromBelow)
	p.Value, p.Because, p.Neglected = time.Value, time.Because, time.Neglected
}

// The claim about the map of the policy from one refresh to the next.

// compareRecurrence compares the logit gap at each refresh with the map of an infinitely long block
// applied to the gap before. Of recorded steps that skip refreshes only consecutive pairs are
// compared. The measured value is the deviation of largest size, in logits. A block that does not
// come within half the margin of its end is out of scope.
func compareRecurrence(j *Question, c *plan.Cell) Finding {
	f, o := newFinding(rom.Exact), j.Outcome(c)
	f.Diverged = divergenceOf(c, o)
	if !c.Deterministic() {
		f.Predicted.Because = scope.Recurrence.Because(
			"at finite G the noise of every step enters the gap")
		return f
	}
	recorded := j.Trajectory(o, sim.LogitGap)
	if recorded == nil {
		return f
	}
	gaps := recorded.Series(sim.LogitGap)
	params := j.Params(c)
	f.Measured = 0
	for i := 1; i < len(recorded.Steps); i++ {
		if recorded.Steps[i]-recorded.Steps[i-1] != c.Settings.Lag.Interval {
			continue
		}
		z := float64(gaps.Mean[i-1])
		next, within := RefreshedGap(params, z)
		if !within.In {
			f.Predicted.Because = within.Because
			return f
		}
		steps := fixed.RefreshSteps(params, []float64{z / 2, -z / 2}, scope.Decisive*j.Margin(0))
		if steps > float64(c.Settings.Lag.Interval) {
			f.Measured = math.NaN()
			f.Predicted.Because = scope.Recurrence.Because(
				fmt.Sprintf("the block from step %d, where z = %.4g, does not converge: to come within half "+
					"the margin of the map's next policy, z = %.4g, takes about %.2g steps, not %d",
					recorded.Steps[i-1], z, next, steps, c.Settings.Lag.Interval))
			return f
		}
		if d := float64(gaps.Mean[i]) - next; math.IsNaN(d) || math.Abs(d) > math.Abs(f.Measured) {
			f.Measured = d
		}
	}
	return f.exactly(f.Measured)
}

// RefreshedGap returns the logit gap of two arms after an infinitely long block from the gap z; 0
// out of scope.
func RefreshedGap(params rom.Params, z float64) (next float64, within rom.Scope) {
	logits, within := fixed.Refreshed(params, []float64{z / 2, -z / 2})
	if !within.In {
		return 0, within
	}
	return logits[0] - logits[1], within
}

// The claim about the margin along a run of a network.

// OverThreshold returns the recorded steps of a run and its learning rate over the threshold at
// each, ηλ/κ*; nil where it was not recorded.
func (j *Question) OverThreshold(c *plan.Cell) (steps []int, shares []float64) {
	recorded, critical := j.Trajectory(j.Outcome(c), sim.Stiffest), criticalStiffness(j.Model.cache, c)
	if recorded == nil {
		return nil, nil
	}
	return recorded.Steps, config.Each(recorded.Series(sim.Stiffest).Means(),
		func(stiffness float64) float64 { return stiffness / critical })
}

// criticalStiffness returns κ*/η of a cell by the theory as derived, NaN where it has none. It is
// the unit of the measured numbers, whatever fault is planted.
func criticalStiffness(cache *theory.Cache, c *plan.Cell) float64 {
	p := cache.Predict(&c.Settings, rom.Unit)
	if p.LeadingOrder.CriticalLearningRate == nil {
		return math.NaN()
	}
	return p.Stiffness.Total * *p.LeadingOrder.CriticalLearningRate / c.Settings.Optimizer.LearningRate
}

// compareOverThreshold compares the largest of these numbers after the burn-in with 1, the edge.
func compareOverThreshold(j *Question, c *plan.Cell) Finding {
	f := newFinding(rom.LeadingOrder)
	f.Diverged = divergenceOf(c, j.Outcome(c))
	f.Predicted = j.edge(c)
	f.Predicted.Value /= criticalStiffness(j.Model.cache, c)
	steps, shares := j.OverThreshold(c)
	first := slices.IndexFunc(steps, func(t int) bool { return t >= c.Settings.Run.BurnIn })
	if first >= 0 {
		return f.exactly(slices.Max(shares[first:])) // NaN where one of them is not known
	}
	return f
}
