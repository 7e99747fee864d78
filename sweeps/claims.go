package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
)

// Names of the claims.
const (
	claimFixedPoint  = "fixed-point"
	claimStationary  = "stationary-fluctuation"
	claimScaling     = "fluctuation-scaling"
	claimStiffness   = "stiffness"
	claimTrajectory  = "trajectory"
	claimDegenerate  = "degenerate-groups"
	stiffnessTotal   = "stiffness_total"
	stiffnessFresh   = "stiffness_fresh"
	stiffnessStale   = "stiffness_stale"
	stiffnessSlowest = "stiffness_slowest"
)

// finding is what a claim says of one quantity of one set of cells, before the
// margin is laid on.
type finding struct {
	quantity         string
	measured, lo, hi float64
	replicas         int // independent values behind the interval; 0 where there are none
	predicted        float64
	kind             rom.Kind
	outOfScope       string // why, where the theory does not hold
	failed           string // why nature has decided against every stationary state
}

// unmeasured begins a finding that has no number yet: what nobody fills in
// decides nothing.
func unmeasured(kind rom.Kind) finding {
	nan := math.NaN()
	return finding{measured: nan, lo: nan, hi: nan, kind: kind}
}

// claimLogic is what a claim does: how it groups cells, which quantities it
// decides, and how it finds them.
type claimLogic struct {
	group      func(check *Check, cells []*Cell) []CellSet
	quantities func(cells []*Cell) []string
	find       func(j *judgement, set CellSet) []finding
}

// claimLogics has a row for every row of the claim table (claims_table.go).
var claimLogics = map[string]claimLogic{
	claimFixedPoint: {each, only("expected reward, mean"),
		perCell(func(j *judgement, c *Cell, o *Outcome) finding {
			f, p := j.stationary(c, o, sim.ExpectedRewardMean)
			if f.outOfScope != "" {
				return f
			}
			f.predicted = p.FixedPoint.Reward
			if j.kind == rom.LeadingOrder {
				f.kind = rom.LeadingOrder
			} else if p.Moments.RewardShift != nil {
				f.predicted += *p.Moments.RewardShift
			}
			return f
		})},

	claimStationary: {each, only("expected reward, variance"),
		perCell(func(j *judgement, c *Cell, o *Outcome) finding {
			f := j.measured(c, o, sim.ExpectedRewardVariance)
			f.predicted, f.kind, f.outOfScope = j.rewardVariance(c)
			return f
		})},

	claimScaling: {acrossOver, only("slope of log variance of expected reward"), findScaling},

	claimStiffness: {onePerForce, stiffnessQuantities, findStiffness},

	claimTrajectory: {each, only("worst deviation of mean reward, share of the rise"),
		perCell(findTrajectory)},

	claimDegenerate: {each, only("share of zero-variance groups"),
		perCell(func(j *judgement, c *Cell, o *Outcome) finding {
			f, p := j.stationary(c, o, sim.ZeroVarianceShare)
			if f.outOfScope != "" {
				return f
			}
			if p.Moments.ZeroVariance == nil {
				f.outOfScope = "the theory has no share of zero-variance groups for these rewards"
				return f
			}
			f.predicted = *p.Moments.ZeroVariance
			return f
		})},
}

// each makes every cell a set of its own.
func each(_ *Check, cells []*Cell) []CellSet {
	sets := make([]CellSet, len(cells))
	for i, c := range cells {
		sets[i] = CellSet{Label: c.Label(), Cells: []*Cell{c}}
	}
	return sets
}

// acrossOver groups the cells that differ only in check.Over, keys of `run`
// ignored; sets and cells keep the order of the sweep.
func acrossOver(check *Check, cells []*Cell) []CellSet {
	key, _ := LookupKey(check.Over)
	var sets []CellSet
	index := make(map[string]int)
	for _, c := range cells {
		rest := c.Settings
		rest.Run = sim.Run{}
		if rest.Optimizer.Schedule.Total == c.Settings.Run.Steps {
			rest.Optimizer.Schedule.Total = 0 // its default follows the length of the run
		}
		if err := key.Set(&rest, key.Get(&cells[0].Settings)); err != nil {
			panic(err) // the value was legal in its own cell
		}
		id := c.Variant + "\n" + string(Canonical(rest))
		n, known := index[id]
		if !known {
			n = len(sets)
			index[id] = n
			name := check.Over + "|"
			var others []string
			for _, a := range c.Axes {
				if a.Param != check.Over && !strings.HasPrefix(a.Param, "run.") {
					others = append(others, a.Param+"="+Format(a.Value))
				}
			}
			sets = append(sets, CellSet{
				Name:  name + strings.Join(others, ","),
				Label: strings.TrimSpace(label(c.Variant, c.Axes, check.Over) + " over " + shortName(check.Over)),
			})
		}
		sets[n].Cells = append(sets[n].Cells, c)
	}
	return sets
}

