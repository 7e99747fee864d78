package sweeps

import (
	"cmp"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claims about how a small deviation from the fixed point dies out, or grows.
var (
	relaxation = logic{
		quantities: only("relaxation rate per step"),
		find:       perCell(findRelaxation),
		picture:    picture{family: byClaim, draw: drawOver(relaxationPicture)},
	}
	dampingRatio = logic{
		quantities: only("damping ratio"),
		find:       perCell(findDamping),
		picture:    picture{family: byClaim, draw: drawOver(dampingPicture)},
	}
)

// findRelaxation compares −ln of the dominant multiplier per step.
func findRelaxation(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.estimated(c, o, sim.RelaxationRate)
	s := j.settings(c)
	f.predicted = j.relaxationRate(&s)
	return f
}

// relaxationRate returns the predicted relaxation rate per step, negative for
// growth.
func (j *judgement) relaxationRate(s *config.Settings) predicted {
	return j.ofMotion(s, func(d *rom.Dynamics) *float64 { return d.RelaxationRate })
}

// findDamping compares ζ of the two dominant multipliers.
func findDamping(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.estimated(c, o, sim.DampingRatio)
	if j.kind == rom.PaperRule {
		f.predicted = j.paperStiffness(c)
		s := j.settings(c)
		f.predicted.value = rom.PaperDampingRatio(f.predicted.value, s.Optimizer.LearningRate, s.Optimizer.Momentum, paperAge(&s))
		return f
	}
	s := j.settings(c)
	f.predicted = j.ofMotion(&s, func(d *rom.Dynamics) *float64 { return d.DampingRatio })
	return f
}

// ofMotion returns a number of the linear dynamics at the fixed point, stable
// or not: of the full map, or to leading order.
func (j *judgement) ofMotion(s *config.Settings, number func(*rom.Dynamics) *float64) predicted {
	d, of := j.dynamics(s, j.predictSettings(s))
	switch x := number(d); {
	case of.outOfScope != "":
	case x == nil:
		of.outOfScope = "the theory has no " + string(of.kind) + " number here"
	default:
		of.value = *x
	}
	return of
}

// dynamics returns the linear dynamics that is judged, of the full map or to
// leading order, and why it is out of scope, or "".
func (j *judgement) dynamics(s *config.Settings, p *rom.Prediction) (d *rom.Dynamics, of predicted) {
	known := knownTo(s, p)
	of.kind = cmp.Or(j.kind, known)
	d = &p.Exact
	if of.kind == rom.LeadingOrder {
		d = &p.LeadingOrder
	}
	switch {
	case p.FixedPoint == nil:
		of.outOfScope = noFixedPoint
	case j.inexact(known) != "":
		of.outOfScope = j.inexact(known)
	case !d.Scope.In:
		of.outOfScope = d.Scope.Because
	}
	return d, of
}

// paperAge is the lag of the paper's formulas: K_ref steps, none on-policy.
func paperAge(s *config.Settings) int {
	if s.Lag.Kind == grpo.Block && s.Lag.Interval == 1 {
		return 0
	}
	return s.Lag.Interval
}
