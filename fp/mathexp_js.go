package fp

import "math"

// MathExp returns eˣ, as math.Exp does, without FMA.
func MathExp(x float64) float64 { return math.Exp(x) }
