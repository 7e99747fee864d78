package config

import (
	"grposim/rom"
	"grposim/sim"
)

// Claims about the learning rate, or the refresh interval, from which on the mean reward
// of a run visibly oscillates.
var (
	VisibleFrontier = &Claim{
		Name: "visible-frontier", Per: PerCell,
		Quantity:    "learning rate or refresh interval from which on the mean reward visibly oscillates",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsDistance, NeedsExpected, NeedsSteadyRate, NeedsKnownRule},
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
		Event:       sim.Visible,
		Doc:         "A run from its start begins to visibly oscillate on the paper's line ηK·K_ref = 1 − μ.",
		How:         "A run visibly oscillates if J passes its last value at least twice by more than 0.1 % of its range, as in the classes of `map`. The interval is that of the search along the parameter.",
	}

	FrontierAboveOnset = &Claim{
		Name: "frontier-above-onset", Per: PerCell,
		Quantity:    "the visible frontier against the paper's ζ = 1, one-sided",
		Needs:       VisibleFrontier.Needs,
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
		Event:       sim.Visible,
		Doc:         "A run visibly oscillates only above the paper's ζ = 1.",
		How:         "The frontier is that of `visible-frontier`. One-sided and without margin: the claim holds when the interval does not lie below ζ = 1, and fails (`expect: fails`) when it does.",
	}

	MedianFrontier = &Claim{
		Name: "median-frontier", Per: AcrossCells,
		Quantity:    "median over bandits of |visible frontier / the paper's line − 1|",
		Needs:       append([]Need{NeedsThreeValues, NeedsAbsolute}, VisibleFrontier.Needs...),
		Over:        []string{ArmsKey},
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
		Event:       sim.Visible,
		Doc:         "In at least half of the bandits the visible frontier lies on the paper's line, within the margin.",
		How:         "Each bandit has its own frontier and its own line. The interval reaches from the median of the smallest to that of the largest deviations that the intervals of the frontiers allow; a frontier beyond the search has no upper end. The result is about the bandits of the file.",
	}
)
