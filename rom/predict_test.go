package rom

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/paper"
	"grposim/rom/path"
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
			Kind: option.LagKind(pick("lag", 3)), Interval: rapid.IntRange(1, 9).Draw(t, "age"),
			Behind: pick("behind", 2),
			Ages:   anyAges(pick("law", 3), pick("from", 9), rapid.Uint64().Draw(t, "weights")),
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

// measurement draws a measured matrix: nothing, rounding, something plausible, or anything at all.
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
	if logits, scope := fixed.Refreshed(p, p.Reference); scope.In == (logits == nil) ||
		scope.In == (scope.Because.Out()) || !linear.IsFinite(logits...) {
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
		aged := p.Lag.Kind == option.Random && p.Optimizer.Kind == option.Adam
		if len(p.Arms) > 3 || aged {
			t.Skip("with more arms, or ages under Adam, some trials take minutes")
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
			rules.Moments, rules.MeanKnown = whole.Moments, whole.MeanKnown
			rules.Neglected, rules.Adam = whole.Neglected, whole.Adam
		}
		same("rules", rules, whole)
		same("motion", known.PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone),
			rest.NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone))
		p.Optimizer.LearningRate *= 1.5 // the onset is the same
		same("motion", known.PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone),
			rest.NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone))
		known.Predict(p.Optimizer, p.Lag)
		p.Optimizer.LearningRate *= 1.5 // the critical rate is the same
		same("prediction", known.Predict(p.Optimizer, p.Lag), Predict(p))
		p.Lag.Interval++ // the critical interval is the same
		same("prediction", known.Predict(p.Optimizer, p.Lag), Predict(p))
		p.Lag = other.Lag
		same("motion", known.PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone),
			rest.NewEquilibrium(p).PredictPart(p.Optimizer, p.Lag, rest.DynamicsAlone))
		p.Optimizer = other.Optimizer
		same("prediction", known.Predict(p.Optimizer, p.Lag), Predict(p))
	})
}

func FuzzPredict(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkPrediction)) }

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

// Predict and MeanField panic with the name of a field that is out of its range.
func TestParamsOutOfRange(t *testing.T) {
	for _, c := range []struct {
		change func(p *Params)
		want   string
	}{
		{func(p *Params) { p.Arms = p.Arms[:1] }, "number of arms: got 1, want ≥ 2"},
		{func(p *Params) { p.Reference = []float64{0} },
			"Params.Reference: got 1 logits, want 2, one per arm"},
		{func(p *Params) { p.Start = []float64{0} }, "Params.Start: got 1 logits, want 2, one per arm"},
		{func(p *Params) { p.Start = []float64{0, math.Inf(1)} },
			"Params.Start: got [0 +Inf], want finite logits"},
		{func(p *Params) { p.Reference[1] = math.NaN() },
			"Params.Reference: got [0 NaN], want finite logits"},
		{func(p *Params) { p.GroupSize = 1 }, "Estimator.GroupSize: got 1, want ≥ 2"},
		{func(p *Params) { p.GroupSize = -1 }, "Estimator.GroupSize: got -1, want ≥ 2"},
		{func(p *Params) { p.Factors.Noise = -1 },
			"Params.Factors.Noise: got -1, want finite and above 0, or 0 for 1"},
		{func(p *Params) { p.Factors.Mass = math.Inf(1) },
			"Params.Factors.Mass: got +Inf, want finite and above 0, or 0 for 1"},
		{func(p *Params) { p.Measured = &Measured{} }, "Params.Measured.Fresh: got nil, want a matrix"},
		{func(p *Params) {
			p.Measured = &Measured{Fresh: mat.NewDense(2, 2, nil), Stale: mat.NewDense(2, 3, nil)}
		},
			"Params.Measured.Stale: got 2×3, want 2×2, a row per arm"},
	} {
		p := reference(option.StdScale, 1.2, 16)
		p.Arms, p.Reference = append([]option.Arm{}, p.Arms...), append([]float64{}, p.Reference...)
		c.change(&p)
		wantPanic(t, c.want, func() { Predict(p) })
		wantPanic(t, c.want, func() { path.MeanField(p, make([]float64, 2), 1, func(int, []float64) {}) })
	}
}

