package measure

import "math"

// Extrapolated returns Richardson's (4 S(d) − S(2d))/3 = λ − 4b d⁴ of near = S(d) and far = S(2d).
// They are central differences over ±d and ±2d, S(d) = λ + a d² + b d⁴.
func Extrapolated(near, far float64) float64 { return (float64(4*near) - far) / 3 }

// Bent bounds the systematic error of an extrapolated λ, 4d²(|S(d) − λ| + d²|λ|). It takes |b| for at
// most |a| + |λ|, as of a force that changes by a factor of order 1 over a unit of its argument.
func Bent(near, extrapolated, d float64) float64 {
	square := float64(d * d)
	next := float64(square * math.Abs(extrapolated))
	return float64(4 * float64(square*(math.Abs(near-extrapolated)+next)))
}

// RoundedUlps is the rounding error of a difference of forces in units of its largest term.
const RoundedUlps = 0x1p-50

// CentredSquare returns Σ (x − mean)², with a mean of its own for each n values in a row.
func CentredSquare(x []float64, n int) (sum float64) {
	for i := 0; i < len(x); i += n {
		mean, square := Average(x[i:i+n]), 0.0
		for _, v := range x[i : i+n] {
			square += float64((v - mean) * (v - mean))
		}
		sum += square
	}
	return sum
}
