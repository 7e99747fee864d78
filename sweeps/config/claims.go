package config

import (
	_ "embed"
	"slices"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/probe"
)

// Claim is a row of claims.yaml: a statement about cells, its requirements, and what is measured
// beside the runs. Its other half, in package claim, finds and compares measurement and prediction.
type Claim struct {
	Name        string     // the word after `claim:` in a check
	Per         ClaimScope // over which cells one verdict is made
	Needs       []Need     // requirements on the check and on the cells it selects
	Predictions []rom.Kind // allowed values of `prediction`, at least one; the first is the default

	Event     probe.Event  // the event that is located along a parameter; "": none
	Fit       sim.CurveFit // the curve fitted to the mean reward or to the logs; "": none
	Diagnosed bool         // whether the diagnostics name a failure mode for every replica
	Ends      bool         // whether the end of every replica is kept
	Edge      bool         // whether the stiffness at the end of the run is measured
	Over      []string     // allowed values of `over`, for a claim across cells
	// smallest group size in the fit of a leading-order slope over G; 0: all sizes
	LeadingFrom int `yaml:"leading_from"`

	Quantity, Says, How string // what is compared, the statement, how it is measured and judged
}

// ClaimScope is the set of cells over which one verdict of a claim is made; "": each by itself.
type ClaimScope string

const (
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
	NeedsThreeValues  Need = "three-values"
	NeedsDisplacement Need = "displacement"
	NeedsAbsolute     Need = "absolute"
	NeedsDistance     Need = "distance"
	NeedsOffset       Need = "offset"
	NeedsLocation     Need = "location"
	NeedsLaw          Need = "law"
)

// String returns the need in the words of the reference document.
func (n Need) String() string { return rules.Needs[n] }

// Has reports whether the claim has the need.
func (c *Claim) Has(need Need) bool { return slices.Contains(c.Needs, need) }

//go:embed claims.yaml
var claimsText []byte

// Claims lists the claims that a check can make, in the order of the reference
// document. Package sweeps holds the logic by which each is judged.
var Claims = DecodeTable[[]*Claim]("claims.yaml", claimsText)

// LookupClaim returns the claim with a name of the table; known is false where there is none.
func LookupClaim(name string) (c *Claim, known bool) {
	i := slices.IndexFunc(Claims, func(c *Claim) bool { return c.Name == name })
	if i < 0 {
		return nil, false
	}
	return Claims[i], true
}

func claimNames() []string { return Each(Claims, func(c *Claim) string { return c.Name }) }
