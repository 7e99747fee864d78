package grpo

// ReferenceUpdate moves the reference policy, in logits: θ_ref ← (1−α)θ_ref + αθ (TRL
// sync_ref_model, slime --ref-update-interval).
type ReferenceUpdate struct {
	Interval int     // in optimizer steps, ≥ 0; 0: the reference stays
	Rate     float64 // α in (0, 1]; unused if Interval = 0
}

// Moves reports whether the reference moves after step t ≥ 0.
func (u ReferenceUpdate) Moves(t int) bool { return u.Interval > 0 && (t+1)%u.Interval == 0 }

// Move moves the reference towards the policy of the next step.
func (u ReferenceUpdate) Move(reference, policy *Policy) {
	for a, x := range policy.Logits {
		reference.Logits[a] = float64((1-u.Rate)*reference.Logits[a]) + float64(u.Rate*x)
	}
	reference.Update()
}
