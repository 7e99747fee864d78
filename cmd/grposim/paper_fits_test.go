package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grposim/sweeps/judge"
	"grposim/training/fit"
	"grposim/training/logs"
)

// withoutInertia are the laws of growth that start with a slope, or whose slow start is no
// inertia.
var withoutInertia = []fit.Name{fit.Exponential, fit.Logistic, fit.ScalingLaw}

// publicFit fits the paper's law and its rivals to a log over optimizer steps, as the paper
// does.
func publicFit(t *testing.T, file string) judge.PublicFit {
	t.Helper()
	log, err := openLog(io.Discard, file, logs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	curve := rewardCurve(log, stepsOf(log))
	result := fit.Fit(curve)
	law := result.Model(fit.ThreePhase)
	f := judge.PublicFit{
		Log: strings.TrimSuffix(filepath.Base(file), ".csv"), Rows: len(curve.Time),
		R2: law.R2, R2Means: law.R2Smoothed, DeltaBIC: math.Inf(-1),
	}
	for _, m := range result.Models {
		f.Best, f.Means = max(f.Best, m.R2), max(f.Means, m.R2Smoothed)
	}
	for _, name := range withoutInertia {
		if d := law.BIC - result.Model(name).BIC; d > f.DeltaBIC {
			f.Rival, f.DeltaBIC = string(name), d
		}
	}
	return f
}

// configs/statements-fits.yaml holds the fits of the logs in docs/example.
func TestPublicFits(t *testing.T) {
	root := moduleRoot(t)
	one, err := filepath.Glob(filepath.Join(root, "docs", "example", "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob(filepath.Join(root, "docs", "example", "runs", "*.csv"))
	if err != nil || len(one)+len(others) != 9 {
		t.Fatalf("%d logs: %v", len(one)+len(others), err)
	}
	text := "# Fits of the three-phase law of arXiv:2606.30789 to the logs in docs/example, over optimizer steps:\n" +
		"# R² of the rows and of their moving average over 5 % of them; the largest of each that any law has;\n" +
		"# the law without inertia of the lowest BIC, and how much larger that of the three-phase law is.\n" +
		"# Written by a test of cmd/grposim.\n"
	for _, file := range slices.Concat(one, others) {
		f := publicFit(t, file)
		text += fmt.Sprintf("- {log: %s, rows: %d, r2: %.3f, r2means: %.3f, best: %.3f, means: %.3f, "+
			"rival: %s, deltabic: %.1f}\n", f.Log, f.Rows, f.R2, f.R2Means, f.Best, f.Means, f.Rival, f.DeltaBIC)
	}
	golden(t, filepath.Join(root, "configs", "statements-fits.yaml"), text)
}
