package rest

import (
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/linear"
)

// radiusAt returns the spectral radius of l at another learning rate and lag.
func radiusAt(l *linear.System, rate float64, lag linear.Lag) float64 {
	moved := *l
	moved.Rate, moved.Lag = rate, lag
	return linear.Radius(moved.Monodromy())
}

// firstUnstable checks a critical learning rate against a dense scan of the
// spectral radius of the whole map: below 1 at every one of points rates under
// it, evenly spaced, and at least 1 just above it.
func firstUnstable(t *testing.T, name string, l *linear.System, critical float64, points int) {
	t.Helper()
	at := func(rate float64) float64 { return radiusAt(l, rate, l.Lag) }
	for i := 1; i < points; i++ {
		rate := critical * float64(i) / float64(points)
		if r := at(rate); r > 1+1e-12 {
			t.Errorf("%s: radius %v at %v, before the critical learning rate %v", name, r, rate, critical)
			return
		}
	}
	if r := at(critical * (1 + 1e-8)); r < 1-1e-9 {
		t.Errorf("%s: radius %v just above the critical learning rate %v", name, r, critical)
	}
}

// Instability in windows (docs/theory.md §5: ratio, KL at the snapshot,
// μ = .9): the critical learning rate at a given K, and the critical K at a
// given learning rate, are the smallest unstable ones, whatever comes after.
func TestCriticalValuesAreTheFirstWindows(t *testing.T) {
	p := reference(option.NoScale, 0.5, option.Infinite)
	p.Importance.Mode, p.Optimizer.Momentum = option.Ratio, 0.9
	lambda := Predict(p).Stiffness.Total
	motion := func(p cell.Params) *linear.System {
		f := fixed.Fold(p)
		return newLinearization(f, f.Reached()).newMotion(
			option.HeavyBall, p.Optimizer.LearningRate, p.Optimizer.Momentum, nil).Whole
	}
	windows := 0
	for k := 1; k <= 12; k++ {
		p.Lag = option.Lag{Kind: option.Block, Interval: k}
		l := motion(p)
		critical := *Predict(p).Exact.CriticalLearningRate
		firstUnstable(t, "block", l, critical, 2000)
		for i := range 400 { // stable again somewhere beyond?
			if rate := critical * (1.01 + 0.02*float64(i)); radiusAt(l, rate, l.Lag) < 1 {
				windows++
				break
			}
		}
		p.Lag = option.Lag{Kind: option.Delay, Interval: k}
		firstUnstable(t, "delay", motion(p), *Predict(p).Exact.CriticalLearningRate, 400)
	}
	if windows < 6 {
		t.Errorf("only %d of 12 blocks have a window", windows)
	}

	for i := range 60 {
		p.Optimizer.LearningRate, p.Lag = 0.02*float64(i+1)/lambda,
			option.Lag{Kind: option.Block, Interval: 1}
		l := motion(p)
		first := 0
		for k := 1; k <= 40 && first == 0; k++ {
			if radiusAt(l, p.Optimizer.LearningRate,
				linear.NewLag(&option.Lag{Kind: option.Block, Interval: k})) >= 1 {
				first = k
			}
		}
		d := Predict(p).Exact
		if got := d.CriticalRefreshInterval; first > 0 && (got == nil || *got != float64(first)) ||
			first == 0 && got != nil && *got <= 40 {
			t.Errorf("ηλ = %v: critical interval %v, the first unstable is %d", 0.02*float64(i+1), got,
				first)
		}
	}
}