// onePerForce keeps the first of the cells that share bandit, estimator and
// reference: lag and optimizer do not enter an on-policy stiffness.
func onePerForce(check *Check, cells []*Cell) []CellSet {
	var first []*Cell
	seen := make(map[string]bool)
	for _, c := range cells {
		s := Settings{Bandit: c.Settings.Bandit, Estimator: c.Settings.Estimator}
		s.Policy.Reference = c.Settings.Policy.Reference
		if id := string(Canonical(s)); !seen[id] {
			seen[id] = true
			first = append(first, c)
		}
	}
	return each(check, first)
}

func only(quantity string) func([]*Cell) []string {
	return func([]*Cell) []string { return []string{quantity} }
}

func perCell(find func(j *judgement, c *Cell, o *Outcome) finding) func(*judgement, CellSet) []finding {
	return func(j *judgement, set CellSet) []finding {
		c := set.Cells[0]
		return []finding{find(j, c, j.outcome(c))}
	}
}

// stationary begins a finding about a stationary estimate, with the theory's
// scope, and returns the prediction to complete it from.
func (j *judgement) stationary(c *Cell, o *Outcome, name string) (finding, *rom.Prediction) {
	f := j.measured(c, o, name)
	p := j.prediction(c)
	f.kind = knownTo(c, p)
	f.outOfScope = cmp.Or(stationaryScope(c, p), j.inexact(f.kind))
	return f, p
}

// inexact says why a check that asks for the exact prediction gets none where
// the theory is known in another way, or "".
func (j *judgement) inexact(known rom.Kind) string {
	if j.kind == rom.Exact && known != rom.Exact {
		return "the theory is known to leading order only here"
	}
	return ""
}

// stationaryScope says why the theory has no stationary state for the cell, or "".
func stationaryScope(c *Cell, p *rom.Prediction) string {
	switch {
	case p.FixedPoint == nil:
		return "no fixed point"
	case c.Settings.Estimator.GroupSize == grpo.Infinite:
		if r := p.Exact.SpectralRadius; r != nil && *r >= 1 {
			return fmt.Sprintf("unstable: spectral radius %.4g", *r)
		}
		return ""
	case c.Settings.Optimizer.Kind == grpo.Adam: // known to leading order only, which has its own scope
		return p.LeadingOrder.Scope.Because
	case !p.Noise.In:
		return p.Noise.Because
	}
	return ""
}

// knownTo says how the theory knows a stationary state: exactly, or to leading
// order where the force is or the optimizer is Adam.
func knownTo(c *Cell, p *rom.Prediction) rom.Kind {
	if c.Settings.Optimizer.Kind == grpo.Adam {
		return rom.LeadingOrder
	}
	return p.ForceKind
}

// rewardVariance returns the predicted Var J of a cell.
func (j *judgement) rewardVariance(c *Cell) (value float64, kind rom.Kind, outOfScope string) {
	p := j.prediction(c)
	kind = j.kind
	if kind == "" {
		kind = knownTo(c, p)
	}
	if c.Settings.Estimator.GroupSize == grpo.Infinite {
		return 0, kind, "the expected gradient has no noise"
	}
	if outOfScope = stationaryScope(c, p); outOfScope != "" {
		return 0, kind, outOfScope
	}
	v := p.Exact.StationaryVariance.ExpectedReward
	switch kind {
	case rom.LeadingOrder:
		v = p.LeadingOrder.StationaryVariance.ExpectedReward
	case rom.PaperRule:
		v = p.PaperVariance
	}
	if v == nil {
		return 0, kind, "the theory has no " + string(kind) + " variance here"
	}
	return *v, kind, ""
}

