package sim

import (
	"context"
	"math"

	"grposim/grpo/fp"
	"grposim/sim/measure"
)

// Event is what a location probe looks for along a parameter.
type Event string

const (
	Instability Event = "instability" // small deviations grow
	Ringing     Event = "ringing"     // small deviations oscillate: complex or negative multipliers
)

// LocationParam is the parameter that a location probe varies.
type LocationParam string

const (
	LearningRate    LocationParam = "optimizer.learning_rate" // η
	RefreshInterval LocationParam = "lag.interval"            // K or τ, an integer
)

// LocationProbe is a search for the smallest value of a parameter at which an
// event happens to pairs of replicas that start at Point ± Offset·Direction.
// From and To bound it in multiples of the paper's rule at the stiffness λ that
// the cell's probe StiffnessTotal has measured,
//
//	η = (1−μ)/(λ max(K, 1)),  K = (1−μ)/(ηλ)
//
// (docs/theory.md §9). A located cell measures its stiffness probes and then
// this, and simulates nothing else; its own value of Param is unused.
//
// A trial of a value has three outcomes: the event is certainly absent, certainly
// present, or undecided (trial.go says when). Undecided values widen the bracket:
// little data gives a wide one, never a wrong one. Instability can come in windows
// (docs/theory.md §5), so the search goes upwards from From, in steps small enough
// to meet one, and only then halves what lies between the last value without the
// event, the undecided ones and the first with it. Nothing below From is tried:
// what is located is the first event from there on. The search never sees a
// prediction.
//
// At G = ∞ an offset of 1e-5 is small enough for every purpose. With sampled
// groups it has to be above the noise of a pair and small against the size at
// which the motion saturates just past a threshold: 0.01 for 4,096 groups of 16.
type LocationProbe struct {
	Event     Event
	Param     LocationParam
	From, To  float64
	Tolerance float64 // relative
	Point     []float64
	Direction []float64
	Offset    float64
}

// Names of what a location probe estimates: the last value certainly without the
// event and the first certainly with it. Of refresh intervals up to 100, where each
// one is tried, LocatedLow is the first not known to be without the event, so that
// the two are the same where all are decided. LocatedHigh is absent where the event
// was certain nowhere up to To, or up to the longest interval that is tried;
// LocatedLow is then the last value certainly without it. Where there is none, as
// when the first value tried has the event already, LocatedLow is the lower end of
// what the parameter can be, 0 for η and 1 for K: the event sets in somewhere at or
// below LocatedHigh. Both are absent where the measured λ is not certainly positive,
// so that there is no rule to start from, or From is beyond what can be tried.
const (
	LocatedLow  = "located_lo"
	LocatedHigh = "located_hi"
	LocatedEnd  = "located_to"
)

// The step of the search in η, and in K beyond everyInterval. With sampled
// groups a trial costs a thousand times as much, and less can be told.
const (
	searchStep        = 1.05
	sampledSearchStep = 1.2
)

// everyInterval is the refresh interval below which each one is tried.
const everyInterval = 100

// longestRuns bounds the refresh intervals that are tried, in run lengths: a trial
// takes many periods, and beyond this they cannot be afforded. A trial that would
// take longer for another reason is undecided.
const longestRuns = 16

// stride is the factor between the values that are tried first.
func stride(c *Cell) float64 {
	if c.Deterministic() {
		return searchStep
	}
	return sampledSearchStep
}

// locate searches at the measured stiffness.
func (p *LocationProbe) locate(ctx context.Context, c *Cell, stiffness measure.Estimate) []measure.Named {
	if stiffness.Sign() <= 0 || math.IsInf(stiffness.Mean, 1) {
		return nil
	}
	values := p.ladder(c, stiffness.Mean)
	if values.first > values.last {
		return nil
	}
	b := bracket{high: math.Inf(1), whole: values.whole}
	for value, more := values.first, true; more && math.IsInf(b.high, 1); value, more = values.next(value) {
		b.add(value, p.try(ctx, c, value))
	}
	for {
		value, wide := b.middle(p.Tolerance)
		if !wide || ctx.Err() != nil {
			break
		}
		b.add(value, p.try(ctx, c, value))
	}
	return determined(
		measure.Named{Name: LocatedLow, Estimate: measure.Certain(b.lowest())},
		measure.Named{Name: LocatedHigh, Estimate: measure.Certain(b.high)},
		measure.Named{Name: LocatedEnd, Estimate: measure.Certain(values.last)},
	)
}

