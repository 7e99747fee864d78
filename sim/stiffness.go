package sim

import (
	"context"
	"math"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
	"grposim/sim/measure"
)

// Displaced is the policy that a stiffness probe displaces.
type Displaced string

// The policies that a stiffness probe can displace, and the stiffness that it measures.
const (
	Both    Displaced = "total" // θ and θ_old: λ
	Current Displaced = "fresh" // θ alone: λ_f
	Behind  Displaced = "stale" // θ_old alone: λ_s
)

// StiffnessTotal is the name of the probe that measures λ of the stiffest mode, from
// which a location probe takes its scale.
const StiffnessTotal = "stiffness_total"

// StiffnessProbe measures one stiffness on-policy about a point θ*, from central differences.
//
//	S(d) = −c·(E[g](θ* + d·v) − E[g](θ* − d·v))/(2d),  λ = (4 S(d) − S(2d))/3 + O(d⁴).
//
// E[g] is the mean of the steps' gradients, at finite G each scaled to Optimizer.MaxNorm where it
// is longer. v is the direction and c the covector of a mode, c·v = 1, and d the displacement
// (docs/theory.md §3). Richardson's extrapolation removes the O(d²) of S. One in nine of the pairs
// of draws at ± is at 2d, which gives the least error, 1.5 times that of S(d). At G = ∞ there is
// one pair at d and one at 2d.
//
// With S(d) = λ + ad² + bd⁴ the extrapolation leaves the error −4bd⁴. The force changes by a factor
// of order 1 over a unit of the logits. So |b| is of the order of |a| + |λ| or less. The systematic
// error of the estimate is taken as 4d²(|S(d) − λ| + d²|λ|).
//
// Rounding changes S(d) by some ulps of the displaced logits and of the largest terms of the force,
// over d; see rounding. That is part of the systematic error too.
//
// Two sides that draw the same groups say nothing about the reward's part of the stale stiffness.
// Groups of equal rewards or of a single arm say nothing about that of the fresh one. With less
// than FewestInformative other pairs the scatter of the bins is no measure of the error, which is
// not known.
type StiffnessProbe struct {
	Name         string    // of the estimate
	Displaced    Displaced // which policy is displaced
	Point        []float64 // θ*, logits, one an arm; unused with Network, as are the next two
	Direction    []float64 // v, one component an arm
	Covector     []float64 // c, one component an arm
	Displacement float64   // d > 0, in multiples of Direction
	Pairs        int       // pairs of draws, each of a step's groups a side, ≥ 1; unused at G = ∞
}

// stiffnessBins is the largest number of bins of pairs; their scatter gives the error.
const stiffnessBins = 64

// bins returns the number of bins of a probe, each with at least one pair at d and one
// at 2d.
func (p *StiffnessProbe) bins(c *Cell) int {
	if c.Deterministic() {
		return 1
	}
	return max(1, min(stiffnessBins, p.Pairs/pairsPerDouble))
}

// pairsPerDouble is the number of all pairs for each pair at the double displacement.
const pairsPerDouble = 9

// FewestInformative is the least number of informative pairs from which an error is
// estimated. The count then has a relative error of 18 %, and its law is near
// the normal one that Student's t assumes.
const FewestInformative = 30

// slopes are the measurements of one bin of a stiffness probe.
type slopes struct {
	near, far   float64 // S(d), S(2d)
	informative int     // pairs that say something about the reward's part, as far as counted
	missing     float64 // of a network: what the power iteration leaves, +Inf if it does not end
}

// extrapolated returns λ.
func (s *slopes) extrapolated() float64 { return (float64(4*s.near) - s.far) / 3 }

