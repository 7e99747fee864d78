package rom

import (
	"math"
	"reflect"
	"testing"

	"grposim/option"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Frozen force, two arms, no scale: E z − z* = (2p−1)V with V the variance of
// the snapshot, for any μ, K and τ (docs/theory-neglected.md §6).
func TestShiftOfAFrozenForce(t *testing.T) {
	p := reference(option.NoScale, 0.5, 16)
	p.Optimizer.Momentum = 0.5
	for _, lag := range []option.Lag{{Kind: option.Block, Interval: 1}, {Kind: option.Block, Interval: 5}, {Kind: option.Delay, Interval: 3}} {
		p.Lag = lag
		got := Predict(p)
		f := fold(p)
		r := newLinearization(f, f.reached())
		law, _ := r.newMotion(option.HeavyBall, p.Optimizer.LearningRate, p.Optimizer.Momentum, nil).Whole.Law()
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

// params draws a valid cell, extreme ones included.
func params(t *rapid.T) Params {
	arms := rapid.IntRange(2, 5).Draw(t, "arms")
	pick := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
	p := Params{
		Estimator: option.Estimator{GroupSize: rapid.SampledFrom([]int{option.Infinite, 2, 3, 8, 64, 1000}).Draw(t, "G"), GroupsPerStep: rapid.IntRange(1, 4).Draw(t, "B"), Advantage: option.Advantage{Baseline: option.Baseline(pick("baseline", 2)), Scale: option.Scale(pick("scale", 2)), Std: option.Deviation(pick("deviation", 2)), Epsilon: rapid.SampledFrom([]float64{0, 1e-8, 0.1}).Draw(t, "epsilon")}, Importance: option.Importance{Mode: option.ImportanceMode(pick("weighting", 3)), ClipLow: 0.2, ClipHigh: 0.3}, KL: option.KL{Coefficient: rapid.SampledFrom([]float64{0, 1e-4, 0.05, 0.5, 3, 1e3}).Draw(t, "beta"), Gradient: []option.KLGradient{option.ExactKL, option.K2, option.K3}[pick("estimate", 3)], At: option.KLPoint(pick("anchor", 2))}},
		Optimizer: option.Optimizer{
			Kind:         option.Method(pick("method", 3)),
			LearningRate: rapid.SampledFrom([]float64{1e-4, 0.1, 3}).Draw(t, "eta"),
			Momentum:     rapid.SampledFrom([]float64{0, 0.5, 0.99}).Draw(t, "mu"),
			Beta1:        0.9,
			Beta2:        0.999,
			Epsilon:      1e-8,
		},
		Lag: option.Lag{
			Kind: option.LagKind(pick("lag", 3)), Interval: rapid.IntRange(1, 9).Draw(t, "age"), Behind: pick("behind", 2),
			Ages: anyAges(pick("law", 3), pick("from", 9), rapid.Uint64().Draw(t, "weights")),
		},
		Factors: Unit,
	}
	for range arms {
		p.Arms = append(p.Arms, option.Arm{
			Law:  option.Law(pick("law", 3)),
			Mean: rapid.SampledFrom([]float64{0, 0.2, 0.5, 0.95, 1}).Draw(t, "mean"),
			Std:  rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "std"),
		})
		p.Reference = append(p.Reference, rapid.Float64Range(-4, 4).Draw(t, "reference"))
	}
	if rapid.Bool().Draw(t, "measured") {
		p.Measured = &Measured{Fresh: measurement(t, "fresh", arms), Stale: measurement(t, "stale", arms)}
	}
	return p
}

// measurement draws a measured matrix: nothing, rounding, something plausible, or
// anything at all.
func measurement(t *rapid.T, name string, arms int) *mat.Dense {
	size := rapid.SampledFrom([]float64{0, 1e-12, 0.1, 1, 1e200, math.MaxFloat64, math.Inf(1)}).Draw(t, name+" size")
	m := mat.NewDense(arms, arms, nil)
	m.Apply(func(i, j int, _ float64) float64 {
		v := size * rapid.Float64Range(-1, 1).Draw(t, name)
		if size == 1 && i == j {
			v++
		}
		return v
	}, m)
	return m
}

// All numbers of a prediction for a valid cell are finite, and a second prediction is
// the same; likewise for the recurrence.
func checkPrediction(t *rapid.T) {
	p := params(t)
	got := Predict(p)
	if all := faults(got); len(all) > 0 {
		t.Fatalf("%+v: %v", p, all)
	}
	if logits, scope := Refreshed(p, p.Reference); scope.In == (logits == nil) || scope.In == (scope.Because.Out()) || !linear.IsFinite(logits...) {
		t.Fatalf("%+v: refreshed %v, %+v", p, logits, scope)
	}
	if !reflect.DeepEqual(got, Predict(p)) {
		t.Fatalf("%+v: the second prediction differs", p)
	}
	force := make([]float64, len(p.Arms))
	for _, point := range FixedPoints(p) {
		MeanForce(force, p, point.Logits, point.Logits)
		// E[g] = 0 to rounding of the penalty's own terms, β|ℓ| of them.
		scale := 1 + p.KL.Coefficient
		for a, l := range point.Logits {
			scale = max(scale, p.KL.Coefficient*math.Abs(l-p.Reference[a]))
		}
		if linear.Norm(force) > 1e-11*scale {
			t.Fatalf("%+v: force %v at a fixed point", p, force)
		}
	}
}

func TestPredictionsAreNumbers(t *testing.T) { rapid.Check(t, checkPrediction) }

// One Equilibrium serves any optimizer and lag, in any order: its predictions equal
// those of Predict to the last bit.
func TestPredictionsShareTheStateAtRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := params(t)
		if len(p.Arms) > 3 {
			t.Skip("with more arms a hundred trials take most of a minute")
		}
		known := NewEquilibrium(p)
		same := func(what string, got, want Prediction) {
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s of %+v: %+v, by itself %+v", what, p, got, want)
			}
		}
		other := params(t)
		rules, whole := known.PredictPart(p.Optimizer, p.Lag, RulesAlone), Predict(p)
		if whole.FixedPoint != nil {
			rules.Exact, rules.LeadingOrder, rules.Noise = whole.Exact, whole.LeadingOrder, whole.Noise
			rules.Moments, rules.Neglected, rules.Adam = whole.Moments, whole.Neglected, whole.Adam
		}
		same("rules", rules, whole)
		same("motion", known.PredictPart(p.Optimizer, p.Lag, DynamicsAlone), NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, DynamicsAlone))
		p.Optimizer.LearningRate *= 1.5 // the onset is the same
		same("motion", known.PredictPart(p.Optimizer, p.Lag, DynamicsAlone), NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, DynamicsAlone))
		known.Predict(p.Optimizer, p.Lag)
		p.Optimizer.LearningRate *= 1.5 // the critical rate is the same
		same("prediction", known.Predict(p.Optimizer, p.Lag), Predict(p))
		p.Lag.Interval++ // the critical interval is the same
		same("prediction", known.Predict(p.Optimizer, p.Lag), Predict(p))
		p.Lag = other.Lag
		same("motion", known.PredictPart(p.Optimizer, p.Lag, DynamicsAlone), NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, DynamicsAlone))
		p.Optimizer = other.Optimizer
		same("prediction", known.Predict(p.Optimizer, p.Lag), Predict(p))
	})
}

func FuzzPredict(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkPrediction)) }

// Adam's thresholds are learning rates of Adam, not of the heavy ball that it equals near the fixed
// point while its second moments are held: at the critical one the radius of that crosses 1, at the
// onset its multipliers become complex. The state at rest is stable on either side.
func TestAdamThresholds(t *testing.T) {
	p := reference(option.NoScale, 0.5, 64).checked()
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
	if below, above := *held(critical * (1 - step)).SpectralRadius, *held(critical * (1 + step)).SpectralRadius; below >= 1 || above <= 1 {
		t.Errorf("at the critical rate %g the radius goes from %g to %g", critical, below, above)
	}
	if below, above := held(onset * (1 - step)).Multipliers[0][1], held(onset * (1 + step)).Multipliers[0][1]; below != 0 || above == 0 {
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
	if got, want := secondOrderBound(1e-3, gap, quadratic).RewardVariance, secondOrderBound(1e-3, gap, 0).RewardVariance+quadratic; !(got >= want) {
		t.Errorf("with linear variance: %g, want at least %g", got, want)
	}
}
