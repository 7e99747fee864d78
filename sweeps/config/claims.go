package config

import (
	"slices"
)

// Claims lists the claims that a check can make, in the order of the reference
// document. Package sweeps holds the logic by which each is judged.
var Claims = []*Claim{
	Trajectory,
	TimeToLevel,
	Arrival,
	ModelAmplitude,
	FixedPoint,
	StationaryFluctuation,
	FluctuationScaling,
	Stiffness,
	EdgeOfStability,
	RateOverThreshold,
	Relaxation,
	RelaxationScaling,
	DampingRatio,
	OscillationOnset,
	StabilityThreshold,
	RuleIsSafe,
	VisibleFrontier,
	FrontierAboveOnset,
	MedianFrontier,
	FrontierGap,
	FrontierRatio,
	FrontierConstant,
	ClassOccurs,
	ClassThroughout,
	SaturationFit,
	EarlySlope,
	LawFit,
	LawForecast,
	Recurrence,
	DegenerateGroups,
	FailureMode,
}

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
