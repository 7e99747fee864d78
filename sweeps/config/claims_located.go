package config

import (
	"grposim/rom"
	"grposim/sim"
)

// Claims about the learning rate, or the refresh interval, at which something sets in.
var (
	OscillationOnset = &Claim{
		Name: "oscillation-onset", Per: PerCell,
		Quantity:    "learning rate or refresh interval where ringing sets in",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsTwoArms, NeedsSteadyRate, NeedsMultipliers, NeedsScatter, NeedsKnownRule},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Event:       sim.Ringing,
		Doc:         "Ringing sets in where two multipliers meet, at the measured stiffness; to leading order, and by the paper's rule, where ζ = 1.",
		How:         "The event is a change of the motion itself: the discriminant of the fitted recurrence passes 0 (without momentum and delay: the one multiplier changes sign), not the first overshoot that shows.",
	}

	StabilityThreshold = &Claim{
		Name: "stability-threshold", Per: PerCell,
		Quantity:    "learning rate or refresh interval where the fixed point loses stability",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsSteadyRate, NeedsMultipliers, NeedsScatter, NeedsKnownRule},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
		Event:       sim.Instability,
		Doc:         "Stability is lost where a multiplier leaves the unit circle, at the measured stiffness; by the paper's rule at ηλK = 1 − μ.",
		How:         "The event is growth, over many refresh periods, of pairs of runs about the fixed point. Below 100 the located `lag.interval` is the first unstable whole number, lo = hi, and the exact prediction is one too: `absolute_margin: 0`.",
	}

	RuleIsSafe = &Claim{
		Name: "rule-is-safe", Per: PerCell,
		Quantity:    "located threshold against the paper's rule, one-sided; located/rule",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsSteadyRate, NeedsMultipliers, NeedsScatter, NeedsKnownRule},
		Predictions: []rom.Kind{rom.PaperRule},
		Event:       sim.Instability,
		Doc:         "Nothing below the paper's rule is unstable; how far beyond it the threshold lies is the exact prediction's to say.",
		How:         "Two verdicts. The first is one-sided and without a margin: the rule holds when lo reaches it, and fails (`expect: fails`) when hi lies below it. The second is the factor located/rule, held against the exact prediction of it, to which alone the margin applies.",
	}
)
