package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"grposim/sweeps"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// quickWork bounds the replica-steps of a cell that is simulated again: hundredths of a second.
const quickWork = 2e5

// The code gives the committed results: the cheapest cell of each experiment is run again, and
// its row of cells.csv is that committed, to the byte on amd64 and to 1e-9 elsewhere.
// TestLongReproduce simulates all cells.
func TestCommittedResultsAreReproduced(t *testing.T) {
	root := moduleRoot(t)
	checked := 0
	for _, name := range builtInNames() {
		suite := suiteOf(name)
		if suite == "" {
			continue
		}
		planned, err := readPlan(io.Discard, config.ToJudge, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		committed := byCell(t, filepath.Join(root, "results", suite, name, "cells.csv"))
		for _, c := range planned.Cells {
			if committed[c.ID] == nil {
				t.Errorf("%s: results/%s has no cell %s: run `bin/grposim reproduce --suite %[2]s "+
					"--out results/%[2]s`", name, suite, c.Label())
			}
		}
		if len(committed) != len(planned.Cells) {
			t.Errorf("%s: %d cells are committed, %d are planned", name, len(committed), len(planned.Cells))
		}
		quick := slices.MinFunc(planned.Cells, byWork)
		if quick.Work() > quickWork {
			continue
		}
		planned.Spec.Confidence = claim.NewEvidence(planned, nil).Confidence // of each interval
		planned.Cells, planned.Checks = []*plan.Cell{quick}, nil
		dir := t.TempDir()
		if _, err := (sweeps.Runner{Workers: 2, Progress: newProgress(io.Discard)}).Run(t.Context(), planned, dir); err != nil {
			t.Fatal(err)
		}
		for id, row := range byCell(t, filepath.Join(dir, "cells.csv")) {
			checked++
			for column, got := range row {
				if want := committed[id][column]; !sameField(got, want) {
					t.Errorf("%s: cell %s: %s is %s, committed %s", name, id, column, got, want)
				}
			}
		}
	}
	if least := 12; checked < least {
		t.Errorf("only %d cells were compared, want at least %d", checked, least)
	}
}

func byWork(a, b *plan.Cell) int { return cmp.Compare(a.Work(), b.Work()) }

// sameField compares two fields of cells.csv.
func sameField(got, want string) bool {
	x, errX := strconv.ParseFloat(got, 64)
	y, errY := strconv.ParseFloat(want, 64)
	if errX == nil && errY == nil && runtime.GOARCH != "amd64" {
		return math.Abs(x-y) <= 1e-9*math.Abs(y)
	}
	return got == want
}

// byCell reads a cells.csv. The keys of the result are the cell's id and the column.
func byCell(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(readDocument(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cells := make(map[string]map[string]string)
	for _, row := range rows[1:] {
		fields := make(map[string]string)
		for i, column := range rows[0] {
			fields[column] = row[i]
		}
		cells[fields["cell"]] = fields
	}
	return cells
}
