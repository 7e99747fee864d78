package advice

import (
	"math"
	"testing"

	"grposim/option"
)

func block(k int) option.Lag { return option.Lag{Kind: option.Block, Interval: k} }
func delay(k int) option.Lag { return option.Lag{Kind: option.Delay, Interval: k} }

// The limits of a measured stiffness, here of λ = 5 at η = 1, are the closed forms of one mode.
func TestGauge(t *testing.T) {
	for _, tt := range []struct {
		about string
		g     Gauge
		want  float64 // the limit
	}{
		{"on-policy, λ alone counts", Gauge{Fresh: 8, Momentum: 0.9, Lag: block(1)}, 2 * 1.9 / 5},
		{"even blocks of λ_s < 0 at μ = 0: 2/λ_f", Gauge{Fresh: 8, Lag: block(16)}, 2.0 / 8},
		// its own limit, (1 + (2λ_f/λ − 1)^{1/K})/λ_f, lies higher
		{"of an odd one that of K = 2 counts", Gauge{Fresh: 8, Lag: block(3)}, 2.0 / 8},
		{"a block, the whole force stale at μ = 0: 2/(λK)", Gauge{Lag: block(7)}, 2.0 / 35},
		{"a delay of 1, the whole force stale: (1 − μ)/λ", Gauge{Momentum: 0.5, Lag: delay(1)}, 0.1},
		{"Adam's: 1/(1 − β1) of it", Gauge{Momentum: 0.5, Adam: true, Lag: delay(1)}, 0.2},
		{"nothing stale: no lag matters", Gauge{Fresh: 5, Momentum: 0.9, Lag: block(100)}, 2 * 1.9 / 5},
	} {
		tt.g.Total, tt.g.Rate = 5, 1
		given := tt.g.Advise()
		limit, ratio, half := float64(given.Limit), float64(given.Ratio), float64(given.Suggested)
		if !(math.Abs(limit-tt.want) <= 1e-9*tt.want) {
			t.Errorf("%s: got %g, want %g", tt.about, limit, tt.want)
		}
		if math.Abs(ratio*tt.want-1) > 1e-9 || math.Abs(half*2-tt.want) > 1e-9*tt.want {
			t.Errorf("%s: the ratio is %g, half of the limit %g", tt.about, ratio, half)
		}
	}
}

// The recursion itself, step by step, grows above the limit of a gauge and decays below, and at its
// rate up to the interval that is said to be stable; without a threshold it decays at each.
func TestGaugeRecursion(t *testing.T) {
	grows := func(g Gauge, rate float64, interval int) bool {
		x, v, past := 1.0, 0.0, []float64{1}
		for step := range 40_000 {
			old := past[0]
			switch {
			case g.Lag.Kind == option.Block && step%interval == 0:
				old, past[0] = x, x
			case g.Lag.Kind == option.Delay && interval == 0:
				old = x
			}
			force := -g.Fresh*x - (g.Total-g.Fresh)*old
			if g.Lag.Kind == option.Delay && interval > 0 {
				if past = append(past, x); len(past) > interval {
					past = past[1:]
				}
			}
			if v = g.Momentum*v + force; g.Adam {
				v += (1-g.Momentum)*force - force // a mean, not a sum
			}
			if x += rate * v; math.Abs(x) > 1e6 {
				return true
			}
		}
		return false
	}
	for _, g := range []Gauge{
		{Total: 0.65, Fresh: 1, Momentum: 0.9, Rate: 0.5, Lag: block(2)},
		{Total: 2, Fresh: 1, Momentum: 0.5, Rate: 0.2, Lag: block(4)},
		{Total: 1, Fresh: 0, Momentum: 0.9, Adam: true, Rate: 0.1, Lag: block(2)},
		{Total: 2, Fresh: 1, Momentum: 0.5, Rate: 0.05, Lag: delay(3)},
	} {
		limit := float64(g.Advise().Lines[0].Value)
		if grows(g, 0.98*limit, g.Lag.Interval) || !grows(g, 1.02*limit, g.Lag.Interval) {
			t.Errorf("%+v: the limit is not at %g", g, limit)
		}
		last := float64(g.Advise().Lines[2].Value)
		if math.IsNaN(last) {
			for interval := 1; interval <= longestGauged; interval++ {
				if grows(g, g.Rate, interval) {
					t.Errorf("%+v: interval %d is not stable", g, interval)
				}
			}
			continue
		}
		if grows(g, g.Rate, int(last)) || !grows(g, g.Rate, int(last)+1) {
			t.Errorf("%+v: %g is not the largest stable interval", g, last)
		}
	}
}
