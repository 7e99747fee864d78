package sweeps

import (
	"fmt"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sim/measure"
)

// Outcome is what a cell measured: everything that is stored of it, and all
// that any verdict, table or figure is made from.
type Outcome struct {
	ID         string     `json:"id"`
	Status     CellStatus `json:"status"`
	Diverged   int        `json:"diverged,omitempty"`    // replicas
	DivergedAt int        `json:"diverged_at,omitempty"` // first step
	Estimates  []Estimate `json:"estimates,omitempty"`

	recorded *Trajectory // nil where nothing was recorded, or line holds it
	line     *storedLine // where the outcome is in a journal; nil: in none
}

// Trajectory returns what was recorded along the run, nil where nothing was. Of
// a stored outcome it is read from the journal, each time: call it once, and
// name the quantities that are wanted; without a name it is all of them.
func (o *Outcome) Trajectory(wanted ...sim.Quantity) *Trajectory {
	if o.line == nil {
		return o.recorded
	}
	return o.line.trajectory(wanted)
}

// Estimate is a measured mean with its standard error; DF −1 where no chance
// entered, 0 where the error is not known.
type Estimate struct {
	Name   string  `json:"name"`
	Mean   float64 `json:"mean"`
	StdErr float64 `json:"stderr"`
	DF     int     `json:"df"`
}

// newOutcome stores what a cell's simulation has found.
func newOutcome(c *Cell, r sim.Result) *Outcome {
	o := &Outcome{ID: c.ID, Status: CellStatus(r.Status), Diverged: r.Diverged, DivergedAt: r.DivergedAt}
	for _, e := range r.Estimates {
		o.Estimates = append(o.Estimates, Estimate{Name: e.Name, Mean: e.Mean, StdErr: e.StdErr, DF: e.DF})
	}
	if len(r.Steps) == 0 {
		return o
	}
	o.Estimates = append(o.Estimates, c.nameModes(&r)...)
	o.recorded = newTrajectory(&r)
	return o
}

// estimate returns the estimate of the named quantity.
func (o *Outcome) estimate(name string) (measure.Estimate, bool) {
	for _, e := range o.Estimates {
		if e.Name == name {
			return measure.Estimate{Mean: e.Mean, StdErr: e.StdErr, DF: e.DF}, true
		}
	}
	return measure.Estimate{}, false
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

// intact reports whether an outcome read from a journal is one that a sweep can
// have written: a known status, and series as long as their steps.
func (o *Outcome) intact() bool {
	if o.ID == "" || !slices.Contains([]CellStatus{CellOK, CellDiverged, NoFixedPoint}, o.Status) {
		return false
	}
	t := o.recorded
	if t == nil {
		return true
	}
	for _, s := range t.Quantities {
		if n := len(t.Steps); len(s.Mean) != n || len(s.StdErr) != n || len(s.Quantiles) != n {
			return false
		}
	}
	return slices.IsSorted(t.Steps) && t.Series(sim.ExpectedReward) != nil
}

// failure says why the cell has no stationary state, or "".
func (o *Outcome) failure() string {
	if o.Status != CellDiverged {
		return ""
	}
	return fmt.Sprintf("%d replicas diverged, the first at step %d", o.Diverged, o.DivergedAt)
}

// meanReward returns the mean of J at the i-th recorded step of the cell's
// trajectory, as well as its replicas know it.
func (c *Cell) meanReward(t *Trajectory, i int) measure.Estimate {
	s := t.Series(sim.ExpectedReward)
	if c.Sim.Deterministic() {
		return measure.Certain(float64(s.Mean[i]))
	}
	return measure.Estimate{Mean: float64(s.Mean[i]), StdErr: float64(s.StdErr[i]), DF: c.Settings.Run.Replicas - 1}
}
