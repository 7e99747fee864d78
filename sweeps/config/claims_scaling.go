package config

import (
	"grposim/rom"
)

// Claims about how a number changes with the group size or another key.
var (
	FluctuationScaling = &Claim{
		Name: "fluctuation-scaling", Per: AcrossCells,
		Quantity:    "slope of log variance of J on log G, over another key on log D/(GCK)",
		Needs:       []Need{NeedsBurnIn, NeedsThreeValues},
		Over:        []string{GroupSizeKey, "grpo.kl.coefficient", LagIntervalKey, MomentumKey},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
		LeadingFrom: 32, // at smaller sizes the next order in 1/G exceeds 3 %
		Doc:         "The variance decreases with the group size as the exact predictions at the same sizes do; to leading order, and by the paper's rule, as 1/G. Over another key the paper's rule makes it proportional to D/(GCK).",
		How:         "The leading-order exponent is that of G → ∞ (−1; −2 where the leading noise vanishes, −½ for Adam); it is compared with a fit to the sizes from 32 on. The paper's exponent, −1, is compared with a fit to all sizes. Over another key the slope on log D/(GCK), with D, C and K as in `stationary-fluctuation` (for `paper-rule` at the paper's stiffness, else at λ of the stiffest mode), is 1 by the paper's rule: a constant factor such as ½ does not enter.",
	}

	RelaxationScaling = &Claim{
		Name: "relaxation-scaling", Per: AcrossCells,
		Quantity:    "slope of log relaxation rate on log G",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers, NeedsThreeValues},
		Over:        []string{GroupSizeKey},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "The relaxation rate changes with the group size as the predictions at the same sizes do; for Adam, where noise dominates, as √G.",
		How:         "The rates are those of `relaxation`, in cells that differ in G only. The exact slope is fitted to the exact predictions at the same sizes; the leading-order exponent, for Adam, is ½.",
	}
)
