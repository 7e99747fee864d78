package linear

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Root returns a zero of f between a and b, where f must have opposite signs; fa = f(a). It narrows
// the bracket to the precision of floating point, a relative width of 2e-16.
func Root(f func(float64) float64, a, b, fa float64) float64 {
	if fa == 0 {
		return a
	}
	// Regula falsi (Illinois); bisection whenever that does not halve the bracket.
	fb := f(b)
	if fb == 0 {
		return b
	}
	for range 200 {
		width := b - a
		x := a - fa*(b-a)/(fb-fa)
		if !(math.Min(a, b) < x && x < math.Max(a, b)) {
			x = a + 0.5*(b-a)
		}
		for range 2 {
			fx := f(x)
			if fx == 0 {
				return x
			}
			if (fx < 0) == (fa < 0) {
				a, fa = x, fx
				fb *= 0.5
			} else {
				b, fb = x, fx
				fa *= 0.5
			}
			if math.Abs(b-a) <= 0.5*math.Abs(width) {
				break
			}
			x = a + 0.5*(b-a)
		}
		if math.Abs(b-a) <= 2e-16*math.Max(math.Abs(a), math.Abs(b)) {
			break
		}
	}
	return a + 0.5*(b-a)
}

// Golden returns the maximum of f, which must be unimodal on [a, b], and its place
// x by golden-section search. x is good to the square root of machine precision.
func Golden(f func(float64) float64, a, b float64) (x, value float64) {
	ratio := 0.5 * (math.Sqrt(5) - 1)
	c, d := b-ratio*(b-a), a+ratio*(b-a)
	fc, fd := f(c), f(d)
	for range 60 {
		if fc > fd {
			b, d, fd = d, c, fc
			c = b - ratio*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + ratio*(b-a)
			fd = f(d)
		}
	}
	if fc > fd {
		return c, fc
	}
	return d, fd
}

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
