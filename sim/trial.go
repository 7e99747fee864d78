package sim

import (
	"context"
	"math"

	"grposim/grpo"
	"grposim/grpo/fp"
	"grposim/sim/measure"
)

// outcome is what a trial shows of an event.
type outcome int

const (
	undecided outcome = iota
	absent            // certainly
	present           // certainly
)

// trial is a cell with one value of a located parameter, and a pair whose
// motion shows whether the event happens in it. It runs for Run.Steps steps or as
// many as shortestRun asks for, rounded up to whole refresh periods.
type trial struct {
	cell      Cell
	pair      *pair
	given     int // Run.Steps
	period    int // steps
	periods   int
	transient int     // steps left to modes beyond the dominant two
	tolerance float64 // what multipliers are certain to
}

func newTrial(p *LocationProbe, cell Cell) *trial {
	t := &trial{
		cell:      cell,
		given:     cell.Run.Steps,
		period:    refreshPeriod(cell.Lag),
		tolerance: max(minTolerance, float64(p.Offset*p.Offset)),
	}
	t.periods = (shortestRun(&cell) + t.period - 1) / t.period
	t.cell.Run.Steps = t.periods * t.period
	if cell.Lag.Kind == grpo.Delay {
		t.transient = min(transientDelays*cell.Lag.Interval, t.periods/2)
	}
	t.pair = newPair(&t.cell, p.Point, p.Direction, p.Offset)
	return t
}

// A trial takes at least so many refresh periods, delays or, at G = ∞, times of
// the momentum 1/(1−μ): a motion near a threshold turns in a few of them.
const (
	minPeriods        = 64
	minSampledPeriods = 32
)

// shortestRun returns the number of steps of a trial before it is prolonged.
func shortestRun(c *Cell) int { return max(c.Run.Steps, minSteps(c)) }

func minSteps(c *Cell) int {
	if !c.Deterministic() {
		return minSampledPeriods * max(1, c.Lag.Interval)
	}
	return minPeriods * max(1, c.Lag.Interval, int(math.Ceil(1/(1-momentum(c.Optimizer)))))
}

// momentum returns μ, which Adam does not have.
func momentum(o grpo.Optimizer) float64 {
	if o.Kind == grpo.Adam {
		return 0
	}
	return o.Momentum
}

// minTolerance is the part of a multiplier that round-off leaves uncertain;
// the cubic terms of the force leave the square of the offset.
const minTolerance = 1e-6

// transientDelays is how many delays are left to the modes beyond the dominant
// two, of which a delay of τ steps has τ−1: each loses several powers of ten.
// Under block lag there are none with two arms.
const transientDelays = 10

// minStart is how much above round-off a deviation has to start: below, its
// decay cannot be seen.
const minStart = 100 * roundOff

// outcome runs the trial.
func (t *trial) outcome(ctx context.Context, event Event) outcome {
	t.pair.begin(ForLocation, 0)
	d := newDeviation(len(t.pair.direction))
	d.add(t.pair)
	deterministic := t.cell.Deterministic()
	switch start := d.norm(); {
	case start < minStart:
		return undecided
	case event == Instability && deterministic:
		return t.growth(ctx, start)
	case deterministic:
		return t.ringing(ctx)
	}
	return t.sampled(ctx, event)
}

// follow runs the pair from its start, see pair.follow.
func (t *trial) follow(ctx context.Context, at func(period int, d deviation) bool, inside func(d deviation)) (ok bool) {
	t.pair.begin(ForLocation, 0)
	return t.pair.follow(ctx, at, inside)
}

// What settles growth or decay at G = ∞. A stable motion may first grow, near a
// flip to (1+μ)/(1−μ) times its start, and a decaying mode may hide a slow one. So a
// deviation has grown at grownBy/(1−μ) times its start, and has decayed where it
// has lost a factor of decayedBy and goes on falling. In between, its mean squares
// over the second, third and last quarter of a run are compared: growth is steady
// where the logarithm of both their ratios is above steadily, and the second not
// below slackening times the first (any power of time shows two thirds). Over a run
// of at least Run.Steps a rate is significant where they are beyond significant: a
// deviation that changes by less than 5 % in the norm over the run, 2·significant,
// shows no sign.
const (
	grownBy     = 100
	decayedBy   = 100
	steadily    = 1
	slackening  = 0.8
	significant = 0.05
)

// saturatedAt is how many times its start a deviation is that has grown and
// saturated, where it shows no significant decay to the end.
const saturatedAt = 10

// prolonged is how many times Run.Steps a trial at G = ∞ is run before it is
// called undecided.
const prolonged = 16

// growth tells whether a deviation of the given norm grows or decays. It looks at
// the motion over runs of doubling length, until prolonged times Run.Steps.
func (t *trial) growth(ctx context.Context, start float64) (o outcome) {
	length := (minSteps(&t.cell) + t.period - 1) / t.period // periods
	longest := length
	for longest*t.period < prolonged*t.given {
		longest *= 2
	}
	t.cell.Run.Steps = longest * t.period
	defer func() { t.cell.Run.Steps = t.periods * t.period }()
	now := newQuarters(length)
	coming := newQuarters(2 * length)
	far := start * grownBy / (1 - momentum(t.cell.Optimizer))
	var end ending
	ok := t.follow(ctx, func(period int, d deviation) bool {
		square := centredSquare(d.logits)
		switch {
		case square > float64(far*far):
			o = present
		case end.reached(d):
			o = absent
		case period == length:
			o = now.tell(start, length*t.period >= t.given, length == longest)
			length *= 2
			now, coming = coming, newQuarters(2*length)
		}
		now.add(period, square)
		coming.add(period, square)
		return o == undecided
	}, between)
	if !ok {
		return present
	}
	return o
}

