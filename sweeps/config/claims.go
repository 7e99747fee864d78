package config

import (
	"slices"
)

// Claims lists the claims that a check can make. Each is judged by the logic that
// package sweeps has for it.
var Claims = []*Claim{
	Trajectory,
	FixedPoint,
	StationaryFluctuation,
	FluctuationScaling,
	Stiffness,
	Relaxation,
	RelaxationScaling,
	DampingRatio,
	OscillationOnset,
	StabilityThreshold,
	RuleIsSafe,
	SaturationFit,
	EarlySlope,
	Recurrence,
	DegenerateGroups,
	FailureMode,
}

// LookupClaim finds a claim by its name.
func LookupClaim(name string) (c *Claim, known bool) {
	i := slices.IndexFunc(Claims, func(c *Claim) bool { return c.Name == name })
	if i < 0 {
		return nil, false
	}
	return Claims[i], true
}

func claimNames() []string {
	var names []string
	for _, c := range Claims {
		names = append(names, c.Name)
	}
	return names
}
