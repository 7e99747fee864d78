package sim

import (
	"context"

	"grposim/grpo"
	"grposim/sim/measure"
)

// trial is a cell with one value of a located parameter, and a pair whose
// motion shows whether the event happens in it. It runs for Run.Steps steps,
// rounded up to whole refresh periods.
type trial struct {
	cell      Cell
	pair      *pair
	period    int // steps
	periods   int
	settled   int     // steps left to modes beyond the dominant two
	tolerance float64 // what multipliers are certain to
}

func newTrial(p *LocationProbe, cell Cell) *trial {
	t := &trial{
		cell:      cell,
		period:    refreshPeriod(cell.Lag),
		tolerance: max(leastTolerance, float64(p.Offset*p.Offset)),
	}
	t.periods = (cell.Run.Steps + t.period - 1) / t.period
	t.cell.Run.Steps = t.periods * t.period
	if cell.Lag.Kind == grpo.Delay {
		t.settled = min(settlingDelays*cell.Lag.Interval, t.periods/2)
	}
	t.pair = newPair(&t.cell, p.Point, p.Direction, p.Offset)
	return t
}

// leastTolerance is the part of a multiplier that round-off leaves uncertain;
// the cubic terms of the force leave the square of the offset.
const leastTolerance = 1e-6

// settlingDelays is how many delays are left to the modes beyond the dominant
// two, of which a delay of τ steps has τ−1: each loses several powers of ten.
// Under block lag there are none with two arms.
const settlingDelays = 10

// happens reports whether the event happens.
func (t *trial) happens(ctx context.Context, event Event) bool {
	deterministic := t.cell.Deterministic()
	switch {
	case event == Instability && deterministic:
		return t.grows(ctx)
	case event == Instability:
		m, ok := t.sampled(ctx)
		return !ok || m.LogModulus() > 0
	case deterministic:
		return t.rings(ctx)
	default:
		m, _ := t.sampled(ctx)
		return m.Oscillates(t.tolerance)
	}
}

// follow runs the pair, calls inside after each step and at at each refresh
// instant from 0 on, while at returns true. It reports whether the pair stayed
// in the range of floating point.
func (t *trial) follow(ctx context.Context, at func(period int, d deviation) bool, inside func(d deviation)) (ok bool) {
	t.pair.begin(ForLocation, 0)
	look := t.pair.stepsBetweenLooks()
	d := newDeviation(len(t.pair.direction))
	d.add(t.pair)
	if !at(0, d) {
		return true
	}
	for step := range t.cell.Run.Steps {
		if step%look == 0 && ctx.Err() != nil {
			return true // the cell will not be finished
		}
		if !t.pair.step(step) {
			return false
		}
		d.clear()
		d.add(t.pair)
		inside(d)
		if (step+1)%t.period == 0 && !at((step+1)/t.period, d) {
			return true
		}
	}
	return true
}

// grownBy is the growth that settles that a deviation grows: more than the
// transient of a stable motion shows (near a flip at μ = 0.9 it reaches 19 times
// its start).
const grownBy = 100

// saturated is the ratio of mean squares from which on a deviation counts as one
// that stays: a decay this slow is within 1e-3 of its own rate per period, over
// the number of periods, of the threshold.
const saturated = 0.999

// grows reports whether the deviation grows over many periods: whether it
// becomes grownBy times as large or leaves the range of floating point or, if it
// neither does nor dies out, whether its mean square over the last part of the
// run is not below that over the part before (a growth may have saturated), and
// above round-off. The first eighth is left to transients, the rest halved.
func (t *trial) grows(ctx context.Context) bool {
	first, middle := t.periods/8, max(t.periods*9/16, 1)
	earlier, late := window{from: first, to: middle}, window{from: middle, to: t.periods + 1}
	reach, end := 0.0, ending(0)
	grown, decayed := false, false
	ok := t.follow(ctx, func(period int, d deviation) bool {
		if period == 0 {
			reach = linearRange(d.norm(), grownBy)
		}
		square := centredSquare(d.logits)
		earlier.add(period, square)
		late.add(period, square)
		grown, decayed = square > float64(reach*reach), end.reached(d)
		return !grown && !decayed
	}, func(deviation) {})
	if grown || decayed || !ok {
		return !decayed
	}
	return late.mean() > max(float64(saturated*earlier.mean()), smallest)
}

// ending counts the refresh instants in a row at which a deviation was lost in
// round-off, in logits and in velocity.
type ending int

const (
	smallest    = roundOff * roundOff // squared norm of a deviation that counts as nothing
	endingCount = 16                  // a swing through zero is not the end
)

// reached takes the deviation at the next instant and reports whether it has
// died out for good.
func (e *ending) reached(d deviation) bool {
	*e++
	if centredSquare(d.logits) > smallest || centredSquare(d.velocity) > smallest {
		*e = 0
	}
	return *e >= endingCount
}

// window is a weighted mean over the refresh instants in [from, to). The weight
// u²(1−u)², u in (0, 1) the place in the window, goes to 0 at both ends, so that
// it hardly matters how many swings of a ringing motion the window holds.
type window struct {
	from, to    int
	sum, weight float64
}

func (w *window) add(period int, x float64) {
	if period < w.from || period >= w.to {
		return
	}
	u := float64(period-w.from+1) / float64(w.to-w.from+1)
	weight := float64(u * (1 - u))
	weight = float64(weight * weight)
	w.sum += float64(weight * x)
	w.weight += weight
}

func (w *window) mean() float64 { return w.sum / w.weight }

// rings reports whether the multipliers of the motion are a complex pair or one
// of them is negative: those from one refresh instant to the next or, since the
// power of a rotation can look like none, those of a step inside a block.
func (t *trial) rings(ctx context.Context) bool {
	fit := measure.Recurrence{Order: motionOrder(&t.cell), Floor: roundOff}
	step := fit
	var x, v, reach float64
	var block blockMotion
	var end ending
	t.follow(ctx, func(period int, d deviation) bool {
		if period == 0 {
			reach = linearRange(d.norm(), grownBy)
		}
		nextX, nextV := t.pair.along(d)
		if period > t.settled {
			fit.Add(x, v, nextX, nextV)
		}
		x, v = nextX, nextV
		block = blockMotion{x: x, v: v}
		return d.norm() <= reach && !end.reached(d)
	}, func(d deviation) {
		if t.period > 1 {
			x, v := t.pair.along(d)
			block.add(&step, x, v)
		}
	})
	return fit.Multipliers().Oscillates(t.tolerance) || step.Multipliers().Oscillates(t.tolerance)
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

// With sampled groups a motion that grows is followed only to a few times its
// start, and one that decays to a small part of it. Past a threshold the softmax
// bounds it, at a size that is small where the threshold is near, and noise
// makes it forget its start: what tells growth from decay happens early.
const (
	sampledGrowth = 3
	sampledDecay  = 0.1
)

// sampled returns the multipliers of the motion of Run.Replicas pairs under
// sampled groups, fitted to all of them as a relaxation probe does. It reports
// whether all stayed in the range of floating point.
func (t *trial) sampled(ctx context.Context) (m measure.Multipliers, ok bool) {
	fit := measure.Recurrence{Order: motionOrder(&t.cell), Floor: roundOff}
	for i := range t.cell.Run.Replicas {
		t.pair.begin(ForLocation, i)
		if !t.pair.relax(ctx, &fit, span{from: t.settled, growth: sampledGrowth, decay: sampledDecay}) {
			return m, false
		}
		if ctx.Err() != nil {
			break // the cell will not be finished
		}
	}
	return fit.Multipliers(), true
}