// estimate returns the estimate of λ from the measurements of all bins.
func (p *StiffnessProbe) estimate(c *Cell, bins []slopes) measure.Estimate {
	var values []float64
	near, informative := 0.0, 0
	for i := range bins {
		values = append(values, bins[i].extrapolated())
		near += bins[i].near / float64(len(bins))
		informative += bins[i].informative
	}
	e := c.estimate(values, 0)
	square := float64(p.Displacement * p.Displacement)
	bent := float64(4 * float64(square*(math.Abs(near-e.Mean)+float64(square*math.Abs(e.Mean)))))
	if c.Network != nil {
		e = measure.Certain(e.Mean) // of the mean field
		e.Systematic = bent + float64(roundedUlps/p.Displacement*math.Abs(e.Mean))
		if missing := bins[0].missing; math.IsInf(missing, 1) {
			e.DF = 0 // not known
		} else {
			e.Systematic += missing
		}
		return e
	}
	e.Systematic = bent + p.rounding(c)
	// Without weights the advantages of a group add to 0, so that the fresh part has no reward.
	certain := p.Displaced == Current && c.Estimator.Importance.Mode == option.NoImportance && !c.Estimator.KL.Sampled() && c.Optimizer.MaxNorm == 0
	if c.uninformed(informative) && !certain {
		e.StdErr, e.DF = 0, 0
	}
	return e
}

// rounding bounds the error of a stiffness by rounding, of the largest logit and terms of the force
// and its slope. These are a reward times the slope of the advantages, and the KL coefficient times
// a logit. That slope is 1, or 1/(σ + ε), σ the standard deviation of a reward (0 where all rewards
// are equal).
func (p *StiffnessProbe) rounding(c *Cell) float64 {
	policy := grpo.NewPolicy(p.Point)
	mean := policy.Mean(means(&c.Bandit))
	square, reward, logit, covector := 0.0, 0.0, 0.0, 0.0
	for a, arm := range c.Bandit.Arms {
		d, std := arm.Mean-mean, arm.Std
		if arm.Law == option.Bernoulli {
			std = math.Sqrt(float64(arm.Mean * (1 - arm.Mean)))
		}
		square += float64(policy.Probs[a] * (float64(d*d) + float64(std*std)))
		reward = max(reward, math.Abs(arm.Mean)+std)
		logit = max(logit, math.Abs(p.Point[a]), math.Abs(c.Reference[a]))
		covector = max(covector, math.Abs(p.Covector[a]))
	}
	slope := 1.0
	switch {
	case !c.rewardsDiffer():
		slope = 0
	case c.Estimator.Advantage.Scale != option.NoScale:
		slope = 1 / (math.Sqrt(square) + c.Estimator.Advantage.Epsilon)
	}
	terms := float64(slope*reward) + c.Estimator.KL.Coefficient
	return float64(roundedUlps * float64(float64(covector*terms)*(1+logit)) / p.Displacement)
}

// roundedUlps is the rounding error of a difference of forces in units of its largest
// term.
const roundedUlps = 0x1p-50

// uninformed reports whether a number of informative pairs or steps is too small for an
// error. At G = ∞, and where all rewards are equal, none are needed.
func (c *Cell) uninformed(informative int) bool {
	return !c.Deterministic() && informative < FewestInformative && c.rewardsDiffer()
}

// rewardsDiffer reports whether some group can have rewards that differ.
func (c *Cell) rewardsDiffer() bool {
	for _, arm := range c.Bandit.Arms {
		certain := arm.Law == option.Constant || arm.Law == option.Normal && arm.Std == 0 || arm.Law == option.Bernoulli && (arm.Mean == 0 || arm.Mean == 1)
		if !certain || arm.Mean != c.Bandit.Arms[0].Mean {
			return true
		}
	}
	return false
}

// pairs returns the numbers of pairs of a bin at d and at 2d.
func (p *StiffnessProbe) pairs(c *Cell, bin int) (single, double int) {
	if c.Deterministic() {
		return 1, 1
	}
	bins := p.bins(c)
	pairs := binStart(bin+1, bins, p.Pairs) - binStart(bin, bins, p.Pairs)
	double = max(1, pairs/pairsPerDouble)
	return max(1, pairs-double), double
}

