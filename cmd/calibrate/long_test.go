//go:build long

package main

import (
	"bytes"
	"runtime"
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
	var rows []*row
	for _, c := range cells {
		if searching[c.claim] {
			continue
		}
		made, err := c.calibrate(t.Context(), seeds, runtime.GOMAXPROCS(0), t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, made...)
	}
	table, err := tabulate(cells, faults)
	if err != nil {
		t.Fatal(err)
	}
	unmet := table.unmet()
	var text bytes.Buffer
	writeRows(&text, rows)
	table.write(&text)
	for _, r := range rows {
		unmet = append(unmet, r.unmet()...)
	}
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
