package fp

import "math"

// Exp returns eˣ, as math.Exp does, without FMA.
func Exp(x float64) float64 { return math.Exp(x) }
