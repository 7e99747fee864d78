package probe

import (
	"context"
	"math"

	"grposim/fp"
	"grposim/grpo"
	"grposim/sim"
	"grposim/sim/measure"
)

// Names of the estimates of a location probe, in the unit of its parameter.
//
// LocatedLow is the last value certainly without the event. Exceptions: refresh intervals up to 100
// are all tried. Of these it is the first not known to be without the event, if there is a
// LocatedHigh. The two are equal if all are decided. If no value is certainly without the event, it
// is the lower end of the parameter's range, 0 for η and 1 for K. The event then sets in somewhere
// at or below LocatedHigh.
//
// LocatedHigh is the first value certainly with the event. It is absent if there is none up to
// LocatedEnd. LocatedEnd is the last value to be tried: To, or the longest affordable interval.
//
// All three are absent if the measured λ is not certainly positive, so that the rule gives no
// scale. They are too if From is beyond the longest interval.
const (
	LocatedLow  = "located_lo"
	LocatedHigh = "located_hi"
	LocatedEnd  = "located_to"
)

// The factor from one tried value to the next in η, and in K beyond everyInterval. With
// sampled groups the factor is larger, because a trial costs a thousand times as much
// and noise limits the resolution.
const (
	searchStep        = 1.05
	sampledSearchStep = 1.2
	visibleSearchStep = 1.1
	networkSearchStep = 1.2
)

// The refresh interval below which the search tries every one. Visible oscillation does
// not come in windows, so that fewer trials find where it sets in.
const (
	everyInterval = 100
	everyVisible  = 10
)

// longestRuns bounds the refresh intervals that are tried, in units of Run.Steps. A trial takes
// many refresh periods, and those of longer intervals take too long. A trial that would take longer
// for another reason is undecided.
const longestRuns = 16

// searchFactor returns the factor from one tried value to the next, and the interval
// below which every one is tried.
func (p *Location) searchFactor(c *Cell) (factor, every float64) {
	switch {
	case p.Event == Visible:
		return visibleSearchStep, everyVisible
	case c.Network != nil && c.Deterministic():
		return networkSearchStep, everyInterval
	case c.Deterministic():
		return searchStep, everyInterval
	}
	return sampledSearchStep, everyInterval
}

// locate does the search at the measured stiffness.
func (p *Location) locate(
	ctx context.Context, c *Cell, stiffness measure.Estimate,
) []measure.Named {
	if stiffness.Sign() <= 0 || math.IsInf(stiffness.Mean, 1) {
		return nil
	}
	if c.followsMode() {
		c = c.alongMode()
		p = c.Location
	}
	values := p.ladder(c, stiffness.Mean)
	if values.first > values.last {
		return nil
	}
	b := bracket{high: math.Inf(1), whole: values.whole}
	value, more := values.first, true
	for more && math.IsInf(b.high, 1) {
		b.add(value, p.try(ctx, c, value))
		value, more = values.next(value)
	}
	for {
		value, wide := b.middle(p.Tolerance)
		if !wide || ctx.Err() != nil {
			break
		}
		b.add(value, p.try(ctx, c, value))
	}
	return measure.Determined(
		measure.Named{Name: LocatedLow, Estimate: measure.Certain(b.lowest())},
		measure.Named{Name: LocatedHigh, Estimate: measure.Certain(b.high)},
		measure.Named{Name: LocatedEnd, Estimate: measure.Certain(values.last)},
	)
}

// try returns the outcome of a trial of one value of the parameter.
func (p *Location) try(ctx context.Context, c *Cell, value float64) outcome {
	if ctx.Err() != nil {
		return undecided // the results of an interrupted cell are discarded
	}
	at := p.at(c, value)
	if p.Event == Visible {
		return visible(ctx, &at.Cell, p.Visibility)
	}
	if minSteps(&at.Cell) > longestRuns*minPeriods*c.Run.Steps {
		return undecided
	}
	if c.Network != nil && !c.followsMode() {
		return grows(ctx, &at)
	}
	return newTrial(at).outcome(ctx, p.Event)
}

// at returns the cell with the given value of the parameter.
func (p *Location) at(c *Cell, value float64) Cell {
	at := *c
	p.set(&at.Cell, value)
	return at
}

// set sets the parameter of a cell.
func (p *Location) set(c *sim.Cell, value float64) {
	switch p.Param {
	case RefreshInterval:
		c.Lag.Interval = int(value)
	case LearningRate:
		c.Optimizer.LearningRate = value
	}
}

