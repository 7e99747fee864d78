package config

import (
	"grposim/rom"
)

// Stiffness is the claim about the slope of the mean gradient at the fixed point.
var Stiffness = &Claim{
	Name: "stiffness", Per: PerForce,
	Quantity:    "stiffness of the stiffest mode (total, fresh, stale) and of the slowest (total)",
	Needs:       []Need{NeedsDisplacement},
	Predictions: []rom.Kind{rom.Exact},
	Doc:         "Near the fixed point the mean gradient is linear in the displacement, with the stiffness that theory gives.",
	How:         "Pairs of groups are drawn with the logits displaced to either side of the fixed point: those of both policies together (total), of the current policy alone (fresh) and of the behaviour policy alone (stale). At `inf` one pair of expected gradients takes the place of the pairs of groups. Cells that share `bandit`, `grpo` and `policy.reference` share one measurement, made in the first of them.",
}
