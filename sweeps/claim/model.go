package claim

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Model is the theory that a check judges: one kind of its predictions, as derived or with a
// planted fault. It has more than 30 methods: one for each number that a claim predicts, beside
// the claim, and what these have in common.
type Model struct {
	Check *config.Check
	Kind  rom.Kind     // the prediction judged; "": the claim's default
	Fault config.Fault // config.NoFault: none
	cache *theory.Cache
}

// By returns the same theory by another kind of prediction; "": the claim's default.
func (m *Model) By(kind rom.Kind) *Model {
	other := *m
	other.Kind = kind
	return &other
}

// Settings returns the cell's settings as given to the theory, with the keys that
// the fault replaces.
func (m *Model) Settings(c *plan.Cell) *config.Settings {
	s := c.Settings
	if m.Fault.Set != nil {
		m.Fault.Set(&s)
	}
	return &s
}

// Params returns the parameters of the theory for a cell, fault included.
func (m *Model) Params(c *plan.Cell) rom.Params {
	return theory.Params(m.Settings(c), m.Fault.Scale)
}

// prediction returns the prediction for a cell at its fixed point, fault included.
func (m *Model) prediction(c *plan.Cell) *rom.Prediction {
	return m.predictSettings(m.Settings(c))
}

func (m *Model) faulty() bool { return m.Fault.Set != nil || m.Fault.Scale != rom.Unit }

// predictSettings returns the prediction for settings as returned by settings, without
// thresholds if they have a fault: the table of predictions has those of the right theory.
func (m *Model) predictSettings(s *config.Settings) *rom.Prediction {
	of := theory.Whole(s)
	if m.faulty() && !s.Deep() {
		of = rest.Multipliers | rest.StationaryLaw
	}
	return m.cache.At(s, m.Fault.Scale, nil, of)
}

// missingExact returns the reason why a check of the exact prediction is out of scope
// where the theory's own prediction is of another kind.
func (m *Model) missingExact(kind rom.Kind) scope.Reason {
	if m.Kind == rom.Exact && kind != rom.Exact {
		return scope.NoNumber.Because(fmt.Sprintf("the prediction is of the kind %s", kind))
	}
	return scope.Reason{}
}

// Question is one check put to one theory, as derived or with a planted fault, and to the evidence.
type Question struct {
	Model
	ExactInstead bool // the control of a refutation: the exact prediction replaces the refuted one
	*Evidence
}

// By returns the same question about another prediction; "": the claim's default.
func (j *Question) By(kind rom.Kind) *Question {
	other := *j
	other.Kind = kind
	return &other
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
