package theory

import (
	"fmt"
	"math"
	"strings"

	"grposim/fp"
	"grposim/rom"
	"grposim/sweeps/config"
)

// Rest puts the predicted stability and noise of a cell at its fixed point into words.
type Rest struct {
	Dynamics *rom.Dynamics // the linear one at the fixed point; nil: not known
	Unstable bool
	Neutral  bool // neither stable nor unstable: in some direction nothing moves a displacement

	settings *config.Settings
	p        *rom.Prediction
	at       Numbers
}

// NewRest returns the state at rest of settings with their prediction and its numbers.
func NewRest(s *config.Settings, p *rom.Prediction, at Numbers) *Rest {
	r := &Rest{settings: s, p: p, at: at}
	d, _ := p.Linear()
	if p.FixedPoint == nil || !d.Scope.In || d.SpectralRadius == nil {
		return r
	}
	r.Dynamics, r.Unstable = d, d.IsUnstable()
	r.Neutral = *d.SpectralRadius >= 1 && !r.Unstable
	return r
}

// visible is the least share of a swing left when the slowest motion has gone to 1/e. Of less
// nothing is seen: a delay of any length has complex multipliers that are gone long before.
const visible = 0.05

// Swing returns the period of the slowest motion that swings, in steps, at least two spans of a
// multiplier. left is the share of an amplitude after one cycle. It is found from the onset of
// oscillation on, as in the map, if it is visible beside the slowest motion of all. Where a motion
// grows it has to grow fastest.
func (r *Rest) Swing() (period, left float64, found bool) {
	largest, all := 0.0, 0.0
	for _, m := range r.Dynamics.Multipliers {
		angle, modulus := math.Abs(math.Atan2(m[1], m[0])), math.Hypot(m[0], m[1])
		all = max(all, modulus)
		if angle > 1e-9 && modulus > largest {
			largest = modulus
			cycle := 2 * math.Pi / angle // in spans
			span := float64(r.settings.Lag.StepsPerSnapshot())
			period, left, found = cycle*span, fp.Pow(modulus, cycle), true
		}
	}
	if all >= 1 {
		return period, left, found && largest >= all*(1-1e-9) // equal but for rounding
	}
	onset := r.Dynamics.OscillationLearningRate
	return period, left, found && fp.Pow(largest, -1/math.Log(all)) >= visible &&
		(onset == nil || r.settings.Optimizer.LearningRate >= *onset)
}

// Says returns the answer in a sentence without a full stop.
func (r *Rest) Says() string {
	v, mean := r.at.Variance, r.at.Mean
	if r.Dynamics == nil {
		switch {
		case mean.Out():
			return "No state at rest is predicted: " +
				strings.TrimPrefix(mean.Because.String(), "no stationary state: ")
		case v.Out():
			return fmt.Sprintf("Runs rest at a mean J of %.4g ± %.1g; its fluctuation is not known: %s",
				mean.Value, mean.Size(), v.Because)
		}
		return fmt.Sprintf("Runs rest at a mean J of %.4g, which fluctuates by ± %.3g", mean.Value,
			math.Sqrt(v.Value))
	}
	ringing := "without visible swings"
	switch period, left, swings := r.Swing(); {
	case swings && left >= 0.01:
		ringing = "in swings of " + Steps(period)
	case swings && left >= 0.01*0.01: // half a period leaves the square root, with the other sign
		ringing = "with a small overshoot"
	}
	point := fmt.Sprintf("fixed point J* = %.4g", r.p.FixedPoint.Reward)
	switch {
	case r.Neutral:
		return "Neither stable nor unstable at its " + point + ": in some direction nothing moves " +
			"a displacement"
	case r.Unstable:
		sentence := fmt.Sprintf("Unstable at its %s: runs leave it %s", point, ringing)
		if x := r.Dynamics.CriticalLearningRate; x != nil && *x > 0 && *x < r.settings.Optimizer.LearningRate {
			sentence += fmt.Sprintf(". It is stable below η = %.3g", *x)
		}
		return sentence
	}
	sentence := "Stable at its " + point + ", " + ringing
	if r.at.NoiseDecides() {
		sentence = "Stable without noise" + strings.TrimPrefix(sentence, "Stable")
	}
	if n := r.Dynamics.Neutral; n > 0 {
		sentence += fmt.Sprintf(", but for %d of %d directions, in which nothing pulls back", n, len(r.p.FixedPoint.Logits)-1)
	}
	if rate := r.Dynamics.RelaxationRate; rate != nil && *rate > 0 {
		sentence += "; a small displacement is 95 % gone after " + Steps(-math.Log(0.05) / *rate)
	}
	switch {
	case r.at.NoiseDecides():
		sentence += "; how far noise carries runs is not known"
	case v.Value > 0 && !v.Judged(v.Value).Out():
		sentence += fmt.Sprintf("; J fluctuates by ± %.3g", math.Sqrt(v.Value))
	case v.Out() && !mean.Out():
		sentence += fmt.Sprintf("; in the mean J is within %.1g of J*, how much it fluctuates is not known", mean.Size())
	}
	if _, kind := r.p.Linear(); kind != rom.Exact {
		sentence += " (" + KindWords[kind] + ")"
	}
	return sentence
}

// KindWords names the kinds of a prediction.
var KindWords = map[rom.Kind]string{rom.Exact: "exact theory",
	rom.Expansion: "theory expanded in 1/G", rom.LeadingOrder: "theory to leading order"}

// Steps writes a number of steps.
func Steps(x float64) string {
	if 9.95 <= x && x < 1e6 {
		return fmt.Sprintf("%.0f steps", x)
	}
	return fmt.Sprintf("%.2g steps", x)
}
