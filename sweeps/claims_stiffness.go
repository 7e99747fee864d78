package sweeps

import (
	"cmp"
	"grposim/sweeps/config"
)

// The claim about the slope of the mean gradient at the fixed point.
var stiffness = logic{quantities: stiffnessQuantities, find: findStiffness}

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
		f.predicted.kind = p.ForceKind
		f.predicted.outOfScope = cmp.Or(withoutFixedPoint(p), j.inexact(f.predicted.kind))
		switch quantity {
		case stiffnessTotal:
			f.predicted.value = p.Stiffness.Total
		case stiffnessFresh:
			f.predicted.value = p.Stiffness.Fresh
		case stiffnessStale:
			f.predicted.value = p.Stiffness.Stale
		case stiffnessSlowest:
			f.predicted.value = p.Stiffness.Slowest
		}
		findings = append(findings, f)
	}
	return findings
}