// leadingOrderFrom is the group size from which the leading-order exponent is
// judged: below it the next order in 1/G is more than 3 %.
const leadingOrderFrom = 32

// findScaling fits log Var J = a + slope·log G to the cells' variances, and in
// the same way to their predictions: the exact slope is that of the exact
// predictions on the same G. The leading order is the slope as G → ∞.
func findScaling(j *judgement, set CellSet) []finding {
	f := unmeasured(j.kind)
	var sized []*Cell // at least three: the loader sees to it
	for _, c := range set.Cells {
		size := c.Settings.Estimator.GroupSize
		if size == grpo.Infinite || j.kind == rom.LeadingOrder && size < leadingOrderFrom {
			continue
		}
		sized = append(sized, c)
	}
	var logG, logV, logP []float64
	var terms []measure.Estimate // the errors of log Var J
	for _, c := range sized {
		o := j.outcome(c)
		if failure := o.failure(); failure != "" {
			f.failed = failure
			return []finding{f}
		}
		e, _ := o.estimate(sim.ExpectedRewardVariance)
		p, kind, outOfScope := j.rewardVariance(c)
		if outOfScope != "" {
			f.outOfScope = c.Label() + ": " + outOfScope
			return []finding{f}
		}
		if j.kind == "" {
			f.kind = kind
		}
		f.replicas = c.Settings.Run.Replicas
		logG = append(logG, math.Log(float64(c.Settings.Estimator.GroupSize)))
		logV = append(logV, math.Log(e.Mean))
		logP = append(logP, math.Log(p))
		terms = append(terms, measure.Estimate{StdErr: e.StdErr / e.Mean, DF: e.DF})
	}
	var estimate measure.Estimate
	for i, w := range slopeWeights(logG) {
		estimate.Mean += w * logV[i]
		f.predicted += w * logP[i]
		terms[i].StdErr *= w
	}
	estimate.StdErr, estimate.DF = measure.Combine(terms)
	if j.kind == rom.LeadingOrder {
		f.predicted, f.outOfScope = j.asymptoticSlope(sized[len(sized)-1])
	}
	f.measured = estimate.Mean
	f.lo, f.hi = estimate.Interval(j.confidence)
	return []finding{f}
}

// slopeWeights returns w with Σ w_i y_i the least-squares slope of y on x.
func slopeWeights(x []float64) []float64 {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	square := 0.0
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = (v - mean) / square
	}
	return w
}

// asymptoticSlope is the exponent of Var J in G as G → ∞, a multiple of ½: −1,
// −2 where the leading noise vanishes, −½ for Adam. It is read off the theory at
// two very large groups.
func (j *judgement) asymptoticSlope(c *Cell) (slope float64, outOfScope string) {
	const small, large = 1 << 14, 1 << 15
	variance := func(size int) (float64, string) {
		s := j.settings(c)
		s.Estimator.GroupSize = size
		p := j.predictSettings(&s)
		v := p.Exact.StationaryVariance.ExpectedReward
		if knownTo(c, p) == rom.LeadingOrder {
			v = p.LeadingOrder.StationaryVariance.ExpectedReward
		}
		if why := stationaryScope(c, p); why != "" || v == nil || *v <= 0 {
			return 0, "no variance at large G: " + why
		}
		return *v, ""
	}
	a, why := variance(small)
	if why != "" {
		return 0, why
	}
	b, why := variance(large)
	if why != "" {
		return 0, why
	}
	return math.Round(2*math.Log2(b/a)) / 2, ""
}

func stiffnessQuantities(cells []*Cell) []string {
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
	for _, quantity := range stiffnessQuantities(set.Cells) {
		f := j.estimated(c, o, quantity)
		f.quantity = quantity
		f.kind = p.ForceKind
		f.outOfScope = j.inexact(f.kind)
		if p.FixedPoint == nil {
			f.outOfScope = "no fixed point"
		}
		switch quantity {
		case stiffnessTotal:
			f.predicted = p.Stiffness.Total
		case stiffnessFresh:
			f.predicted = p.Stiffness.Fresh
		case stiffnessStale:
			f.predicted = p.Stiffness.Stale
		case stiffnessSlowest:
			f.predicted = p.Stiffness.Slowest
		}
		findings = append(findings, f)
	}
	return findings
}

