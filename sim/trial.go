package sim

import (
	"context"

	"grposim/grpo"
	"grposim/sim/measure"
)

// trial is a cell with one value of a located parameter, and the pairs whose
// mean deviation shows whether the event happens in it. It runs for Run.Steps
// steps, rounded up to whole refresh periods.
type trial struct {
	cell      *Cell
	pairs     []*pair
	period    int // steps
	periods   int
	tolerance float64 // what multipliers are certain to

	mean   deviation // over the pairs
	one    deviation // scratch: of one pair
	spread deviation // Σ over the pairs of squares
	reach  float64   // norm of the deviation up to which it is linear
	still  int       // refresh instants in a row at which it was lost in noise
}

func newTrial(p *LocationProbe, cell *Cell) *trial {
	arms := len(p.Point)
	t := &trial{
		cell:      cell,
		period:    refreshPeriod(cell.Lag),
		tolerance: max(leastTolerance, float64(p.Offset*p.Offset)),
		mean:      newDeviation(arms),
		one:       newDeviation(arms),
		spread:    newDeviation(arms),
	}
	t.periods = (cell.Run.Steps + t.period - 1) / t.period
	for i := range cell.replicas() {
		pair := newPair(cell, p.Point, p.Direction, p.Offset)
		pair.begin(ForLocation, i)
		t.pairs = append(t.pairs, pair)
	}
	t.average()
	t.reach = linearRange(t.mean.norm())
	return t
}

// leastTolerance is the part of a multiplier that round-off leaves uncertain;
// the cubic terms of the force leave the square of the offset.
const leastTolerance = 1e-6

// average takes the mean deviation over the pairs, and the squares of each.
func (t *trial) average() {
	t.mean.clear()
	t.spread.clear()
	for _, p := range t.pairs {
		t.one.clear()
		t.one.add(p)
		for a := range t.mean.logits {
			x, v := t.one.logits[a], t.one.velocity[a]
			t.mean.logits[a] += x
			t.mean.velocity[a] += v
			t.spread.logits[a] += float64(x * x)
			t.spread.velocity[a] += float64(v * v)
		}
	}
	n := float64(len(t.pairs))
	for a := range t.mean.logits {
		t.mean.logits[a] /= n
		t.mean.velocity[a] /= n
	}
}

// noise returns the squared norm that the mean of the given values would have
// by chance, from their scatter between the pairs: s²/n. A single pair shows
// none.
func (t *trial) noise(mean, squares []float64) float64 {
	n := float64(len(t.pairs))
	if n < 2 {
		return 0
	}
	scatter := 0.0
	for a, m := range mean {
		scatter += squares[a]/n - float64(m*m)
	}
	return max(scatter, 0) / (n - 1)
}

// follow runs the pairs, lets every see each step and visit each refresh
// instant, from 0 on, while visit returns true. It reports whether the pairs
// stayed in the range of floating point.
func (t *trial) follow(ctx context.Context, visit func(period int) bool, every func()) (ok bool) {
	look := max(1, t.pairs[0].stepsBetweenLooks()/len(t.pairs))
	if !visit(0) {
		return true
	}
	for step := range t.periods * t.period {
		if step%look == 0 && ctx.Err() != nil {
			return true // the cell will not be finished
		}
		for _, p := range t.pairs {
			if !p.step(step) {
				return false
			}
		}
		every()
		if (step+1)%t.period == 0 {
			t.average()
			if !visit((step + 1) / t.period) {
				return true
			}
		}
	}
	return true
}

// stillInstants is how many refresh instants in a row a deviation must be lost
// in noise to be over: in logits and in velocity, so that a swing through zero
// is not taken for the end.
const stillInstants = 16

// smallest is the squared norm of a deviation that counts as nothing.
const smallest = roundOff * roundOff

// over reports whether the deviation has died out for good: whether it has long
// been no more than twice what noise makes of it.
func (t *trial) over() bool {
	logits := float64(4*t.noise(t.mean.logits, t.spread.logits)) + smallest
	velocity := float64(4*t.noise(t.mean.velocity, t.spread.velocity)) + smallest
	t.still++
	if centredSquare(t.mean.logits) > logits || centredSquare(t.mean.velocity) > velocity {
		t.still = 0
	}
	return t.still >= stillInstants
}

// grows reports whether the deviation grows over many periods: whether it
// leaves the linear range or, if it neither does nor dies out, whether its mean
// square over the last quarter of the run is above that over the second one,
// and above chance. A quarter spans many swings of a ringing motion, and the
// first is left to transients.
func (t *trial) grows(ctx context.Context) bool {
	var earlier, late, chance window
	decided, grown := false, false
	ok := t.follow(ctx, func(period int) bool {
		square, noise := centredSquare(t.mean.logits), t.noise(t.mean.logits, t.spread.logits)
		grown = square > float64(t.reach*t.reach)
		decided = grown || t.over()
		switch {
		case period >= t.periods/4 && 2*period <= t.periods:
			earlier.add(square - noise)
		case 4*period >= 3*t.periods:
			late.add(square - noise)
			chance.add(noise + smallest)
		}
		return !decided
	}, func() {})
	if decided || !ok {
		return grown || !ok
	}
	return late.mean() > max(earlier.mean(), chance.mean())
}

// window is a mean over refresh instants.
type window struct {
	sum   float64
	count int
}

func (w *window) add(x float64) { w.sum += x; w.count++ }

func (w *window) mean() float64 { return w.sum / float64(w.count) }

// rings reports whether the multipliers of the motion are a complex pair or one
// of them is negative: those from one refresh instant to the next or, since the
// power of a rotation can look like none, those of a step inside a block.
func (t *trial) rings(ctx context.Context) bool {
	along := t.pairs[0].along
	fit := measure.Recurrence{Order: motionOrder(t.cell), Floor: roundOff}
	inside := fit
	settled := t.settling()
	var x, v float64
	var block blockMotion
	t.follow(ctx, func(period int) bool {
		nextX, nextV := along(t.mean)
		if period > settled {
			fit.Add(x, v, nextX, nextV)
		}
		x, v = nextX, nextV
		block = blockMotion{x: x, v: v}
		return t.mean.norm() <= t.reach && !t.over()
	}, func() {
		if t.period > 1 && t.cell.Deterministic() {
			t.average()
			x, v := along(t.mean)
			block.add(&inside, x, v)
		}
	})
	return fit.Multipliers().Oscillates(t.tolerance) || inside.Multipliers().Oscillates(t.tolerance)
}

// blockMotion follows the motion inside a block. There the snapshot's share of
// the force is constant, so it is the differences of successive states that obey
// a homogeneous recurrence.
type blockMotion struct {
	x, v         float64
	moveX, moveV float64 // the last step's, once there is one
	moved        bool
}

// add takes the state after one more step of the block.
func (b *blockMotion) add(fit *measure.Recurrence, x, v float64) {
	moveX, moveV := x-b.x, v-b.v
	if b.moved {
		fit.Add(b.moveX, b.moveV, moveX, moveV)
	}
	*b = blockMotion{x, v, moveX, moveV, true}
}

// settling returns the number of refresh instants that modes beyond the
// dominant two are given to die out: a block has none with two arms, a delay of
// τ steps has τ−1, each of which loses several powers of ten in 10τ steps.
func (t *trial) settling() int {
	if t.cell.Lag.Kind == grpo.Block {
		return 0
	}
	return min(10*t.cell.Lag.Interval, t.periods/2)
}
