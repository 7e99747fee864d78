package probe

import (
	"context"
	"math"

	"grposim/fp"
	"grposim/grpo"
	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
)

// outcome is the result of a trial.
type outcome int

const (
	undecided outcome = iota
	absent            // the event is certainly absent
	present           // the event is certainly present
)

// trial is a cell with one value of a located parameter, and a pair whose deviation shows whether
// the event happens in it. It runs for shortestRun steps, rounded up to whole refresh periods.
type trial struct {
	cell      Cell
	pair      *pair
	given     int     // Run.Steps as configured
	period    int     // steps of a refresh period
	periods   int     // refresh periods of the run
	transient int     // initial steps, in which modes beyond the dominant two decay
	tolerance float64 // absolute error of measured multipliers
}

func newTrial(cell Cell) *trial {
	p := cell.Location
	t := &trial{
		cell:      cell,
		given:     cell.Run.Steps,
		period:    cell.Lag.StepsPerSnapshot(),
		tolerance: max(minTolerance, float64(p.Offset*p.Offset)),
	}
	t.periods = (shortestRun(&cell.Cell) + t.period - 1) / t.period
	t.cell.Run.Steps = t.periods * t.period
	older := cell.Lag.Kind == option.Random && grpo.StoredPolicies(&cell.Lag, t.cell.Run.Steps) > 2
	past := int(math.Ceil(grpo.LagAge(&cell.Lag))) / t.period
	if past > 1 || older || cell.Lag.Kind == option.Delay {
		t.transient = min(transientDelays*past, t.periods/2)
	}
	t.pair = newPair(&t.cell.Cell, p.Point, p.Direction, p.Offset)
	return t
}

// A trial takes at least this many refresh periods, delays or, at G = ∞, decay times
// 1/(1−μ) of the velocity. A deviation near a threshold oscillates within a few.
const (
	minPeriods        = 64
	minSampledPeriods = 32
)

// shortestRun returns the number of steps of a trial that is not prolonged.
func shortestRun(c *sim.Cell) int { return max(c.Run.Steps, minSteps(c)) }

// minSteps returns the smallest number of steps of a trial, whatever Run.Steps is.
func minSteps(c *sim.Cell) int {
	if !c.Deterministic() {
		return minSampledPeriods * max(1, int(math.Ceil(grpo.LagAge(&c.Lag))))
	}
	decay := int(math.Ceil(1 / (1 - momentum(c.Optimizer))))
	return minPeriods * max(1, int(math.Ceil(grpo.LagAge(&c.Lag))), decay)
}

// momentum returns μ, 0 for Adam.
func momentum(o option.Optimizer) float64 {
	if o.Kind == option.Adam {
		return 0
	}
	return o.Momentum
}

// minTolerance is the error of a multiplier due to round-off. The error due to the
// cubic terms of the force is the square of the offset.
const minTolerance = 1e-6

// transientDelays is the number of delays in which the modes beyond the dominant two decay by
// several powers of ten each. A delay of τ steps has τ−1 of them, and random ages one fewer than
// the oldest. Geometric ages have one, and two arms under block lag none.
const transientDelays = 10

// minStart is the smallest initial norm of a deviation whose decay can be seen above round-off.
const minStart = 100 * roundOff