// quarters are the mean squares of a deviation over the second, third and last
// quarter of a run.
type quarters [3]window

func newQuarters(periods int) (q quarters) {
	for i := range q {
		q[i] = window{from: (i + 1) * periods / 4, to: (i + 2) * periods / 4}
	}
	return q
}

func (q *quarters) add(period int, square float64) {
	for i := range q {
		q[i].add(period, square)
	}
}

// tell tells growth from decay, of a deviation that started with the given norm;
// of a run that is long, by its rate too; at the end of all, by its size.
func (q *quarters) tell(start float64, long, last bool) outcome {
	size := math.Sqrt(q[2].mean()) / start
	first, second := fp.Log(q[1].mean()/q[0].mean()), fp.Log(q[2].mean()/q[1].mean())
	switch {
	case size < 1./decayedBy && second < -significant,
		long && first < -significant && second < float64(slackening*first):
		return absent
	case first > steadily && second > float64(slackening*first),
		long && first > significant && second > float64(slackening*first),
		last && size > saturatedAt && first > -significant && second > -significant:
		return present
	}
	return undecided
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

// ringing tells whether the multipliers of the motion are a complex pair or one
// of them is negative: those from one refresh instant to the next or, since the
// power of a rotation can look like none, those of a step inside a block.
func (t *trial) ringing(ctx context.Context) outcome {
	fit := measure.Recurrence{Order: recurrenceOrder(&t.cell), Floor: roundOff}
	step := fit
	var x, v, reach float64
	var block blockStates
	var end ending
	t.follow(ctx, func(period int, d deviation) bool {
		if period == 0 {
			reach = linearRange(d.norm(), followedGrowth)
		}
		nextX, nextV := t.pair.along(d)
		if period > t.transient {
			fit.Add(x, v, nextX, nextV)
		}
		x, v = nextX, nextV
		block = blockStates{x: x, v: v}
		return d.norm() <= reach && !end.reached(d)
	}, func(d deviation) {
		if t.period > 1 {
			x, v := t.pair.along(d)
			block.add(&step, x, v)
		}
	})
	o := rings(fit.Multipliers(), t.tolerance)
	if t.period > 1 && o != present {
		switch inside := rings(step.Multipliers(), t.tolerance); {
		case inside == present, o == absent:
			return inside
		}
	}
	return o
}

// followedGrowth is how far a deviation is followed that multipliers are fitted to.
const followedGrowth = 100

// rings tells whether multipliers are those of a ringing motion.
func rings(m measure.Multipliers, tolerance float64) outcome { return whether(m.Ringing(tolerance)) }

// blockStates follows the motion inside a block. There the snapshot's share of
// the force is constant, so it is the differences of successive states that obey
// a homogeneous recurrence.
type blockStates struct {
	x, v         float64
	moveX, moveV float64 // the last step's, once there is one
	moved        bool
}

// add takes the state after one more step of the block.
func (b *blockStates) add(fit *measure.Recurrence, x, v float64) {
	moveX, moveV := x-b.x, v-b.v
	if b.moved {
		fit.Add(b.moveX, b.moveV, moveX, moveV)
	}
	*b = blockStates{x, v, moveX, moveV, true}
}

// With sampled groups a motion that grows is followed only to a few times its
// start, and one that decays to a small part of it. Past a threshold the softmax
// bounds it, at a size that is small where the threshold is near, and noise
// makes it forget its start: what tells growth from decay happens early.
const (
	sampledGrowth = 3
	sampledDecay  = 0.1
)

// sampled tells whether the event happens to Run.Replicas pairs under sampled
// groups. The multipliers are fitted to all of them as a relaxation probe does, and
// what decides is known from their scatter over bins of pairs: certain is what
// is beyond three standard errors (measure.Estimate.Sign), so a single pair decides
// nothing. A pair that leaves the range of floating point has grown.
func (t *trial) sampled(ctx context.Context, event Event) outcome {
	replicas := t.cell.Run.Replicas
	fits := make([]measure.Recurrence, min(replicas, relaxationBins))
	for bin := range fits {
		fits[bin] = measure.Recurrence{Order: recurrenceOrder(&t.cell), Floor: roundOff}
		for i := binStart(bin, len(fits), replicas); i < binStart(bin+1, len(fits), replicas); i++ {
			t.pair.begin(ForLocation, i)
			if !t.pair.relax(ctx, &fits[bin], span{from: t.transient, growth: sampledGrowth, decay: sampledDecay}) {
				if event == Instability {
					return present
				}
				return undecided
			}
			if ctx.Err() != nil {
				return undecided // the cell will not be finished
			}
		}
	}
	sign := func(of func(measure.Multipliers) float64) int {
		return measure.Jackknife(len(fits), func(without int) float64 {
			return of(pooled(&t.cell, fits, without))
		}).Sign()
	}
	if event == Instability {
		return whether(sign(measure.Multipliers.LogModulus))
	}
	if pooled(&t.cell, fits, measure.All).Order == measure.Second {
		switch sign(measure.Multipliers.Discriminant) {
		case -1:
			return present
		case 0:
			return undecided
		}
	}
	return whether(-sign(measure.Multipliers.Least))
}

// whether turns the certain sign of what is positive where the event happens into
// an outcome.
func whether(sign int) outcome {
	switch {
	case sign > 0:
		return present
	case sign < 0:
		return absent
	}
	return undecided
}
