package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"

	"grposim/sim"
	"grposim/sim/measure"
)

// Outcome is the measurement of one cell: all that is stored of it, and all that verdicts, tables
// and figures are made from. Its JSON is the cell of a journal line without the trajectory.
type Outcome struct {
	ID string `json:"id"` // sha256 of what decides the measurement, in hexadecimal; not empty
	// sim.Version of the program that measured; "" of old lines
	Version string     `json:"version"`
	Status  CellStatus `json:"status"` // whether the cell could be measured
	// number of replicas that diverged; 0 unless Status is CellDiverged
	Diverged   int `json:"diverged,omitempty"`
	DivergedAt int `json:"diverged_at,omitempty"` // the first step at which one did; 0 if none did
	// measured means, each name once and finite
	Estimates []measure.Named `json:"estimates,omitempty"`
	// of each replica the mean of J over the last quarter of the run, NaN if it diverged; nil: not
	// asked for
	Ends []Number `json:"ends,omitempty"`

	recorded *Trajectory // nil if nothing was recorded, or if line is set
	line     *storedLine // the outcome's line in a journal; nil if it is in none
}

// CellStatus says whether a cell could be measured.
type CellStatus string

const (
	CellOK       CellStatus = CellStatus(sim.OK)       // all replicas stayed finite
	CellDiverged CellStatus = CellStatus(sim.Diverged) // at least one replica diverged
	// no replica diverged, but an estimate left the range; it is left out
	CellOverflow CellStatus = "overflow"
	// the theory finds no fixed point to start from; not simulated
	NoFixedPoint CellStatus = "no-fixed-point"
)

// Add adds estimates to the outcome, except those that are not finite, for which a cell
// that is OK gets the status CellOverflow.
func (o *Outcome) Add(estimates ...measure.Named) {
	for _, e := range estimates {
		if measure.Finite(e.Mean, e.StdErr, e.Systematic) {
			o.Estimates = append(o.Estimates, e)
		} else if o.Status == CellOK {
			o.Status = CellOverflow
		}
	}
}

// Estimate returns the estimate of the named quantity; ok is false if there is none.
func (o *Outcome) Estimate(name string) (e measure.Estimate, ok bool) {
	for _, e := range o.Estimates {
		if e.Name == name {
			return e.Estimate, true
		}
	}
	return measure.Estimate{}, false
}

// Trajectory returns the recorded series, nil if nothing was recorded. Of an outcome in a journal
// every call reads the file, and only the wanted quantities if any are named.
func (o *Outcome) Trajectory(wanted ...sim.Quantity) (*Trajectory, error) {
	if o.line == nil {
		return o.recorded, nil
	}
	return o.line.trajectory(wanted, complete)
}

// Means is Trajectory for callers that need no quantiles, which are most of what it reads: those of
// an outcome in a journal are nil.
func (o *Outcome) Means(wanted ...sim.Quantity) (*Trajectory, error) {
	if o.line == nil {
		return o.recorded, nil
	}
	return o.line.trajectory(wanted, meansOnly)
}

// SetTrajectory replaces the recorded series. The outcome then counts as one that is in no journal.
func (o *Outcome) SetTrajectory(t *Trajectory) { o.recorded, o.line = t, nil }

// InJournal reports whether the outcome is in a journal.
func (o *Outcome) InJournal() bool { return o.line != nil }

// SameLine reports whether two outcomes that are in journals have the same bytes there.
func (o *Outcome) SameLine(other *Outcome) (bool, error) {
	a, err := o.line.read(nil)
	b, otherErr := other.line.read(nil)
	return bytes.Equal(a, b), errors.Join(err, otherErr)
}

// Source returns the path of the journal that the outcome is in.
func (o *Outcome) Source() string { return o.line.source.path }

// LineSize returns the size of the outcome's journal line in bytes.
func LineSize(o *Outcome) (int, error) {
	line, err := o.appendLine(nil)
	return len(line), err
}

func (o *Outcome) appendLine(text []byte) ([]byte, error) {
	cell, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	t, err := o.Trajectory()
	if err != nil {
		return nil, err
	}
	return appendLine(text, cell, t), nil
}

// parseLine reads a journal line; ok is false if the line is torn, does not match its
// checksum, or holds no outcome of a sweep.
func parseLine(line []byte) (o *Outcome, ok bool) {
	cell, trajectory, ok := cutLine(line)
	if !ok {
		return nil, false
	}
	o = new(Outcome)
	if trajectory != nil {
		if o.recorded, ok = parseTrajectory(trajectory, nil, complete); !ok {
			return nil, false
		}
	}
	return o, json.Unmarshal(cell, o) == nil && o.valid()
}

// aName matches the names that a sweep can have written, such as "stiffness_total[0,1]". They stand
// in headers of tables: a stranger's could be a formula, or move the cursor.
var aName = regexp.MustCompile(`^[a-z][a-z0-9_\[\],-]*$`)

// valid reports whether a sweep can have written the outcome. It has an id, a known status, and
// names. Its errors and degrees of freedom are in their ranges, and its series as long as the
// ascending steps.
func (o *Outcome) valid() bool {
	for _, e := range o.Estimates {
		if !aName.MatchString(e.Name) || e.StdErr < 0 || e.Systematic < 0 || e.DF < -1 {
			return false
		}
	}
	statuses := []CellStatus{CellOK, CellDiverged, CellOverflow, NoFixedPoint}
	if (o.Status == CellDiverged) != (o.Diverged > 0) || o.Diverged < 0 || o.DivergedAt < 0 ||
		o.ID == "" || !slices.Contains(statuses, o.Status) {
		return false
	}
	t := o.recorded
	if t == nil {
		return true
	}
	for _, s := range t.Quantities {
		n := len(t.Steps)
		if !aName.MatchString(string(s.Quantity)) ||
			len(s.Mean) != n || len(s.StdErr) != n || len(s.Quantiles) != n ||
			slices.ContainsFunc(s.StdErr, func(e Number) bool { return e < 0 }) {
			return false
		}
	}
	for i, step := range t.Steps {
		if step < 0 || i > 0 && step <= t.Steps[i-1] {
			return false
		}
	}
	return t.Series(sim.ExpectedReward) != nil
}

// Number is a float64 whose JSON is null if it is NaN or infinite.
type Number float64

// MarshalJSON writes the shortest decimal that reads back as the same number, or null.
func (n Number) MarshalJSON() ([]byte, error) { return n.appendJSON(nil), nil }

// appendJSON appends the number, if finite with the same bytes as encoding/json.
func (n Number) appendJSON(text []byte) []byte {
	x := float64(n)
	switch { // fast paths: most recorded shares and ratios are 0 or 1
	case x == 1:
		return append(text, '1')
	case math.Float64bits(x) == 0:
		return append(text, '0')
	case math.IsNaN(x - x): // or infinite
		return append(text, "null"...)
	}
	if size := math.Abs(x); size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(text, x, 'f', -1, 64)
	}
	text = strconv.AppendFloat(text, x, 'e', -1, 64)
	if end := len(text) - 2; text[end-1] == '-' && text[end] == '0' { // e-09 is written e-9
		text = append(text[:end], text[end+1])
	}
	return text
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}
