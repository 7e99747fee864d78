//go:build long

package main

import (
	"runtime"
	"slices"
	"testing"
)

// slow lists the claims that take nine tenths of the time of `make calibrate`, because a
// trial has several cells, long runs or searches for a threshold.
var slow = map[string]bool{
	"relaxation-scaling": true, "oscillation-onset": true, "stability-threshold": true,
	"law-fit": true, "early-slope": true, "fluctuation-scaling": true, "damping-ratio": true,
}

// The other claims and the hard cells meet the requirements under all seeds.
func TestLongCalibrate(t *testing.T) {
	cells, err := loadCells()
	if err != nil {
		t.Fatal(err)
	}
	workers := runtime.GOMAXPROCS(0)
	fast := slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return slow[c.name] })
	made, unmet, err := each(fast, t.Logf, func(c *cell) ([]*row, error) {
		return c.calibrate(t.Context(), seeds, workers)
	})
	if err != nil {
		t.Fatal(err)
	}
	hard, unmetHard, err := calibrateHard(t.Context(), seeds, workers, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	for _, requirement := range slices.Concat(unmet, unmetHard) {
		t.Error(requirement)
	}
	t.Log(rows(made).String() + hard.String())
}

// Each mistake moves some claim far enough, and enough mistakes move each claim.
func TestLongFaultsAreCaught(t *testing.T) {
	cells, err := loadCells()
	if err != nil {
		t.Fatal(err)
	}
	mistakes, err := tabulate(t.Context(), cells, faults, runtime.GOMAXPROCS(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, requirement := range mistakes.unmet() {
		t.Error(requirement)
	}
	t.Log(mistakes.String())
}
