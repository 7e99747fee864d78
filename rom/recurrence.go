package rom

import "slices"

// Refreshed returns the logits, centred, at the end of an endless block that
// begins with the snapshot old: the maximum of the frozen objective, which for
// importance ratios without a clip and the exact KL at the current policy is, for
// any number of arms (docs/theory.md §6),
//
//	π ∝ π_ref e^{tm},   t = φ_G(π_old)/β;   0/1 arms, G = ∞: t = 1/(β(√(p(1−p)) + ε)).
//
// The motion inside the block has to be stable to get there. Without variance in
// the rewards of old, at G = ∞, it is the reference. Out of scope for other
// estimators, without a penalty, and where the force is known to leading order
// only.
func Refreshed(p Params, old []float64) ([]float64, Scope) {
	p = p.checked()
	checkLogits("old", old, len(p.Arms))
	m := newModel(&p)
	if because := m.noRecurrence(); because != "" {
		return nil, Scope{Because: because}
	}
	m.set(old, old)
	phi, _, _ := m.phiGradient()
	logits := newCurve(m).logits(phi / m.Strength)
	mean := 0.0
	for _, l := range logits {
		mean += l / float64(len(logits))
	}
	for a := range logits {
		logits[a] -= mean
	}
	if !isFinite(logits) {
		return nil, Scope{Because: beyondRange}
	}
	return logits, Scope{In: true}
}

// SkewMultiplier returns dt′/dt at the policy of theta, t ↦ t′ the iteration of
// Refreshed on its curve (docs/theory.md §6). Where arms have fixed rewards,
// ε = 0 and G = ∞ it is
//
//	−skew_π(r)/(2β),   skew = E[(r−J)³]/s³,
//
// in general ∇φ_G·m/β, for β > 0. At a fixed point it is the dominant multiplier
// of an endless block, stable below 1 in modulus, for the estimators that
// Refreshed knows.
func SkewMultiplier(p Params, theta []float64) float64 {
	p = p.checked()
	checkLogits("theta", theta, len(p.Arms))
	m := newModel(&p)
	m.set(theta, theta)
	_, slope, _ := m.phiGradient()
	c := newCurve(m)
	// Σ∇φ = 0: values about their largest keep their digits.
	sum, top := 0.0, slices.Max(c.value)
	for a, s := range slope {
		sum += s * (c.value[a] - top)
	}
	return sum / m.Strength
}

// noRecurrence says why a refresh does not follow the recurrence; "" where it
// does.
func (m *model) noRecurrence() string {
	switch {
	case m.Weighting != Ratio || m.KLEstimator != ExactKL || m.Anchor != AtCurrent:
		return "the recurrence is that of importance ratios without a clip and the exact KL at the current policy"
	case m.Strength == 0:
		return "without a penalty a block has no end"
	case m.kind() != Exact:
		return "the force of these rewards is known to leading order in 1/G only"
	}
	return ""
}
