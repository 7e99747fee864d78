package sim

import (
	"context"

	"grposim/grpo"
	"grposim/sim/draw"
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

// StiffnessProbe measures one stiffness on-policy about a point θ*, from the central
// differences
//
//	S(d) = −c·(E[g](θ* + d·v) − E[g](θ* − d·v))/(2d),  λ = (4 S(d) − S(2d))/3 + O(d⁴)
//
// with v the direction and c the covector of a mode, c·v = 1, and d the displacement
// (docs/theory.md §3; Richardson's extrapolation removes the O(d²) of S). One in nine
// of the pairs of draws at ± is at 2d. This gives the least error, 1.5 times that of
// S(d) alone. At G = ∞ there is one pair at d and one at 2d.
type StiffnessProbe struct {
	Name         string    // of the estimate
	Displaced    Displaced // which policy is displaced
	Point        []float64 // θ*, logits, one an arm
	Direction    []float64 // v, one component an arm
	Covector     []float64 // c, one component an arm
	Displacement float64   // d > 0, in multiples of Direction
	Pairs        int       // pairs of draws, each of Estimator.GroupsPerStep groups a side, ≥ 1; unused at G = ∞
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

// bin returns λ as measured by one bin; probe is the probe's index in Cell.Stiffness.
func (p *StiffnessProbe) bin(ctx context.Context, c *Cell, probe, bin int) float64 {
	bins := p.bins(c)
	pairs := binStart(bin+1, bins, p.Pairs) - binStart(bin, bins, p.Pairs)
	double := max(1, pairs/pairsPerDouble)
	single := max(1, pairs-double)
	if c.Deterministic() {
		single, double = 1, 1
	}
	laws := coupledLaws(&c.Bandit, &c.Estimator)
	var words [2]*draw.Words
	for side := range words {
		words[side] = draw.NewWords(Stream(c.Seed, c.ID, ForStiffness, probe*stiffnessBins+bin))
	}
	near := p.slope(ctx, c, laws, words, p.Displacement, single)
	far := p.slope(ctx, c, laws, words, 2*p.Displacement, double)
	return (float64(4*near) - far) / 3
}

// slope returns S(d) as measured by a number of pairs. Both sides of a pair draw their
// groups with the same random words, so that most of the noise cancels in the
// difference. If only θ is displaced, both sides draw the same groups.
func (p *StiffnessProbe) slope(ctx context.Context, c *Cell, laws *laws, words [2]*draw.Words, d float64, pairs int) float64 {
	var sides [2]gradientSampler
	var current, behaviour [2]*grpo.Policy
	for side := range sides {
		sides[side] = newGradientSampler(c, laws, words[side], pairs*c.Estimator.GroupsPerStep)
		moved, point := displaced(p.Point, p.Direction, float64(1-2*side)*d), grpo.NewPolicy(p.Point)
		current[side], behaviour[side] = moved, moved
		switch p.Displaced {
		case Current:
			behaviour[side] = point
		case Behind:
			current[side] = point
		}
		sides[side].sampler.aim(behaviour[side])
	}
	sum := 0.0
	for n := range pairs {
		if n%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return 0 // the results of an interrupted cell are discarded
		}
		drawCoupled(&sides[0], &sides[1])
		for side := range sides {
			sides[side].gradient(current[side], behaviour[side])
		}
		for a, covector := range p.Covector {
			sum -= float64(covector * (sides[0].g[a] - sides[1].g[a]))
		}
	}
	return sum / (2 * d * float64(pairs))
}