// try tries one value of the parameter.
func (p *LocationProbe) try(ctx context.Context, c *Cell, value float64) outcome {
	if ctx.Err() != nil {
		return undecided // the cell will not be finished
	}
	at := p.at(c, value)
	if minSteps(&at) > longestRuns*minPeriods*c.Run.Steps {
		return undecided
	}
	return newTrial(p, at).outcome(ctx, p.Event)
}

// at returns the cell with another value of the parameter.
func (p *LocationProbe) at(c *Cell, value float64) Cell {
	at := *c
	if p.Param == RefreshInterval {
		at.Lag.Interval = int(value)
	} else {
		at.Optimizer.LearningRate = value
	}
	return at
}

// ladder is the values that are tried upwards: none where first > last.
type ladder struct {
	first, last, step float64
	whole             bool // refresh intervals
}

// ladder returns the values between From and To times the rule. An interval is at
// least 1, of a delay too: at none the rule says nothing.
func (p *LocationProbe) ladder(c *Cell, stiffness float64) ladder {
	l := ladder{step: stride(c), whole: p.Param == RefreshInterval}
	rule := (1 - momentum(c.Optimizer)) / stiffness
	if !l.whole {
		rule /= float64(max(c.Lag.Interval, 1))
		l.first, l.last = p.From*rule, p.To*rule
		return l
	}
	rule /= c.Optimizer.LearningRate
	l.first = math.Ceil(max(p.From*rule, 1))
	l.last = min(math.Floor(max(p.To*rule, l.first)), float64(longestRuns*c.Run.Steps))
	return l
}

// next returns the value after another, if there is one.
func (l *ladder) next(value float64) (next float64, more bool) {
	switch {
	case value >= l.last:
		return 0, false
	case l.whole && value < everyInterval:
		return value + 1, true
	case l.whole:
		return min(max(value+1, math.Floor(value*l.step)), l.last), true
	}
	return min(value*l.step, l.last), true
}

// bracket is what the trials have shown so far.
type bracket struct {
	low, high   float64 // the last value without the event, 0: none; the first with it, +Inf: none
	first, last float64 // undecided values between low and high; 0: none
	whole       bool    // refresh intervals
}

// add takes the outcome of a value between low and high. A learning rate without
// the event leaves the undecided ones below it behind, where slow modes are hard to
// tell; an interval does not, so that low has no undecided interval below.
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

// middle returns the middle of a gap between certain and undecided values that is
// wider than the tolerance.
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

// lowest returns LocatedLow.
func (b *bracket) lowest() float64 {
	switch {
	case !b.whole:
		return b.low
	case b.low == 0:
		return 1
	case b.low < everyInterval && !math.IsInf(b.high, 1):
		return b.low + 1 // each one up to there has been tried
	}
	return b.low
}

// SearchSteps returns about how many steps of a replica a located cell takes, a
// pair counting twice: all values of the ladder, and the halvings after them, each
// for a trial's shortest run. The stiffness, which is not known before, counts as 1.
func (c *Cell) SearchSteps() float64 {
	p := c.Location
	if p == nil {
		return 0
	}
	steps, longest := 0.0, 0.0
	values := p.ladder(c, 1)
	for value, more := values.first, values.first <= values.last; more; value, more = values.next(value) {
		at := p.at(c, value)
		longest = float64(shortestRun(&at))
		steps += longest
	}
	if p.Tolerance > 0 {
		steps += float64(longest * max(0, math.Ceil(fp.Log(values.step/p.Tolerance)/math.Ln2)))
	}
	return 2 * steps * float64(c.replicas())
}
