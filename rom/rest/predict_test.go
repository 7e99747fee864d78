package rest

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/linear"
	"grposim/rom/paper"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
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

// The sufficient rule admits no unstable mode (docs/theory.md §5).
func TestSufficientRuleIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lag := option.Lag{
			Kind:     rapid.SampledFrom(option.LagKinds).Draw(t, "kind"),
			Interval: rapid.IntRange(1, 24).Draw(t, "age"), Behind: rapid.IntRange(0, 3).Draw(t, "behind"),
			Ages: anyAges(rapid.IntRange(0, 2).Draw(t, "law"), rapid.IntRange(0, 24).Draw(t, "from"),
				rapid.Uint64().Draw(t, "weights")),
		}
		number := func(x float64) *mat.Dense { return mat.NewDense(1, 1, []float64{x}) }
		l := &linear.System{
			Fresh: number(rapid.Float64Range(-3, 3).Draw(t, "fresh")),
			Stale: number(rapid.Float64Range(-3, 3).Draw(t, "stale")),
			Update: linear.Update{Momentum: rapid.Float64Range(0, 0.99).Draw(t, "mu"),
				Lag: linear.NewLag(&lag)},
		}
		mode := l.Mode(l.Fresh.At(0, 0), l.Stale.At(0, 0))
		if mode.Total() < 1e-3 {
			return
		}
		rate := *paper.Sufficient([]linear.Mode{mode}).CriticalLearningRate *
			rapid.Float64Range(0.5, 1-1e-9).Draw(t, "share")
		if r := radiusAt(l, rate, l.Lag); r > 1+1e-10 {
			t.Fatalf("%+v at η = %v: radius %v", mode, rate, r)
		}
	})
}

// anyAges returns a law of ages; the weights of a table are the bits of a word.
func anyAges(law, from int, weights uint64) option.Ages {
	a := option.Ages{Law: option.AgeLaw(law), From: from, To: from + int(weights%8),
		Mean: 0.1 + float64(weights%1000)/50}
	a.Weights[0] = 1e-3
	for age := range 24 {
		a.Weights[age] += float64(weights >> age & 1)
	}
	return a
}

// A folded bandit gives the same predictions as the bandit arm by arm: every
// multiplier, threshold and moment, for all estimators and both lags.
func TestFoldingChangesNothing(t *testing.T) {
	base := cell.Params{
		Arms:      []option.Arm{{Mean: 0.8}, {Mean: 0.3}, {Mean: 0.8}, {Mean: 0.8}, {Mean: 0.3}},
		Reference: []float64{0, 0, 0, 0, 0},
		Estimator: option.Estimator{GroupSize: 64, GroupsPerStep: 4, KL: option.KL{Coefficient: 0.8},
			Importance: option.Importance{ClipLow: 0.2, ClipHigh: 0.2}},
		Lag:       option.Lag{Kind: option.Block, Interval: 3},
		Optimizer: option.Optimizer{LearningRate: 0.2, Momentum: 0.5},
		Factors:   cell.Unit,
	}
	tried := 0
	everyEstimator(base, func(p cell.Params) {
		if tried++; tried%Thin != 0 {
			return
		}
		if p.Advantage.Baseline == option.LeaveOneOut || p.Advantage.Std == option.SampleStd {
			return
		}
		for _, lag := range []option.Lag{{Kind: option.Block, Interval: 3},
			{Kind: option.Delay, Interval: 2}} {
			p.Lag = lag
			folded := Predict(p)
			whole := fixed.Unmerged(p)
			f := fixed.Fold(p)
			r := newLinearization(whole, f.Unfold(f.Reached()))
			m := r.newMotion(p.Optimizer.Kind, p.Optimizer.LearningRate, p.Optimizer.Momentum, nil)
			want := Prediction{ForceKind: scope.Exact, Exact: Dynamics{Scope: scope.Scope{In: true}}}
			values := linear.Multipliers(m.Whole.Monodromy())
			for i, z := range folded.Exact.Multipliers {
				// Sorting may exchange equal moduli, and the copies of a symmetric multiplier are n-fold
				// eigenvalues, which differ by at most the square root of rounding.
				if d := math.Abs(cmplx.Abs(complex(z[0], z[1])) - cmplx.Abs(values[i])); d > 1e-7 {
					t.Fatalf("%+v: multiplier %d differs by %v", p, i, d)
				}
			}
			near(t, "radius", *folded.Exact.SpectralRadius, cmplx.Abs(values[0]), 1e-10)
			want.Exact.SpectralRadius = folded.Exact.SpectralRadius
			r.stationary(&want, p, m)
			near(t, "Var J", *folded.Exact.StationaryVariance.ExpectedReward,
				*want.Exact.StationaryVariance.ExpectedReward, 1e-9)
			// Second differences are good to 1e-9 or so of the force's curvature.
			near(t, "E J shift", *folded.Moments.RewardShift, *want.Moments.RewardShift, 1e-5)
			near(t, "zero variance", *folded.Moments.ZeroVariance, *want.Moments.ZeroVariance, 1e-5)
			if folded.Noise != want.Noise {
				t.Errorf("noise scope %v, arm by arm %v", folded.Noise, want.Noise)
			}
		}
	})
}

