package arrive

import (
	"math"

	"grposim/fp"
	"grposim/rom/cell"
)

// This file has the kicks of k3 (docs/theory-neglected.md §6.12). Where an arm is so rare that
// hardly any step draws it, the restoring force of k3 is there in the mean only. At the log odds u
// against the arm it is delivered by samples that come with the probability e^{−u}, each of which
// moves u in all, by momentum too, by c e^u less what the reward's part of it is.

// kickScale returns c = 2ηβπ_ref/(GB(1−μ)) for an arm of reference probability reference, in
// logits; gain is η/(1−μ), the sum of the steps that a force causes.
func kickScale(p *cell.Params, reference, gain float64) float64 {
	return 2 * gain * p.KL.Coefficient * reference / (float64(p.GroupSize) * float64(p.GroupsPerStep))
}

// throwsAcross reports whether a sample at the log odds u against its arm throws the policy farther
// to the other side than it was, c e^u > 2u.
func throwsAcross(c, u float64) bool {
	return u > 0 && c*fp.MathExp(u) > 2*u && (u > 1 || c > 2/math.E)
}

// crossing returns u₂, the log odds from which on throwsAcross holds, the larger solution of c e^u
// = 2u; 0 for c > 2/e, where it always does, and +Inf for c = 0.
func crossing(c float64) float64 {
	switch {
	case c > 2/math.E:
		return 0
	case c <= 0:
		return math.Inf(1)
	}
	above := 1.0
	for !throwsAcross(c, above) {
		above *= 2
	}
	below := max(above/2, 1)
	for range 60 {
		if middle := (below + above) / 2; throwsAcross(c, middle) {
			above = middle
		} else {
			below = middle
		}
	}
	return above
}
