package config

import "grposim/rom"

// Claims about the smallest refresh interval at which the mean reward of a run from its
// start visibly oscillates.
var (
	VisibleFrontier = &Claim{
		Name: "visible-frontier", Per: AcrossCells,
		Quantity:    "visible frontier / the paper's line ηK·K_ref = 1 − μ",
		Needs:       []Need{NeedsDistance, NeedsSteadyRate, NeedsScatter, NeedsKnownRule, NeedsThreeValues},
		Over:        []string{LagIntervalKey, ArmsKey},
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
		Doc:         "The smallest refresh interval at which the mean reward visibly oscillates lies on the paper's line.",
		How:         "A cell visibly oscillates if `map` calls it *oscillatory* or *sustained*: it passes its final level at least twice by more than 0.1 % of its range (and of its error). The interval reaches from the largest `lag.interval` before the first such cell to that of this cell; it has no upper end if no cell oscillates. With `over: bandit.arms` the cells of a group differ in their bandit and in `lag.interval`, and the median over the bandits of either end is compared.",
	}

	FrontierAboveOnset = &Claim{
		Name: "frontier-above-onset", Per: AcrossCells,
		Quantity:    "visible frontier in the refresh interval, against that of the paper's ζ = 1",
		Needs:       []Need{NeedsDistance, NeedsSteadyRate, NeedsScatter, NeedsKnownRule, NeedsThreeValues},
		Over:        []string{LagIntervalKey},
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
		Doc:         "The mean reward visibly oscillates only at refresh intervals above that of the paper's ζ = 1.",
		How:         "The frontier is that of `visible-frontier`, in steps. One-sided and without margin: the claim holds when the interval does not lie below ζ = 1 (0 where ζ < 1 at every lag), and fails (`expect: fails`) when it does.",
	}
)
