package fp

import "math"

const (
	perSqrt2Pi = 0.39894228040143267793994605993438 // 1/√(2π)
	// tailStart is the |x| from which NormalCDF uses the continued fraction instead of
	// the series; both take about the same work there.
	tailStart = 3.
	// fractionLevels is the depth of the continued fraction: its relative error is
	// below 2⁻⁵⁴ at tailStart, and less beyond.
	fractionLevels = 56
)

// NormalPDF returns the density of the standard normal law, φ(x) = e^(−x²/2)/√(2π), with a relative
// error below 1e-15 unless the result is subnormal.
//
// Special cases: NormalPDF(±Inf) = 0, NormalPDF(NaN) = NaN.
func NormalPDF(x float64) float64 {
	if math.Abs(x) > 39 { // e^(−x²/2) < 2⁻¹⁰⁹⁷, and x² may overflow
		return 0
	}
	// x = a + b with a of 26 bits or fewer: a²/2 is exact. So an exponent of up to 750 keeps the
	// digits of its fraction.
	a := float64(math.Floor(x*0x1p20) * 0x1p-20)
	return perSqrt2Pi * (Exp(-0.5*a*a) * Exp(-0.5*(x-a)*(x+a)))
}

// NormalCDF returns the distribution function of the standard normal law, Φ(x) = ∫_{−∞}^x φ. Its
// absolute error is below 1e-15 and, for x < 0, its relative error below 1e-12 unless the result is
// subnormal.
//
// With the upper tail Q(x) = Φ(−x), x > 0 (Abramowitz and Stegun 26.2.11 and 26.2.14):
//
//	Q(x) = ½ − φ(x)(x + x³/3 + x⁵/(3·5) + x⁷/(3·5·7) + …)   below 3
//	Q(x) = φ(x)/(x + 1/(x + 2/(x + 3/(x + …))))              from 3 on
//
// Special cases: NormalCDF(−Inf) = 0, NormalCDF(+Inf) = 1, NormalCDF(NaN) = NaN.
func NormalCDF(x float64) float64 {
	size := math.Abs(x)
	var upper float64 // Q(|x|)
	switch {
	case x != x:
		return x
	case size < tailStart:
		square := float64(x * x)
		term, sum := size, size
		for n := 3.; ; n += 2 {
			term = float64(term * (square / n))
			next := sum + term
			if next == sum {
				break
			}
			sum = next
		}
		middle := float64(NormalPDF(x) * sum)
		if x > 0 {
			return 0.5 + middle
		}
		return 0.5 - middle
	case size < 39:
		fraction := size
		for n := float64(fractionLevels); n > 0; n-- {
			fraction = size + n/fraction
		}
		upper = NormalPDF(x) / fraction
	}
	if x > 0 {
		return 1 - upper
	}
	return upper
}
