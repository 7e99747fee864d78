package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
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
	f.predicted.kind = theory.StationaryKind(&s, p)
	f.predicted.outOfScope = cmp.Or(theory.StationaryScope(&s, p), j.missingExact(f.predicted.kind))
	return f, p
}

// findFixedPoint compares the stationary mean of J with J(θ*_G), plus the second-order
// shift by the noise except to leading order; by the paper's rule with J(θ*_∞).
func findFixedPoint(j *judgement, c *Cell, o *store.Outcome) finding {
	f, p := j.ofStationaryState(c, o, sim.ExpectedRewardMean)
	if f.predicted.outOfScope != "" {
		return f
	}
	s := j.settings(c)
	settled := j.settled(&s)
	f.predicted.value = p.FixedPoint.Reward
	f.predicted.neglected = p.Neglected.RewardMean
	shift := p.Moments.RewardShift
	switch {
	case j.kind == rom.LeadingOrder, j.kind == rom.PaperRule:
		f.predicted.kind = j.kind
		if j.kind == rom.PaperRule { // the fixed point does not depend on G
			s.Estimator.GroupSize = option.Infinite
			limit := j.predictSettings(&s)
			if limit.FixedPoint == nil {
				f.predicted.outOfScope = theory.NoFixedPoint
				return f
			}
			f.predicted.value = limit.FixedPoint.Reward
		}
		if shift != nil {
			f.predicted.neglected += math.Abs(*shift)
		}
	case shift != nil:
		share := settled.Reward
		f.predicted.value += share * *shift
		f.predicted.neglected += math.Abs(1-share) * math.Abs(*shift)
	}
	f.predicted.addEscape(settled)
	j.addUnsettled(c, p, &f.predicted, func(n *rom.Neglected) float64 { return n.RewardMean })
	return f
}

// addEscape makes what a prediction neglects unknown where the noise may take a run to another
// attractor.
func (p *predicted) addEscape(settled rom.Settled) {
	if settled.Escape != "" {
		p.neglected, p.since = math.MaxFloat64, ": "+settled.Escape
	}
}

// addUnsettled adds to what a prediction of the stationary state of a cell neglects the
// distance that the mean field has left to the fixed point after burn-in: size selects
// its effect on the predicted number. A mean field that is elsewhere is out of scope.
func (j *judgement) addUnsettled(c *Cell, p *rom.Prediction, to *predicted, size func(*rom.Neglected) float64) {
	s := j.settings(c)
	if init := s.Policy.Init; to.outOfScope != "" || init.Kind == config.AtFixedPoint && init.Offset == 0 {
		return
	}
	left, scope := rom.Unsettled(j.params(c), p, c.start, s.Run.BurnIn, s.Run.Steps)
	by := size(&left)
	if by > to.neglected {
		to.since = fmt.Sprintf(": after run.burn_in = %d steps the mean path is still on its way to the fixed point", s.Run.BurnIn)
	}
	to.neglected += by
	to.outOfScope = scope.Because
}

// findFluctuation compares the time average of Var J with the stationary variance.
func findFluctuation(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.ofRun(c, o, sim.ExpectedRewardVariance)
	s := j.settings(c)
	f.predicted = j.rewardVariance(&s)
	if f.predicted.outOfScope == "" {
		way := -j.prediction(c).FixedPoint.Reward // from the start, about which the square of J is measured
		for a, p := range grpo.NewPolicy(c.start).Probs {
			way += p * c.Settings.Bandit.Arms[a].Mean
		}
		f.predicted.resolution += 0x1p-52 * float64(s.Run.Steps) * way * way
	}
	j.addUnsettled(c, j.prediction(c), &f.predicted, func(n *rom.Neglected) float64 { return n.RewardVariance })
	return f
}

// findDegenerate compares the share of zero-variance groups with the expected share: that of the stationary state or,
// without a fixed point, the mean of that along the path from the start.
func findDegenerate(j *judgement, c *Cell, o *store.Outcome) finding {
	if j.prediction(c).FixedPoint != nil || c.start == nil {
		return findStationaryDegenerate(j, c, o)
	}
	f := j.ofRun(c, o, sim.ZeroVarianceShare)
	s := j.settings(c)
	share, neglected, kind, scope := rom.MeanZeroVariance(j.params(c), c.start, s.Run.BurnIn, s.Run.Steps)
	f.predicted = predicted{value: share, neglected: neglected, kind: kind, outOfScope: cmp.Or(scope.Because, j.missingExact(kind))}
	return f
}

