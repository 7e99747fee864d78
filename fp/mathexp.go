//go:build !js

package fp

import "math"

// ln 2 = mathLn2Hi + mathLn2Lo, of which the product of the first with an exponent is exact.
const (
	mathLn2Hi = 0.69314718055966295651160180568695068359375
	mathLn2Lo = 0.28235290563031577122588448175013436025525412068e-12
)

// MathExp returns eˣ with the bits of math.Exp on amd64 with FMA, whose operations it repeats.
// The error is below 1 ulp. With k the integer nearest to x/ln 2 and r = (x − k ln 2)/16,
//
//	y = r + r²/2! + … + r⁸/8!,   eˣ = 2ᵏ (1 + y)¹⁶,   (1 + y)² = 1 + y(y + 2).
//
// Special cases: +Inf above 709.7827, 0 below −745.13, NaN for NaN.
func MathExp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	clearUpper()
	k := math.RoundToEven(x * math.Log2E)
	r := math.FMA(-k, mathLn2Lo, math.FMA(-k, mathLn2Hi, x)) / 16
	s := math.FMA(r, 1./40320, 1./5040)
	s = math.FMA(r, s, 1./720)
	s = math.FMA(r, s, 1./120)
	s = math.FMA(r, s, 1./24)
	s = math.FMA(r, s, 1./6)
	s = math.FMA(r, s, 1./2)
	s = math.FMA(r, s, 1)
	y := float64(r * s)
	y *= y + 2
	y *= y + 2
	y *= y + 2
	return mathScaled(math.FMA(y, y+2, 1), int(k))
}

// mathScaled returns x 2ᵏ for x in [½, 2), 0 below 2⁻¹⁰⁷⁵.
func mathScaled(x float64, k int) float64 {
	biased := k + 1023
	switch {
	case biased >= 0x7ff:
		return math.Inf(1)
	case biased > 0:
		return x * math.Float64frombits(uint64(biased)<<52)
	case biased < -52:
		return 0
	}
	return x * math.Float64frombits(uint64(biased+1022)<<52) * 0x1p-1022
}
