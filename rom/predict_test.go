package rom

import (
	"math"
	"reflect"
	"testing"

	"grposim/option"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/rest"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

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
	if logits, scope := fixed.Refreshed(p, p.Reference); scope.In == (logits == nil) || scope.In == (scope.Because.Out()) || !linear.IsFinite(logits...) {
		t.Fatalf("%+v: refreshed %v, %+v", p, logits, scope)
	}
	if !reflect.DeepEqual(got, Predict(p)) {
		t.Fatalf("%+v: the second prediction differs", p)
	}
	pushed := make([]float64, len(p.Arms))
	for _, point := range fixed.Points(p) {
		force.Mean(pushed, p, point.Logits, point.Logits)
		// E[g] = 0 to rounding of the penalty's own terms, β|ℓ| of them.
		scale := 1 + p.KL.Coefficient
		for a, l := range point.Logits {
			scale = max(scale, p.KL.Coefficient*math.Abs(l-p.Reference[a]))
		}
		if linear.Norm(pushed) > 1e-11*scale {
			t.Fatalf("%+v: force %v at a fixed point", p, pushed)
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
		known := rest.NewEquilibrium(p)
		same := func(what string, got, want Prediction) {
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s of %+v: %+v, by itself %+v", what, p, got, want)
			}
		}
		other := params(t)
		rules, whole := known.PredictPart(p.Optimizer, p.Lag, rest.RulesAlone), Predict(p)
		if whole.FixedPoint != nil {
			rules.Exact, rules.LeadingOrder, rules.Noise = whole.Exact, whole.LeadingOrder, whole.Noise
			rules.Moments, rules.Neglected, rules.Adam = whole.Moments, whole.Neglected, whole.Adam
		}
		same("rules", rules, whole)
		same("motion", known.PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone), rest.NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone))
		p.Optimizer.LearningRate *= 1.5 // the onset is the same
		same("motion", known.PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone), rest.NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone))
		known.Predict(p.Optimizer, p.Lag)
		p.Optimizer.LearningRate *= 1.5 // the critical rate is the same
		same("prediction", known.Predict(p.Optimizer, p.Lag), Predict(p))
		p.Lag.Interval++ // the critical interval is the same
		same("prediction", known.Predict(p.Optimizer, p.Lag), Predict(p))
		p.Lag = other.Lag
		same("motion", known.PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone), rest.NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone))
		p.Optimizer = other.Optimizer
		same("prediction", known.Predict(p.Optimizer, p.Lag), Predict(p))
	})
}

func FuzzPredict(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkPrediction)) }

// anyAges returns a law of ages; the weights of a table are the bits of a word.
func anyAges(law, from int, weights uint64) option.Ages {
	a := option.Ages{Law: option.AgeLaw(law), From: from, To: from + int(weights%8), Mean: 0.1 + float64(weights%1000)/50}
	a.Weights[0] = 1e-3
	for age := range 24 {
		a.Weights[age] += float64(weights >> age & 1)
	}
	return a
}
