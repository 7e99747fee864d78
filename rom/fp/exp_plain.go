//go:build !(goexperiment.simd && amd64)

package fp

import "math"

// Exp returns eˣ, as math.Exp.
func Exp(x float64) float64 { return math.Exp(x) }

// Erfc returns 1 − erf(x), as math.Erfc.
func Erfc(x float64) float64 { return math.Erfc(x) }
