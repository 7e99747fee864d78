package sweeps

import (
	"fmt"
	"grposim/rom"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// model is the theory that a check judges: one kind of its predictions, as derived or with a
// planted fault. It has more than 30 methods: one for each number that a claim predicts, beside
// the claim, and what these have in common.
type model struct {
	check *config.Check
	kind  rom.Kind     // the prediction judged; "": the claim's default
	fault config.Fault // config.NoFault: none
	cache *theory.Cache
}

// by returns the same theory by another kind of prediction; "": the claim's default.
func (m *model) by(kind rom.Kind) *model {
	other := *m
	other.kind = kind
	return &other
}

// settings returns the cell's settings as given to the theory, with the keys that
// the fault replaces.
func (m *model) settings(c *Cell) config.Settings {
	s := c.Settings
	if m.fault.Set != nil {
		m.fault.Set(&s)
	}
	return s
}

// params returns the parameters of the theory for a cell, fault included.
func (m *model) params(c *Cell) rom.Params {
	s := m.settings(c)
	return theory.Params(&s, m.fault.Scale)
}

// prediction returns the prediction for a cell at its fixed point, fault included.
func (m *model) prediction(c *Cell) *rom.Prediction {
	s := m.settings(c)
	return m.predictSettings(&s)
}

// faulty reports whether the theory has a planted fault.
func (m *model) faulty() bool { return m.fault.Set != nil || m.fault.Scale != rom.Unit }

// predictSettings returns the prediction for settings as returned by settings, without
// thresholds if they have a fault: the table of predictions has those of the right theory.
func (m *model) predictSettings(s *config.Settings) *rom.Prediction {
	of := theory.Whole(s)
	if m.faulty() && !s.Deep() {
		of = rest.Multipliers | rest.StationaryLaw
	}
	return m.cache.At(s, m.fault.Scale, nil, of)
}

// missingExact returns the reason why a check of the exact prediction is out of scope
// where the theory's own prediction is of another kind.
func (m *model) missingExact(kind rom.Kind) scope.Reason {
	if m.kind == rom.Exact && kind != rom.Exact {
		return scope.NoNumber.Because(fmt.Sprintf("the prediction is of the kind %s", kind))
	}
	return scope.Reason{}
}

// ruleKind returns the kind that is judged if that is one of a formula, else "".
func (m *model) ruleKind() rom.Kind {
	if m.kind.IsRule() {
		return m.kind
	}
	return ""
}
