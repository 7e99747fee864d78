package config

import (
	"grposim/rom"
)

// FailureMode is the claim about the names that the diagnostics give to runs.
var FailureMode = &Claim{
	Name: "failure-mode", Per: PerCell,
	Quantity:    "share of replicas that the diagnostics name `mode`",
	Needs:       []Need{NeedsMode},
	Predictions: []rom.Kind{rom.Exact, rom.PaperRule},
	Diagnosed:   true,
	Doc:         "In every replica the diagnostics name the expected failure mode (`none`: no failure): ours, or by the paper's rule the paper's.",
	How:         "The recorded series of each replica are diagnosed separately; the predicted share is 1. `paper-rule` judges the mode that the paper's four diagnostics name, in the paper's formulas. The paper gives no thresholds: all of those used are ours, and so is the order of the modes (docs/theory-trainers.md §7). The control is another mode, as in `control: {mode: reward-hacking}`, and its verdict must be *disagree*.",
}
