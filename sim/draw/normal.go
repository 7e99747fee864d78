package draw

import (
	"math"

	"grposim/fp"
)

// Uniform returns a uniform number in the open interval (0, 1): the midpoint of one of
// its 2⁵² equal parts, an odd multiple of 2⁻⁵³. (Above ½ the midpoints of 2⁵³ parts are
// not float64 numbers; the last would be rounded to 1.)
func Uniform(w *Words) float64 { return Unit(w.Next()) }

// Unit returns the number of Uniform that a random word gives.
func Unit(word uint64) float64 { return float64((float64(int64(word>>12)) + 0.5) * 0x1p-52) }

// Normal returns a draw of the standard normal law, by Marsaglia's polar method. With (u, v)
// uniform in the unit disc and s = u² + v², u √(−2 ln s/s) is normal. The second number, v √(−2 ln
// s/s), is discarded, so a draw depends on no previous draw.
func Normal(w *Words) float64 {
	for {
		u := float64(2*Uniform(w)) - 1 // never 0
		v := float64(2*Uniform(w)) - 1
		s := float64(u*u) + float64(v*v)
		if s < 1 {
			return u * math.Sqrt(-2*fp.Log(s)/s)
		}
	}
}

// Gamma returns a draw of the gamma law of density x^(shape−1) e^(−x)/Γ(shape). The method is that
// of Marsaglia and Tsang (A simple method for generating gamma variables, 2000). For shape < 1 it
// is a draw of shape + 1 times U^(1/shape), U uniform. It panics unless shape is positive and
// finite.
func Gamma(w *Words, shape float64) float64 {
	if !(shape > 0 && shape <= math.MaxFloat64) {
		panic("draw: Gamma: shape must be positive and finite")
	}
	factor := 1.
	if shape < 1 {
		factor = fp.Exp(fp.Log(Uniform(w)) / shape)
		shape++
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := Normal(w)
		root := 1 + float64(c*x)
		if root <= 0 {
			continue
		}
		v := float64(root * root * root)
		u := Uniform(w)
		square := float64(x * x)
		if u < 1-float64(0.0331*float64(square*square)) || // implies the next line, and is faster
			fp.Log(u) < float64(0.5*square)+float64(d*(1-v+fp.Log(v))) {
			return factor * d * v
		}
	}
}

// ChiSquare returns a draw of the chi-square law with k ≥ 0 degrees of freedom. It is the sum of k
// squared normal numbers, and twice a gamma draw of shape k/2. It panics if k < 0.
func ChiSquare(w *Words, k int) float64 {
	switch {
	case k < 0:
		panic("draw: ChiSquare: k is negative")
	case k == 0:
		return 0
	}
	return 2 * Gamma(w, float64(k)/2)
}
