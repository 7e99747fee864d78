package sweeps

import "grposim/sweeps/config"

func stiffnessQuantities(_ *config.Check, cells []*Cell) []string {
	quantities := []string{stiffnessTotal, stiffnessFresh, stiffnessStale}
	if len(cells[0].Settings.Bandit.Arms) > 2 {
		quantities = append(quantities, stiffnessSlowest)
	}
	return quantities
}

// findStiffness compares the measured stiffness of the stiffest mode, whole
// and in parts, and of the slowest, with the closed forms.
func findStiffness(j *judgement, set CellSet) []finding {
	c := set.Cells[0]
	o := j.outcome(c)
	p := j.prediction(c)
	var findings []finding
	for _, quantity := range stiffnessQuantities(j.check, set.Cells) {
		f := j.estimated(c, o, quantity)
		f.quantity = quantity
		f.kind = p.ForceKind
		f.outOfScope = j.inexact(f.kind)
		if p.FixedPoint == nil {
			f.outOfScope = "no fixed point"
		}
		switch quantity {
		case stiffnessTotal:
			f.predicted = p.Stiffness.Total
		case stiffnessFresh:
			f.predicted = p.Stiffness.Fresh
		case stiffnessStale:
			f.predicted = p.Stiffness.Stale
		case stiffnessSlowest:
			f.predicted = p.Stiffness.Slowest
		}
		findings = append(findings, f)
	}
	return findings
}
