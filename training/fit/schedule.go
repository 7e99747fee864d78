package fit

import (
	"fmt"
	"math"
)

// Schedule is how a trainer's learning rate changes over a run.
type Schedule struct {
	Kind   Decay
	Warmup float64 // steps of linear warm-up from 0, ≥ 0
	Total  float64 // steps of the whole run, > Warmup; not used by Constant
}

// Decay is the course of the learning rate after the warm-up.
type Decay string

const (
	Constant Decay = "constant" // stays at its peak
	Linear   Decay = "linear"   // falls linearly to 0 at Total
	Cosine   Decay = "cosine"   // falls as ½(1 + cos πx) to 0 at Total
)

// Decays lists every decay.
var Decays = []Decay{Constant, Linear, Cosine}

// Check returns what is wrong with the schedule, nil if nothing is.
func (s Schedule) Check() error {
	switch {
	case s.Kind != Constant && s.Kind != Linear && s.Kind != Cosine:
		return fmt.Errorf("schedule %q is unknown, want one of %v", s.Kind, Decays)
	case !(s.Warmup >= 0) || math.IsInf(s.Warmup, 0):
		return fmt.Errorf("warm-up of %g steps, want 0 or more", s.Warmup)
	case s.Kind != Constant && !(s.Total > s.Warmup && !math.IsInf(s.Total, 0)):
		return fmt.Errorf("a total of %g steps for schedule %s, want more than the warm-up of %g", s.Total, s.Kind, s.Warmup)
	}
	return nil
}

// rate is the learning rate at a step over its peak, in [0, 1].
func (s Schedule) rate(step float64) float64 {
	if step < s.Warmup {
		return max(0, step/s.Warmup)
	}
	x := min(1, (step-s.Warmup)/(s.Total-s.Warmup))
	switch s.Kind {
	case Linear:
		return 1 - x
	case Cosine:
		return (1 + math.Cos(math.Pi*x)) / 2
	}
	return 1
}

// Time returns the intrinsic time ∫η dt / max η of each step, in steps at the peak
// learning rate. In this time a run under a schedule follows the law of a constant
// rate; over steps its warm-up looks like inertia and its decay like saturation. Steps
// at a rate of 0 advance it by 1e-9, so that it increases strictly.
func (s Schedule) Time(steps []float64) []float64 {
	return integrate(steps, s.rate)
}

// LoggedTime is the intrinsic time under logged learning rates, one per step. It
// returns false if no rate is positive or one of them is negative or not finite.
func LoggedTime(steps, rates []float64) ([]float64, bool) {
	peak := 0.0
	for _, r := range rates {
		if !(r >= 0) || math.IsInf(r, 0) {
			return nil, false
		}
		peak = max(peak, r)
	}
	if peak == 0 {
		return nil, false
	}
	row := 0
	return integrate(steps, func(step float64) float64 {
		for row < len(steps)-1 && steps[row+1] <= step {
			row++
		}
		if row == len(steps)-1 {
			return rates[row] / peak
		}
		x := max(0, (step-steps[row])/(steps[row+1]-steps[row]))
		return (rates[row] + x*(rates[row+1]-rates[row])) / peak
	}), true
}

// integrate sums rate over each interval of the steps by Simpson's rule, from 0 at step
// 0 or at the first step if that is earlier. rate is asked at increasing steps.
func integrate(steps []float64, rate func(step float64) float64) []float64 {
	const least = 1e-9
	time := make([]float64, len(steps))
	at, sum := min(0, steps[0]), 0.0
	before := rate(at)
	for i, step := range steps {
		width := step - at
		middle, after := rate(at+width/2), rate(step)
		sum += max(width/6*(before+4*middle+after), width*least)
		time[i], at, before = sum, step, after
	}
	return time
}
