package linear_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grposim/rom/linear"
)

// The axes of a matrix do not depend on its scale, down to the smallest numbers.
func TestAxesOfTinyMatrices(t *testing.T) {
	for _, exponent := range []int{0, -300, -600, -1000} {
		m := mat.NewSymDense(3, []float64{2, 1, 0, 1, 2, 0, 0, 0, 5})
		m.ScaleSym(math.Ldexp(1, exponent), m)
		values, vectors := linear.Axes(m)
		for i, want := range []float64{1, 3, 5} {
			if got := math.Ldexp(values[i], -exponent); math.Abs(got-want) > 1e-12 {
				t.Errorf("2^%d: eigenvalue %d is %v, want %v", exponent, i, got, want)
			}
		}
		if got := math.Abs(vectors.At(2, 2)); math.Abs(got-1) > 1e-12 {
			t.Errorf("2^%d: the largest axis has the entry %v, want 1", exponent, got)
		}
	}
}
