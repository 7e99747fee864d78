package probe

import (
	"context"
	"math"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
)

// pair is two replicas that start at point ± offset·direction and draw with the same random words.
type pair struct {
	*sim.Pair
	cell             *sim.Cell
	point, direction []float64
	offset           float64
	informed         int // steps of all runs in which different groups pushed, up to FewestInformative
}

func newPair(c *sim.Cell, point, direction []float64, offset float64) *pair {
	return &pair{sim.NewPair(c), c, point, direction, offset, 0}
}

// begin sets both sides to step 0 of the run of the given index, at their start.
func (p *pair) begin(purpose sim.Purpose, index int) {
	for side, walk := range p.Sides {
		walk.Begin(purpose, index, displaced(p.point, p.direction, float64(1-2*side)*p.offset))
	}
}

// step does optimizer step t on both sides, and reports whether all logits are still finite.
func (p *pair) step(t int) (ok bool) {
	ok = p.Step(t)
	if p.informed < FewestInformative && p.cell.Draws(t) {
		p.informed = min(p.informed+p.Informative(), FewestInformative)
	}
	return ok
}

// follow does the run of the given index over Run.Steps steps. It calls at with the deviation at
// each refresh instant, numbered from 0 on, and inside after each step, which overwrites the last
// deviation. It stops early when at returns false or ctx is done. It reports whether all logits
// stayed finite.
func (p *pair) follow(
	ctx context.Context, purpose sim.Purpose, index int, at func(period int, d deviation) (more bool),
	inside func(d deviation),
) (ok bool) {
	period := p.cell.Lag.StepsPerSnapshot()
	look := max(1, stepsBetweenChecks/p.cell.Estimator.GroupsPerStep) // steps between checks of ctx
	p.begin(purpose, index)
	d := newDeviation(len(p.point))
	d.add(p)
	if !at(0, d) {
		return true
	}
	for step := range p.cell.Run.Steps {
		if step%look == 0 && ctx.Err() != nil {
			return true
		}
		if !p.step(step) {
			return false
		}
		d.clear()
		d.add(p)
		inside(d)
		if (step+1)%period == 0 && !at((step+1)/period, d) {
			return true
		}
	}
	return true
}

// between ignores the deviation between refresh instants.
func between(deviation) {}

// deviation is half the difference of the two sides of a pair, in logits or a network's weights,
// and in velocity. About a fixed point its dynamics are linear up to third order. Terms of even
// order are equal on both sides and cancel.
type deviation struct{ logits, velocity []float64 }

func newDeviation(arms int) deviation {
	return deviation{logits: make([]float64, arms), velocity: make([]float64, arms)}
}

// add adds the deviation of a pair to d.
func (d deviation) add(p *pair) {
	plus, fast := p.Sides[0].Moved()
	minus, slow := p.Sides[1].Moved()
	for a := range d.logits {
		d.logits[a] += float64((plus[a] - minus[a]) / 2)
		d.velocity[a] += float64((fast[a] - slow[a]) / 2)
	}
}

// along returns the coordinates of d along a direction e, e·d/e·e: x of the logits, v of
// the velocity.
func (d deviation) along(direction []float64) (x, v float64) {
	square := 0.0
	for a, e := range direction {
		x += float64(e * d.logits[a])
		v += float64(e * d.velocity[a])
		square += float64(e * e)
	}
	return x / square, v / square
}

// roundOff is the deviation of a logit below which it counts as 0. Logits of the order
// of 1 are rounded to 1e-16, so a deviation above it has at least five correct digits.
const roundOff = 1e-11

// The linear range: the norms of a deviation at which its dynamics are taken to be linear. It ends
// at half a unit of the logits, where the cubic terms of the force are some per cent. It ends at
// four times the initial norm if that is more, to follow a deviation that noise makes large.
const (
	linearReach  = 0.5
	linearGrowth = 4
)

// linearRange returns the norm up to which a deviation with the given initial norm is followed. It
// is growth times that norm, but at most the end of the linear range.
func linearRange(norm, growth float64) float64 {
	return min(growth*norm, max(linearReach, linearGrowth*norm))
}

// RecurrenceOrder returns the number of multipliers of a single mode over one refresh period. It is
// one without momentum and with snapshots no older than a block, else two (the dominant ones).
func RecurrenceOrder(c *sim.Cell) measure.Order {
	delayed := !grpo.OnPolicy(&c.Lag) && (c.Lag.Kind != option.Block || c.Lag.Behind > 0)
	if c.Optimizer.Kind != option.Adam && c.Optimizer.Momentum == 0 && !delayed {
		return measure.First
	}
	return measure.Second
}

// norm returns the norm of d's logits after their mean is removed. A policy does not depend on it.
func (d deviation) norm() float64 { return math.Sqrt(centredSquare(d.logits)) }

func centredSquare(x []float64) float64 { return measure.CentredSquare(x, len(x)) }

func (d deviation) clear() {
	clear(d.logits)
	clear(d.velocity)
}