// A nil Reference is the uniform policy, and a factor of 0 is 1.
func TestDefaultsOfParams(t *testing.T) {
	p := reference(option.StdScale, 1.2, 16)
	p.Reference, p.Factors = []float64{0, 0}, Unit
	want := Predict(p)
	p.Reference, p.Factors = nil, Factors{}
	if got := Predict(p); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if p.Reference != nil || p.Factors != (Factors{}) {
		t.Errorf("Predict changed its caller's Params: %+v", p)
	}
}

// wantPanic fails the test unless f panics with a text that contains want.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text, _ := recover().(string); !strings.Contains(text, "rom: ") ||
			!strings.Contains(text, want) {
			t.Errorf("panic %q, want %q", text, want)
		}
	}()
	f()
}

// numbers calls visit with the name and the value of every floating-point number in
// v, following pointers.
func numbers(v reflect.Value, name string, visit func(name string, x float64)) {
	switch v.Kind() {
	case reflect.Float64:
		visit(name, v.Float())
	case reflect.Pointer:
		if !v.IsNil() {
			numbers(v.Elem(), name, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			numbers(v.Field(i), name+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			numbers(v.Index(i), fmt.Sprintf("%s[%d]", name, i), visit)
		}
	}
}

// faults lists what is wrong with a prediction: numbers that are not finite, a limit
// that contradicts its threshold, and a scope that is out without a reason.
func faults(p Prediction) (all []string) {
	numbers(reflect.ValueOf(p), "", func(name string, x float64) {
		// may be +Inf: none, and not known
		limit := strings.Contains(name, ".Searched.") || strings.Contains(name, ".Neglected.")
		if math.IsNaN(x) || math.IsInf(x, 0) && !limit || limit && x < 0 {
			all = append(all, fmt.Sprintf("%s is %v", name, x))
		}
	})
	for _, d := range []Dynamics{p.Exact, p.LeadingOrder} {
		for _, c := range []struct {
			value *float64
			limit float64
		}{
			{d.CriticalLearningRate, d.Searched.LearningRate},
			{d.CriticalRefreshInterval, d.Searched.RefreshInterval},
			{d.OscillationLearningRate, d.Searched.Onset},
		} {
			if c.value != nil && *c.value != c.limit {
				all = append(all, fmt.Sprintf("none up to %v, but at %v", c.limit, *c.value))
			}
		}
	}
	if _, err := json.Marshal(p); err != nil {
		all = append(all, err.Error())
	}
	for _, s := range []Scope{p.Exact.Scope, p.LeadingOrder.Scope, p.Noise} {
		if s.In == (s.Because.Out()) {
			all = append(all, fmt.Sprintf("scope %+v", s))
		}
	}
	for _, r := range []paper.Rule{p.PaperRule, p.RuleAtStiffness, p.RuleAtLargestAge, p.SufficientRule} {
		if (r.CriticalLearningRate == nil) != r.Because.Out() {
			all = append(all, fmt.Sprintf("rule %+v", r))
		}
	}
	if m := p.Moments; p.Noise.In &&
		(m.RewardVariance == nil || (m.RewardShift == nil || m.ZeroVariance == nil) != m.Because.Out()) {
		all = append(all, fmt.Sprintf("moments %+v", m))
	}
	return all
}

// extreme pushes one setting to the edge of its valid range.
type extreme struct {
	name string
	push func(p *Params)
}

var extremes = []extreme{
	{"rate 1e300", func(p *Params) { p.Optimizer.LearningRate = 1e300 }},
	{"rate 1e-300", func(p *Params) { p.Optimizer.LearningRate = 1e-300 }},
	{"strength 1e300", func(p *Params) { p.KL.Coefficient = 1e300 }},
	{"strength 1e-300", func(p *Params) { p.KL.Coefficient = 1e-300 }},
	{"means 1e200", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Constant, Mean: 1e200}, {Law: option.Constant, Mean: -1e200}}
	}},
	{"normal means 1e200", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Normal, Mean: 1e200, Std: 1},
			{Law: option.Normal, Mean: -1e200, Std: 1e100}}
	}},
	{"normal means 1e100", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Normal, Mean: 1e100, Std: 1e-100},
			{Law: option.Normal, Mean: -1e100, Std: 1}}
	}},
	{"rewards over the range", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Constant, Mean: math.MaxFloat64},
			{Law: option.Constant, Mean: -math.MaxFloat64}}
	}},
	{"rewards 2e-308 apart", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Constant, Mean: option.SmallestNormal}, {Law: option.Constant}}
	}},
	{"a constant among densities", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Constant, Mean: 1e200}, {Law: option.Normal, Std: 1e-200},
			{Law: option.Bernoulli, Mean: 0.5}}
		p.Reference = append(p.Reference[:2:2], 0)
	}},
	{"references ±1e6", func(p *Params) { p.Reference[0], p.Reference[1] = 1e6, -1e6 }},
	{"references ∓1e6", func(p *Params) { p.Reference[0], p.Reference[1] = -1e6, 1e6 }},
	{"references ±1e308", func(p *Params) { p.Reference[0], p.Reference[1] = -1e308, 1e308 }},
	{"momentum 1-1e-16",
		func(p *Params) { p.Optimizer.Momentum, p.Optimizer.Beta1 = 1-1e-16, 1-1e-16 }},
	{"momentum 0", func(p *Params) { p.Optimizer.Momentum, p.Optimizer.Beta1 = 0, 0 }},
	{"epsilon 1e300", func(p *Params) { p.Advantage.Epsilon, p.Optimizer.Epsilon = 1e300, 1e300 }},
	{"epsilon 0", func(p *Params) { p.Advantage.Epsilon, p.Optimizer.Epsilon = 0, 0 }},
	{"G = 2^31", func(p *Params) { p.GroupSize = 1 << 31 }},
	{"G = ∞", func(p *Params) { p.GroupSize = option.Infinite }},
	{"G = 2", func(p *Params) { p.GroupSize = 2 }},
	{"B = 2^53", func(p *Params) { p.GroupsPerStep = 1 << 53 }},
	{"delay 2^53", func(p *Params) { p.Lag = delay(1 << 53) }},
	{"delay 300", func(p *Params) { p.Lag = delay(300) }},
	{"delay 78", func(p *Params) { p.Lag = delay(78) }},
	{"block 2^53", func(p *Params) { p.Lag = block(1 << 53) }},
	{"block 10000", func(p *Params) { p.Lag = block(10_000) }},
	{"current penalty k3", func(p *Params) { p.KL.At, p.KL.Gradient = option.AtCurrent, option.K3 }},
	{"current penalty", func(p *Params) { p.KL.At = option.AtCurrent }},
	{"ratio", func(p *Params) { p.Importance.Mode = option.Ratio }},
	{"a clip of 1e-300", func(p *Params) {
		p.Importance.Mode, p.Importance.ClipLow, p.Importance.ClipHigh = option.Clip, 1e-300, 1e-300
	}},
	{"k2", func(p *Params) { p.KL.Gradient = option.K2 }},
	{"k3", func(p *Params) { p.KL.Gradient = option.K3 }},
	{"unscaled", func(p *Params) { p.Advantage.Scale = option.NoScale }},
	{"nesterov", func(p *Params) { p.Optimizer.Kind = option.Nesterov }},
	{"adam", func(p *Params) { p.Optimizer.Kind = option.Adam }},
}

