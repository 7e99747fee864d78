package plan

import (
	"math"
	"strings"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/store"
)

// newOutcome converts the result of a cell's simulation into the form in which it is
// stored, and adds the estimates of its failure modes. A result without recorded steps
// gives an outcome without trajectory.
func newOutcome(c *Cell, r sim.Result) *store.Outcome {
	o := &store.Outcome{ID: c.ID, Status: store.CellStatus(r.Status), Diverged: r.Diverged, DivergedAt: r.DivergedAt}
	for _, e := range r.Estimates {
		o.Add(store.Store(e.Name, e.Estimate))
	}
	if r.Ends != nil {
		o.Ends = endsOf(c, r.Ends)
	}
	if len(r.Steps) == 0 {
		return o
	}
	o.Add(c.nameModes(&r)...)
	o.SetTrajectory(store.NewTrajectory(&r))
	return o
}

// Interval returns the interval of a cell's estimate of a name: Wilson's for a share of events,
// else Student's. confidence is in (0, 1).
func (c *Cell) Interval(name string, e measure.Estimate, confidence float64) (lo, hi float64) {
	switch {
	case !IsShare(name):
		return e.Interval(confidence)
	case name != sim.ZeroVarianceShare:
		return e.Share(float64(e.DF+1), confidence)
	}
	run := c.Settings.Run
	trials := float64(run.Replicas) * float64(run.Steps-run.BurnIn) * float64(c.Settings.Estimator.GroupsPerStep)
	return e.Share(trials, confidence)
}

// IsShare reports whether the estimate with the given name is a share of events.
func IsShare(name string) bool {
	return name == sim.ZeroVarianceShare || strings.HasPrefix(name, namedPrefix) ||
		strings.HasPrefix(name, paperNamedPrefix) || strings.HasPrefix(name, sim.LoggedPlateauPrefix)
}

// MeanReward is MeanOf J.
func (c *Cell) MeanReward(t *store.Trajectory, i int) measure.Estimate {
	return c.MeanOf(t, sim.ExpectedReward, i)
}

// MeanOf returns the mean of a quantity over replicas at the i-th recorded step of the cell's
// trajectory, without error where the cell is deterministic.
func (c *Cell) MeanOf(t *store.Trajectory, quantity sim.Quantity, i int) measure.Estimate {
	s := t.Series(quantity)
	if c.Deterministic() {
		return measure.Certain(float64(s.Mean[i]))
	}
	return measure.Estimate{Mean: float64(s.Mean[i]), StdErr: float64(s.StdErr[i]), DF: c.Settings.Run.Replicas - 1}
}

// Rewards returns the mean of J at each recorded step.
func (c *Cell) Rewards(t *store.Trajectory) []float64 {
	reward := make([]float64, len(t.Steps))
	for i := range reward {
		reward[i] = c.MeanReward(t, i).Mean
	}
	return reward
}

// EndOf returns the mean of the given J over the recorded steps of the last quarter of a run. There
// is at least one such step, the last.
func EndOf(steps []int, at func(i int) float64) float64 {
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
			end = EndOf(steps, func(n int) float64 { return e.Rewards[n] })
		}
		all = append(all, store.Number(end))
	}
	return all
}
