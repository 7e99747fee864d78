package sim

import (
	"math"

	"grposim/grpo"
)

// followsMode reports whether a cell's location probe follows a network's stiffest mode alone.
func (c *Cell) followsMode() bool {
	return c.Network != nil && (c.Location.Event == Ringing || !c.Deterministic())
}

// alongMode returns the cell with its location probe in weights: from those of the network along
// the stiffest mode. That moves the logits of all contexts by a norm of 1.
func (c *Cell) alongMode() *Cell {
	at := newContexts(c, coupledLaws)
	at.begin()
	direction := at.direction(Stream(c.Seed, c.ID, ForStiffness, 0))
	at.stiffest(direction, Both, endDisplacement, 0, unchanged)
	at.begin()
	change := make([]float64, len(at.logits))
	at.net.Push(direction, change)
	norm := math.Sqrt(at.centredSquare(change))
	for i := range direction {
		direction[i] /= norm
	}
	probe, along := *c.Location, *c
	probe.Point, probe.Direction, along.Location = c.Network.Weights, direction, &probe
	return &along
}

// moving returns what the optimizer of a replica moves, logits or weights, and its state.
func (r *replica) moving() (values []float64, state *grpo.OptimizerState) {
	if p, ok := r.contexts.(*contexts); ok {
		return p.weights, p.state
	}
	return r.policy.Logits, r.optimizerState
}

// stepNetwork is step of a network: the n-th groups of a context have the same words on both sides.
func (p *pair) stepNetwork(t int) (ok bool) {
	plus, minus := p.sides[0].contexts.(*contexts), p.sides[1].contexts.(*contexts)
	for x, one := range plus.each {
		other := minus.each[x]
		if p.cell.Lag.Refreshes(t) {
			one.refresh(t)
			other.refresh(t)
		}
		if p.cell.Draws(t) {
			one.words, other.words = p.sides[0].words, p.sides[1].words
			drawCoupled(&one.gradientSampler, &other.gradientSampler)
			if p.informed < FewestInformative && (pushes(&one.statistics) || pushes(&other.statistics)) && differ(&one.statistics, &other.statistics) {
				p.informed++
			}
		}
	}
	ok = true
	for _, side := range []*contexts{plus, minus} {
		for _, one := range side.each {
			one.gradient(one.policy, one.snapshot)
		}
		side.pull()
		ok = side.move(&p.cell.Optimizer, t) && finite(side.weights) && ok
	}
	return ok
}
