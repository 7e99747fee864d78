package main

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"grposim/rom"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// mistake returns the fault that a mistake in the theory amounts to, for a check and the first cell
// of a set; config.NoFault: nothing changes.
type mistake func(*config.Check, *config.Settings) config.Fault

// shift is the change that a fault of the theory makes to one comparison of a check.
type shift struct {
	check    *config.Check
	quantity string // the quantity compared
	// the change as a multiple of the right prediction; NaN where that is 0, or out of scope
	relative float64
	// the change as a multiple of the check's margin; ±Inf where that is 0, NaN out of scope
	margins float64
}

// shiftsOf returns the changes that each mistake makes to the comparisons of a plan's checks: in the
// prediction, or in its distance from a right measurement without noise. It simulates nothing. It
// uses the first and the last set of cells of every check. Left out are refutations, one-sided
// comparisons, and right predictions that are infinite or out of scope.
func shiftsOf(p *plan.Plan, mistakes []mistake) [][]shift {
	shifts := make([][]shift, len(mistakes))
	evidence := claim.NewEvidence(p, nil)
	for _, planned := range p.Checks {
		check := planned.Check
		sets := planned.Sets
		if last := len(sets) - 1; last > 0 {
			sets = []plan.CellSet{sets[0], sets[last]}
		}
		for _, set := range sets {
			ideal := *evidence
			ideal.Outcomes = make(map[string]*store.Outcome)
			right := claim.NewQuestion(check, &ideal)
			for _, c := range set.Cells {
				setNoiseless(right, c)
			}
			quantities := claim.Quantities(check, set)
			findings := right.Find(set)
			for n, mistake := range mistakes {
				fault, found := mistake(check, &set.Cells[0].Settings), findings
				if isAffectedBy(right, fault, set) {
					wrong := *right
					wrong.Fault = fault
					found = wrong.Find(set)
				}
				for i, f := range found {
					if was := findings[i]; isTwoSided(was, check) {
						s := shiftOf(right, was, f)
						if s.quantity = f.Quantity; check.Hypothesis == nil { // with one there is a single finding
							s.quantity = quantities[i]
						}
						shifts[n] = append(shifts[n], s)
					}
				}
			}
		}
	}
	return shifts
}

// isAffectedBy reports whether a fault changes any input of the judged prediction for a set of
// cells. Age and mass are inputs of the reduced-order model only. At G = ∞ there is no noise to
// scale.
func isAffectedBy(j *claim.Question, f config.Fault, set plan.CellSet) bool {
	scale := f.Scale
	if j.Kind != rom.LeadingOrder {
		scale.Lag, scale.Mass = 1, 1
	}
	if !slices.ContainsFunc(set.Cells, func(c *plan.Cell) bool { return !c.Deterministic() }) {
		scale.Noise = 1
	}
	if scale != rom.Unit || f.Mode != "" && f.Mode != j.Check.Mode ||
		f.Law != "" && f.Law != j.Check.Law {
		return true
	}
	faulty := *j
	faulty.Fault = f
	return slices.ContainsFunc(set.Cells, func(c *plan.Cell) bool {
		return !reflect.DeepEqual(*faulty.Settings(c), c.Settings)
	})
}

// isTwoSided reports whether a finding compares a measurement from both sides with a
// finite prediction that is claimed to hold.
func isTwoSided(f claim.Finding, check *config.Check) bool {
	return f.Side == claim.FromBothSides && cmp.Or(f.Expect, check.Expect) == config.Holds &&
		!f.Predicted.Out() && !math.IsInf(f.Predicted.Value, 0)
}

// shiftOf returns the difference between the findings of the right and of the wrong
// theory in the same outcome.
func shiftOf(j *claim.Question, right, wrong claim.Finding) shift {
	s := shift{check: j.Check, relative: math.NaN(), margins: math.NaN()}
	if wrong.Predicted.Out() {
		return s
	}
	moved := wrong.Predicted.Value - right.Predicted.Value
	if d := wrong.Measured - right.Measured; !math.IsNaN(d) {
		moved -= d // trajectories, recurrences and failure modes measure a deviation from the prediction
	}
	if right.Predicted.Value != 0 {
		s.relative = moved / right.Predicted.Value
	}
	if s.margins = 0; moved != 0 { // 0 also where the margin is 0
		s.margins = moved / j.Margin(right.Predicted.Value)
	}
	return s
}
