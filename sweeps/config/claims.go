package config

import (
	_ "embed"
	"slices"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/probe"
)

// Claim is a statement about cells that a check can make: its requirements, and what is
// measured in addition to the runs. What it says is in claims.yaml. How measurement and
// prediction are found and compared is the claim's other half, in package sweeps.
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

// Claims lists the claims that a check can make, in the order of the reference
// document. Package sweeps holds the logic by which each is judged.
var Claims = []*Claim{
	Trajectory, TimeToLevel, Arrival, ModelAmplitude, FixedPoint, StationaryFluctuation,
	FluctuationScaling, Stiffness, EdgeOfStability, RateOverThreshold, Relaxation, RelaxationScaling,
	DampingRatio, OscillationOnset, StabilityThreshold, RuleIsSafe, VisibleFrontier,
	FrontierAboveOnset, MedianFrontier, FrontierGap, FrontierRatio, FrontierConstant, ClassOccurs,
	ClassThroughout, SaturationFit, EarlySlope, LawFit, LawForecast, Recurrence, DegenerateGroups,
	FailureMode,
}

//go:embed claims.yaml
var claimsText []byte

// said is what claims.yaml says of each claim, by its name.
var said = decodeTable[map[string]struct{ Quantity, Says, How string }]("claims.yaml", claimsText)

