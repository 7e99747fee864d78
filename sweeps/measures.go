package sweeps

import (
	"slices"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
)

// measures is what the checks of a cell measure besides its run. It is part of
// the cell's id: what is measured decides what is stored.
type measures struct {
	stiffness *config.Check // whose displacement and draws
	offset    float64
	location  *config.Check // whose displacement and locate
	fits      []sim.CurveFit
	modes     bool // the failure mode of every replica
}

// add adds what a check measures. That the checks of one cell measure the same
// is seen to when the file is loaded (sharing.go).
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
}

// atRest reports whether something is measured about the fixed point.
func (m *measures) atRest() bool { return m.stiffness != nil || m.offset > 0 || m.location != nil }

// identify adds to what a cell's id is made of.
func (m *measures) identify(content map[string]any) {
	if s := m.stiffness; s != nil {
		content["stiffness"] = map[string]any{"displacement": s.Displacement, "draws": s.Draws}
	}
	if m.offset > 0 {
		content["offset"] = m.offset
	}
	if m.location != nil {
		l := m.location.Locate
		content["locate"] = map[string]any{"event": m.location.Claim.Event, "param": l.Param, "from": l.From, "to": l.To, "tolerance": l.Tolerance}
	}
	if len(m.fits) > 0 {
		content["fits"] = m.fits
	}
	if m.modes {
		content["failure_mode"] = true
	}
}

// place puts what is measured about the fixed point into a cell.
func (m *measures) place(c *sim.Cell, params rom.Params, point []float64) {
	e := config.RoundAll(direction(len(point), c.Seed))
	if m.stiffness != nil {
		c.Stiffness = stiffnessProbes(params, point, m.stiffness)
	}
	if m.offset > 0 {
		c.Relaxation = &sim.RelaxationProbe{Point: point, Direction: e, Offset: m.offset}
	}
	if m.location == nil {
		return
	}
	if len(point) > 2 {
		c.Stiffness = append(c.Stiffness, matrixProbes(point, m.location)...)
	}
	l := m.location.Locate
	c.Location = &sim.LocationProbe{
		Event: m.location.Claim.Event, Param: sim.LocationParam(l.Param),
		From: l.From, To: l.To, Tolerance: l.Tolerance,
		Point: point, Direction: e, Offset: m.location.Displacement,
	}
}

// stiffnessProbes plans the measurement of the stiffest mode, whole and in its
// fresh and stale parts, and with more than two arms of the slowest.
func stiffnessProbes(params rom.Params, point []float64, check *config.Check) []sim.StiffnessProbe {
	modes := rom.Modes(rom.StiffnessAt(params, point))
	probe := func(name string, displaced sim.Displaced, mode rom.Mode) sim.StiffnessProbe {
		return sim.StiffnessProbe{
			Name: name, Displaced: displaced, Point: point,
			Direction: config.RoundAll(mode.Direction), Covector: config.RoundAll(mode.Covector),
			Displacement: check.Displacement, Pairs: check.Draws,
		}
	}
	stiffest := modes[0]
	probes := []sim.StiffnessProbe{
		probe(stiffnessTotal, sim.Both, stiffest),
		probe(stiffnessFresh, sim.Current, stiffest),
		probe(stiffnessStale, sim.Behind, stiffest),
	}
	if len(modes) > 1 {
		probes = append(probes, probe(stiffnessSlowest, sim.Both, modes[len(modes)-1]))
	}
	return probes
}

// matrixProbes plans the measurement of every entry −∂g_a/∂θ_b of both
// stiffness matrices.
func matrixProbes(point []float64, check *config.Check) []sim.StiffnessProbe {
	unit := func(a int) []float64 {
		e := make([]float64, len(point))
		e[a] = 1
		return e
	}
	var probes []sim.StiffnessProbe
	for _, part := range []struct {
		name      string
		displaced sim.Displaced
	}{{stiffnessFresh, sim.Current}, {stiffnessStale, sim.Behind}} {
		for a := range point {
			for b := range point {
				probes = append(probes, sim.StiffnessProbe{
					Name: matrixEntry(part.name, a, b), Displaced: part.displaced, Point: point,
					Direction: unit(b), Covector: unit(a),
					Displacement: check.Displacement, Pairs: check.Draws,
				})
			}
		}
	}
	return probes
}
