package sweeps

import (
	"cmp"
	"math"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claims about how a small deviation from the fixed point decays or grows.
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

// The pictures of the two claims.
var (
	relaxationPicture = overPicture{
		title:    "Relaxation rate, negative where a deviation grows",
		label:    "relaxation rate per step",
		find:     findRelaxation,
		theories: []theoryLine{{"", "linear dynamics"}, {rom.LeadingOrder, "reduced-order model"}},
	}
	dampingPicture = overPicture{
		title:    "Damping ratio",
		label:    "damping ratio ζ",
		find:     findDamping,
		theories: []theoryLine{{"", "linear dynamics"}, {rom.LeadingOrder, "reduced-order model"}, {rom.PaperRule, "paper’s model"}, {rom.RuleAtStiffness, "paper’s model at λ of the stiffest mode"}},
	}
)

// findRelaxation compares −ln |dominant multiplier per step|.
func findRelaxation(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.ofEstimate(c, o, sim.RelaxationRate)
	f.unresolved = unresolved(&f, "no decay above round-off")
	s := j.settings(c)
	f.predicted = j.relaxationRate(&s)
	if c.Sim.Deterministic() {
		f.predicted.neglected = j.otherModes(c)
	}
	return f
}

// deadAtOnce is the share of the largest multiplier below which another one counts as 0:
// it is gone after a period, as the velocity is without momentum.
const deadAtOnce = 1e-9

// otherModes returns by how much the multipliers that a pair's fit does not have change
// the fitted rate: at most (|m₁| − |m|)(|m|/|m₁|)^n/(|m₁|·period), n the refresh periods
// before burn-in and m the multiplier for which this is largest. Their amplitudes at the
// start are taken to be those of the fitted ones.
func (j *judgement) otherModes(c *Cell) float64 {
	s := j.settings(c)
	d, _ := j.dynamics(&s, j.predictSettings(&s))
	period := sim.RefreshPeriod(c.Settings.Lag)
	before := float64((c.Settings.Run.BurnIn + period - 1) / period)
	largest := 0.0
	for i := int(sim.RecurrenceOrder(&c.Sim)); i < len(d.Multipliers); i++ {
		first := math.Hypot(d.Multipliers[0][0], d.Multipliers[0][1])
		share := math.Hypot(d.Multipliers[i][0], d.Multipliers[i][1]) / first
		if share < deadAtOnce {
			continue
		}
		largest = max(largest, (1-share)*math.Pow(share, before)/float64(period))
	}
	return largest
}

// relaxationRate returns the predicted relaxation rate per step, negative where a
// deviation grows.
func (j *judgement) relaxationRate(s *config.Settings) predicted {
	return j.numberOfDynamics(s, func(d *rom.Dynamics) *float64 { return d.RelaxationRate })
}

// findDamping compares the damping ratio ζ of the two dominant multipliers.
func findDamping(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.ofEstimate(c, o, sim.DampingRatio)
	f.unresolved = unresolved(&f, "no two multipliers of a damped oscillator: the second is below round-off and the nonlinearity of the force, or one is negative")
	s := j.settings(c)
	p := j.predictSettings(&s)
	if rule := j.formulas(p); rule != nil {
		f.predicted = predicted{kind: j.kind, outOfScope: missingFormula(p, rule, rule.DampingRatio)}
		if rule.DampingRatio != nil {
			f.predicted.value = *rule.DampingRatio
		}
		return f
	}
	f.predicted = j.numberOfDynamics(&s, func(d *rom.Dynamics) *float64 { return d.DampingRatio })
	return f
}

// unresolved returns the reason why a fit gave no number: the given one; "" where it did.
func unresolved(f *finding, because string) string {
	if !math.IsNaN(f.measured) {
		return ""
	}
	return "not resolved: the fit finds " + because
}

// numberOfDynamics returns a number of the linear dynamics at the fixed point, which may
// be unstable.
func (j *judgement) numberOfDynamics(s *config.Settings, number func(*rom.Dynamics) *float64) predicted {
	d, p := j.dynamics(s, j.predictSettings(s))
	switch x := number(d); {
	case p.outOfScope != "":
	case x == nil:
		p.outOfScope = "the theory has no " + string(p.kind) + " number here"
	default:
		p.value = *x
	}
	return p
}

// dynamics returns the linear dynamics that is judged, of the full map or to leading
// order, and its kind and scope, without a value.
func (j *judgement) dynamics(s *config.Settings, p *rom.Prediction) (*rom.Dynamics, predicted) {
	kind := stationaryKind(s, p)
	theory := predicted{kind: cmp.Or(j.kind, kind)}
	d := &p.Exact
	if theory.kind == rom.LeadingOrder {
		d = &p.LeadingOrder
	}
	theory.outOfScope = cmp.Or(missingFixedPoint(p), j.missingExact(kind))
	if theory.outOfScope == "" && !d.Scope.In {
		theory.outOfScope = d.Scope.Because
	}
	return d, theory
}

// paperAge returns the age of the snapshot in the paper's formulas, in steps: K_ref, and
// 0 on-policy.
func paperAge(s *config.Settings) int {
	if s.Lag.Kind == grpo.Block && s.Lag.Interval == 1 {
		return 0
	}
	return s.Lag.Interval
}
