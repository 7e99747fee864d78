package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/rest"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// measures lists what the checks of one cell measure in addition to its run. It is part
// of the cell's id, because it decides what is stored.
type measures struct {
	// gives the displacement and the draws of the stiffness probes; nil: no probes
	stiffness *config.Check
	offset    float64        // of the logits in relaxation pairs; 0: no pairs
	location  *config.Check  // gives the search for an event, and its displacement; nil: no search
	fits      []sim.CurveFit // fits of the mean reward, sorted
	modes     bool           // whether the failure mode of every replica is determined
	ends      bool           // whether the end of every replica is kept
	edge      bool           // whether the stiffness at the end of the run is measured
}

// add adds what a check measures. config.Load has made sure that all checks of one cell
// agree on how it is measured.
func (m *measures) add(check *config.Check) {
	if check.Displacement > 0 {
		m.stiffness = check
	}
	if check.Offset > 0 {
		m.offset = check.Offset
	}
	if check.Locate != nil {
		m.location = check
	}
	if fit := check.Claim.Fit; fit != "" && !slices.Contains(m.fits, fit) {
		m.fits = append(m.fits, fit)
		slices.Sort(m.fits)
	}
	m.modes = m.modes || check.Claim.Diagnosed
	m.ends = m.ends || check.Claim.Ends
	m.edge = m.edge || check.Claim.Edge
}

// atFixedPoint reports whether something is measured at or about the fixed point.
func (m *measures) atFixedPoint() bool {
	return m.stiffness != nil || m.offset > 0 || m.location != nil
}

// cellID returns the id of a cell that measures m.
func cellID(s *config.Settings, m *measures) string {
	content := make(map[string]any)
	if c := m.stiffness; c != nil {
		content["stiffness"] = map[string]any{"displacement": c.Displacement, "draws": c.Draws}
	}
	if m.offset > 0 {
		content["offset"] = m.offset
	}
	if l := m.location; l != nil {
		content["locate"] = struct {
			Event          probe.Event `json:"event"`
			*config.Locate             // its keys follow in the order of the alphabet, too
		}{l.Claim.Event, l.Locate}
	}
	if len(m.fits) > 0 {
		content["fits"] = m.fits
	}
	for name, is := range map[string]bool{"failure_mode": m.modes, "ends": m.ends, "edge": m.edge} {
		if is {
			content[name] = true
		}
	}
	return theory.ID(s, content)
}

// place adds the probes about a fixed point, given by its logits, to the simulator's input.
func (m *measures) place(c *probe.Cell, params rom.Params, point []float64) {
	e := config.RoundAll(theory.Direction(len(point), c.Seed))
	if m.stiffness != nil {
		c.Stiffness = stiffnessProbes(params, point, m.stiffness)
	}
	if m.offset > 0 {
		c.Relaxation = &probe.Relaxation{Point: point, Direction: e, Offset: m.offset}
	}
	if m.location == nil || !probe.Searchable(&c.Cell, probe.Param(m.location.Locate.Param)) {
		return
	}
	if len(point) > 2 { // at G = ∞: errors of sampled entries would couple modes
		c.Stiffness = append(c.Stiffness, matrixProbes(point, m.location)...)
	}
	l := m.location.Locate
	c.Location = &probe.Location{Event: m.location.Claim.Event, Param: probe.Param(l.Param),
		From: l.From, To: l.To, Tolerance: l.Tolerance, Point: point, Direction: e,
		Offset: m.location.Displacement, Visibility: cmp.Or(l.Visibility, measure.VisibleShare)}
}

// placeNetwork adds the probes about the weights at which the simulator's input starts.
func (m *measures) placeNetwork(c *probe.Cell) {
	add := func(name string, displaced sim.Displaced) {
		p := probe.Stiffness{Name: name, Displaced: displaced, Displacement: m.stiffness.Displacement}
		c.Stiffness = append(c.Stiffness, p)
	}
	if m.stiffness != nil {
		add(StiffnessTotal, sim.Both)
		add(StiffnessFresh, sim.Current)
	}
	if m.location == nil || !probe.Searchable(&c.Cell, probe.Param(m.location.Locate.Param)) {
		return
	}
	l := m.location.Locate
	c.Location = &probe.Location{Event: m.location.Claim.Event, Param: probe.Param(l.Param),
		From: l.From, To: l.To, Tolerance: l.Tolerance, Offset: m.location.Displacement}
}

// stiffnessProbes returns the probes of the stiffness of the stiffest mode, in total and
// of its fresh and stale parts, and with more than two arms of the slowest mode.
func stiffnessProbes(params rom.Params, point []float64, check *config.Check) []probe.Stiffness {
	modes := rest.Modes(force.Stiffness(params, point))
	along := func(name string, displaced sim.Displaced, mode rest.Mode) probe.Stiffness {
		return probe.Stiffness{Name: name, Displaced: displaced, Point: point,
			Direction: config.RoundAll(mode.Direction), Covector: config.RoundAll(mode.Covector),
			Displacement: check.Displacement, Pairs: check.Draws}
	}
	stiffest := modes[0]
	probes := []probe.Stiffness{
		along(StiffnessTotal, sim.Both, stiffest),
		along(StiffnessFresh, sim.Current, stiffest),
		along(StiffnessStale, sim.Behind, stiffest),
	}
	if len(modes) > 1 {
		probes = append(probes, along(StiffnessSlowest, sim.Both, modes[len(modes)-1]))
	}
	return probes
}

// matrixProbes returns the probes of every entry −∂g_a/∂θ_b of the fresh and of the
// stale stiffness matrix.
func matrixProbes(point []float64, check *config.Check) []probe.Stiffness {
	unit := func(a int) []float64 {
		e := make([]float64, len(point))
		e[a] = 1
		return e
	}
	var probes []probe.Stiffness
	for _, part := range []struct {
		name      string
		displaced sim.Displaced
	}{{StiffnessFresh, sim.Current}, {StiffnessStale, sim.Behind}} {
		for a := range point {
			for b := range point {
				probes = append(probes, probe.Stiffness{Name: MatrixEntry(part.name, a, b),
					Displaced: part.displaced, Point: point, Direction: unit(b), Covector: unit(a),
					Displacement: check.Displacement, Pairs: check.Draws})
			}
		}
	}
	return probes
}

// Names of the estimates of the stiffness λ (docs/theory.md §3).
const (
	StiffnessTotal   = probe.StiffnessTotal // of the stiffest mode
	StiffnessFresh   = "stiffness_fresh"    // its part from the current policy
	StiffnessStale   = "stiffness_stale"    // its part from the snapshot
	StiffnessSlowest = "stiffness_slowest"  // of the slowest mode, with more than two arms
)

// MatrixEntry returns the name of the estimate of the entry −∂g_a/∂θ_b of a stiffness
// matrix, part the name of its scalar estimate.
func MatrixEntry(part string, a, b int) string { return fmt.Sprintf("%s[%d,%d]", part, a, b) }

// IsMatrixEntry reports whether an estimate is an entry of a stiffness matrix.
func IsMatrixEntry(name string) bool { return strings.HasSuffix(name, "]") }
