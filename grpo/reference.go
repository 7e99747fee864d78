package grpo

import "grposim/option"

// MoveReference moves the reference towards the policy of the next step.
func MoveReference(u option.ReferenceUpdate, reference, policy *Policy) {
	for a, x := range policy.Logits {
		reference.Logits[a] = float64((1-u.Rate)*reference.Logits[a]) + float64(u.Rate*x)
	}
	reference.Update()
}
