package config

import (
	"grposim/rom"
	"grposim/sim/probe"
)

// Claims about the shape of the mean reward: its class, and the learning rate, or the
// refresh interval, from which on it visibly oscillates.
var (
	VisibleFrontier = &Claim{
		Name: "visible-frontier", Per: PerCell,
		Quantity:    "learning rate or refresh interval from which on the mean reward visibly oscillates",
		Needs:       []Need{NeedsLocation, NeedsDisplacement, NeedsDistance, NeedsExpected, NeedsSteadyRate, NeedsKnownRule},
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
		Event:       probe.Visible,
		Doc:         "A run from its start begins to visibly oscillate on the paper's line ηK·K_ref = 1 − μ.",
		How:         "A run visibly oscillates if J passes its last value at least twice by more than the `visibility` in `locate`, a share of its range: 0.1 %, as in the classes of `map`, unless the check has another. The interval is that of the search along the parameter.",
	}

	FrontierAboveOnset = &Claim{
		Name: "frontier-above-onset", Per: PerCell,
		Quantity:    "the visible frontier against the paper's ζ = 1, one-sided",
		Needs:       VisibleFrontier.Needs,
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
		Event:       probe.Visible,
		Doc:         "A run visibly oscillates only above the paper's ζ = 1.",
		How:         "The frontier is that of `visible-frontier`. One-sided and without margin: the claim holds when the interval does not lie below ζ = 1, and fails (`expect: fails`) when it does.",
	}

	MedianFrontier = &Claim{
		Name: "median-frontier", Per: AcrossCells,
		Quantity:    "median over bandits of |visible frontier / the paper's line − 1|",
		Needs:       append([]Need{NeedsThreeValues, NeedsAbsolute}, VisibleFrontier.Needs...),
		Over:        []string{ArmsKey},
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
		Event:       probe.Visible,
		Doc:         "In at least half of the bandits the visible frontier lies on the paper's line, within the margin.",
		How:         "Each bandit has its own frontier and its own line. The interval reaches from the median of the smallest to that of the largest deviations that the intervals of the frontiers allow; a frontier beyond the search has no upper end. The result is about the bandits of the file.",
	}

	FrontierGap = &Claim{
		Name: "frontier-gap", Per: AcrossCells,
		Quantity:    "distance in the learning rate by which the paper's ζ = 1 lies below the visible frontier: the least of that at the smallest rate and of its rises from rate to rate, over the largest distance",
		Needs:       append([]Need{NeedsThreeValues}, VisibleFrontier.Needs...),
		Over:        []string{LearningRateKey},
		Predictions: []rom.Kind{rom.PaperRule},
		Event:       probe.Visible,
		Doc:         "ζ = 1 lies below the frontier, by a gap that narrows at large K_ref and widens at large learning rates.",
		How:         "At each learning rate η the frontier is at one K_ref, and the gap there is η less the learning rate at which ζ = 1 for the same K_ref. One-sided and without margin: the claim holds when the number is at least 0, so that the gap has the paper's sign at every rate and grows with it. The gap is a difference, as on an axis that is linear in η; that of two curves that both fall as 1/K_ref grows too (see `frontier-ratio`). A frontier at the smallest K_ref, 1, may lie at smaller learning rates: the verdict is then *inconclusive*.",
	}

	FrontierRatio = &Claim{
		Name: "frontier-ratio", Per: AcrossCells,
		Quantity:    "log ratio of the learning rates of the visible frontier and of the paper's ζ = 1: the least of that at the smallest rate and of its rises from rate to rate, over the largest",
		Needs:       FrontierGap.Needs,
		Over:        FrontierGap.Over,
		Predictions: FrontierGap.Predictions,
		Event:       probe.Visible,
		Doc:         "The same as `frontier-gap` of the ratio of the two learning rates, as on a logarithmic axis.",
		How:         "As `frontier-gap`.",
	}

	FrontierConstant = &Claim{
		Name: "frontier-constant", Per: AcrossCells,
		Quantity:    "largest relative deviation of visible frontier / the paper's line from its geometric mean over the learning rates",
		Needs:       MedianFrontier.Needs,
		Over:        []string{LearningRateKey},
		Predictions: []rom.Kind{rom.PaperRule},
		Event:       probe.Visible,
		Doc:         "The visible frontier follows ηK·K_ref = const over the learning rates, with any constant.",
		How:         "The interval is that which the intervals of the frontiers allow about the geometric mean of their middles; a frontier beyond the search has no upper end.",
	}

	ClassOccurs = &Claim{
		Name: "class-occurs", Per: AcrossCells,
		Quantity:    "number of refresh intervals at which the mean reward is of `class`",
		Needs:       []Need{NeedsThreeValues, NeedsClass, NeedsExpected, NeedsDistance},
		Over:        []string{LagIntervalKey},
		Predictions: []rom.Kind{rom.PaperRule},
		Doc:         "At one refresh interval at least the mean reward is of the class.",
		How:         "The class is that of `map`. One-sided and without margin: the claim holds when the number is at least 1, and fails (`expect: fails`) when it is 0. The control is another class, as in `control: {class: oscillatory}`.",
	}

	ClassThroughout = &Claim{
		Name: "class-throughout", Per: AcrossCells,
		Quantity:    "number of refresh intervals, or of bandits, at which the mean reward is of `class`",
		Needs:       ClassOccurs.Needs,
		Over:        []string{LagIntervalKey, ArmsKey},
		Predictions: []rom.Kind{rom.PaperRule},
		Doc:         "At every refresh interval, or in every bandit, the mean reward is of the class.",
		How:         "The class is that of `map`. Over `bandit.arms` the cells may differ in `lag.interval` too, and a bandit is of the class if it is so at one refresh interval at least. One-sided and without margin: the claim holds when the number is that of all, and fails (`expect: fails`) when it is smaller. The control is another class, or with `expect: fails` that all are of the class.",
	}
)