// findStationaryDegenerate is findDegenerate by the stationary state.
func findStationaryDegenerate(j *judgement, c *Cell, o *store.Outcome) finding {
	f, p := j.ofStationaryState(c, o, sim.ZeroVarianceShare)
	if f.predicted.outOfScope != "" {
		return f
	}
	if p.Moments.ZeroVariance == nil {
		f.predicted.outOfScope = "the theory has no share of zero-variance groups for these rewards"
		return f
	}
	s := j.settings(c)
	share := j.settled(&s).Reward
	f.predicted.value = *p.Moments.ZeroVariance
	f.predicted.neglected = p.Neglected.ZeroVariance
	if shift := p.Moments.ZeroVarianceShift; shift != nil {
		f.predicted.neglected += math.Abs(1-share) * math.Abs(*shift)
	}
	j.addUnsettled(c, p, &f.predicted, func(n *rom.Neglected) float64 { return n.ZeroVariance })
	return f
}

// missingExact returns the reason why a check of the exact prediction is out of scope
// where the theory's own prediction is of another kind; "" where it is in scope.
func (j *judgement) missingExact(kind rom.Kind) string {
	if j.kind == rom.Exact && kind != rom.Exact {
		return "the theory has no exact prediction here: its own is of the kind " + string(kind)
	}
	return ""
}

// rewardVariance returns the predicted Var J, averaged over the steps after burn-in of
// replicas that start at the fixed point.
func (j *judgement) rewardVariance(s *config.Settings) predicted {
	p := j.predictSettings(s)
	own := theory.StationaryKind(s, p)
	variance := predicted{kind: cmp.Or(j.kind, own), outOfScope: theory.StationaryScope(s, p)}
	if variance.outOfScope != "" {
		return variance
	}
	linear, best := theory.Variance(own, p)
	if s.Estimator.GroupSize == option.Infinite {
		if best == nil {
			variance.outOfScope = "the theory has no variance here"
		} else {
			variance.resolution = roundingOfVariance(s, p)
		}
		return variance
	}
	beyond := 0.0 // of the linear variance
	if linear != nil {
		beyond = *best - *linear
	}
	settled := j.settled(s)
	share := settled.Reward
	var v *float64
	variance.neglected = p.Neglected.RewardVariance
	switch variance.kind {
	case own:
		v = best
		variance.neglected += math.Abs(1-share) * math.Abs(beyond)
	case rom.LeadingOrder:
		v = p.LeadingOrder.StationaryVariance.ExpectedReward
		variance.neglected += math.Abs(beyond)
	case rom.PaperRule, rom.RuleAtStiffness:
		rule := j.formulas(p)
		v, variance.neglected = rule.RewardVariance, 0
		variance.outOfScope = missingFormula(p, rule, v)
	}
	if variance.outOfScope != "" {
		return variance
	}
	if v == nil {
		variance.outOfScope = "the theory has no " + string(variance.kind) + " variance here"
		return variance
	}
	kicks := 3 / settled.Kurtosis * float64(s.Run.Steps-s.Run.BurnIn) * float64(s.Run.Replicas)
	if variance.outOfScope = theory.RareSamples(kicks, "variance"); variance.outOfScope != "" {
		return variance
	}
	variance.value = share * *v
	variance.neglected = settled.Largest*variance.neglected + settled.Unknown**v
	variance.addEscape(settled)
	for _, arm := range s.Bandit.Arms { // the square of 4 ulp of J
		variance.resolution = max(variance.resolution, 0x1p-100*arm.Mean*arm.Mean)
	}
	return variance
}

// roundingOfVariance returns the largest Var J, predicted to be 0, that rounding leaves at
// the fixed point of the expected gradient: the square of 16 ulp of the largest reward, or
// of it times the largest logit, summed over a relaxation time.
func roundingOfVariance(s *config.Settings, p *rom.Prediction) float64 {
	reward, logit, time := 0.0, 1.0, 1.0
	if linear, _ := p.Linear(); linear.RelaxationRate != nil { // nil: infinite
		time = max(time, 1 / *linear.RelaxationRate)
	}
	for a, z := range p.FixedPoint.Logits {
		reward, logit = max(reward, math.Abs(s.Bandit.Arms[a].Mean)), max(logit, math.Abs(z))
	}
	deviation := 0x1p-48 * reward * logit * time
	return deviation * deviation
}