// outcome runs the trial and says whether the event is absent, present or undecided.
func (t *trial) outcome(ctx context.Context, event Event) outcome {
	t.pair.begin(sim.ForLocation, 0)
	d := newDeviation(len(t.pair.point))
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

// Criteria for growth and decay at G = ∞. A stable deviation may grow at first, near a flip up to
// (1+μ)/(1−μ) times its initial norm. A decaying mode may hide a slow one. So a deviation has grown
// when it reaches grownBy/(1−μ) times its initial norm. It has decayed when it has lost a factor
// decayedBy and goes on falling.
//
// In between, the mean squares over the second, third and last quarter of a run are compared.
// Growth is steady if the logarithms of both of their ratios are above steadily and the second is
// above slackening times the first. Growth like a power of time gives about two thirds. After
// Run.Steps steps, logarithms beyond significant decide too. A decay also needs the second below
// steadyDecay times the first: one that slackens may hide a mode that grows. So a change of the
// norm by less than 5 % stays undecided.
const (
	grownBy     = 100
	decayedBy   = 100
	steadily    = 1
	slackening  = 0.8
	steadyDecay = 0.95
	significant = 0.05
)

// saturatedAt bounds a norm, in units of the initial one, that does not decay significantly by the
// end of the longest run. Above it the deviation has grown and saturated.
const saturatedAt = 10

// prolonged is the number of times Run.Steps that a trial at G = ∞ runs at most. If it is still
// undecided then, that is its outcome.
const prolonged = 16

// growth decides whether the deviation, whose initial norm is start, grows or decays.
func (t *trial) growth(ctx context.Context, start float64) (o outcome) {
	g := newGrowth(&t.cell, t.given, start)
	t.cell.Run.Steps = g.longest * t.period
	defer func() { t.cell.Run.Steps = t.periods * t.period }()
	var gone roundOffCount
	at := func(period int, d deviation) bool {
		o = g.add(period, centredSquare(d.logits), gone.add(d))
		return o == undecided
	}
	if !t.pair.follow(ctx, sim.ForLocation, 0, at, between) {
		return present
	}
	return o
}

// growth decides whether a deviation grows or decays by its squares at refresh instants. It
// applies the criteria to runs of doubling length, up to prolonged times Run.Steps.
type growth struct {
	start         float64 // its initial norm
	grown         float64 // the norm at which it has grown
	given, period int     // Run.Steps as configured, steps of a refresh period
	length        int     // of the present run in refresh periods
	longest       int
	current, next quarters
}

func newGrowth(c *Cell, given int, start float64) *growth {
	g := &growth{start: start, grown: c.Location.reach(c, start), given: given}
	g.period = c.Lag.StepsPerSnapshot()
	g.length = (minSteps(&c.Cell) + g.period - 1) / g.period
	for g.longest = g.length; g.longest*g.period < prolonged*given; {
		g.longest *= 2
	}
	g.current, g.next = newQuarters(g.length), newQuarters(2*g.length)
	return g
}

// add adds the square of the deviation at the next refresh instant. Gone says that it has been
// below round-off for long.
func (g *growth) add(period int, square float64, gone bool) (o outcome) {
	switch {
	case square > float64(g.grown*g.grown):
		o = present
	case gone:
		o = absent
	case period == g.length:
		o = g.current.outcome(g.start, g.length*g.period >= g.given, g.length == g.longest)
		g.length *= 2
		g.current, g.next = g.next, newQuarters(2*g.length)
	}
	g.current.add(period, square)
	g.next.add(period, square)
	return o
}

// quarters holds the mean squares of a deviation over the second, third and last quarter of a run.
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

// outcome decides between growth and decay for a deviation with the initial norm start.
// A run that is long is also judged by its rate, the last run also by its final size.
func (q *quarters) outcome(start float64, long, last bool) outcome {
	size := math.Sqrt(q[2].mean()) / start
	first, second := fp.Log(q[1].mean()/q[0].mean()), fp.Log(q[2].mean()/q[1].mean())
	switch {
	case size < 1./decayedBy && second < -significant,
		long && first < -significant && second < float64(steadyDecay*first):
		return absent
	case first > steadily && second > float64(slackening*first),
		long && first > significant && second > float64(slackening*first),
		last && size > saturatedAt && first > -significant && second > -significant:
		return present
	}
	return undecided
}

// roundOffCount is the number of successive refresh instants at which a deviation was
// below round-off, in logits and in velocity.
type roundOffCount int

const (
	negligibleSquare = roundOff * roundOff // squared norm of a deviation that counts as 0
	negligibleCount  = 16                  // instants in a row after which it has decayed
)

// add counts the deviation at the next refresh instant and reports whether it has decayed for good.
func (n *roundOffCount) add(d deviation) bool {
	*n++
	if centredSquare(d.logits) > negligibleSquare || centredSquare(d.velocity) > negligibleSquare {
		*n = 0
	}
	return *n >= negligibleCount
}

// window is a weighted mean over the refresh instants in [from, to). The weight is u²(1−u)², where
// u in (0, 1) is the place in the window. It is 0 at both ends, so that the mean hardly depends on
// the phase of an oscillation.
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

// ringing decides whether the dominant multipliers of the deviation are a complex pair or the
// dominant one is negative (docs/theory.md §5). They are those from one refresh instant to the
// next. A power of a rotation can be positive, so those of one step inside a block count too.
// States beyond the reach of the search, which are not those of the linear dynamics, do not count.
func (t *trial) ringing(ctx context.Context) outcome {
	fit := newFit(&t.cell.Cell, t.cell.Location.Offset)
	step := fit
	var x, v, reach float64
	var block blockStates
	var gone roundOffCount
	t.pair.follow(ctx, sim.ForLocation, 0, func(period int, d deviation) bool {
		if period == 0 {
			reach = t.cell.Location.reach(&t.cell, d.norm())
		}
		if d.norm() > reach {
			return false
		}
		nextX, nextV := d.along(t.cell.Location.Direction)
		if period > t.transient {
			fit.Add(x, v, nextX, nextV)
		}
		x, v = nextX, nextV
		block = blockStates{x: x, v: v}
		return !gone.add(d)
	}, func(d deviation) {
		if t.period > 1 && d.norm() <= reach {
			x, v := d.along(t.cell.Location.Direction)
			block.add(&step, x, v)
		}
	})
	if fit.Faint(t.cell.Optimizer.LearningRate / (1 - momentum(t.cell.Optimizer))) {
		return undecided
	}
	o := outcomeOf(fit.Multipliers().Ringing(t.tolerance))
	if t.period > 1 && o != present {
		switch inside := outcomeOf(step.Multipliers().Ringing(t.tolerance)); {
		case inside == present, o == absent:
			return inside
		}
	}
	return o
}

// followedGrowth is the growth relative to its initial norm up to which a deviation is
// followed for a fit of its multipliers.
const followedGrowth = 100

// Reach returns the norm of a deviation of the logits up to which a search of the cell at G = ∞
// follows it. It is +Inf for Visible, which starts anywhere.
func (p *Location) Reach(c *Cell) float64 {
	if p.Event == Visible {
		return math.Inf(1)
	}
	return p.reach(c, float64(p.Offset*math.Sqrt(centredSquare(p.Direction))))
}

// reach is Reach, given the initial norm of the deviation.
func (p *Location) reach(c *Cell, start float64) float64 {
	if p.Event == Ringing {
		return linearRange(start, followedGrowth)
	}
	return start * grownBy / (1 - momentum(c.Optimizer))
}

// blockStates holds the coordinates of a deviation inside a block. There the snapshot's
// part of the force is constant, so the differences of successive states obey a
// homogeneous recurrence, not the states themselves.
type blockStates struct {
	x, v         float64 // the last state
	moveX, moveV float64 // its difference from the one before, if moved
	moved        bool
}

// add adds the state after one more step of the block, and its move to the fit.
func (b *blockStates) add(fit *measure.Recurrence, x, v float64) {
	moveX, moveV := x-b.x, v-b.v
	if b.moved {
		fit.Add(b.moveX, b.moveV, moveX, moveV)
	}
	*b = blockStates{x, v, moveX, moveV, true}
}

// With sampled groups a growing deviation is followed only to sampledGrowth times its initial norm,
// and a decaying one to sampledDecay times its largest value. Past a threshold the softmax bounds a
// deviation, near it at a small size, and noise makes it forget its start. So only its early part
// distinguishes growth from decay.
const (
	sampledGrowth = 3
	sampledDecay  = 0.1
)

// sampled decides whether the event happens to Run.Replicas pairs with sampled groups. The
// multipliers are fitted to all pairs as in a relaxation probe. Their error is a jackknife over bins
// of pairs. A sign is certain beyond three standard errors (measure.Estimate.Sign), so a single pair
// decides nothing. A pair whose logits do not stay finite has grown.
func (t *trial) sampled(ctx context.Context, event Event) outcome {
	over := span{from: t.transient, growth: sampledGrowth, decay: sampledDecay}
	fits := make([]measure.Recurrence, min(t.cell.Run.Replicas, relaxationBins))
	for bin := range fits {
		if !t.pair.relax(ctx, sim.ForLocation, fits, bin, over) {
			if event == Instability {
				return present
			}
			return undecided
		}
	}
	if t.cell.uninformed(pooled(&t.cell.Cell, fits, measure.All).Innovations) {
		return undecided
	}
	sign := func(of func(measure.Multipliers) float64) int {
		return measure.Jackknife(len(fits), func(without int) float64 {
			return of(pooled(&t.cell.Cell, fits, without).Multipliers())
		}).Sign()
	}
	if event == Instability {
		return outcomeOf(sign(measure.Multipliers.LogModulus))
	}
	if pooled(&t.cell.Cell, fits, measure.All).Multipliers().Order == measure.Second {
		switch sign(measure.Multipliers.Discriminant) {
		case -1:
			return present
		case 0:
			return undecided
		}
	}
	return outcomeOf(-sign(measure.Multipliers.Trace))
}

// Searchable reports whether a parameter of the cell can be located. Under noise a deviation may have
// at most two multipliers, to which a recurrence is fitted.
func Searchable(c *sim.Cell, along Param) bool {
	block := c.Lag.Kind == option.Block && c.Lag.Behind == 0
	short := c.Lag.Kind == option.Delay && c.Lag.Interval <= 1 && along != RefreshInterval
	return c.Deterministic() || (len(c.Init) == 2 || c.Network != nil) && (block || short)
}

// outcomeOf returns the outcome for the certain sign of a quantity that is positive if
// the event happens; 0 is an uncertain sign.
func outcomeOf(sign int) outcome {
	switch {
	case sign > 0:
		return present
	case sign < 0:
		return absent
	}
	return undecided
}

// visible reports whether the run of a cell at G = ∞ oscillates by more than a share of the range
// of J. That is undecided if the run leaves the range of floating point.
func visible(ctx context.Context, c *sim.Cell, share float64) outcome {
	walk, reward := sim.NewWalk(c), make([]float64, c.Run.Steps+1)
	walk.Begin(sim.ForLocation, 0, c.Init)
	for t := range c.Run.Steps {
		if t%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return undecided
		}
		reward[t] = walk.Reward()
		if !walk.Step(t) {
			return undecided
		}
	}
	reward[c.Run.Steps] = walk.Reward()
	if measure.Passages(reward, share*measure.Spread(reward)) >= 2 {
		return present
	}
	return absent
}
