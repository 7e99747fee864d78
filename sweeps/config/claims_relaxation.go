package config

import (
	"grposim/rom"
)

// Claims about how a small deviation from the fixed point dies out, or grows.
var (
	Relaxation = &Claim{
		Name: "relaxation", Per: PerCell,
		Quantity:    "−ln of the dominant multiplier per step; negative: growth",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "A small deviation from the fixed point dies out, or grows, at the rate of the linear dynamics.",
		How:         "Pairs of runs start at the fixed point ± `offset` and see the same random numbers; half their difference is the deviation x. From `run.burn_in` on, at refresh instants (under a delay at every step), the recurrence x'' = a x' − b x of successive values is fitted to all pairs. The rate is −ln of the modulus of its dominant multiplier, per optimizer step. It passes 0 at a threshold: take `absolute_margin` near one. `policy.init` is not used.",
	}

	DampingRatio = &Claim{
		Name: "damping-ratio", Per: PerCell,
		Quantity:    "damping ratio ζ of the fitted second-order recurrence",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Doc:         "A small deviation rings, or does not, with the damping ratio of the two dominant multipliers; the paper's rule is its own ζ.",
		How:         "The recurrence is that of `relaxation`: with s the logarithms of its two multipliers, ζ = −(s₁ + s₂)/(2√(s₁s₂)). Below 1 the deviation rings. The paper's ζ is taken at its own stiffness, that of `early-slope`.",
	}
)
