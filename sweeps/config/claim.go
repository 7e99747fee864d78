package config

import (
	"slices"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/probe"
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

	Event     probe.Event  // the event that is located along a parameter; "": none
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

// Need is a requirement of a claim on its check or on the cells that the check selects: a row of
// `needs` in rules.yaml.
type Need string

const (
	NeedsBurnIn       Need = "burn-in"
	NeedsFiniteGroups Need = "finite-groups"
	NeedsThreeValues  Need = "three-values"
	NeedsDisplacement Need = "displacement"
	NeedsAbsolute     Need = "absolute"
	NeedsDistance     Need = "distance"
	NeedsOffset       Need = "offset"
	NeedsLocation     Need = "location"
	NeedsExpected     Need = "expected"
	NeedsTwoArms      Need = "two-arms"
	NeedsNetwork      Need = "network"
	NeedsStiffness    Need = "stiffness"
	NeedsSteadyRate   Need = "steady-rate"
	NeedsMultipliers  Need = "multipliers"
	NeedsOneAge       Need = "one-age"
	NeedsScatter      Need = "scatter"
	NeedsKnownRule    Need = "known-rule"
	NeedsOnPolicy     Need = "on-policy"
	NeedsHundredSteps Need = "hundred-steps"
	NeedsRecurrence   Need = "recurrence"
	NeedsMode         Need = "mode"
	NeedsLaw          Need = "law"
	NeedsClass        Need = "class"
)

// String returns the need in the words of the reference document.
func (n Need) String() string { return rules.Needs[n] }

// Has reports whether the claim has the need.
func (c *Claim) Has(need Need) bool { return slices.Contains(c.Needs, need) }
