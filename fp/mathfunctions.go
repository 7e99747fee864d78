package fp

import "math"

// Pow returns x^y, as math.Pow does.
func Pow(x, y float64) float64 {
	whole, part := math.Modf(math.Abs(y))
	if !(part > 0 && x > 0) || math.Abs(y) == 0.5 || math.IsInf(x, 1) {
		return math.Pow(x, y) // without an exponential
	}
	if part > 0.5 {
		part--
		whole++
	}
	product, exponent := MathExp(part*math.Log(x)), 0
	base, doublings := math.Frexp(x)
	for n := int64(whole); n != 0; n >>= 1 {
		if doublings < -1<<12 || 1<<12 < doublings { // out of range, whatever follows
			exponent += doublings
			break
		}
		if n&1 == 1 {
			product *= base
			exponent += doublings
		}
		base *= base
		doublings <<= 1
		if base < 0.5 {
			base += base
			doublings--
		}
	}
	if y < 0 {
		product, exponent = 1/product, -exponent
	}
	return math.Ldexp(product, exponent)
}

// Cosh returns the hyperbolic cosine of x, as math.Cosh does.
func Cosh(x float64) float64 {
	e := MathExp(math.Abs(x))
	if math.Abs(x) <= 21 {
		e += 1 / e
	}
	return e * 0.5
}

// Erfc returns 1 − erf(x), as math.Erfc does. For |x| in [1.25, 28) it has FreeBSD's s_erf.c:
//
//	erfc(x) = e^(−x² − 0.5625 + R(1/x²)/S(1/x²))/x,   below 1/0.35 by one R/S, above by another.
//
// The square in the exponent is split so that its first part is exact.
func Erfc(x float64) float64 {
	size := math.Abs(x)
	if !(size >= 1.25 && size < 28) || x < -6 {
		return math.Erfc(x) // without an exponential
	}
	s := 1 / (size * size)
	r, q := polynomial(nearNumerator[:], s), polynomial(nearDenominator[:], s)
	if size >= 1/0.35 {
		r, q = polynomial(farNumerator[:], s), polynomial(farDenominator[:], s)
	}
	high := math.Float64frombits(math.Float64bits(size) &^ (1<<32 - 1))
	y := MathExp(float64(-high*high)-0.5625) * MathExp(float64((high-size)*(high+size))+r/q) / size
	if x < 0 {
		return 2 - y
	}
	return y
}

// polynomial returns c[0] + c[1] x + c[2] x² + …
func polynomial(c []float64, x float64) (sum float64) {
	for i := len(c) - 1; i >= 0; i-- {
		sum = c[i] + float64(x*sum)
	}
	return sum
}

// The coefficients of Erfc, as in FreeBSD's s_erf.c. Copyright (C) 1993 by Sun Microsystems, Inc.
// All rights reserved. Permission to use, copy, modify, and distribute this software is freely
// granted, provided that this notice is preserved.
var (
	nearNumerator = [...]float64{
		-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01, -6.23753324503260060396e+01,
		-1.62396669462573470355e+02, -1.84605092906711035994e+02, -8.12874355063065934246e+01, -9.81432934416914548592e+00,
	}
	nearDenominator = [...]float64{
		1, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
		6.45387271733267880336e+02, 4.29008140027567833386e+02, 1.08635005541779435134e+02, 6.57024977031928170135e+00,
		-6.04244152148580987438e-02,
	}
	farNumerator = [...]float64{
		-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01, -1.60636384855821916062e+02,
		-6.37566443368389627722e+02, -1.02509513161107724954e+03, -4.83519191608651397019e+02,
	}
	farDenominator = [...]float64{
		1, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
		3.19985821950859553908e+03, 2.55305040643316442583e+03, 4.74528541206955367215e+02, -2.24409524465858183362e+01,
	}
)