// ladder is the sequence of values that the search tries upwards. It is empty if first > last.
type ladder struct {
	first, last float64 // values of the parameter
	step        float64 // factor from one value to the next
	whole       bool    // the values are integers, refresh intervals
	every       float64 // every integer below it is tried
}

// ladder returns the ladder from From to To times the rule. Intervals are at least 1,
// also those of a delay, because the rule does not apply to a delay of 0.
func (p *Location) ladder(c *Cell, stiffness float64) ladder {
	l := ladder{whole: p.Param == RefreshInterval}
	l.step, l.every = p.searchFactor(c)
	rule := (1 - momentum(c.Optimizer)) / stiffness
	if !l.whole {
		rule /= max(grpo.LagAge(&c.Lag), 1)
		l.first, l.last = p.From*rule, p.To*rule
		return l
	}
	rule /= c.Optimizer.LearningRate
	l.first = math.Ceil(max(p.From*rule, 1))
	l.last = min(math.Floor(max(p.To*rule, l.first)), float64(longestRuns*c.Run.Steps))
	return l
}

// next returns the value after the given one; more is false if that is the last.
func (l *ladder) next(value float64) (next float64, more bool) {
	switch {
	case value >= l.last:
		return 0, false
	case l.whole && value < l.every:
		return value + 1, true
	case l.whole:
		return min(max(value+1, math.Floor(value*l.step)), l.last), true
	}
	return min(value*l.step, l.last), true
}

// bracket encloses the first value with the event, by the outcomes of the trials so far.
type bracket struct {
	low, high   float64 // the last value without the event or 0; the first with it or +Inf
	first, last float64 // the least and the largest undecided value between low and high; 0 if none
	whole       bool    // the values are integers, refresh intervals
}

// add narrows the bracket by the outcome of a trial of a value between low and high. A learning
// rate without the event replaces the undecided ones below it, which are undecided because slow
// modes take long. An interval does not, so that no undecided interval is below low.
func (b *bracket) add(value float64, o outcome) {
	switch {
	case o == present:
		b.high = value
		if b.first >= value {
			b.first, b.last = 0, 0
		}
		if b.last >= value {
			b.last = b.first
		}
	case o == absent && !(b.whole && b.first > 0 && value > b.first):
		b.low = value
		if b.first <= value {
			b.first, b.last = 0, 0
		}
	default:
		if b.first == 0 || value < b.first {
			b.first = value
		}
		b.last = max(b.last, value)
	}
}

// middle returns the middle of a gap between certain and undecided values. The gap is wider than
// the relative tolerance; wide is false if there is none.
func (b *bracket) middle(tolerance float64) (value float64, wide bool) {
	gaps := [2][2]float64{{b.low, b.high}}
	if b.first > 0 {
		gaps = [2][2]float64{{b.low, b.first}, {b.last, b.high}}
	}
	for _, gap := range gaps {
		from, to := gap[0], gap[1]
		if !(from > 0 && to-from > float64(tolerance*from)) || math.IsInf(to, 1) {
			continue
		}
		middle := from + float64((to-from)/2)
		if b.whole {
			middle = math.Floor(middle)
		}
		if from < middle && middle < to {
			return middle, true
		}
	}
	return 0, false
}

func (b *bracket) lowest() float64 {
	switch {
	case !b.whole:
		return b.low
	case b.low == 0:
		return 1
	case b.low < everyInterval && !math.IsInf(b.high, 1):
		return b.low + 1 // every interval below everyInterval has been tried
	}
	return b.low
}

// First returns the first value that the search tries if the cell measures the given stiffness.
func (p *Location) First(c *Cell, stiffness float64) float64 {
	return p.ladder(c, stiffness).first
}

// SearchSteps estimates the replica-steps of the cell's location search if it measures the given
// stiffness; 0 without a search. For all values of the ladder and the halvings after them it counts
// two replicas for the shortest run of a trial. With sampled groups that is most often too much.
// The search ends at the event, and pairs that have grown or decayed end.
func (c *Cell) SearchSteps(stiffness float64) float64 {
	p := c.Location
	if p == nil {
		return 0
	}
	steps, longest := 0.0, 0.0
	values := p.ladder(c, stiffness)
	value, more := values.first, values.first <= values.last
	for ; more; value, more = values.next(value) {
		at := p.at(c, value)
		longest = float64(shortestRun(&at.Cell))
		if p.Event == Visible {
			longest = float64(c.Run.Steps)
		}
		steps += longest
	}
	if p.Tolerance > 0 {
		steps += float64(longest * max(0, math.Ceil(fp.Log(values.step/p.Tolerance)/math.Ln2)))
	}
	return 2 * steps * float64(c.Replicas())
}
