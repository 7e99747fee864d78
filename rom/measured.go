package rom

import (
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// Measured is a stiffness measured in an experiment, in the logits of the single
// arms. Factors.Stiffness multiplies it as it multiplies the closed forms.
// Measured entries carry errors:
//
//   - Components along (1, …, 1), a shift of all logits that no policy depends on,
//     are projected out.
//   - A part (fresh or stale) that is at most unmeasurable times the other, in the
//     whole matrices or in one mode, is set to 0. A force that is entirely frozen
//     or entirely current thus stays so.
//   - Modes that mix by less than measuredMixing are treated as independent.
//   - Larger errors couple modes that are independent in theory. Thresholds and
//     multipliers then follow from the matrices as given, with errors of the same
//     order. The onset of oscillation in a block does not: errors turn two modes of
//     equal stiffness into a complex pair at any learning rate.
//
// Equal arms are not merged, because their measured entries differ.
type Measured struct {
	Fresh *mat.Dense // Λ_f = −∂E[g]/∂θ, A×A
	Stale *mat.Dense // Λ_s = −∂E[g]/∂θ_old, A×A
}

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
func (m *model) linearised(theta []float64) (fresh, stale *mat.Dense) {
	if m.Measured == nil {
		return m.stiffness(theta)
	}
	fresh, stale = mat.DenseCopyOf(m.Measured.Fresh), mat.DenseCopyOf(m.Measured.Stale)
	fresh.Scale(m.Factors.Stiffness, fresh)
	stale.Scale(m.Factors.Stiffness, stale)
	return fresh, stale
}
