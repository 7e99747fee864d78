package sim

import (
	"context"
	"math"

	"grposim/grpo"
	"grposim/sim/measure"
)

// pair is two replicas that start on either side of a point, at
// point ± offset·direction, and see the same random numbers: each group of the
// one is drawn with the words of the same group of the other.
type pair struct {
	cell      *Cell
	sides     [2]*replica // +, −
	direction []float64
	square    float64 // direction·direction
}

func newPair(cell *Cell, point, direction []float64, offset float64) *pair {
	p := &pair{cell: cell, direction: direction}
	for _, d := range direction {
		p.square += float64(d * d)
	}
	laws := coupledLaws(&cell.Bandit, &cell.Estimator)
	for side := range p.sides {
		p.sides[side] = newReplica(cell, nil, laws)
		p.sides[side].start = displaced(point, direction, float64(1-2*side)*offset)
	}
	return p
}

// begin puts both sides at rest at their start, each with its own words of a
// stream.
func (p *pair) begin(purpose Purpose, index int) {
	for _, r := range p.sides {
		r.words.Reset(Stream(p.cell.Seed, p.cell.ID, purpose, index))
		r.policy.Set(r.start)
		r.optimizerState.Reset()
		r.divergedAt = running
	}
}

// step does optimizer step t on both sides, in order from t = 0, and reports
// whether they are still in the range of floating point.
func (p *pair) step(t int) (ok bool) {
	plus, minus := p.sides[0], p.sides[1]
	if p.cell.Lag.Refreshes(t) {
		plus.refresh(t)
		minus.refresh(t)
	}
	drawCoupled(&plus.gradientSampler, &minus.gradientSampler)
	ok = true
	for _, r := range p.sides {
		r.gradient(r.policy, r.snapshot)
		r.move(t)
		ok = ok && finite(r.policy.Logits)
	}
	return ok
}

// stepsBetweenChecks is how many steps of a pair pass before it looks whether
// it has been interrupted.
func (p *pair) stepsBetweenChecks() int {
	return max(1, stepsBetweenChecks/p.cell.Estimator.GroupsPerStep)
}

// follow runs a pair that has begun, over Run.Steps steps: it calls inside after
// each step and at at each refresh instant from 0 on, while at returns true. It
// reports whether the pair stayed in the range of floating point. An interrupted
// cell will not be finished.
func (p *pair) follow(ctx context.Context, at func(period int, d deviation) bool, inside func(d deviation)) (ok bool) {
	period, look := refreshPeriod(p.cell.Lag), p.stepsBetweenChecks()
	d := newDeviation(len(p.direction))
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

// between is what nobody looks at between refresh instants.
func between(deviation) {}

// deviation is half the difference of two sides, in logits and in velocity.
// About a fixed point it moves linearly up to its third power: even orders are
// the same on both sides.
type deviation struct{ logits, velocity []float64 }

func newDeviation(arms int) deviation {
	return deviation{logits: make([]float64, arms), velocity: make([]float64, arms)}
}

// add adds the pair's deviation.
func (d deviation) add(p *pair) {
	plus, minus := p.sides[0], p.sides[1]
	for a := range d.logits {
		d.logits[a] += float64((plus.policy.Logits[a] - minus.policy.Logits[a]) / 2)
		d.velocity[a] += float64((plus.optimizerState.Velocity()[a] - minus.optimizerState.Velocity()[a]) / 2)
	}
}

// along returns the coordinates of d along the pair's direction.
func (p *pair) along(d deviation) (x, v float64) {
	for a, e := range p.direction {
		x += float64(e * d.logits[a])
		v += float64(e * d.velocity[a])
	}
	return x / p.square, v / p.square
}

// centredSquare returns Σ (x − mean)²: the mean of the logits is a free
// direction.
func centredSquare(x []float64) float64 {
	mean, square := measure.Mean(x).Mean, 0.0
	for _, v := range x {
		square += float64((v - mean) * (v - mean))
	}
	return square
}

// roundOff is the half difference that counts as nothing: logits of the order
// of 1 are rounded to 1e-16, so above it a deviation has at least five digits.
const roundOff = 1e-11

// How far a deviation may grow and still be taken to move linearly: no further
// than half a unit of the logits, where the cubic terms of the force are some
// per cent; but to four times its start wherever that is, so that one that has
// been started far out, against noise, is not over before it began.
const (
	linearReach = 0.5
	linearLeast = 4
)

// linearRange returns the norm up to which a deviation that has had the given
// norm is followed: growth times that, within the linear range.
func linearRange(norm, growth float64) float64 {
	return min(growth*norm, max(linearReach, linearLeast*norm))
}

// recurrenceOrder is the number of multipliers that carry a single mode from one
// refresh instant to the next: only without momentum and delay it is one.
func recurrenceOrder(c *Cell) measure.Order {
	delayed := c.Lag.Kind == grpo.Delay && c.Lag.Interval > 0
	if c.Optimizer.Kind != grpo.Adam && c.Optimizer.Momentum == 0 && !delayed {
		return measure.First
	}
	return measure.Second
}

// refreshPeriod is the number of steps from one refresh instant to the next; a
// delay has one in every step.
func refreshPeriod(lag grpo.Lag) int {
	if lag.Kind == grpo.Block {
		return lag.Interval
	}
	return 1
}

// norm returns the norm of d's logits, their mean left out.
func (d deviation) norm() float64 { return math.Sqrt(centredSquare(d.logits)) }

// clear makes d nothing.
func (d deviation) clear() {
	clear(d.logits)
	clear(d.velocity)
}
