package linear

import "math"

// Root returns a zero of f between a and b, where f must have opposite signs;
// fa = f(a). It narrows the bracket to the precision of floating point, a relative
// width of 2e-16.
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
