package config

import (
	"grposim/rom"
)

// Claims about the stationary state.
var (
	FixedPoint = &Claim{
		Name: "fixed-point", Per: PerCell,
		Quantity:    "stationary mean of J",
		Needs:       []Need{NeedsBurnIn},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "The run settles at the fixed point θ*_G; its noise shifts the mean of J to second order. By the paper's rule the fixed point is that of G = ∞.",
	}

	StationaryFluctuation = &Claim{
		Name: "stationary-fluctuation", Per: PerCell,
		Quantity:    "variance of J, time average",
		Needs:       []Need{NeedsBurnIn, NeedsFiniteGroups},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
		Doc:         "The variance of the reward is that of the linear dynamics (Lyapunov equation); by the paper's rule it is D/(GCK).",
	}

	DegenerateGroups = &Claim{
		Name: "degenerate-groups", Per: PerCell,
		Quantity:    "share of groups whose rewards are all equal",
		Needs:       []Need{NeedsBurnIn},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "Groups whose rewards are all equal occur with probability E[J^G + (1−J)^G].",
		How:         "The share is that of the steps after the burn-in. It is predicted for the stationary state or, without a fixed point (as at β = 0), along the path from the start.",
	}
)

// Stiffness is the claim about the slope of the mean gradient at the fixed point.
var Stiffness = &Claim{
	Name: "stiffness", Per: PerForce,
	Quantity:    "stiffness of the stiffest mode (total, fresh, stale) and of the slowest (total)",
	Needs:       []Need{NeedsDisplacement},
	Predictions: []rom.Kind{rom.Exact},
	Doc:         "Near the fixed point the mean gradient is linear in the displacement, with the stiffness that theory gives.",
	How:         "Pairs of groups are drawn with the logits displaced to either side of the fixed point: those of both policies together (total), of the current policy alone (fresh) and of the behaviour policy alone (stale). At `inf` one pair of expected gradients takes the place of the pairs of groups. Each of a finite group is scaled to `optimizer.max_norm` where it is longer. The interval includes the error of the finite displacement. Cells that share `seed`, `bandit`, `grpo`, `policy.reference` and `optimizer.max_norm` share one measurement, made in the first of them.",
}

// RateOverThreshold is the claim about the margin along a run beyond the threshold.
var RateOverThreshold = &Claim{
	Name: "rate-over-threshold", Per: PerCell,
	Quantity:    "largest over the recorded steps from `run.burn_in` on of the learning rate over the threshold at the stiffness there, ηλ/κ*(μ, K)",
	Needs:       []Need{NeedsNetwork, NeedsExpected, NeedsSteadyRate, NeedsKnownRule, NeedsStiffness},
	Predictions: []rom.Kind{rom.LeadingOrder},
	Doc:         "A run whose learning rate is above the threshold of the nearest fixed point is led to the edge of stability and stays there: its margin, 1 less this number, falls to 0.",
	How:         "The stiffness is that of the whole gradient at the weights of the step. It may pass the edge on its way, for which `run.burn_in` leaves time. The prediction is that of one number, where the whole gradient is stale. A learning rate below the threshold of the nearest fixed point is out of scope: from there nothing drives a run to the edge.",
}

// EdgeOfStability is the claim about where training beyond the threshold ends.
var EdgeOfStability = &Claim{
	Name: "edge-of-stability", Per: PerCell,
	Quantity:    "stiffness of the stiffest mode at the end of the run",
	Needs:       []Need{NeedsNetwork, NeedsExpected, NeedsSteadyRate, NeedsKnownRule},
	Predictions: []rom.Kind{rom.LeadingOrder},
	Edge:        true,
	Doc:         "A network has a manifold of fixed points. A run whose learning rate is above the threshold of the nearest slides along it until its rate is the threshold: the stiffness at its end is κ*(μ, K)/η.",
	How:         "The stiffness is that of the whole gradient at the last weights, by power iteration. The prediction is that of one number, where the whole gradient is stale. A learning rate below the threshold of the nearest fixed point is out of scope: from there nothing drives a run to the edge.",
}
