package fp

import "math"

const (
	logInf       = 0x7ff << 52      // bits of +Inf
	logMinNormal = 1 << 52          // bits of 2⁻¹⁰²²
	logNearLow   = 1023<<52 - 1<<48 // bits of 1 − 2⁻⁵
	logNearHigh  = 1023<<52 + 1<<47 // bits of 1 + 2⁻⁵
	logHalf      = 1 << 44          // half a step of m
	logAboveSqrt = (128 - 54) << 45 // carries into the exponent from m = 1 + 54/128 > √2 on
	logBias      = 1023
)

// Log returns ln x with an error below 0.65 ulp. ½ is from the last rounding, up to ⅛ from the two
// roundings of r, the rest from those of smaller terms.
//
// x is rounded to c = 2ᵏm, m one of the 128 numbers 1 + j/128; x − c is exact. With r = (x − c)/c,
// |r| ≤ 2⁻⁸,
//
//	ln x = k ln 2 + ln m + (r − r²/2 + r³/3 − r⁴/4 + r⁵/5 − r⁶/6 + r⁷/7).
//
// The next term is below 2⁻⁶⁶. ln m is an entry of a table, in two parts like ln 2, so the first
// part of k ln 2 + ln m is exact. If m > √2 the table holds ln(m/2), so nothing cancels for x just
// below 1. If |x − 1| < 2⁻⁵, with f = x − 1 and s = f/(2 + f),
//
//	ln x = 2 artanh s = f − (f²/2 − s(f²/2 + 2s²/3 + 2s⁴/5 + … + 2s¹⁰/11)).
//
// Its rounding errors are small relative to f, which is exact.
//
// Special cases: Log(+Inf) = +Inf, Log(±0) = −Inf, Log(x < 0) = NaN, Log(NaN) = NaN.
func Log(x float64) float64 {
	bits := math.Float64bits(x)
	if bits-logNearLow < logNearHigh-logNearLow {
		f := x - 1
		s := f / (2 + f)
		z := float64(s * s)
		series := float64(z * (2./3 + float64(z*(2./5+float64(z*(2./7+float64(z*(2./9+float64(z*(2./11))))))))))
		square := float64(0.5 * float64(f*f))
		return f - (square - float64(s*(square+series)))
	}
	if bits-logMinNormal >= logInf-logMinNormal {
		switch {
		case x == 0:
			return math.Inf(-1)
		case x < 0:
			return math.NaN()
		case x != x || x > math.MaxFloat64:
			return x
		}
		bits = math.Float64bits(x*0x1p52) - 52<<52 // subnormal
	}
	c := (bits + logHalf) &^ (2*logHalf - 1)
	exponent := uint64(int64(c)>>52-logBias) << 52
	z := math.Float64frombits(bits - exponent)
	m := math.Float64frombits(c - exponent)
	k := float64(int64(c+logAboveSqrt)>>52 - logBias)
	entry := &logTable[c>>45&127]

	r := float64((z - m) * entry.inverse)
	high := float64(k*ln2Hi) + entry.hi
	sum := high + r
	low := high - sum + r + (float64(k*ln2Lo) + entry.lo)
	square := float64(r * r)
	series := float64(square*(-1./2+float64(r*(1./3)))) +
		float64(float64(square*square)*(-1./4+float64(r*(1./5))+float64(square*(-1./6+float64(r*(1./7))))))
	return sum + (low + series)
}