// A decoupled bandit gives the same thresholds through matrices as through its
// modes: to the resolution of the matrix scan's refinement.
func TestMatrixThresholdsAgainstModes(t *testing.T) {
	p := reference(option.StdScale, 1.2, 32)
	p.Arms = []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0.5}, {Mean: 0.7}}
	p.Reference = []float64{0, 0.5, 0, -0.3}
	p.Optimizer.Momentum = 0.8
	for _, lag := range []option.Lag{{Kind: option.Block, Interval: 1},
		{Kind: option.Block, Interval: 4}, {Kind: option.Delay, Interval: 3}} {
		p.Lag = lag
		f := fixed.Fold(p)
		r := newLinearization(f, f.Reached())
		m := r.newMotion(option.HeavyBall, p.Optimizer.LearningRate, p.Optimizer.Momentum, nil)
		if m.Mixed {
			t.Fatal("the modes of a frozen force are coupled")
		}
		through := &linear.Dynamics{Whole: m.Whole, Mixed: true}
		near(t, "critical rate", through.Threshold(linear.CriticalRate).At,
			m.Threshold(linear.CriticalRate).At, 1e-9)
		// The onset is a double root: rounding in the matrix shows as its square
		// root, against the threshold 1e-6 of oscillates.
		near(t, "onset", through.Threshold(linear.OnsetRate).At, m.Threshold(linear.OnsetRate).At, 1e-5)
		least := m.Threshold(linear.CriticalInterval)
		if k := through.Threshold(linear.CriticalInterval); least.At < 30 && k != least {
			t.Errorf("%+v: critical interval %v, by modes %v", lag, k, least)
		}
	}
}

// The relative mode of a class of equal arms has the stiffness and the noise that the bandit
// arm by arm has along (e_a − e_b)/√2, a and b two arms of the class.
func TestRelativeModesArmByArm(t *testing.T) {
	p := cell.Params{Estimator: option.Estimator{GroupSize: 64, GroupsPerStep: 4,
		KL: option.KL{Coefficient: 0.8}}, Lag: option.Lag{Kind: option.Block, Interval: 3},
		Optimizer: option.Optimizer{LearningRate: 0.2, Momentum: 0.5}, Factors: cell.Unit}
	for a := range 10 {
		p.Arms = append(p.Arms, option.Arm{Mean: 0.3 + 0.5*float64(a%2)})
		p.Reference = append(p.Reference, 0)
	}
	p = p.Checked()
	f := fixed.Fold(p)
	l := newLinearization(f, f.Reached())
	whole := newLinearization(fixed.Unmerged(p), f.Unfold(f.Reached()))
	if len(l.relatives) != 2 {
		t.Fatalf("%d relative modes, want 2", len(l.relatives))
	}
	for _, x := range l.relatives {
		a := slices.Index(f.Class, x.class)
		b := a + 1 + slices.Index(f.Class[a+1:], x.class)
		along := func(m mat.Matrix) float64 {
			return 0.5 * (m.At(a, a) + m.At(b, b) - m.At(a, b) - m.At(b, a))
		}
		near(t, "noise", x.noise, along(whole.noise), 1e-9)
		near(t, "fresh stiffness", x.Fresh, along(whole.fresh), 1e-9)
		near(t, "stale stiffness", x.Stale, along(whole.stale), 1e-9)
	}
}
