package store

import (
	"fmt"
	"slices"

	"grposim/sim"
	"grposim/sim/measure"
)

// Outcome is what a cell measured: everything that is stored of it, and all
// that any verdict, table or figure is made from.
type Outcome struct {
	ID         string          `json:"id"`
	Status     CellStatus      `json:"status"`
	Diverged   int             `json:"diverged,omitempty"`    // replicas
	DivergedAt int             `json:"diverged_at,omitempty"` // first step
	Estimates  []NamedEstimate `json:"estimates,omitempty"`

	recorded *Trajectory // nil where nothing was recorded, or line holds it
	line     *storedLine // where the outcome is in a journal; nil: in none
}

// Trajectory returns what was recorded along the run, nil where nothing was. Of
// a stored outcome it is read from the journal, each time: call it once, and
// name the quantities that are wanted; without a name it is all of them.
func (o *Outcome) Trajectory(wanted ...sim.Quantity) (*Trajectory, error) {
	if o.line == nil {
		return o.recorded, nil
	}
	return o.line.trajectory(wanted)
}

// Record sets what was recorded along the run, in the place of what is stored.
func (o *Outcome) Record(t *Trajectory) { o.recorded, o.line = t, nil }

// Stored reports whether the outcome is in a journal.
func (o *Outcome) Stored() bool { return o.line != nil }

// NamedEstimate is a measured mean with its standard error; DF −1 where no chance
// entered, 0 where the error is not known.
type NamedEstimate struct {
	Name   string  `json:"name"`
	Mean   float64 `json:"mean"`
	StdErr float64 `json:"stderr"`
	DF     int     `json:"df"`
}

// estimate returns the estimate of the named quantity.
func (o *Outcome) Estimate(name string) (measure.Estimate, bool) {
	for _, e := range o.Estimates {
		if e.Name == name {
			return measure.Estimate{Mean: e.Mean, StdErr: e.StdErr, DF: e.DF}, true
		}
	}
	return measure.Estimate{}, false
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
func (o *Outcome) Failure() string {
	if o.Status != CellDiverged {
		return ""
	}
	return fmt.Sprintf("%d replicas diverged, the first at step %d", o.Diverged, o.DivergedAt)
}

// CellStatus is what became of a cell.
type CellStatus string

const (
	CellOK       CellStatus = CellStatus(sim.OK)
	CellDiverged CellStatus = CellStatus(sim.Diverged)
	NoFixedPoint CellStatus = "no-fixed-point" // its start is defined by one, and there is none
)
