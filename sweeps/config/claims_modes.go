package config

import (
	"grposim/rom"
)

// FailureMode is the claim about the names that the diagnostics give to runs.
var FailureMode = &Claim{
	Name: "failure-mode", Per: PerCell,
	Quantity:    "share of replicas that the diagnostics name `mode`",
	Needs:       []Need{NeedsMode},
	Predictions: []rom.Kind{rom.Exact},
	Diagnosed:   true,
	Doc:         "The diagnostics name the failure mode, or its absence, in every replica.",
	How:         "Every replica's own recorded series are diagnosed; the predicted share is 1. The control is another mode, `control: {mode: reward-hacking}`, which must come out *disagree*.",
}
