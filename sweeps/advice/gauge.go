package advice

import (
	"fmt"
	"math"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/sweeps/store"
)

// Gauge is a run of training as its measured stiffness describes it: one mode
//
//	g_t = −λ_f x_t − (λ − λ_f) x_old
//
// of the parameters, in units of 1/learning rate; with Adam of the parameters times (√v̂+ε)^½,
// second moments held, where a step is that of a heavy ball of momentum β1 at the rate η(1−β1).
type Gauge struct {
	Total float64 // λ > 0: samples and behaviour policy move with the policy
	Fresh float64 // λ_f: they are held
	Adam  bool    // Momentum is β1, and both stiffnesses are preconditioned

	Momentum float64    // μ or β1 in [0, 1)
	Rate     float64    // η > 0, as the trainer has it
	Lag      option.Lag // Block or Delay
}

// longestGauged is the interval up to which a learning rate is sought that is stable at each. The
// limit falls no further where |λ − λ_f| < λ_f: the motion inside a block dies out.
const longestGauged = 64

// GaugedAdvice is what the theory of one mode says of a gauge. A number is NaN where there is none.
type GaugedAdvice struct {
	Lines []Line `json:"advice"`
	// the smallest learning rate that is not stable at the lag or a shorter one
	Limit     store.Number `json:"limit"`
	Ratio     store.Number `json:"ratio"`      // η over the limit
	Suggested store.Number `json:"suggestion"` // half of the limit
	Says      string       `json:"says"`
}

// TooLarge returns why the lag is not computed, none where it is.
func (g *Gauge) TooLarge() scope.Reason { return g.mode(g.Lag.Interval).TooLarge() }

// mode returns the dynamics of the mode at an interval of its kind of lag.
func (g *Gauge) mode(interval int) *linear.Dynamics {
	lag := g.Lag
	lag.Interval = interval
	one := linear.Mode{Fresh: g.Fresh, Stale: g.Total - g.Fresh, Update: linear.Update{
		Method: option.HeavyBall, Momentum: g.Momentum, Rate: g.Rate * g.gain(), Lag: linear.NewLag(&lag),
	}}
	return linear.New(one.System(), nil, linear.Rounded)
}

// gain returns the learning rate of the heavy ball over that of the trainer.
func (g *Gauge) gain() float64 {
	if g.Adam {
		return 1 - g.Momentum
	}
	return 1
}

// limit returns the smallest learning rate of the trainer that is not stable at an interval.
func (g *Gauge) limit(interval int) float64 {
	return g.mode(interval).Threshold(linear.CriticalRate).At / g.gain()
}

// Advise returns the limits of learning rate and lag, and half of the former.
func (g *Gauge) Advise() *GaugedAdvice {
	a, lines := &GaugedAdvice{}, &adviser{}
	first, name := shortestLag(g.Lag.Kind)
	add := func(asked string, value float64, assumes, says string, args ...any) {
		lines.add(asked, value, fmt.Sprintf(says, args...), rom.LeadingOrder, assumes)
	}
	of := "one mode of fresh stiffness λ_f and stale λ − λ_f: the smallest η" + onUnitCircle
	if g.Adam {
		of += ", second moments held"
	}
	present := g.limit(g.Lag.Interval)
	asked := fmt.Sprintf("learning rates that are stable at a %s of %d", name, g.Lag.Interval)
	add(asked, present, of, "below %.4g", present)

	shorter, every := present, math.Inf(1)
	for interval := int(first); interval <= longestGauged; interval++ {
		at := g.limit(interval)
		every = min(every, at)
		if interval < g.Lag.Interval {
			shorter = min(shorter, at)
		}
	}
	asked = fmt.Sprintf("learning rates that are stable at every %s up to %d", name, longestGauged)
	add(asked, every, of, "below %.4g", every)

	g.intervals(add, every)
	ratio, says := g.Rate/shorter, "%.3g: below the limit"
	if ratio >= 1 {
		says = "%.3g: beyond it"
	}
	asked = "present learning rate over the limit at this " + name + " or a shorter one"
	add(asked, ratio, "the smallest of these limits", says, ratio)
	a.Lines = lines.lines
	a.Limit, a.Ratio, a.Suggested = store.Number(shorter), store.Number(ratio), store.Number(shorter/2)
	a.Says = fmt.Sprintf("learning rate %.3g, half of that limit where you measured: "+
		"stiffness grows on the way, so measure again as the reward rises.", shorter/2)
	if g.Adam {
		a.Says += " Adam has no sharp threshold: runs wander more and more from well below this limit on."
	}
	return a
}

// intervals adds the largest stable interval at the present learning rate, below which learning
// rate every interval is stable, or that the interval does not matter.
func (g *Gauge) intervals(add func(string, float64, string, string, ...any), every float64) {
	first, name := shortestLag(g.Lag.Kind)
	asked := name + "s that are stable at this learning rate"
	assumes := "the smallest interval" + onUnitCircle + otherwiseAsItIs
	threshold := g.mode(g.Lag.Interval).Threshold(linear.CriticalInterval)
	last := math.Ceil(threshold.At) - 1
	switch {
	case math.IsInf(threshold.At, 1) && g.Total == g.Fresh:
		add(asked, math.NaN(), assumes, "all: the %s does not matter, nothing is stale", name)
	case math.IsInf(threshold.At, 1):
		add(asked, math.NaN(), assumes, "all: the %s does not matter below η = %.4g", name, every)
	case !threshold.Known:
		add(asked, math.NaN(), assumes, "all up to %.0f; not searched beyond", threshold.At)
	case last < first:
		add(asked, math.NaN(), assumes, "none is")
	default:
		add(asked, last, assumes, "up to %.0f steps", last)
	}
}
