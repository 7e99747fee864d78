//go:build long

package main

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// slow lists the claims that take nine tenths of the time of `make calibrate`, because a
// trial has several cells, long runs or searches for a threshold.
var slow = map[string]bool{
	"relaxation-scaling": true, "oscillation-onset": true, "stability-threshold": true,
	"law-fit": true, "early-slope": true, "fluctuation-scaling": true, "damping-ratio": true,
}

// The other claims and the hard cells meet the requirements under all seeds and give the
// committed rows, and the mistakes in the theory give the committed table.
func TestLongCalibrate(t *testing.T) {
	cells, err := loadCells()
	if err != nil {
		t.Fatal(err)
	}
	fast := slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return slow[c.claim] })
	rows, unmet, err := calibrateCells(t.Context(), fast, seeds, runtime.GOMAXPROCS(0), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	hard, unmetHard, err := calibrateHard(t.Context(), seeds, runtime.GOMAXPROCS(0), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	table, err := tabulate(cells, faults)
	if err != nil {
		t.Fatal(err)
	}
	unmet = slices.Concat(unmet, unmetHard, table.unmet())
	var text bytes.Buffer
	writeRows(&text, rows)
	writeHardRows(&text, hard)
	table.write(&text)
	for _, requirement := range unmet {
		t.Error(requirement)
	}
	if runtime.GOARCH != "amd64" {
		return
	}
	for line := range strings.Lines(text.String()) {
		if !bytes.Contains(page(t), []byte(line)) {
			t.Errorf("docs/calibration.md has no line %s", line)
		}
	}
}
