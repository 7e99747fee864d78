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

// StiffnessProbe is a measurement of one stiffness on-policy about a point θ*:
//
//	λ = −c·(E[g](θ* + d·v) − E[g](θ* − d·v))/(2d)
//
// with v the direction and c the covector of a mode, c·v = 1, and d the
// displacement; g is drawn Pairs times at either sign (docs/theory.md §3). At
// G = ∞ one pair of expected gradients is all there is.
type StiffnessProbe struct {
	Name         string // of the measured quantity
	Displaced    Displaced
	Point        []float64
	Direction    []float64
	Covector     []float64
	Displacement float64
	Pairs        int
}

// stiffnessBatches is the number of batches whose scatter gives the interval.
const stiffnessBatches = 64

// batches is how many batches a probe is measured in: each at least one pair.
func (p *StiffnessProbe) batches(c *Cell) int {
	if c.Deterministic() {
		return 1
	}
	return min(stiffnessBatches, p.Pairs)
}

// batch measures the average of one batch of the cell's probe-th probe.
func (p *StiffnessProbe) batch(ctx context.Context, c *Cell, probe, batch int) float64 {
	batches := p.batches(c)
	pairs := (batch+1)*p.Pairs/batches - batch*p.Pairs/batches
	if c.Deterministic() {
		pairs = 1
	}
	var (
		sampler = newSampler(&c.Bandit, &c.Estimator)
		force   = grpo.NewForce(c.Estimator, c.Reference)
		tally   = grpo.Tally{Arms: make([]grpo.ArmTally, len(p.Point))}
		g       = make([]float64, len(p.Point))
		words   = draw.NewWords(Stream(c.Seed, c.ID, ForStiffness, probe*stiffnessBatches+batch))
		rest    = grpo.NewPolicy(p.Point)
		moved   [2]*grpo.Policy
	)
	for side := range moved {
		logits := append([]float64(nil), p.Point...)
		for a := range logits {
			logits[a] += float64(float64(1-2*side) * float64(p.Displacement*p.Direction[a]))
		}
		moved[side] = grpo.NewPolicy(logits)
	}
	sum := 0.0
	for n := range pairs {
		if n%stepsBetweenLooks == 0 && ctx.Err() != nil {
			return 0 // the cell will not be finished
		}
		for side, policy := range moved {
			current, behaviour := policy, policy
			switch p.Displaced {
			case Current:
				behaviour = rest
			case Behind:
				current = rest
			}
			switch {
			case c.Deterministic():
				force.Expected(g, &c.Bandit, current, behaviour)
			case side == 1 && behaviour == rest:
				// Neither side has moved what draws the group: one group serves
				// both, and its noise cancels in the difference.
				force.Sampled(g, &tally, current, behaviour)
			default:
				sampler.tally(&tally, words, behaviour)
				force.Sampled(g, &tally, current, behaviour)
			}
			for a, x := range g {
				sum -= float64(float64(1-2*side) * float64(p.Covector[a]*x))
			}
		}
	}
	return sum / (2 * p.Displacement * float64(pairs))
}
