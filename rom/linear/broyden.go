package linear

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Broyden finds a zero of f near x, by Broyden's first method from the identity as derivative. It
// returns nil if the norm is above tolerance after the given attempts. f returns its value and
// norm, +Inf outside its domain. A step that leaves the domain or makes the norm much larger is
// halved.
func Broyden(f func(x []float64) (value []float64, norm float64), x []float64, tolerance float64, attempts int) []float64 {
	const grows = 1.5 // by which factor the norm may grow in one step
	n := len(x)
	x = slices.Clone(x)
	value, norm := f(x)
	inverse := Identity(n)
	for attempts--; norm > tolerance && attempts > 0; {
		var step mat.VecDense
		step.MulVec(inverse, mat.NewVecDense(n, value))
		var next, there []float64
		size := math.Inf(1)
		for share := -1.0; attempts > 0 && !(size <= grows*norm); share /= 2 {
			next = slices.Clone(x)
			floats.AddScaled(next, share, step.RawVector().Data)
			there, size = f(next)
			attempts--
		}
		if there == nil || math.IsInf(size, 1) {
			return nil
		}
		moved, changed := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		for i := range n {
			moved.SetVec(i, next[i]-x[i])
			changed.SetVec(i, there[i]-value[i])
		}
		// B⁻¹ ← B⁻¹ + (s − B⁻¹y) sᵀB⁻¹/(sᵀB⁻¹y)
		var predicted, row mat.VecDense
		predicted.MulVec(inverse, changed)
		row.MulVec(inverse.T(), moved)
		if scale := mat.Dot(moved, &predicted); scale != 0 {
			predicted.SubVec(moved, &predicted)
			var outer mat.Dense
			outer.Outer(1/scale, &predicted, &row)
			inverse.Add(inverse, &outer)
		}
		x, value, norm = next, there, size
	}
	if norm <= tolerance {
		return x
	}
	return nil
}
