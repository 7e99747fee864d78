package rest

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/linear"
)

// Frozen force, two arms, no scale: E z − z* = (2p−1)V with V the variance of
// the snapshot, for any μ, K and τ (docs/theory-neglected.md §6).
func TestShiftOfAFrozenForce(t *testing.T) {
	p := reference(option.NoScale, 0.5, 16)
	p.Optimizer.Momentum = 0.5
	for _, lag := range []option.Lag{{Kind: option.Block, Interval: 1},
		{Kind: option.Block, Interval: 5}, {Kind: option.Delay, Interval: 3}} {
		p.Lag = lag
		got := Predict(p)
		f := fixed.Fold(p)
		r := newLinearization(f, f.Reached())
		law, _ := r.newMotion(option.HeavyBall, p.Optimizer.LearningRate, p.Optimizer.Momentum,
			nil).Whole.Law()
		snapshot := math.NaN()
		for _, joint := range law.Phases {
			if math.IsNaN(snapshot) {
				snapshot = 2 * joint.At(1, 1)
			}
		}
		// Second differences leave 1e-9 or so.
		near(t, "E z − z*", *got.Moments.LogitGapShift, (2*got.FixedPoint.Policy[0]-1)*snapshot, 1e-7)
	}
}

// Adam's thresholds are learning rates of Adam, not of the heavy ball that it equals near the fixed
// point while its second moments are held: at the critical one the radius of that crosses 1, at the
// onset its multipliers become complex. The state at rest is stable on either side.
func TestAdamThresholds(t *testing.T) {
	p := reference(option.NoScale, 0.5, 64).Checked()
	p.Lag = option.Lag{Kind: option.Block, Interval: 4}
	p.Optimizer = option.Optimizer{Kind: option.Adam, LearningRate: 0.1, Beta1: 0.9, Beta2: 0.999}
	d := Predict(p).LeadingOrder
	held := func(rate float64) Dynamics {
		q := p
		q.Optimizer.LearningRate = rate
		_, m, because := NewEquilibrium(q).dynamicsOf(q)
		if because.Out() {
			t.Fatal(because)
		}
		return multipliersAlone(m.Dynamics)
	}
	const step = 1e-6
	critical, onset := *d.CriticalLearningRate, *d.OscillationLearningRate
	if below, above := *held(critical * (1 - step)).SpectralRadius,
		*held(critical * (1 + step)).SpectralRadius; below >= 1 || above <= 1 {
		t.Errorf("at the critical rate %g the radius goes from %g to %g", critical, below, above)
	}
	if below, above := held(onset * (1 - step)).Multipliers[0][1],
		held(onset * (1 + step)).Multipliers[0][1]; below != 0 || above == 0 {
		t.Errorf("at the onset %g the imaginary part goes from %g to %g", onset, below, above)
	}
	p.Optimizer.LearningRate = 2 * critical
	if r := *Predict(p).LeadingOrder.SpectralRadius; r >= 1 {
		t.Errorf("at twice the critical rate the radius at rest is %g", r)
	}
}

// Where the linear variance of J vanishes, that of its quadratic part remains: the bound of
// the second order is no smaller.
func TestBoundContainsTheQuadraticPart(t *testing.T) {
	const gap, quadratic = 0.04, 3e-7
	if got := secondOrderBound(0, gap, quadratic).RewardVariance; !(got >= quadratic) {
		t.Errorf("without linear variance: %g, want at least %g", got, quadratic)
	}
	if got, want := secondOrderBound(1e-3, gap, quadratic).RewardVariance,
		secondOrderBound(1e-3, gap, 0).RewardVariance+quadratic; !(got >= want) {
		t.Errorf("with linear variance: %g, want at least %g", got, want)
	}
}

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
