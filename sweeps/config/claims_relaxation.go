package config

import (
	"grposim/rom"
)

// Claims about how a small deviation from the fixed point decays or grows.
var (
	Relaxation = &Claim{
		Name: "relaxation", Per: PerCell,
		Quantity:    "−ln of the dominant multiplier per step; negative: growth",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "A small deviation from the fixed point decays, or grows, at the rate of the linear dynamics.",
		How:         "Pairs of runs start at the fixed point ± `offset` and use the same random numbers; half their difference is the deviation x. From `run.burn_in` on, at refresh instants (under a delay at every step), the recurrence x'' = a x' − b x of successive values is fitted to all pairs. The rate is −ln of the modulus of its dominant multiplier, per optimizer step. A second multiplier that has died is not fitted. The same fit to the linear dynamics of the theory says how much the modes that are still alive at `run.burn_in` change it; if that is more than half of the margin, the comparison is out of scope. It is so too where the samples of the two sides are expected to differ less than once in a relaxation time, because noise then decides the deviation; a larger `offset` helps. The rate is 0 at a stability threshold: use `absolute_margin` near one. `policy.init` is not used.",
	}

	DampingRatio = &Claim{
		Name: "damping-ratio", Per: PerCell,
		Quantity:    "damping ratio ζ of the fitted second-order recurrence",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
		Doc:         "The damping ratio of a small deviation is that of the two dominant multipliers; the paper's rule predicts its own ζ.",
		How:         "The recurrence is that of `relaxation`. With s₁ and s₂ the logarithms of its two multipliers, ζ = −(s₁ + s₂)/(2√(s₁s₂)); the deviation rings where ζ < 1. The paper's ζ is computed with the paper's stiffness, that of `early-slope` from the reference; with `rule-at-stiffness`, with λ of the stiffest mode.",
	}
)
