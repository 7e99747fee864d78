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
	Doc:         "In every replica the diagnostics name the expected failure mode (`none`: no failure).",
	How:         "The recorded series of each replica are diagnosed separately; the predicted share is 1. The control is another mode, as in `control: {mode: reward-hacking}`, and its verdict must be *disagree*.",
}
