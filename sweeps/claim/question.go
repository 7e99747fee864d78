package claim

import (
	"cmp"
	"math"
	"slices"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Question is one check put to one theory, as derived or with a planted fault, and to the evidence.
type Question struct {
	Model
	ExactInstead bool // the control of a refutation: the exact prediction replaces the refuted one
	*Evidence
}

// NewQuestion puts a check to the theory as derived.
func NewQuestion(check *config.Check, e *Evidence) *Question {
	return &Question{Model: Model{check, check.Prediction, config.NoFault, e.Cache}, Evidence: e}
}

// By returns the same question about another prediction; "": the claim's default.
func (j *Question) By(kind rom.Kind) *Question {
	other := *j
	other.Kind = kind
	return &other
}

// Find returns the findings of the claim in a set of cells: one per quantity, with a hypothesis the
// one that it is about. If a cell of the set has no fixed point to start from, all are out of
// scope.
func (j *Question) Find(set plan.CellSet) []Finding {
	quantities := Quantities(j.Check, set)
	findings := make([]Finding, len(quantities))
	if slices.ContainsFunc(set.Cells, func(c *plan.Cell) bool { return c.Status == store.NoFixedPoint }) {
		for i := range findings {
			findings[i] = newFinding(rom.Exact)
			findings[i].Predicted.Because = scope.NotReached.Because()
			findings[i].Unrested = findings[i].Predicted
		}
	} else {
		findings = claims[j.Check.Claim].find(j, set)
	}
	for i := range findings {
		findings[i].Quantity = cmp.Or(findings[i].Quantity, quantities[i])
		findings[i].Estimate = cmp.Or(findings[i].Estimate, string(j.Check.Claim.Event), j.Check.Claim.Name)
	}
	if j.Check.Hypothesis != nil {
		tested := max(0, slices.IndexFunc(findings, func(f Finding) bool { return f.tested }))
		return findings[tested : tested+1]
	}
	return findings
}

// InCell returns the first finding of a claim in one cell, by the theory and the search of the check.
func (j *Question) InCell(of *config.Claim, c *plan.Cell) Finding {
	return claims[of].find(j, plan.CellSet{Cells: []*plan.Cell{c}})[0]
}

// ofEstimate returns a finding with the named estimate of a cell and its interval,
// to be completed by a prediction.
func (j *Question) ofEstimate(c *plan.Cell, name string) Finding {
	f, o := newFinding(rom.Exact), j.Outcome(c)
	f.Estimate = name
	if e, ok := o.Estimate(name); ok {
		f.Measured, f.Replicas = e.Mean, e.DF+1
		f.Lo, f.Hi = c.Interval(name, e, j.Confidence)
	} else if o.Status == store.CellOverflow {
		f.Unresolved = "the measured number left the range of floating point"
	}
	return f
}

// Margin returns the absolute margin about a prediction, 0 about an infinite one.
func (j *Question) Margin(predicted float64) float64 {
	if math.IsInf(predicted, 0) {
		return 0
	}
	if j.Check.AbsoluteMargin > 0 {
		return j.Check.AbsoluteMargin
	}
	return j.Check.Margin * math.Abs(predicted)
}

// Verdicts returns the number of verdicts that all checks of a plan make together.
func Verdicts(plan *plan.Plan) (n int) {
	for _, planned := range plan.Checks {
		for _, set := range planned.Sets {
			n += VerdictsOn(planned.Check, set)
		}
	}
	return n
}

// VerdictsOn returns the number of verdicts of a check on a set: one for each quantity, or with a
// hypothesis one.
func VerdictsOn(check *config.Check, set plan.CellSet) int {
	if check.Hypothesis != nil {
		return 1
	}
	return len(Quantities(check, set))
}

// Quantities returns the names of the quantities that a check judges in a set.
func Quantities(check *config.Check, set plan.CellSet) []string {
	return claims[check.Claim].quantities(check, set.Cells)
}
