package rom

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Measured is the stiffness as an experiment found it, A×A in the arms' own
// logits: Λ_f = −∂E[g]/∂θ and Λ_s = −∂E[g]/∂θ_old. Factors.Stiffness multiplies
// them as it does the closed forms. Their entries carry errors:
//
//   - What they say of the direction (1, …, 1), which is free, is projected out.
//   - A part below unmeasurable of the total, of the matrices or in one mode, is
//     taken for 0, so that a force that is all frozen or all current remains it.
//   - Modes that mix by less than measuredMixing are taken for independent.
//   - Errors beyond that couple modes that theory has independent. Thresholds and
//     multipliers then follow from the matrices as they are, with errors of the
//     order of theirs. An onset of oscillation in a block does not: of two modes
//     alike, errors make a complex pair at any learning rate.
//
// Equal arms are not merged: their measured entries differ.
type Measured struct {
	Fresh, Stale *mat.Dense
}

const (
	// unmeasurable: rounding of a force of order 1, differenced over 1e-2, leaves
	// 1e-14 where there is nothing; and 1e-9 of the total moves a threshold by that
	// times the lag at most.
	unmeasurable = 1e-9
	// measuredMixing is what the differences of smooth forces can leave; what is
	// neglected moves a threshold by as much.
	measuredMixing = 1e-6
)

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

// dropUnmeasurable takes a part of the stiffness below the resolution of a
// measurement for 0.
func (l *linear) dropUnmeasurable() {
	fresh, stale := norm(l.fresh.RawMatrix().Data), norm(l.stale.RawMatrix().Data)
	if fresh <= unmeasurable*stale {
		l.fresh.Zero()
	}
	if stale <= unmeasurable*fresh {
		l.stale.Zero()
	}
}

// dropUnmeasurable does so in one mode.
func (s *scalar) dropUnmeasurable() {
	if math.Abs(s.fresh) <= unmeasurable*math.Abs(s.stale) {
		s.fresh = 0
	}
	if math.Abs(s.stale) <= unmeasurable*math.Abs(s.fresh) {
		s.stale = 0
	}
}
