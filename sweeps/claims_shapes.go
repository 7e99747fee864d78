package sweeps

import (
	"cmp"
	"math"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// scalar is the shape of a claim about one estimate of a cell.
type scalar struct {
	quantity, estimate string // its name for people, and among the estimates of a cell
	predict            func(m *model, c *Cell) scope.Number
	rest               func(*scope.Sizes) float64 // the size of a way to rest; nil: not about rest
	side               Side
	tested             bool // see finding.tested

	// unresolved says of the estimate of a probe why it has no value or error, "" where it has
	// both; nil for an estimate along the run, which does not exist if replicas diverged.
	unresolved func(c *Cell, f *finding) string
	instead    func(o *store.Outcome) string // see finding.instead; nil: nothing
	over       *overPicture                  // nil: the deviations are drawn
}

// compare compares the number with its prediction in one cell.
func (n scalar) compare(j *judgement, c *Cell) finding {
	f := j.ofEstimate(c, n.estimate)
	f.quantity, f.side, f.tested = n.quantity, n.side, n.tested
	if n.unresolved == nil {
		f.diverged = divergenceOf(c, j.outcome(c))
	} else if why := n.unresolved(c, &f); why != "" {
		f.unresolved = why
	}
	if n.instead != nil {
		f.instead = n.instead(j.outcome(c))
	}
	f.predicted = n.predict(&j.model, c)
	if n.rest != nil && j.check.Hypothesis != nil {
		f.unrested = j.unrested(c, n.rest)
	}
	return f
}

func (n scalar) quantities(*config.Check, []*Cell) []string { return []string{n.quantity} }
func (n scalar) find(j *judgement, set CellSet) []finding {
	return []finding{n.compare(j, set.Cells[0])}
}
func (n scalar) noiseless(*model, *Cell, *store.Outcome) {}
func (n scalar) picture() picture {
	if n.over == nil {
		return picture{}
	}
	return picture{family: byClaim, draw: drawOver(n.over, n.compare)}
}

// scalars is the shape of a claim about several estimates of a cell, or of one that the check
// chooses.
type scalars struct {
	of   func(m *model, cells []*Cell) []scalar // those that the check of a theory judges in a set
	view picture
}

func (n scalars) quantities(check *config.Check, cells []*Cell) (names []string) {
	for _, one := range n.of(&model{check: check, kind: check.Prediction, fault: config.NoFault}, cells) {
		names = append(names, one.quantity)
	}
	return names
}

func (n scalars) find(j *judgement, set CellSet) (findings []finding) {
	for _, one := range n.of(&j.model, set.Cells) {
		findings = append(findings, one.compare(j, set.Cells[0]))
	}
	return findings
}

func (n scalars) noiseless(*model, *Cell, *store.Outcome) {}
func (n scalars) picture() picture                        { return n.view }

// path is the shape of a claim about a quantity along the run of a cell.
type path struct {
	quantity func(check *config.Check) string
	compare  func(j *judgement, c *Cell) finding
	records  sim.Quantity // what ideal is of; "": the check's quantity
	// the run without noise, nil where the theory has none; nil: a bound alone is judged, or the
	// theory follows no run
	ideal func(m *model, c *Cell) func(t int) float64
	view  picture
}

func (p path) quantities(check *config.Check, _ []*Cell) []string {
	return []string{p.quantity(check)}
}
func (p path) find(j *judgement, set CellSet) []finding {
	return []finding{p.compare(j, set.Cells[0])}
}
func (p path) picture() picture { return p.view }
func (p path) noiseless(m *model, c *Cell, o *store.Outcome) {
	if p.ideal == nil {
		return
	}
	if at := p.ideal(m, c); at != nil {
		o.SetTrajectory(noiselessSeries(c, cmp.Or(p.records, m.check.Recorded()), at))
	}
}

// event is the shape of a claim about the parameter value at which an event sets in.
type event struct {
	quantity string
	kind     rom.Kind // judged where the check names none; "": the theory's own
	predict  locator
	side     Side
	over     *overPicture
	// drawn in the place of the claim's own comparison; nil: that
	shown func(j *judgement, c *Cell) finding
}

// compare compares the located bracket with the prediction in one cell.
func (e event) compare(j *judgement, c *Cell) finding {
	j = j.by(cmp.Or(j.kind, e.kind))
	f := j.locatedAgainst(c, e.predict)
	if e.side != FromBothSides {
		f.side = e.side
	}
	return f
}

func (e event) quantities(check *config.Check, _ []*Cell) []string {
	return []string{e.quantity + " in " + config.ShortName(check.Locate.Param)}
}
func (e event) find(j *judgement, set CellSet) []finding {
	return []finding{e.compare(j, set.Cells[0])}
}
func (e event) picture() picture {
	compare := e.compare
	if e.shown != nil {
		compare = e.shown
	}
	family := func(check *config.Check) string { return e.over.title + " in " + check.Locate.Param }
	return picture{family: family, draw: drawOver(e.over, compare)}
}

// noiseless adds the event where the theory has it, if anywhere.
func (e event) noiseless(m *model, c *Cell, o *store.Outcome) {
	stiffness, known := measuredStiffness(o, c)
	if !known {
		return
	}
	at := e.predict(m.by(e.kind), c, stiffness)
	if !at.Out() && !math.IsInf(at.Value, 0) {
		o.Estimates = append(o.Estimates, certain(sim.LocatedLow, at.Value), certain(sim.LocatedHigh, at.Value))
	}
}

// summary is the shape of a claim about one number of all cells of a set.
type summary struct {
	quantity func(check *config.Check) string
	compare  func(j *judgement, set CellSet) finding
	view     picture
}

func (s summary) quantities(check *config.Check, _ []*Cell) []string {
	return []string{s.quantity(check)}
}
func (s summary) find(j *judgement, set CellSet) []finding { return []finding{s.compare(j, set)} }
func (s summary) noiseless(*model, *Cell, *store.Outcome)  {}
func (s summary) picture() picture                         { return s.view }
