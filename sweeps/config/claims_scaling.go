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
		LeadingFrom: 32, // below it the next order in 1/G is more than 3 %
		Doc:         "The variance falls with the group size as the exact predictions on the same G do; to leading order as 1/G.",
		How:         "The leading-order exponent is that of G → ∞ (−1; −2 where the leading noise vanishes, −½ for Adam) and is judged on the sizes from 32 on.",
	}

	RelaxationScaling = &Claim{
		Name: "relaxation-scaling", Per: AcrossCells,
		Quantity:    "slope of log relaxation rate on log G",
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers, NeedsThreeSizes},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
		Doc:         "The relaxation rate changes with the group size as the predictions on the same G do; Adam, where noise dominates, as √G.",
		How:         "The rates are those of `relaxation`, in cells that differ in G only. The exact slope is that of the exact predictions on the same G; the leading-order exponent, for Adam, is ½.",
	}
)
