package rest

import (
	"grposim/rom/force"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

const (
	// unmeasurable is the ratio of two parts of the stiffness below which the
	// smaller is set to 0. Differences of a force of order 1 over a step of 1e-2
	// leave rounding errors of 1e-14 in a part that is exactly 0, and a part of
	// 1e-9 of the total moves a threshold by at most 1e-9 times the lag, relatively.
	unmeasurable = 1e-9
	// measuredMixing is the relative mixing of independent modes that errors of
	// differencing a smooth force can cause. Neglecting it moves a threshold by as
	// much.
	measuredMixing = 1e-6
)

// measuredTolerance is what counts as an error of a measured stiffness.
var measuredTolerance = linear.Tolerance{Mixing: measuredMixing, Part: unmeasurable, Neutral: unmeasurable}

// linearised returns Λ_f and Λ_s at a fixed point: as measured, or the closed
// forms.
func linearised(m *force.Model, theta []float64) (fresh, stale *mat.Dense) {
	if m.Measured == nil {
		return m.Stiffness(theta)
	}
	fresh, stale = mat.DenseCopyOf(m.Measured.Fresh), mat.DenseCopyOf(m.Measured.Stale)
	fresh.Scale(m.Factors.Stiffness, fresh)
	stale.Scale(m.Factors.Stiffness, stale)
	return fresh, stale
}
