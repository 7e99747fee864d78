//go:build long

package main

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// searching takes two thirds of the time of `make calibrate`: many cells a trial, or a
// threshold that is searched for.
var searching = map[string]bool{"relaxation-scaling": true, "oscillation-onset": true, "stability-threshold": true}

// All seeds of the other claims meet the requirements and give the committed rows, and
// mistakes in the theory the committed table.
func TestCalibrate(t *testing.T) {
	cells, err := loadCells()
	if err != nil {
		t.Fatal(err)
	}
	short := slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return searching[c.claim] })
	rows, unmet, err := calibrateCells(t.Context(), short, seeds, runtime.GOMAXPROCS(0), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	table, err := tabulate(cells, faults)
	if err != nil {
		t.Fatal(err)
	}
	unmet = append(unmet, table.unmet()...)
	var text bytes.Buffer
	writeRows(&text, rows)
	table.write(&text)
	for _, complaint := range unmet {
		t.Error(complaint)
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
