// Package fused does what the packages under test must not: it adds a product
// that was not rounded, and takes an exponential that depends on the
// architecture.
package fused

import "math"

// Axpy returns a·x + y, rounded once where the hardware can, else twice.
func Axpy(a, x, y float64) float64 { return a*x + y }

// Exp is math's.
func Exp(x float64) float64 { return math.Exp(x) }