// settled returns how much of the stationary law the steps after burn-in have on average,
// see rom.Settled. During a warm-up, which ends before the burn-in, the variance rises to
// between 0 and the stationary one.
func (j *judgement) settled(s *config.Settings) rom.Settled {
	settled := j.cache.Settled(s, j.fault.Scale)
	settled.Unknown *= settled.Reward
	if s.Optimizer.Schedule.Warmup > 0 {
		settled.Unknown += math.Abs(1 - settled.Reward)
	}
	return settled
}

// missingStiffness returns the theory's own reason for a prediction without stiffness, else "".
func missingStiffness(p *rom.Prediction) string {
	if p.FixedPoint == nil || p.Stiffness == (rom.ModeStiffness{}) {
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

// stiffnessRounding is the rounding error of a stiffness in multiples of the KL
// coefficient, to which the terms that cancel in it are proportional.
const stiffnessRounding = 1e-14

// findStiffness compares the measured stiffness of the stiffest mode and its two parts,
// and of the slowest mode, with the closed forms, along the directions that the probes
// displace: where two modes have the same stiffness, their parts depend on the direction.
func findStiffness(j *judgement, set CellSet) []finding {
	c := set.Cells[0]
	o := j.outcome(c)
	p := j.prediction(c)
	s := j.settings(c)
	var findings []finding
	for _, quantity := range stiffnessQuantities(j.check, set.Cells) {
		f := j.ofEstimate(c, o, quantity)
		if math.IsInf(f.hi, 1) && j.check.Draws >= sim.FewestInformative {
			f.unresolved = fmt.Sprintf("fewer than %d informative draws among %d: in the others all rewards are equal, or the displacement changes no group", sim.FewestInformative, j.check.Draws)
		}
		f.predicted.kind = p.ForceKind
		f.predicted.outOfScope = cmp.Or(missingStiffness(p), j.missingExact(f.predicted.kind), rom.KnownForce(j.params(c)).Because)
		f.predicted.neglected = stiffnessRounding * s.Estimator.KL.Coefficient
		if f.predicted.outOfScope == "" {
			var across float64
			f.predicted.value, across = probed(c, quantity, j.params(c), p.FixedPoint.Logits)
			f.predicted.neglected += across
		}
		findings = append(findings, f)
	}
	return findings
}

// probed returns what the cell's stiffness probe of a name measures, c·(Λ v) with its
// covector c and its direction v, by the theory's Λ at the given logits; and by how much its
// extrapolated central difference of the mean force differs from that where a largest norm
// makes a kink of the force, a KL penalty in the reward a jump, or a weight bends.
func probed(c *Cell, name string, params rom.Params, logits []float64) (slope, across float64) {
	fresh, stale := rom.StiffnessAt(params, logits)
	for _, p := range c.Sim().Stiffness {
		if p.Name != name {
			continue
		}
		covector, direction := mat.NewVecDense(len(p.Covector), p.Covector), mat.NewVecDense(len(p.Direction), p.Direction)
		if p.Displaced != sim.Behind {
			slope += mat.Inner(covector, fresh, direction)
		}
		if p.Displaced != sim.Current {
			slope += mat.Inner(covector, stale, direction)
		}
		kinked := params.GroupSize != option.Infinite && (params.Optimizer.MaxNorm > 0 || params.KL.In == option.InReward)
		if bent := params.Importance.Mode == option.SAPO || params.Importance.Mode == option.VESPO; !kinked && !bent {
			continue
		}
		near, far := centralSlope(&p, params, logits, p.Displacement), centralSlope(&p, params, logits, 2*p.Displacement)
		across = math.Abs((4*near-far)/3 - slope)
	}
	return slope, across
}

// centralSlope returns −c·(E[g](θ + dv) − E[g](θ − dv))/2d of the policies that a probe displaces.
func centralSlope(p *sim.StiffnessProbe, params rom.Params, logits []float64, d float64) (slope float64) {
	force := make([]float64, len(logits))
	for _, d := range [2]float64{d, -d} {
		moved := slices.Clone(logits)
		floats.AddScaled(moved, d, p.Direction)
		current, old := moved, moved
		switch p.Displaced {
		case sim.Current:
			old = logits
		case sim.Behind:
			current = logits
		}
		rom.MeanForce(force, params, current, old)
		slope -= floats.Dot(p.Covector, force) / (2 * d)
	}
	return slope
}
