package report

import (
	"fmt"
	"math"
	"strings"

	"grposim/rom"
	"grposim/sweeps"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// verdict returns a verdict with the ruling of judge.Compare.
func verdict(about, quantity, label string, measured, half, predicted, margin float64,
	kind rom.Kind, expect config.Expectation) judge.Verdict {
	v := judge.Verdict{
		Claim: about, Quantity: quantity, Label: label,
		Cell:     strings.Repeat(fmt.Sprintf("%04x", len(label)*97), 16),
		Measured: store.Number(measured), Lo: store.Number(measured - half),
		Hi:        store.Number(measured + half),
		Predicted: store.Number(predicted), Margin: store.Number(margin), PredictionKind: kind,
		Expect: expect,
		Verdict: judge.Compare(measured-half, measured+half, predicted, margin, claim.FromBothSides,
			expect),
		Control: &judge.ControlVerdict{Fault: "noise × 1.1", Verdict: judge.Disagree},
	}
	switch v.Verdict {
	case judge.Agree:
		v.Because = "the interval lies inside predicted ± margin"
	case judge.Disagree:
		v.Because = "the interval lies wholly outside predicted ± margin"
	default:
		v.Because = "the interval straddles the margin: about 3.1 times the replicas or draws would decide"
	}
	return v
}

// exact is a verdict on the exact prediction, which is expected to hold.
func exact(about, quantity, label string, measured, half, predicted, margin float64) judge.Verdict {
	return verdict(about, quantity, label, measured, half, predicted, margin, rom.Exact, config.Holds)
}

// examples returns two experiments with every kind of verdict.
func examples() ([]Part, error) {
	inf := math.Inf(1)
	variance := func(label string, measured, half, predicted, margin float64) judge.Verdict {
		const quantity = "expected reward, variance"
		return exact("stationary-fluctuation", quantity, label, measured, half, predicted, margin)
	}
	scope := exact("fixed-point", "expected reward, mean", "G=2 β=1.2", 0.71, 0.002, nan, nan)
	scope.Verdict, scope.Control.Verdict = judge.OutOfScope, judge.OutOfScope
	scope.Because = "two of three groups are degenerate near θ*"
	diverged := variance("G=16 η=4", nan, nan, 4.93e-5, 1e-6)
	diverged.Verdict, diverged.Because = judge.Disagree, "64 replicas diverged, the first at step 812"
	open := verdict("stability-threshold", "refresh interval K", "η=0.02 μ=0.9", 400, 0, 310, 12,
		rom.PaperRule, config.Fails)
	open.Hi, open.Control.Fault = store.Number(inf), "the exact prediction"
	missed := exact("stiffness", "stiffness_total", "k3 G=16", 0.33915, 0.0011, 0.3391527175, 0.0034)
	missed.Control = &judge.ControlVerdict{Fault: "stiffness × 1.1", Verdict: judge.Inconclusive}
	across := verdict("fluctuation-scaling", "slope of log variance of expected reward",
		"η=0.01 over G", -1.0031, 0.011, -1, 0.03, rom.LeadingOrder, config.Holds)
	across.Cell = "grpo.group_size|optimizer.learning_rate=0.01"
	none := exact("relaxation", "−ln of the dominant multiplier", "β=0.5", 1.5868e-4, 2e-7, 1.5868e-4,
		1.6e-6)
	none.Control = nil

	fluctuation, stability := &sweeps.Experiment{
		Plan: &plan.Plan{
			Spec: &config.Spec{
				Name: "stationary-fluctuation", Confidence: 0.99,
				Claim: "Reward fluctuates around its fixed point with a variance that theory gives without " +
					"a fitted constant, & it falls as 1/G.",
			},
			Cells: []*plan.Cell{{ID: "a", Settings: seeded(20260629)}, {ID: "b", Settings: seeded(20260630)},
				{ID: "c", Settings: seeded(20260629), Status: store.NoFixedPoint}},
		},
		Outcomes: map[string]*store.Outcome{"a": {}, "b": {Status: store.CellDiverged}},
		Verdicts: []judge.Verdict{
			variance("G=4 η=0.1", 1.8221e-4, 1.7e-6, 1.81659e-4, 3.6e-6),
			variance("G=16 η=0.1", 4.9305e-5, 4.1e-7, 4.93135e-5, 9.8e-7),
			variance("G=64 η=0.1", 1.2466e-5, 1.9e-7, 1.2268e-5, 2.4e-7),
			verdict("stationary-fluctuation", "expected reward, variance", "G=16 η=0.1", 4.9305e-5, 4.1e-7,
				2.46e-5, 4.9e-7, rom.PaperRule, config.Fails),
			diverged, across,
			exact("fixed-point", "expected reward, mean", "G=16 η=0.1", 0.75167, 0.0002, 0.751673506, 0.0005),
			scope,
		},
		Figures: []sweeps.Figure{curves(2, 4, 8, 16, 32, 64), scaling(), deviations(18)},
	}, &sweeps.Experiment{
		Plan: &plan.Plan{
			Spec: &config.Spec{Name: "stability", Confidence: 0.99,
				Claim: "The rule ηλK < 1 − μ is safe, and <b>too cautious</b>."},
			Cells: []*plan.Cell{{ID: "d", Settings: seeded(7)}},
			Run:   &store.RunInfo{Version: "0123abc", GoVersion: "go1.26.8", OS: "linux", Arch: "amd64"},
		},
		Verdicts: []judge.Verdict{
			open, missed, none,
			exact("stability-threshold", "refresh interval K", "η=0.4 μ=0.5", 7, 0, 7, 0),
			exact("damping-ratio", "ζ", "η=0.02", 0.7, 0.004, 0.81, 0.008),
		},
	}
	parts := []Part{
		{Experiment: fluctuation, Folder: "of 2026", SVGs: make(map[string][]byte),
			Command: "grposim sweep configs/paper/stationary-fluctuation.yaml --out " +
				"results/local/stationary-fluctuation"},
		{Experiment: stability, Command: "grposim sweep stability.json"},
	}
	for _, f := range fluctuation.Figures {
		svg, _, err := Draw(f)
		if err != nil {
			return nil, err
		}
		parts[0].SVGs[f.Name] = svg
	}
	return parts, nil
}

// seeded returns settings with a seed and nothing else.
func seeded(seed uint64) config.Settings { return config.Settings{Seed: seed} }
