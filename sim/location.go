package sim

import (
	"context"
	"math"

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
// Instability can come in windows (docs/theory.md §5), so the search goes
// upwards, in steps small enough to meet one, and only then halves the step that
// met it. It never sees a prediction.
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

// Names of what a location probe estimates: the last value without the event
// and the first with it; the same integer where every one below it has been
// tried. LocatedHigh is absent where no event was found up to To; LocatedLow is
// then that value. Where the first value tried has the event already, LocatedLow
// is the lower end of what the parameter can be. Both are absent where the
// measured λ is not positive: there is no rule to start from.
const (
	LocatedLow  = "located_lo"
	LocatedHigh = "located_hi"
)

// The step of the search in η, and in K beyond everyInterval. With sampled
// groups a trial costs a thousand times as much, and less can be told.
const (
	searchStep        = 1.05
	sampledSearchStep = 1.2
)

// everyInterval is the refresh interval below which each one is tried.
const everyInterval = 100

// longestInterval bounds the refresh intervals that are tried, far beyond any
// that can be run for many periods.
const longestInterval = 1 << 30

// locate searches at the measured stiffness.
func (p *LocationProbe) locate(ctx context.Context, c *Cell, stiffness float64) []measure.Named {
	if !(stiffness > 0) || math.IsInf(stiffness, 1) {
		return nil
	}
	step := searchStep
	if !c.Deterministic() {
		step = sampledSearchStep
	}
	var low, high float64
	if p.Param == RefreshInterval {
		low, high = p.locateInterval(ctx, c, stiffness, step)
	} else {
		low, high = p.locateRate(ctx, c, stiffness, step)
	}
	return determined(
		measure.Named{Name: LocatedLow, Estimate: measure.Certain(low)},
		measure.Named{Name: LocatedHigh, Estimate: measure.Certain(high)},
	)
}

// locateRate returns the learning rates between which the event sets in; high
// is +Inf where it does not.
func (p *LocationProbe) locateRate(ctx context.Context, c *Cell, stiffness, step float64) (low, high float64) {
	happens := func(rate float64) bool {
		at := *c
		at.Optimizer.LearningRate = rate
		return p.happens(ctx, at)
	}
	rule := (1 - c.Optimizer.Momentum) / (stiffness * float64(max(c.Lag.Interval, 1)))
	last := p.To * rule
	for rate := p.From * rule; ; rate = min(rate*step, last) {
		if happens(rate) {
			high = rate
			break
		}
		low = rate
		if rate >= last {
			return low, math.Inf(1)
		}
	}
	for low > 0 && high-low > p.Tolerance*low {
		middle := low + float64((high-low)/2)
		if middle <= low || middle >= high {
			break // neighbours
		}
		if happens(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return low, high
}

// locateInterval returns the refresh intervals between which the event sets in;
// high is +Inf where it does not. An interval is at least 1, of a delay too: at
// none the rule says nothing.
func (p *LocationProbe) locateInterval(ctx context.Context, c *Cell, stiffness, step float64) (low, high float64) {
	happens := func(interval int) bool {
		at := *c
		at.Lag.Interval = interval
		return p.happens(ctx, at)
	}
	rule := (1 - c.Optimizer.Momentum) / (c.Optimizer.LearningRate * stiffness)
	first := int(math.Ceil(min(max(p.From*rule, 1), longestInterval)))
	last := int(math.Floor(min(max(p.To*rule, float64(first)), longestInterval)))
	below := 0 // the last interval without the event
	interval := first
	for !happens(interval) {
		if interval == last {
			return float64(interval), math.Inf(1)
		}
		below = interval
		if interval < everyInterval {
			interval++
		} else {
			interval = min(max(interval+1, int(float64(interval)*step)), last)
		}
	}
	switch {
	case below == 0 && first > 1:
		return 1, float64(first)
	case interval-below == 1:
		return float64(interval), float64(interval)
	}
	for interval-below > 1 && float64(interval-below) > p.Tolerance*float64(below) {
		if middle := below + (interval-below)/2; happens(middle) {
			interval = middle
		} else {
			below = middle
		}
	}
	return float64(below), float64(interval)
}

// happens reports whether the event happens in a cell with the value of the
// parameter on trial.
func (p *LocationProbe) happens(ctx context.Context, at Cell) bool {
	if ctx.Err() != nil {
		return true // ends the search soon; the cell will not be finished
	}
	return newTrial(p, at).happens(ctx, p.Event)
}