// sameDeviation is the difference of deviations below which the earlier step is
// named: where only rounding differs, every architecture names the same.
const sameDeviation = 1e-9

// findTrajectory compares the mean reward at every recorded step with the
// predicted curve, as a share of the rise J* − J_0. The band is simultaneous
// over the recorded steps (Bonferroni). The finding is the step that decides:
// one where the band lies farthest outside, if anywhere it does wholly, else
// the one where it reaches farthest.
func findTrajectory(j *judgement, c *Cell, o *Outcome) finding {
	f := unmeasured(rom.Exact)
	f.replicas = c.Settings.Run.Replicas
	if o.Trajectory == nil || len(o.Trajectory.Steps) == 0 || CellStatus(o.Status) == CellDiverged {
		f.failed = o.failure()
		return f
	}
	curve, kind, why := j.curve(c)
	f.kind = kind
	if why != "" {
		f.outOfScope = why
		return f
	}
	confidence := 1 - (1-j.confidence)/float64(len(o.Trajectory.Steps))
	worst, outside := math.Inf(-1), false
	for i, t := range o.Trajectory.Steps {
		e := c.meanReward(o.Trajectory, i)
		lo, hi := e.Interval(confidence)
		deviation, lo, hi := (e.Mean-curve.at(t))/curve.rise, (lo-curve.at(t))/curve.rise, (hi-curve.at(t))/curve.rise
		lo, hi = min(lo, hi), max(lo, hi)
		if t == 0 { // every replica starts there
			lo, hi = deviation, deviation
		}
		if math.IsNaN(lo) || math.IsNaN(hi) {
			return unmeasured(kind) // what is not known cannot agree
		}
		reach := max(-lo, hi)
		miss := max(lo, -hi) // by how much the band misses 0
		isOutside := miss > j.margin(0)
		if isOutside {
			reach = miss
		}
		if isOutside && !outside || isOutside == outside && reach > worst+sameDeviation {
			worst, outside = reach, isOutside
			f.measured, f.lo, f.hi = deviation, lo, hi
			f.quantity = fmt.Sprintf("deviation of mean reward at step %d, share of the rise", t)
		}
	}
	return f
}

// curve is a predicted mean reward over steps.
type curve struct {
	reward []float64 // by step; nil where form is
	form   func(t float64) float64
	rise   float64 // J* − J_0
}

func (c *curve) at(t int) float64 {
	if c.reward == nil {
		return c.form(float64(t))
	}
	return c.reward[t]
}

// curve returns the predicted trajectory of a cell: the nonlinear mean-field
// map with the exact drift; its G = ∞ limit (paper-rule); or the closed form
// of the reduced-order model (leading-order).
func (j *judgement) curve(c *Cell) (cv curve, kind rom.Kind, outOfScope string) {
	params := j.params(c)
	if j.kind == rom.PaperRule {
		params.GroupSize = rom.Infinite
	}
	kind = j.kind
	means := make([]float64, len(c.Settings.Bandit.Arms))
	for a, arm := range c.Settings.Bandit.Arms {
		means[a] = arm.Mean
	}
	start := grpo.NewPolicy(c.Sim.Init).Mean(means)
	point, ok := rom.Reached(params)
	if !ok {
		return curve{}, kind, "no fixed point"
	}
	cv.rise = point.Reward - start
	if math.Abs(cv.rise) < 1e-9 {
		return curve{}, kind, "the run starts at the fixed point: there is no rise to compare"
	}
	if j.kind == rom.LeadingOrder {
		form, scope := rom.ClosedForm(params, c.Sim.Init)
		if !scope.In {
			return curve{}, kind, scope.Because
		}
		cv.form = form
		return cv, kind, ""
	}
	cv.reward = make([]float64, c.Settings.Run.Steps+1)
	policy := grpo.NewPolicy(c.Sim.Init)
	force, scope := rom.MeanField(params, c.Sim.Init, c.Settings.Run.Steps, func(t int, theta []float64) {
		copy(policy.Logits, theta)
		policy.Update()
		cv.reward[t] = policy.Mean(means)
	})
	if kind == "" {
		kind = force
	}
	return cv, kind, cmp.Or(scope.Because, j.inexact(force))
}
