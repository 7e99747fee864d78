package config

import (
	"grposim/rom"
)

// Claims about how a number changes with the group size.
var (
	FluctuationScaling = &Claim{
		Name: "fluctuation-scaling", Per: AcrossCells,
		Quantity:    "slope of log variance of J on log G",
		Needs:       []Need{NeedsBurnIn, NeedsThreeSizes},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		LeadingFrom: 32, // at smaller sizes the next order in 1/G exceeds 3 %
		Doc:         "The variance decreases with the group size as the exact predictions at the same sizes do; to leading order as 1/G.",
		How:         "The leading-order exponent is that of G → ∞ (−1; −2 where the leading noise vanishes, −½ for Adam); it is compared with a fit to the sizes from 32 on.",
	}

	RelaxationScaling = &Claim{
		Name: "relaxation-scaling", Per: AcrossCells,
		Quantity:    "slope of log relaxation rate on log G",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers, NeedsThreeSizes},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "The relaxation rate changes with the group size as the predictions at the same sizes do; for Adam, where noise dominates, as √G.",
		How:         "The rates are those of `relaxation`, in cells that differ in G only. The exact slope is fitted to the exact predictions at the same sizes; the leading-order exponent, for Adam, is ½.",
	}
)
