package sim

import (
	"context"

	"grposim/grpo"
	"grposim/sim/draw"
)

// Displaced says which policy a stiffness probe displaces.
type Displaced string

const (
	Both    Displaced = "total" // θ and θ_old: λ
	Current Displaced = "fresh" // θ alone: λ_f
	Behind  Displaced = "stale" // θ_old alone: λ_s
)

// StiffnessTotal is the name of the probe of the stiffest mode's λ, which a
// location probe takes its scale from.
const StiffnessTotal = "stiffness_total"

// StiffnessProbe is a measurement of one stiffness on-policy about a point θ*,
// from the central differences
//
//	S(d) = −c·(E[g](θ* + d·v) − E[g](θ* − d·v))/(2d),  λ = (4 S(d) − S(2d))/3 + O(d⁴)
//
// with v the direction and c the covector of a mode, c·v = 1, and d the
// displacement (docs/theory.md §3; Richardson's extrapolation takes away the
// O(d²) of S). Of Pairs draws at ±, one in nine is at 2d, which gives the least
// error: it is 1.5 times that of S(d) alone. At G = ∞ a pair each is all there is.
type StiffnessProbe struct {
	Name         string // of the measured quantity
	Displaced    Displaced
	Point        []float64
	Direction    []float64
	Covector     []float64
	Displacement float64
	Pairs        int
}

// stiffnessBins is the number of bins whose scatter gives the interval.
const stiffnessBins = 64

// bins is how many bins a probe is measured in, each with at least one
// pair at either displacement.
func (p *StiffnessProbe) bins(c *Cell) int {
	if c.Deterministic() {
		return 1
	}
	return max(1, min(stiffnessBins, p.Pairs/pairsPerDouble))
}

// pairsPerDouble is how many pairs there are for each at the double displacement.
const pairsPerDouble = 9

// bin measures the λ of one bin of the cell's probe-th probe.
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

// slope measures S(d) from a number of pairs. Both sides of a pair draw their
// groups with the same words, so that most of the noise cancels in the
// difference; all of it where neither side has moved what draws the group.
func (p *StiffnessProbe) slope(ctx context.Context, c *Cell, laws *laws, words [2]*draw.Words, d float64, pairs int) float64 {
	var sides [2]gradientSampler
	var current, behaviour [2]*grpo.Policy
	for side := range sides {
		sides[side] = newGradientSampler(c, laws, words[side], pairs*c.Estimator.GroupsPerStep)
		moved, rest := displaced(p.Point, p.Direction, float64(1-2*side)*d), grpo.NewPolicy(p.Point)
		current[side], behaviour[side] = moved, moved
		switch p.Displaced {
		case Current:
			behaviour[side] = rest
		case Behind:
			current[side] = rest
		}
		sides[side].sampler.aim(behaviour[side])
	}
	sum := 0.0
	for n := range pairs {
		if n%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return 0 // the cell will not be finished
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
