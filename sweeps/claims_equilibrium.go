package sweeps

import (
	"cmp"
	"fmt"
	"math"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claims about the stationary state; their pictures show deviations.
var (
	fixedPoint            = logic{quantities: only("expected reward, mean"), find: perCell(findFixedPoint)}
	stationaryFluctuation = logic{quantities: only("expected reward, variance"), find: perCell(findFluctuation)}
	degenerateGroups      = logic{quantities: only("share of zero-variance groups"), find: perCell(findDegenerate)}
)

// ofStationaryState returns a finding with a stationary estimate and the theory's scope,
// and the prediction that completes it.
func (j *judgement) ofStationaryState(c *Cell, o *store.Outcome, name string) (finding, *rom.Prediction) {
	f := j.ofRun(c, o, name)
	p := j.prediction(c)
	s := j.settings(c)
	f.predicted.kind = stationaryKind(&s, p)
	f.predicted.outOfScope = cmp.Or(stationaryScope(&s, p), j.missingExact(f.predicted.kind))
	return f, p
}

// findFixedPoint compares the stationary mean of J with J(θ*_G), plus the second-order
// shift by the noise except to leading order.
func findFixedPoint(j *judgement, c *Cell, o *store.Outcome) finding {
	f, p := j.ofStationaryState(c, o, sim.ExpectedRewardMean)
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

// findFluctuation compares the time average of Var J with the stationary variance.
func findFluctuation(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.ofRun(c, o, sim.ExpectedRewardVariance)
	s := j.settings(c)
	f.predicted = j.rewardVariance(&s)
	return f
}

// findDegenerate compares the share of zero-variance groups with the expected share.
func findDegenerate(j *judgement, c *Cell, o *store.Outcome) finding {
	f, p := j.ofStationaryState(c, o, sim.ZeroVarianceShare)
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

// missingExact returns the reason why a check of the exact prediction is out of scope
// where the theory's own prediction is of another kind; "" where it is in scope.
func (j *judgement) missingExact(kind rom.Kind) string {
	if j.kind == rom.Exact && kind != rom.Exact {
		return "the theory is known to leading order only here"
	}
	return ""
}

// stationaryScope returns the reason why the theory predicts no stationary state for the
// settings; "" where it does.
func stationaryScope(s *config.Settings, p *rom.Prediction) string {
	switch {
	case p.FixedPoint == nil:
		return missingFixedPoint(p)
	case s.Estimator.GroupSize == grpo.Infinite:
		if r := p.Exact.SpectralRadius; r != nil && *r >= 1 {
			return fmt.Sprintf("unstable: spectral radius %.4g", *r)
		}
		return ""
	case s.Optimizer.Kind == grpo.Adam: // to leading order only, with the scope of that
		return p.LeadingOrder.Scope.Because
	case !p.Noise.In:
		return p.Noise.Because
	}
	return ""
}

// stationaryKind returns the kind of the theory's prediction of a stationary state:
// leading order with Adam, else that of the mean force.
func stationaryKind(s *config.Settings, p *rom.Prediction) rom.Kind {
	if s.Optimizer.Kind == grpo.Adam {
		return rom.LeadingOrder
	}
	return p.ForceKind
}

// rewardVariance returns the predicted stationary Var J.
func (j *judgement) rewardVariance(s *config.Settings) predicted {
	p := j.predictSettings(s)
	variance := predicted{kind: cmp.Or(j.kind, stationaryKind(s, p)), outOfScope: stationaryScope(s, p)}
	if s.Estimator.GroupSize == grpo.Infinite {
		variance.outOfScope = "the expected gradient has no noise"
	}
	if variance.outOfScope != "" {
		return variance
	}
	v := p.Exact.StationaryVariance.ExpectedReward
	switch variance.kind {
	case rom.LeadingOrder:
		v = p.LeadingOrder.StationaryVariance.ExpectedReward
	case rom.PaperRule, rom.RuleAtStiffness:
		rule := j.formulas(p)
		v = rule.RewardVariance
		variance.outOfScope = missingFormula(p, rule, v)
	}
	if variance.outOfScope != "" {
		return variance
	}
	if v == nil {
		variance.outOfScope = "the theory has no " + string(variance.kind) + " variance here"
		return variance
	}
	variance.value = *v
	return variance
}

// noFixedPoint is the reason for being out of scope where the theory finds no fixed
// point and gives no reason of its own.
const noFixedPoint = "the theory finds no fixed point"

// missingFixedPoint returns the theory's own reason for a prediction without fixed point,
// else "".
func missingFixedPoint(p *rom.Prediction) string {
	if p.FixedPoint == nil {
		return p.Exact.Scope.Because
	}
	return ""
}

// The claim about the slope of the mean gradient at the fixed point.
var stiffness = logic{quantities: stiffnessQuantities, find: findStiffness}

// stiffnessQuantities returns the estimates that the claim compares; their names are
// those of the quantities.
func stiffnessQuantities(_ *config.Check, cells []*Cell) []string {
	quantities := []string{stiffnessTotal, stiffnessFresh, stiffnessStale}
	if len(cells[0].Settings.Bandit.Arms) > 2 {
		quantities = append(quantities, stiffnessSlowest)
	}
	return quantities
}

// findStiffness compares the measured stiffness of the stiffest mode and its two parts,
// and of the slowest mode, with the closed forms.
func findStiffness(j *judgement, set CellSet) []finding {
	c := set.Cells[0]
	o := j.outcome(c)
	p := j.prediction(c)
	var findings []finding
	for _, quantity := range stiffnessQuantities(j.check, set.Cells) {
		f := j.ofEstimate(c, o, quantity)
		if math.IsInf(f.hi, 1) && j.check.Draws >= sim.FewestInformative {
			f.unresolved = fmt.Sprintf("fewer than %d informative groups among %d draws: in the others all rewards are equal", sim.FewestInformative, j.check.Draws)
		}
		f.predicted.kind = p.ForceKind
		f.predicted.outOfScope = cmp.Or(missingFixedPoint(p), j.missingExact(f.predicted.kind))
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
