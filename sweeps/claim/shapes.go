package claim

import (
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
type scalars func(m *Model, cells []*plan.Cell) []scalar

func (of scalars) quantities(check *config.Check, cells []*plan.Cell) (names []string) {
	m := &Model{Check: check, Kind: check.Prediction, Fault: config.NoFault}
	for _, one := range of(m, cells) {
		names = append(names, one.quantity)
	}
	return names
}

func (of scalars) find(j *Question, set plan.CellSet) (findings []Finding) {
	for _, one := range of(&j.Model, set.Cells) {
		findings = append(findings, one.compare(j, set.Cells[0]))
	}
	return findings
}

func (of scalars) noiseless(*Model, *plan.Cell, *store.Outcome) {}

// number is the shape of a claim about one number of a set of cells, or of a run.
type number struct {
	quantity func(check *config.Check) string
	compare  func(j *Question, set plan.CellSet) Finding
	ideal    func(m *Model, c *plan.Cell, o *store.Outcome) // see claim.noiseless; nil: adds nothing
}

func (n number) quantities(check *config.Check, _ []*plan.Cell) []string {
	return []string{n.quantity(check)}
}
func (n number) find(j *Question, set plan.CellSet) []Finding {
	return []Finding{n.compare(j, set)}
}
func (n number) noiseless(m *Model, c *plan.Cell, o *store.Outcome) {
	if n.ideal != nil {
		n.ideal(m, c, o)
	}
}

// inFirst compares in the only cell of a set.
func inFirst(compare func(*Question, *plan.Cell) Finding) func(*Question, plan.CellSet) Finding {
	return func(j *Question, set plan.CellSet) Finding { return compare(j, set.Cells[0]) }
}

// certain returns an estimate without error.
func certain(name string, x float64) store.NamedEstimate {
	return store.Store(name, measure.Certain(x))
}

// recordNoiseless sets the trajectory of an outcome to one quantity, with the value at(t) and no
// error at each recorded step t.
func recordNoiseless(o *store.Outcome, c *plan.Cell, quantity sim.Quantity,
	at func(t int) float64) {
	steps := sim.RecordedSteps(c.Settings.Run.Steps, c.Settings.Lag)
	series := store.RecordedSeries{Quantity: quantity, StdErr: make([]store.Number, len(steps))}
	for _, t := range steps {
		series.Mean = append(series.Mean, store.Number(at(t)))
	}
	o.SetTrajectory(&store.Trajectory{Steps: steps, Quantities: []store.RecordedSeries{series}})
}
