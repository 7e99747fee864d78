package fixed

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
)

// A linearly implicit step solves (D_n/h + Λ)δ = g, by the matrices of StiffnessAt, and moves no
// common shift of the logits. Where the matrix is singular, there is none.
func TestImplicitStep(t *testing.T) {
	p := cell.Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0.2}, {Mean: 0.5}},
		Estimator: option.Estimator{GroupSize: 8, KL: option.KL{Coefficient: 1.2, At: option.AtSnapshot}},
	}
	f, logits := Fold(p.Checked()), []float64{0.5, -1, 0.2}
	fresh, stale := force.Stiffness(f.Params, logits)
	m := force.New(&f.Params)
	at := f.implicitAt(m, logits)
	for _, h := range []float64{0.5, 1e6, math.Inf(1)} {
		step, shift := at.step(h), 0.0
		for a, force := range at.force {
			sum := f.Count[a] / h * step[a]
			for b, x := range step {
				sum += (fresh.At(a, b) + stale.At(a, b)) * x
			}
			if !(math.Abs(sum-force) < 1e-13) {
				t.Errorf("h = %v, class %d: %v, want the force %v", h, a, sum, force)
			}
			shift += f.Count[a] * step[a]
		}
		if !(math.Abs(shift) < 1e-13*linear.Norm(step)) {
			t.Errorf("h = %v: the logits shift by %v", h, shift)
		}
	}
	at.stiffness.Zero()
	if step := at.step(math.Inf(1)); step != nil {
		t.Errorf("step %v of a singular matrix", step)
	}
}
