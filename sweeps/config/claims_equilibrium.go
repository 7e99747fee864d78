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
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "The run settles at the fixed point θ*_G; its noise shifts the mean of J to second order.",
	}

	StationaryFluctuation = &Claim{
		Name: "stationary-fluctuation", Per: PerCell,
		Quantity:    "variance of J, time average",
		Needs:       []Need{NeedsBurnIn, NeedsFiniteGroups},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "The variance of the reward is that of the linear dynamics (Lyapunov equation); by the paper's rule it is D/(GCK).",
	}

	DegenerateGroups = &Claim{
		Name: "degenerate-groups", Per: PerCell,
		Quantity:    "share of groups whose rewards are all equal",
		Needs:       []Need{NeedsBurnIn},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "Groups whose rewards are all equal occur with probability E[J^G + (1−J)^G].",
	}
)
