package sweeps

import (
	"cmp"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// findRelaxation compares −ln of the dominant multiplier per step.
func findRelaxation(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.estimated(c, o, sim.RelaxationRate)
	s := j.settings(c)
	f.predicted, f.kind, f.outOfScope = j.relaxationRate(&s)
	return f
}

// relaxationRate returns the predicted relaxation rate per step, negative for
// growth.
func (j *judgement) relaxationRate(s *config.Settings) (value float64, kind rom.Kind, outOfScope string) {
	return j.ofMotion(s, func(d *rom.Dynamics) *float64 { return d.RelaxationRate })
}

// findDamping compares ζ of the two dominant multipliers.
func findDamping(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.estimated(c, o, sim.DampingRatio)
	if j.kind == rom.PaperRule {
		f.kind = rom.PaperRule
		stiffness, why := j.paperStiffness(c)
		s := j.settings(c)
		f.predicted = rom.PaperDampingRatio(stiffness, s.Optimizer.LearningRate, s.Optimizer.Momentum, paperAge(&s))
		f.outOfScope = why
		return f
	}
	s := j.settings(c)
	f.predicted, f.kind, f.outOfScope = j.ofMotion(&s, func(d *rom.Dynamics) *float64 { return d.DampingRatio })
	return f
}

// ofMotion returns a number of the linear dynamics at the fixed point, stable
// or not: of the full map, or to leading order.
func (j *judgement) ofMotion(s *config.Settings, of func(*rom.Dynamics) *float64) (value float64, kind rom.Kind, outOfScope string) {
	d, kind, outOfScope := j.dynamics(s, j.predictSettings(s))
	x := of(d)
	switch {
	case outOfScope != "":
		return 0, kind, outOfScope
	case x == nil:
		return 0, kind, "the theory has no " + string(kind) + " number here"
	}
	return *x, kind, ""
}

// dynamics returns the linear dynamics that is judged, of the full map or to
// leading order, and why it is out of scope, or "".
func (j *judgement) dynamics(s *config.Settings, p *rom.Prediction) (d *rom.Dynamics, kind rom.Kind, outOfScope string) {
	known := knownTo(s, p)
	kind = cmp.Or(j.kind, known)
	d = &p.Exact
	if kind == rom.LeadingOrder {
		d = &p.LeadingOrder
	}
	switch {
	case p.FixedPoint == nil:
		outOfScope = "no fixed point"
	case j.inexact(known) != "":
		outOfScope = j.inexact(known)
	case !d.Scope.In:
		outOfScope = d.Scope.Because
	}
	return d, kind, outOfScope
}

// paperAge is the lag of the paper's formulas: K_ref steps, none on-policy.
func paperAge(s *config.Settings) int {
	if s.Lag.Kind == grpo.Block && s.Lag.Interval == 1 {
		return 0
	}
	return s.Lag.Interval
}
