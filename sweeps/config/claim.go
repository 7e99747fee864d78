package config

import (
	"slices"

	"grposim/rom"
	"grposim/sim"
)

// Claim is a statement about cells that a check can make: its requirements, what is
// measured in addition to the runs, and its documentation. How measurement and
// prediction are found and compared is the claim's other half, in package sweeps.
type Claim struct {
	Name        string     // the word after `claim:` in a check
	Per         ClaimScope // over which cells one verdict is made
	Quantity    string     // the quantity that is compared, in words
	Needs       []Need     // requirements on the check and on the cells it selects
	Predictions []rom.Kind // allowed values of `prediction`, at least one; the first is the default
	Doc         string     // the statement, in one sentence
	How         string     // how it is measured and judged; "": nothing beyond Quantity and Doc

	Event     sim.Event    // the event that is located along a parameter; "": none
	Fit       sim.CurveFit // the curve fitted to the mean reward or to the logs; "": none
	Diagnosed bool         // whether the diagnostics name a failure mode for every replica
	Ends      bool         // whether the end of every replica is kept
	Edge      bool         // whether the stiffness at the end of the run is measured
	Over      []string     // allowed values of `over`, for a claim across cells
	// smallest group size in the fit of a leading-order slope over G; 0: all sizes
	LeadingFrom int
}

// ClaimScope is the set of cells over which one verdict of a claim is made.
type ClaimScope string

const (
	PerCell ClaimScope = "per cell"
	// once for the cells that share `seed`, `bandit`, `grpo`, `policy.reference` and
	// `optimizer.max_norm`
	PerForce    ClaimScope = "per force"
	AcrossCells ClaimScope = "per group of cells" // cells that differ in Check.Over only
)

// Need is a requirement of a claim on its check or on the cells that the check selects,
// in the words of the reference document.
type Need string

const (
	NeedsBurnIn       Need = "`run.burn_in` > 0"
	NeedsFiniteGroups Need = "finite `grpo.group_size` (out of scope at `inf`)"
	NeedsThreeValues  Need = "`over` and at least 3 values of that key (of `grpo.group_size`: finite ones)"
	NeedsDisplacement Need = "`displacement` ≥ 1e-9 and `draws` ≥ 1 (pairs of groups at ±displacement)"
	NeedsAbsolute     Need = "`absolute_margin` (the predicted value is 0)"
	NeedsDistance     Need = "a start away from the fixed point"
	NeedsOffset       Need = "`offset` ≥ 1e-9 (pairs of runs that start at ±offset about the fixed point) and at least 4 refresh instants from `run.burn_in` on"
	NeedsLocation     Need = "`locate` (nothing else is simulated in the cell)"
	NeedsExpected     Need = "`grpo.group_size: inf`"
	NeedsTwoArms      Need = "two arms"
	NeedsNetwork      Need = "`policy.network`"
	NeedsStiffness    Need = "stiffness in `run.record`"
	NeedsSteadyRate   Need = "`optimizer.schedule` constant, without warm-up"
	NeedsMultipliers  Need = "at finite `grpo.group_size`: two arms, and a block of the last snapshot or a delay of at most 1"
	NeedsOneAge       Need = "at finite `grpo.group_size`: a block or a delay"
	NeedsScatter      Need = "at finite `grpo.group_size`: `run.replicas` ≥ 2"
	NeedsKnownRule    Need = "`optimizer.kind` heavy-ball or nesterov"
	NeedsOnPolicy     Need = "`lag` block 1 or delay 0, and `optimizer.momentum` 0"
	NeedsHundredSteps Need = "`run.steps` > 100"
	NeedsRecurrence   Need = "block lag, `grpo.importance.mode` ratio, `grpo.kl.gradient` exact `at` current, `grpo.advantage.epsilon` 0"
	NeedsMode         Need = "`mode`"
	NeedsLaw          Need = "`law`"
	NeedsClass        Need = "`class`"
)

// Has reports whether the claim has the need.
func (c *Claim) Has(need Need) bool { return slices.Contains(c.Needs, need) }