var (
	// about the mean reward, or the logits, along a run
	Trajectory = &Claim{
		Name: "trajectory", Per: PerCell, Needs: []Need{NeedsDistance, NeedsAbsolute},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
	}
	TimeToLevel = &Claim{
		Name: "time-to-level", Per: PerCell, Needs: []Need{NeedsDistance},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
	}
	Arrival = &Claim{
		Name: "arrival", Per: PerCell, Ends: true, Needs: []Need{NeedsDistance},
		Predictions: []rom.Kind{rom.Exact},
	}
	ModelAmplitude = &Claim{
		Name: "model-amplitude", Per: PerCell,
		Needs:       []Need{NeedsDistance, NeedsExpected, NeedsAbsolute},
		Predictions: []rom.Kind{rom.PaperRule},
	}

	// about the stationary state
	FixedPoint = &Claim{
		Name: "fixed-point", Per: PerCell, Needs: []Need{NeedsBurnIn},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule},
	}
	StationaryFluctuation = &Claim{
		Name: "stationary-fluctuation", Per: PerCell, Needs: []Need{NeedsBurnIn, NeedsFiniteGroups},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
	}
	FluctuationScaling = &Claim{
		Name: "fluctuation-scaling", Per: AcrossCells,
		LeadingFrom: 32, // at smaller sizes the next order in 1/G exceeds 3 %
		Over:        []string{GroupSizeKey, "grpo.kl.coefficient", LagIntervalKey, MomentumKey},
		Needs:       []Need{NeedsBurnIn, NeedsThreeValues},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
	}

	// about the mean force near the fixed point and at the end of a run
	Stiffness = &Claim{
		Name: "stiffness", Per: PerForce, Needs: []Need{NeedsDisplacement},
		Predictions: []rom.Kind{rom.Exact},
	}
	EdgeOfStability = &Claim{
		Name: "edge-of-stability", Per: PerCell, Edge: true,
		Needs:       []Need{NeedsNetwork, NeedsExpected, NeedsSteadyRate, NeedsKnownRule},
		Predictions: []rom.Kind{rom.LeadingOrder},
	}
	RateOverThreshold = &Claim{
		Name: "rate-over-threshold", Per: PerCell,
		Needs:       []Need{NeedsNetwork, NeedsExpected, NeedsSteadyRate, NeedsKnownRule, NeedsStiffness},
		Predictions: []rom.Kind{rom.LeadingOrder},
	}

	// about how a small deviation from the fixed point decays or grows
	Relaxation = &Claim{
		Name: "relaxation", Per: PerCell, Needs: []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
	}
	RelaxationScaling = &Claim{
		Name: "relaxation-scaling", Per: AcrossCells, Over: []string{GroupSizeKey},
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers, NeedsThreeValues},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
	}
	DampingRatio = &Claim{
		Name: "damping-ratio", Per: PerCell,
		Needs:       []Need{NeedsOffset, NeedsSteadyRate, NeedsMultipliers},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
	}

	// about the learning rate, or the refresh interval, at which an event sets in
	OscillationOnset = &Claim{
		Name: "oscillation-onset", Per: PerCell, Event: probe.Ringing,
		Needs: []Need{
			NeedsLocation, NeedsDisplacement, NeedsTwoArms, NeedsSteadyRate,
			NeedsMultipliers, NeedsScatter, NeedsKnownRule,
		},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
	}
	StabilityThreshold = &Claim{
		Name: "stability-threshold", Per: PerCell, Event: probe.Instability,
		Needs: []Need{
			NeedsLocation, NeedsDisplacement, NeedsSteadyRate,
			NeedsOneAge, NeedsScatter, NeedsKnownRule,
		},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder, rom.PaperRule, rom.RuleAtStiffness},
	}
	RuleIsSafe = &Claim{
		Name: "rule-is-safe", Per: PerCell, Event: probe.Instability,
		Needs: StabilityThreshold.Needs,
		Predictions: []rom.Kind{
			rom.PaperRule, rom.RuleAtStiffness, rom.RuleAtLargestAge, rom.SufficientRule,
		},
	}

	// about where the mean reward visibly oscillates, and its class
	VisibleFrontier = &Claim{
		Name: "visible-frontier", Per: PerCell, Event: probe.Visible,
		Needs: []Need{
			NeedsLocation, NeedsDisplacement, NeedsDistance,
			NeedsExpected, NeedsSteadyRate, NeedsKnownRule,
		},
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
	}
	FrontierAboveOnset = &Claim{
		Name: "frontier-above-onset", Per: PerCell, Event: probe.Visible, Needs: VisibleFrontier.Needs,
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
	}
	MedianFrontier = &Claim{
		Name: "median-frontier", Per: AcrossCells, Event: probe.Visible, Over: []string{ArmsKey},
		Needs:       append([]Need{NeedsThreeValues, NeedsAbsolute}, VisibleFrontier.Needs...),
		Predictions: []rom.Kind{rom.PaperRule, rom.RuleAtStiffness},
	}
	FrontierGap = &Claim{
		Name: "frontier-gap", Per: AcrossCells, Event: probe.Visible, Over: []string{LearningRateKey},
		Needs:       append([]Need{NeedsThreeValues}, VisibleFrontier.Needs...),
		Predictions: []rom.Kind{rom.PaperRule},
	}
	FrontierRatio = &Claim{
		Name: "frontier-ratio", Per: AcrossCells, Event: probe.Visible, Over: FrontierGap.Over,
		Needs: FrontierGap.Needs, Predictions: FrontierGap.Predictions,
	}
	FrontierConstant = &Claim{
		Name: "frontier-constant", Per: AcrossCells, Event: probe.Visible,
		Over: []string{LearningRateKey}, Needs: MedianFrontier.Needs,
		Predictions: []rom.Kind{rom.PaperRule},
	}
	ClassOccurs = &Claim{
		Name: "class-occurs", Per: AcrossCells, Over: []string{LagIntervalKey},
		Needs:       []Need{NeedsThreeValues, NeedsClass, NeedsExpected, NeedsDistance},
		Predictions: []rom.Kind{rom.PaperRule},
	}
	ClassThroughout = &Claim{
		Name: "class-throughout", Per: AcrossCells, Over: []string{LagIntervalKey, ArmsKey},
		Needs: ClassOccurs.Needs, Predictions: []rom.Kind{rom.PaperRule},
	}

	// about curves and laws that are fitted
	SaturationFit = &Claim{
		Name: "saturation-fit", Per: PerCell, Fit: sim.SaturationFit, Needs: []Need{NeedsDistance},
		Predictions: []rom.Kind{rom.Exact, rom.LeadingOrder},
	}
	EarlySlope = &Claim{
		Name: "early-slope", Per: PerCell, Fit: sim.EarlySlopeFit,
		Needs:       []Need{NeedsDistance, NeedsOnPolicy, NeedsHundredSteps},
		Predictions: []rom.Kind{rom.Exact, rom.PaperRule, rom.RuleAtStiffness},
	}
	LawFit = &Claim{
		Name: "law-fit", Per: PerCell, Fit: sim.LoggedFit,
		Needs:       []Need{NeedsLaw, NeedsDistance, NeedsOnPolicy},
		Predictions: []rom.Kind{rom.Exact, rom.PaperRule},
	}
	LawForecast = &Claim{
		Name: "law-forecast", Per: PerCell, Fit: sim.LoggedFit,
		Needs: []Need{NeedsLaw, NeedsDistance, NeedsOnPolicy}, Predictions: []rom.Kind{rom.PaperRule},
	}

	// about the policies, groups and names of a run
	Recurrence = &Claim{
		Name: "recurrence", Per: PerCell, Needs: []Need{NeedsRecurrence, NeedsTwoArms, NeedsAbsolute},
		Predictions: []rom.Kind{rom.Exact},
	}
	DegenerateGroups = &Claim{
		Name: "degenerate-groups", Per: PerCell, Needs: []Need{NeedsBurnIn},
		Predictions: []rom.Kind{rom.Exact},
	}
	FailureMode = &Claim{
		Name: "failure-mode", Per: PerCell, Diagnosed: true, Needs: []Need{NeedsMode},
		Predictions: []rom.Kind{rom.Exact, rom.PaperRule},
	}
)

// LookupClaim returns the claim with a name of the table; known is false where there
// is none.
func LookupClaim(name string) (c *Claim, known bool) {
	i := slices.IndexFunc(Claims, func(c *Claim) bool { return c.Name == name })
	if i < 0 {
		return nil, false
	}
	return Claims[i], true
}

// claimNames lists the names of Claims.
func claimNames() []string { return each(Claims, func(c *Claim) string { return c.Name }) }
