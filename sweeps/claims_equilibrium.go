package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The claims about the stationary state; their pictures show deviations.

// stationary returns the kind and scope of the theory's stationary state, and the prediction
// that has its numbers.
func (m *model) stationary(c *Cell) (predicted, *rom.Prediction) {
	p, s := m.prediction(c), m.settings(c)
	kind := theory.StationaryKind(&s, p)
	return predicted{kind: kind, outOfScope: cmp.Or(theory.StationaryScope(&s, p), m.missingExact(kind))}, p
}

// rewardMean returns the stationary mean of J, J(θ*_G) plus the second-order shift by the
// noise except to leading order; by the paper's rule J(θ*_∞).
func (m *model) rewardMean(c *Cell) predicted {
	mean, p := m.stationary(c)
	if mean.outOfScope != "" {
		return mean
	}
	s := m.settings(c)
	settled := m.settled(&s)
	mean.value, mean.neglected = p.FixedPoint.Reward, p.Neglected.RewardMean
	shift := p.Moments.RewardShift
	switch {
	case m.kind == rom.LeadingOrder, m.kind == rom.PaperRule:
		mean.kind = m.kind
		if m.kind == rom.PaperRule { // the fixed point does not depend on G
			s.Estimator.GroupSize = option.Infinite
			limit := m.predictSettings(&s)
			if limit.FixedPoint == nil {
				mean.outOfScope = theory.NoFixedPoint
				return mean
			}
			mean.value = limit.FixedPoint.Reward
		}
		if shift != nil {
			mean.neglected += math.Abs(*shift)
		}
	case shift != nil:
		share := settled.Reward
		mean.value += share * *shift
		mean.neglected += math.Abs(1-share) * math.Abs(*shift)
	}
	mean.addEscape(settled)
	m.addUnsettled(c, p, &mean, func(n *rom.Neglected) float64 { return n.RewardMean })
	return mean
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
func (m *model) addUnsettled(c *Cell, p *rom.Prediction, to *predicted, size func(*rom.Neglected) float64) {
	s := m.settings(c)
	if init := s.Policy.Init; to.outOfScope != "" || init.Kind == config.AtFixedPoint && init.Offset == 0 {
		return
	}
	left, scope := rom.Unsettled(m.params(c), p, c.start, s.Run.BurnIn, s.Run.Steps)
	by := size(&left)
	if by > to.neglected {
		to.since = fmt.Sprintf(": after run.burn_in = %d steps the mean path is still on its way to the fixed point", s.Run.BurnIn)
	}
	to.neglected += by
	to.outOfScope = scope.Because
}

// fluctuation returns the time average of Var J in the run of a cell.
func (m *model) fluctuation(c *Cell) predicted {
	s := m.settings(c)
	variance, prediction := m.rewardVariance(&s), m.predictSettings(&s)
	if variance.outOfScope == "" {
		way := -prediction.FixedPoint.Reward // from the start, about which the square of J is measured
		for a, p := range grpo.NewPolicy(c.start).Probs {
			way += p * c.Settings.Bandit.Arms[a].Mean
		}
		variance.resolution += 0x1p-52 * float64(s.Run.Steps) * way * way
	}
	m.addUnsettled(c, prediction, &variance, func(n *rom.Neglected) float64 { return n.RewardVariance })
	return variance
}

// zeroVariance returns the expected share of zero-variance groups: that of the stationary state or,
// without a fixed point, the mean of that along the path from the start.
func (m *model) zeroVariance(c *Cell) predicted {
	s := m.settings(c)
	if m.prediction(c).FixedPoint == nil && c.start != nil {
		share, neglected, kind, scope := rom.MeanZeroVariance(m.params(c), c.start, s.Run.BurnIn, s.Run.Steps)
		return predicted{value: share, neglected: neglected, kind: kind, outOfScope: cmp.Or(scope.Because, m.missingExact(kind))}
	}
	of, p := m.stationary(c)
	if of.outOfScope != "" {
		return of
	}
	if p.Moments.ZeroVariance == nil {
		of.outOfScope = "the theory has no share of zero-variance groups for these rewards"
		return of
	}
	of.value, of.neglected = *p.Moments.ZeroVariance, p.Neglected.ZeroVariance
	if shift := p.Moments.ZeroVarianceShift; shift != nil {
		of.neglected += math.Abs(1-m.settled(&s).Reward) * math.Abs(*shift)
	}
	m.addUnsettled(c, p, &of, func(n *rom.Neglected) float64 { return n.ZeroVariance })
	return of
}

// rewardVariance returns the predicted Var J, averaged over the steps after burn-in of
// replicas that start at the fixed point.
func (m *model) rewardVariance(s *config.Settings) predicted {
	p := m.predictSettings(s)
	own := theory.StationaryKind(s, p)
	variance := predicted{kind: cmp.Or(m.kind, own), outOfScope: theory.StationaryScope(s, p)}
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
	settled := m.settled(s)
	share := settled.Reward
	var v *float64
	variance.neglected = p.Neglected.RewardVariance
	switch variance.kind {
	case own:
		v = best
		variance.neglected += math.Abs(1-share) * math.Abs(beyond)
	case rom.LeadingOrder:
		v = p.Number(rom.LeadingOrder, rom.VarianceOfReward)
		variance.neglected += math.Abs(beyond)
	case rom.PaperRule, rom.RuleAtStiffness:
		v, variance.neglected = p.Number(variance.kind, rom.VarianceOfReward), 0
		variance.outOfScope = missingFormula(p, variance.kind, v)
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
func (m *model) settled(s *config.Settings) rom.Settled {
	settled := m.cache.Settled(s, m.fault.Scale)
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

// stiffnessRounding is the rounding error of a stiffness in multiples of the KL
// coefficient, to which the terms that cancel in it are proportional.
const stiffnessRounding = 1e-14

// stiffnessNumbers compares the measured stiffness of the stiffest mode and its two parts,
// and of the slowest mode, with the closed forms, along the directions that the probes
// displace: where two modes have the same stiffness, their parts depend on the direction.
func stiffnessNumbers(m *model, cells []*Cell) (all []scalar) {
	names := []string{stiffnessTotal, stiffnessFresh, stiffnessStale}
	if len(cells[0].Settings.Bandit.Arms) > 2 {
		names = append(names, stiffnessSlowest)
	}
	uninformed := func(_ *Cell, f *finding) string {
		if math.IsInf(f.hi, 1) && m.check.Draws >= sim.FewestInformative {
			return fmt.Sprintf("fewer than %d informative draws among %d: in the others all rewards are equal, or the displacement changes no group", sim.FewestInformative, m.check.Draws)
		}
		return ""
	}
	predict := sync.OnceValue(func() *rom.Prediction { return m.prediction(cells[0]) }) // one with a fault is not kept
	for _, name := range names {
		all = append(all, scalar{quantity: name, estimate: name, unresolved: uninformed, predict: func(m *model, c *Cell) predicted {
			p, s, params := predict(), m.settings(c), m.params(c)
			of := predicted{kind: p.ForceKind, neglected: stiffnessRounding * s.Estimator.KL.Coefficient}
			of.outOfScope = cmp.Or(missingStiffness(p), m.missingExact(of.kind), rom.KnownForce(params).Because)
			if of.outOfScope == "" {
				var across float64
				of.value, across = probed(c, name, params, p.FixedPoint.Logits)
				of.neglected += across
			}
			return of
		}})
	}
	return all
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
