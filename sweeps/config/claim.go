package config

import (
	"slices"

	"grposim/rom"
	"grposim/sim"
)

// Claim is a statement about cells that a check can make: what it asks of them,
// what is measured of them besides their runs, and how the claim is documented.
type Claim struct {
	Name        string
	Per         ClaimScope
	Quantity    string // what is compared, in words
	Needs       []Need
	Predictions []rom.Kind // what `prediction` may say; the first is the default
	Doc         string     // what it says, in one sentence
	How         string     // how it is measured and judged, where that takes more words

	Event       sim.Event    // the event that is located; "": none
	Fit         sim.CurveFit // the curve that is fitted to the mean reward; "": none
	Diagnosed   bool         // whether every replica's failure mode is named
	LeadingFrom int          // a leading-order slope over G is fitted to the sizes from this one on
}

// ClaimScope says over what a claim is judged.
type ClaimScope string

const (
	PerCell     ClaimScope = "per cell"
	PerForce    ClaimScope = "per force"          // the first of the cells that share `bandit`, `grpo` and `policy.reference`
	AcrossCells ClaimScope = "per group of cells" // that differ in Check.Over
)

// Need is what a claim asks of a check or of the cells it selects.
type Need string

const (
	NeedsBurnIn       Need = "`run.burn_in` > 0"
	NeedsFiniteGroups Need = "finite `grpo.group_size` (out of scope at `inf`)"
	NeedsThreeSizes   Need = "`over: grpo.group_size` and at least 3 finite values of it"
	NeedsDisplacement Need = "`displacement` ≥ 1e-9 and `draws` ≥ 1 (pairs of groups at ±displacement)"
	NeedsAbsolute     Need = "`absolute_margin` (what it predicts is 0)"
	NeedsDistance     Need = "a start away from the fixed point"
	NeedsOffset       Need = "`offset` ≥ 1e-9 (pairs of runs that start at ±offset about the fixed point) and at least 4 refresh instants from `run.burn_in` on"
	NeedsLocation     Need = "`locate` (the cell simulates nothing else)"
	NeedsTwoArms      Need = "two arms"
	NeedsSteadyRate   Need = "`optimizer.schedule` constant, without warm-up"
	NeedsMultipliers  Need = "at finite `grpo.group_size` two arms, and a block or a delay of at most 1"
	NeedsScatter      Need = "at finite `grpo.group_size` `run.replicas` ≥ 2"
	NeedsKnownRule    Need = "`optimizer.kind` heavy-ball or nesterov"
	NeedsOnPolicy     Need = "`lag` block 1 or delay 0, and `optimizer.momentum` 0"
	NeedsHundredSteps Need = "`run.steps` > 100"
	NeedsRecurrence   Need = "block lag, `grpo.importance.mode` ratio, `grpo.kl.gradient` exact `at` current, `grpo.advantage.epsilon` 0"
	NeedsMode         Need = "`mode`"
)

// Has says whether the claim has the need.
func (c *Claim) Has(need Need) bool { return slices.Contains(c.Needs, need) }
