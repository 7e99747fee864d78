package rom

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom/path"

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
		if text, _ := recover().(string); !strings.Contains(text, "rom: ") || !strings.Contains(text, want) {
			t.Errorf("panic %q, want %q", text, want)
		}
	}()
	f()
}
