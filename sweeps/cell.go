package sweeps

import (
	"strings"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/store"
)

// newOutcome stores what a cell's simulation has found.
func newOutcome(c *Cell, r sim.Result) *store.Outcome {
	o := &store.Outcome{ID: c.ID, Status: store.CellStatus(r.Status), Diverged: r.Diverged, DivergedAt: r.DivergedAt}
	for _, e := range r.Estimates {
		o.Estimates = append(o.Estimates, store.NamedEstimate{Name: e.Name, Mean: e.Mean, StdErr: e.StdErr, DF: e.DF})
	}
	if len(r.Steps) == 0 {
		return o
	}
	o.Estimates = append(o.Estimates, c.nameModes(&r)...)
	o.SetTrajectory(store.NewTrajectory(&r))
	return o
}

// interval returns the interval of a cell's estimate: Wilson's for shares, of
// zero-variance groups and of replicas named so, Student's for everything else.
func (c *Cell) interval(name string, e measure.Estimate, confidence float64) (lo, hi float64) {
	switch {
	case strings.HasPrefix(name, namedPrefix), strings.HasPrefix(name, paperNamedPrefix):
		return e.Share(float64(e.DF+1), confidence)
	case name != sim.ZeroVarianceShare:
		return e.Interval(confidence)
	}
	run := c.Settings.Run
	trials := float64(run.Replicas) * float64(run.Steps-run.BurnIn) * float64(c.Settings.Estimator.GroupsPerStep)
	return e.Share(trials, confidence)
}

// meanReward returns the mean of J at the i-th recorded step of the cell's
// trajectory, as well as its replicas know it.
func (c *Cell) meanReward(t *store.Trajectory, i int) measure.Estimate {
	s := t.Series(sim.ExpectedReward)
	if c.Sim.Deterministic() {
		return measure.Certain(float64(s.Mean[i]))
	}
	return measure.Estimate{Mean: float64(s.Mean[i]), StdErr: float64(s.StdErr[i]), DF: c.Settings.Run.Replicas - 1}
}
