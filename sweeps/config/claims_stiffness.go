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
	Doc:         "The mean gradient falls off about the fixed point with the stiffness that theory gives.",
	How:         "Pairs of groups are drawn with the policy displaced to either side of the fixed point, both policies together, the current one alone (fresh) and the behaviour policy alone (stale); at `inf` it is one pair of expected gradients. Cells that share `bandit`, `grpo` and `policy.reference` share one measurement, made in the first of them.",
}
