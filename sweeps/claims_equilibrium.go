package sweeps

import (
	"cmp"
	"fmt"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claims about the stationary state; their pictures are of deviations.
var (
	fixedPoint            = logic{quantities: only("expected reward, mean"), find: perCell(findFixedPoint)}
	stationaryFluctuation = logic{quantities: only("expected reward, variance"), find: perCell(findFluctuation)}
	degenerateGroups      = logic{quantities: only("share of zero-variance groups"), find: perCell(findDegenerate)}
)

// stationary begins a finding about a stationary estimate, with the theory's
// scope, and returns the prediction to complete it from.
func (j *judgement) stationary(c *Cell, o *store.Outcome, name string) (finding, *rom.Prediction) {
	f := j.measured(c, o, name)
	p := j.prediction(c)
	s := j.settings(c)
	f.predicted.kind = knownTo(&s, p)
	f.predicted.outOfScope = cmp.Or(stationaryScope(&s, p), j.inexact(f.predicted.kind))
	return f, p
}

// findFixedPoint compares the stationary mean of J with J(θ*_G), shifted to
// second order by the noise.
func findFixedPoint(j *judgement, c *Cell, o *store.Outcome) finding {
	f, p := j.stationary(c, o, sim.ExpectedRewardMean)
	if f.predicted.outOfScope != "" {
		return f
	}
	f.predicted.value = p.FixedPoint.Reward
	if j.kind == rom.LeadingOrder {
		f.predicted.kind = rom.LeadingOrder
	} else if p.Moments.RewardShift != nil {
		f.predicted.value += *p.Moments.RewardShift
	}
	return f
}

// findFluctuation compares the time average of Var J.
func findFluctuation(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.measured(c, o, sim.ExpectedRewardVariance)
	s := j.settings(c)
	f.predicted = j.rewardVariance(&s)
	return f
}

// findDegenerate compares the share of zero-variance groups.
func findDegenerate(j *judgement, c *Cell, o *store.Outcome) finding {
	f, p := j.stationary(c, o, sim.ZeroVarianceShare)
	if f.predicted.outOfScope != "" {
		return f
	}
	if p.Moments.ZeroVariance == nil {
		f.predicted.outOfScope = "the theory has no share of zero-variance groups for these rewards"
		return f
	}
	f.predicted.value = *p.Moments.ZeroVariance
	return f
}

// inexact says why a check that asks for the exact prediction gets none where
// the theory is known in another way, or "".
func (j *judgement) inexact(known rom.Kind) string {
	if j.kind == rom.Exact && known != rom.Exact {
		return "the theory is known to leading order only here"
	}
	return ""
}

// stationaryScope says why the theory has no stationary state for the settings, or "".
func stationaryScope(s *config.Settings, p *rom.Prediction) string {
	switch {
	case p.FixedPoint == nil:
		return noFixedPoint
	case s.Estimator.GroupSize == grpo.Infinite:
		if r := p.Exact.SpectralRadius; r != nil && *r >= 1 {
			return fmt.Sprintf("unstable: spectral radius %.4g", *r)
		}
		return ""
	case s.Optimizer.Kind == grpo.Adam: // known to leading order only, which has its own scope
		return p.LeadingOrder.Scope.Because
	case !p.Noise.In:
		return p.Noise.Because
	}
	return ""
}

// knownTo says how the theory knows a stationary state: exactly, or to leading
// order where the force is or the optimizer is Adam.
func knownTo(s *config.Settings, p *rom.Prediction) rom.Kind {
	if s.Optimizer.Kind == grpo.Adam {
		return rom.LeadingOrder
	}
	return p.ForceKind
}

// rewardVariance returns the predicted Var J.
func (j *judgement) rewardVariance(s *config.Settings) predicted {
	p := j.predictSettings(s)
	of := predicted{kind: cmp.Or(j.kind, knownTo(s, p)), outOfScope: stationaryScope(s, p)}
	if s.Estimator.GroupSize == grpo.Infinite {
		of.outOfScope = "the expected gradient has no noise"
	}
	if of.outOfScope != "" {
		return of
	}
	v := p.Exact.StationaryVariance.ExpectedReward
	switch of.kind {
	case rom.LeadingOrder:
		v = p.LeadingOrder.StationaryVariance.ExpectedReward
	case rom.PaperRule:
		v = p.PaperVariance
	}
	if v == nil {
		of.outOfScope = "the theory has no " + string(of.kind) + " variance here"
		return of
	}
	of.value = *v
	return of
}

// noFixedPoint says why the theory is out of scope where there is none.
const noFixedPoint = "no fixed point"

// withoutFixedPoint is noFixedPoint where a prediction has none, else "".
func withoutFixedPoint(p *rom.Prediction) string {
	if p.FixedPoint == nil {
		return noFixedPoint
	}
	return ""
}

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
