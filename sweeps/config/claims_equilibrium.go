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
		Doc:         "The run settles at the fixed point θ*_G, shifted to second order by its own noise.",
	}

	StationaryFluctuation = &Claim{
		Name: "stationary-fluctuation", Per: PerCell,
		Quantity:    "variance of J, time average",
		Needs:       []Need{NeedsBurnIn, NeedsFiniteGroups},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "The reward fluctuates with the variance of the linear dynamics (Lyapunov); the paper's rule is D/(GCK).",
	}

	DegenerateGroups = &Claim{
		Name: "degenerate-groups", Per: PerCell,
		Quantity:    "share of groups whose rewards are all equal",
		Needs:       []Need{NeedsBurnIn},
		Predictions: []rom.Kind{rom.Exact},
		Doc:         "Groups without variance come as often as E[J^G + (1−J)^G] says.",
	}
)
