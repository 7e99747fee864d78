package claim

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Finding is the measurement and the prediction of one quantity of one set of cells,
// before they are compared within the check's margin.
type Finding struct {
	Quantity         string           // "": the claim's quantity of the same index
	Estimate         string           // name of what was measured; "": the claim's event or name
	Measured, Lo, Hi float64          // value and interval; NaN where nothing was measured
	fit              measure.Estimate // of a slope, with its errors; zero for other quantities
	Replicas         int              // independent values behind the interval; 0 where there are none
	Predicted        scope.Number
	// of a claim about rest with a hypothesis: what the way there leaves in measured
	Unrested   scope.Number
	Side       Side               // how the measurement can contradict the prediction
	Expect     config.Expectation // "": the check's
	About      *config.About      // nil: the check's
	Fault      string             // in words, of a control that is not the check's; ""
	Diverged   divergence         // of the replicas behind the measurement
	Instead    string             // what was found, for a verdict that does not agree; ""
	Unresolved string             // why an inconclusive finding has no number; "": not known
	tested     bool               // a hypothesis is about this quantity, else about the first
	// in how many of the set's bandits the claim holds; nil: they are not counted
	Bandits *Tally
}

// newFinding returns a finding without a measurement. Its NaNs make the comparison
// inconclusive until a claim replaces them.
func newFinding(kind rom.Kind) Finding {
	nan := math.NaN()
	return Finding{Measured: nan, Lo: nan, Hi: nan, Predicted: scope.Number{Kind: kind}}
}

// exactly returns the finding with a measured number that has no error.
func (f Finding) exactly(x float64) Finding {
	f.Measured, f.Lo, f.Hi = x, x, x
	return f
}

// Side is the way in which a measurement can contradict a prediction.
type Side int

// The sides of a comparison.
const (
	FromBothSides Side = iota // too low or too high
	FromBelow                 // too low only, without margin: the prediction is a lower bound
	Unfound                   // an event was not found up to lo, and was predicted below
	Unreached                 // a level was not reached in a run of lo steps, and was predicted to be
)

// Tally counts in how many of several cases something holds.
type Tally struct {
	Holds int `json:"holds"` // 0 ≤ Holds ≤ Of
	Of    int `json:"of"`
}

// Add adds the cases of another tally.
func (t *Tally) Add(other *Tally) { t.Holds, t.Of = t.Holds+other.Holds, t.Of+other.Of }

// divergence says which replicas of a cell left the range of floating point. Its zero
// value is none.
type divergence struct {
	Diverged, Replicas int // numbers of replicas, 0 ≤ diverged ≤ replicas
	at                 int // the first step at which one did
}

// divergenceOf returns the divergence of a cell's run.
func divergenceOf(c *plan.Cell, o *store.Outcome) divergence {
	in := c.Sim()
	return divergence{o.Diverged, in.Replicas(), o.DivergedAt}
}

// String returns the numbers in words.
func (d divergence) String() string {
	return fmt.Sprintf("%d of %d replicas left the range of floating point, the first at step %d", d.Diverged, d.Replicas, d.at)
}