// moderate is the cell to which extremes are applied.
func moderate() Params {
	p := reference(option.StdScale, 1.2, 16)
	p.Optimizer = option.Optimizer{LearningRate: 0.1, Momentum: 0.9, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	return p
}

// With every extreme, and with every two of them together (in a fast run one pair in
// Thin), all numbers of a prediction are finite.
func TestExtremesPredictNumbers(t *testing.T) {
	for i, first := range extremes {
		for j, second := range extremes[i:] {
			if j%Thin != 0 {
				continue
			}
			p := moderate()
			first.push(&p)
			second.push(&p)
			for _, fault := range faults(Predict(p)) {
				t.Errorf("%s, %s: %s", first.name, second.name, fault)
			}
		}
	}
}

// So they are with any combination of extremes.
func TestHeapsOfExtremesPredictNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := moderate()
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(extremes)-1), 1, 8).Draw(t, "extremes") {
			extremes[i].push(&p)
			p.Reference = append(p.Reference[:2:2], make([]float64, len(p.Arms)-2)...)
		}
		if all := faults(Predict(p)); len(all) > 0 {
			t.Fatalf("%+v: %v", p, all)
		}
	})
}

// Without scale and clip a force is a polynomial of second order in a reward, its covariance one of
// fourth, so that five nodes of Gauss and Hermite integrate a normal reward exactly.
func TestUnscaledNormalRewardsAreExact(t *testing.T) {
	nodes := [5]float64{0, 1.3556261799742659, -1.3556261799742659, 2.8569700138728056,
		-2.8569700138728056}
	chances := [5]float64{8.0 / 15, 0.22207592200561266, 0.22207592200561266, 0.011257411327720689,
		0.011257411327720689}
	base := Params{
		Arms: []option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3},
			{Law: option.Constant, Mean: 0.2}, {Law: option.Normal, Mean: -0.5, Std: 1.2}},
		Reference: []float64{0, 0.3, -0.2},
		Estimator: option.Estimator{GroupSize: 4, GroupsPerStep: 2, KL: option.KL{Coefficient: 0.4}},
		Factors:   Unit,
	}
	theta, old := []float64{0.1, 0, 0.3}, []float64{0, 0.2, -0.1}
	past := make([]float64, 3)
	cell.Softmax(past, old)
	var atoms []sample
	var chance []float64
	for a, arm := range base.Arms {
		for i, x := range nodes {
			atoms = append(atoms, sample{a, arm.Mean + arm.Std*x})
			chance = append(chance, past[a]*chances[i])
		}
	}
	for _, baseline := range []option.Baseline{option.MeanBaseline, option.LeaveOneOut} {
		for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
			p := base
			p.Advantage.Scale, p.Advantage.Baseline, p.Importance.Mode, p.KL.Gradient = option.NoScale,
				baseline, weighting, option.K2
			wantMean, wantCov := enumerate(p, theta, old, atoms, chance)
			mean, cov := exactForce(t, p, theta, old)
			for a := range mean {
				near(t, "mean", mean[a], wantMean[a], 1e-11)
				for b := range mean {
					near(t, "covariance", cov.At(a, b), wantCov.At(a, b), 1e-10)
				}
			}
		}
	}
}

// The fixed point of normal arms is off by at most what is neglected from the mean of J of 1,000
// simulated replicas at a small learning rate: four standard errors and the noise are 1e-3.
func TestFixedPointOfNormalArms(t *testing.T) {
	p := Params{Lag: block(1), Optimizer: option.Optimizer{LearningRate: 0.01}}
	p.Arms = []option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3}, {Law: option.Normal, Std: 0.3}}
	p.GroupSize, p.GroupsPerStep, p.KL = 16, 1, option.KL{Coefficient: 1.2, At: option.AtSnapshot}
	got := Predict(p)
	off, left := math.Abs(got.FixedPoint.Reward-0.83618), got.Neglected.RewardMean
	if off > 1e-3+left || left > 0.01 {
		t.Errorf("J* = %v, simulated 0.83618, neglected %.2g", got.FixedPoint.Reward, left)
	}
	p.Arms[0].Mean, p.Arms[1].Std, p.Reference = 0, 0, []float64{1, 0} // even laws of equal means
	if all := fixed.Points(p); len(all) != 1 || math.Abs(all[0].Logits[0]-0.5) > 1e-12 {
		t.Errorf("got %v, want the reference alone", all)
	}
}