// slopes measures consecutive bins from first on; number is the probe's index in
// Cell.Stiffness.
func (p *StiffnessProbe) slopes(ctx context.Context, c *Cell, number, first int, bins []slopes) {
	if c.Network != nil {
		bins[0] = p.ofNetwork(c)
		return
	}
	laws := coupledLaws(&c.Bandit, &c.Estimator)
	if hasVectorPairs(c) && len(bins) >= fewestVector && p.Pairs/p.bins(c) >= fewestVectorPairs {
		sampler := newSampler(&c.Bandit, &c.Estimator, laws, draw.MaxLanes)
		newVectorPairs(c, sampler).slopes(ctx, p, number, first, bins)
		return
	}
	p.oneByOne(ctx, c, laws, number, first, bins)
}

// oneByOne is slopes without vectors.
func (p *StiffnessProbe) oneByOne(ctx context.Context, c *Cell, laws *laws, number, first int, bins []slopes) {
	for i := range bins {
		var words [2]*draw.Words
		for side := range words {
			words[side] = draw.NewWords(stiffnessStream(c, number, first+i))
		}
		single, double := p.pairs(c, first+i)
		near, inNear := p.slope(ctx, c, laws, words, p.Displacement, single)
		far, inFar := p.slope(ctx, c, laws, words, 2*p.Displacement, double)
		bins[i] = slopes{near: near, far: far, informative: inNear + inFar}
	}
}

// stiffnessStream returns the stream of one bin of a probe.
func stiffnessStream(c *Cell, probe, bin int) *draw.Xoshiro {
	return Stream(c.Seed, c.ID, ForStiffness, probe*stiffnessBins+bin)
}

// fewestVectorPairs is the number of pairs of a bin from which on vectors measure it. There
// are then enough pairs at 2d as well for full packs, which all bins then have alike.
const fewestVectorPairs = pairsPerDouble * draw.MaxLanes

// policies returns the current policies and the snapshots of the sides of a pair at ±d.
func (p *StiffnessProbe) policies(d float64) (current, behaviour [2]*grpo.Policy) {
	for side := range current {
		moved, point := displaced(p.Point, p.Direction, float64(1-2*side)*d), grpo.NewPolicy(p.Point)
		current[side], behaviour[side] = moved, moved
		switch p.Displaced {
		case Current:
			behaviour[side] = point
		case Behind:
			current[side] = point
		}
	}
	return current, behaviour
}

// slope returns S(d) as measured by a number of pairs, and the number of informative
// pairs, counted up to FewestInformative. Both sides of a pair draw their groups with the
// same random words, so that most of the noise cancels in the difference. If only θ is
// displaced, both sides draw the same groups.
func (p *StiffnessProbe) slope(ctx context.Context, c *Cell, laws *laws, words [2]*draw.Words, d float64, pairs int) (s float64, informative int) {
	var sides [2]gradientSampler
	current, behaviour := p.policies(d)
	for side := range sides {
		sides[side] = newGradientSampler(c, laws, words[side], pairs*c.Estimator.GroupsPerStep)
		sides[side].sampler.aim(behaviour[side])
	}
	sum := 0.0
	for n := range pairs {
		if n%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return 0, 0 // the results of an interrupted cell are discarded
		}
		if p.Displaced == Current { // one policy draws the groups of both sides
			sides[0].draw()
			sides[1].statistics = sides[0].statistics
		} else {
			drawCoupled(&sides[0], &sides[1])
		}
		for side := range sides {
			sides[side].gradient(current[side], behaviour[side])
			if !c.Deterministic() {
				grpo.LimitNorm(&c.Optimizer, sides[side].g)
			}
		}
		if informative < FewestInformative && (pushes(&sides[0].statistics) || pushes(&sides[1].statistics)) && (p.Displaced == Current || differ(&sides[0].statistics, &sides[1].statistics)) {
			informative++
		}
		for a, covector := range p.Covector {
			sum -= float64(covector * (sides[0].g[a] - sides[1].g[a]))
		}
	}
	return sum / (2 * d * float64(pairs)), informative
}
