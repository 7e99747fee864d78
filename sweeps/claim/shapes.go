package claim

import (
	"cmp"

	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// scalar is the shape of a claim about one estimate of a cell.
type scalar struct {
	quantity, estimate string // its name for people, and among the estimates of a cell
	predict            func(m *Model, c *plan.Cell) scope.Number
	rest               func(*scope.Sizes) float64 // the size of a way to rest; nil: not about rest
	side               Side
	tested             bool // see finding.tested

	// Unresolved says of the estimate of a probe why it has no value or error, "" where it has
	// both; nil for an estimate along the run, which does not exist if replicas diverged.
	unresolved func(c *plan.Cell, f *Finding) string
	instead    func(o *store.Outcome) string // see finding.instead; nil: nothing
}

// compare compares the number with its prediction in one cell.
func (n scalar) compare(j *Question, c *plan.Cell) Finding {
	f := j.ofEstimate(c, n.estimate)
	f.Quantity, f.Side, f.tested = n.quantity, n.side, n.tested
	if n.unresolved == nil {
		f.Diverged = divergenceOf(c, j.Outcome(c))
	} else if why := n.unresolved(c, &f); why != "" {
		f.Unresolved = why
	}
	if n.instead != nil {
		f.Instead = n.instead(j.Outcome(c))
	}
	f.Predicted = n.predict(&j.Model, c)
	if n.rest != nil && j.Check.Hypothesis != nil {
		f.Unrested = j.unrested(c, n.rest)
	}
	return f
}

func (n scalar) quantities(*config.Check, []*plan.Cell) []string { return []string{n.quantity} }
func (n scalar) find(j *Question, set plan.CellSet) []Finding {
	return []Finding{n.compare(j, set.Cells[0])}
}
func (n scalar) noiseless(*Model, *plan.Cell, *store.Outcome) {}

// scalars is the shape of a claim about several estimates of a cell, or of one that the check
// chooses.
type scalars struct {
	of func(m *Model, cells []*plan.Cell) []scalar // those that the check of a theory judges in a set
}

func (n scalars) quantities(check *config.Check, cells []*plan.Cell) (names []string) {
	for _, one := range n.of(&Model{Check: check, Kind: check.Prediction, Fault: config.NoFault},
		cells) {
		names = append(names, one.quantity)
	}
	return names
}

func (n scalars) find(j *Question, set plan.CellSet) (findings []Finding) {
	for _, one := range n.of(&j.Model, set.Cells) {
		findings = append(findings, one.compare(j, set.Cells[0]))
	}
	return findings
}

func (n scalars) noiseless(*Model, *plan.Cell, *store.Outcome) {}

// path is the shape of a claim about a quantity along the run of a cell.
type path struct {
	quantity func(check *config.Check) string
	compare  func(j *Question, c *plan.Cell) Finding
	records  sim.Quantity // what ideal is of; "": the check's quantity
	// the run without noise, nil where the theory has none; nil: a bound alone is judged, or the
	// theory follows no run
	ideal func(m *Model, c *plan.Cell) func(t int) float64
}

func (p path) quantities(check *config.Check, _ []*plan.Cell) []string {
	return []string{p.quantity(check)}
}
func (p path) find(j *Question, set plan.CellSet) []Finding {
	return []Finding{p.compare(j, set.Cells[0])}
}
func (p path) noiseless(m *Model, c *plan.Cell, o *store.Outcome) {
	if p.ideal == nil {
		return
	}
	if at := p.ideal(m, c); at != nil {
		o.SetTrajectory(noiselessSeries(c, cmp.Or(p.records, m.Check.Recorded()), at))
	}
}

// summary is the shape of a claim about one number of all cells of a set.
type summary struct {
	quantity func(check *config.Check) string
	compare  func(j *Question, set plan.CellSet) Finding
}

func (s summary) quantities(check *config.Check, _ []*plan.Cell) []string {
	return []string{s.quantity(check)}
}
func (s summary) find(j *Question, set plan.CellSet) []Finding {
	return []Finding{s.compare(j, set)}
}
func (s summary) noiseless(*Model, *plan.Cell, *store.Outcome) {}

// certain returns an estimate without error.
func certain(name string, x float64) store.NamedEstimate {
	return store.Store(name, measure.Certain(x))
}

// noiselessSeries returns a trajectory of one quantity, with the value at(t) and no
// error at each recorded step t.
func noiselessSeries(c *plan.Cell, quantity sim.Quantity,
	at func(t int) float64) *store.Trajectory {
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	series := store.RecordedSeries{Quantity: quantity, StdErr: make([]store.Number, len(steps))}
	for _, t := range steps {
		series.Mean = append(series.Mean, store.Number(at(t)))
	}
	return &store.Trajectory{Steps: steps, Quantities: []store.RecordedSeries{series}}
}
