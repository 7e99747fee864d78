package rom

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// Predict and MeanField panic with the name of a field that is out of its range.
func TestParamsOutOfRange(t *testing.T) {
	for _, c := range []struct {
		change func(p *Params)
		want   string
	}{
		{func(p *Params) { p.Arms = p.Arms[:1] }, "number of arms: got 1, want ≥ 2"},
		{func(p *Params) { p.Reference = []float64{0} }, "Params.Reference: got 1 logits, want 2, one per arm"},
		{func(p *Params) { p.Start = []float64{0} }, "Params.Start: got 1 logits, want 2, one per arm"},
		{func(p *Params) { p.Start = []float64{0, math.Inf(1)} }, "Params.Start: got [0 +Inf], want finite logits"},
		{func(p *Params) { p.Reference[1] = math.NaN() }, "Params.Reference: got [0 NaN], want finite logits"},
		{func(p *Params) { p.GroupSize = 1 }, "Estimator.GroupSize: got 1, want ≥ 2"},
		{func(p *Params) { p.GroupSize = -1 }, "Estimator.GroupSize: got -1, want ≥ 2"},
		{func(p *Params) { p.Factors.Noise = -1 }, "Params.Factors.Noise: got -1, want finite and above 0, or 0 for 1"},
		{func(p *Params) { p.Factors.Mass = math.Inf(1) }, "Params.Factors.Mass: got +Inf, want finite and above 0, or 0 for 1"},
		{func(p *Params) { p.Measured = &Measured{} }, "Params.Measured.Fresh: got nil, want a matrix"},
		{func(p *Params) { p.Measured = &Measured{mat.NewDense(2, 2, nil), mat.NewDense(2, 3, nil)} },
			"Params.Measured.Stale: got 2×3, want 2×2, a row per arm"},
	} {
		p := reference(option.StdScale, 1.2, 16)
		p.Arms, p.Reference = append([]option.Arm{}, p.Arms...), append([]float64{}, p.Reference...)
		c.change(&p)
		wantPanic(t, c.want, func() { Predict(p) })
		wantPanic(t, c.want, func() { MeanField(p, make([]float64, 2), 1, func(int, []float64) {}) })
	}
}

// Every exported function that takes Params checks them, and the number of logits.
func TestExportedFunctionsCheckParams(t *testing.T) {
	good := reference(option.StdScale, 1.2, 16)
	bad := good
	bad.Arms = append([]option.Arm{}, good.Arms...)
	bad.Arms[1].Mean = math.NaN()
	ignore := func(int, []float64) {}
	for name, call := range map[string]func(p Params, logits []float64){
		"Predict":         func(p Params, _ []float64) { Predict(p) },
		"NewEquilibrium":  func(p Params, _ []float64) { NewEquilibrium(p) },
		"FixedPoints":     func(p Params, _ []float64) { FixedPoints(p) },
		"Reached":         func(p Params, _ []float64) { Reached(p) },
		"MeanForce":       func(p Params, x []float64) { MeanForce(make([]float64, 2), p, x, x) },
		"ForceCovariance": func(p Params, x []float64) { ForceCovariance(p, x, x) },
		"StiffnessAt":     func(p Params, x []float64) { StiffnessAt(p, x) },
		"ExpectedReward":  func(p Params, x []float64) { ExpectedReward(p, x) },
		"MeanField":       func(p Params, x []float64) { MeanField(p, x, 1, ignore) },
		"ClosedForm":      func(p Params, x []float64) { ClosedForm(p, x) },
		"Refreshed":       func(p Params, x []float64) { Refreshed(p, x) },
		"SkewMultiplier":  func(p Params, x []float64) { SkewMultiplier(p, x) },
	} {
		t.Run(name, func(t *testing.T) {
			wantPanic(t, "Arms[1].Mean: got NaN, want a finite number", func() { call(bad, make([]float64, 2)) })
			switch name {
			case "Predict", "NewEquilibrium", "FixedPoints", "Reached":
			default:
				wantPanic(t, "got 3 logits, want 2, one per arm", func() { call(good, make([]float64, 3)) })
			}
		})
	}
	wantPanic(t, "rom: steps: got -1, want at least 0", func() { MeanField(good, make([]float64, 2), -1, ignore) })
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
		if text, _ := recover().(string); !strings.Contains(text, "rom: ") || !strings.Contains(text, want) {
			t.Errorf("panic %q, want %q", text, want)
		}
	}()
	f()
}
