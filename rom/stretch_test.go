package rom

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The third cumulants after many steps are the same by one stretch and step by step.
func TestStretchIsItsSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	normals := func(n int, width float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = width * r.NormFloat64()
		}
		return x
	}
	const size = 4
	symmetric := func() *mat.Dense {
		m := mat.NewDense(size, size, normals(size*size, 1))
		return linear.Congruence(m, linear.Identity(size))
	}
	var curved, slope []float64 // symmetric in what is before, and in what is after
	for range size {
		slope = append(slope, symmetric().RawMatrix().Data...)
		curved = append(curved, symmetric().RawMatrix().Data...)
	}
	curved = new(linear.Rotator).Rotate(linear.Identity(size), curved, make([]float64, len(curved)))
	skew := linear.Transform(mat.NewDense(size, size, normals(size*size, 1)), 3, diagonal(size))
	f := mat.NewDense(size, size, normals(size*size, 0.4))
	step := newStretch(f, symmetric(), curved, slope, [][]float64{skew, diagonal(size)})
	for _, count := range []int{1, 2, 3, 7, 50} {
		state := symmetric()
		want := [][]float64{diagonal(size), diagonal(size)}
		got := [][]float64{diagonal(size), diagonal(size)}
		whole := step.times(count)
		whole.pass(state, got)
		for range count {
			step.pass(state, want)
			state = linear.Congruence(f, state)
			state.Add(state, step.noise)
		}
		for i := range want {
			if off := floats.Distance(got[i], want[i], math.Inf(1)); !(off < 1e-12*floats.Norm(want[i], math.Inf(1))) {
				t.Errorf("%d steps: cumulant %d is off by %g of %g", count, i, off, floats.Norm(want[i], math.Inf(1)))
			}
		}
	}
}

// diagonal returns the tensor of rank 3 with the entries 1, 2, … at its places iii.
func diagonal(n int) []float64 {
	t := make([]float64, n*n*n)
	for i := range n {
		t[(i*n+i)*n+i] = float64(i + 1)
	}
	return t
}
