package config

import (
	"grposim/rom"
	"grposim/sim/probe"
)

// Claims about the learning rate, or the refresh interval, at which an event sets in.
var (
	OscillationOnset = &Claim{
		Name: "oscillation-onset", Per: PerCell,
		Quantity:    "learning rate or refresh interval where ringing sets in",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsTwoArms, NeedsSteadyRate, NeedsMultipliers, NeedsScatter, NeedsKnownRule},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
		Event:       probe.Ringing,
		Doc:         "At the measured stiffness, ringing sets in where two multipliers meet; to leading order and by the paper's rule, where ζ = 1.",
		How:         "The event is a change of the dynamics, not the first visible overshoot: the dominant multiplier of the fitted recurrence, or of the step inside a block, becomes complex or negative. Of a network it is that of the stiffest mode, which the search finds by power iteration on differences of simulated gradients; the whole gradient must be that of the snapshot, so that modes do not mix.",
	}

	StabilityThreshold = &Claim{
		Name: "stability-threshold", Per: PerCell,
		Quantity:    "learning rate or refresh interval where the fixed point loses stability",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsSteadyRate, NeedsOneAge, NeedsScatter, NeedsKnownRule},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
		Event:       probe.Instability,
		Doc:         "At the measured stiffness, stability is lost where a multiplier leaves the unit circle; by the paper's rule at ηK·K_ref = 1 − μ.",
		How:         "The event is the growth, over many refresh periods, of the difference of paired runs about the fixed point. Below 100 the located `lag.interval` is the first unstable whole number, lo = hi, and the exact prediction is a whole number too: use `absolute_margin: 0`. Of a network the growth is that of the logits of a displaced run, nothing of the prediction is measured, and `leading-order` is the theory of one number, λ of the stiffest mode, as if the whole gradient were stale. Under sampled groups the growth is that of paired runs along the stiffest mode of the mean field.",
	}

	RuleIsSafe = &Claim{
		Name: "rule-is-safe", Per: PerCell,
		Quantity:    "located threshold against the paper's rule or a sufficient one, one-sided; located/rule",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsSteadyRate, NeedsOneAge, NeedsScatter, NeedsKnownRule},
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness, rom.RuleAtLargestAge, rom.SufficientRule},
		Event:       probe.Instability,
		Doc:         "No value below the rule is unstable; the exact theory predicts the distance from the rule to the threshold. The rule is the paper's, with the mean of random ages for K_ref, or with their largest (`rule-at-largest-age`), or the proven η(λ/2 + |λ_s|A) < 1 − μ (`sufficient-rule`, theory-trainers.md §11.1).",
		How:         "Two verdicts. The first is one-sided and has no margin: the rule holds when lo reaches it, and fails (`expect: fails`) when hi lies below it. The second compares the factor located/rule with its exact prediction; the margin applies to this verdict only.",
	}
)
