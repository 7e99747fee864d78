package sweeps

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sweeps/store"
)

// Equal cells of two variants are simulated once, finished cells not at all.
func TestMissingCells(t *testing.T) {
	text := strings.Replace(resting, "checks:", "variants: [{name: a}, {name: b}, {name: c, set: {grpo.group_size: 8}}]\nchecks:", 1)
	plan := planText(t, text+"  - {claim: fixed-point, margin: 1}\n")
	cells, planned := plan.missing(map[string]*store.Outcome{})
	if len(cells) != 2 || planned != 2 {
		t.Errorf("%d cells to simulate of %d, want 2 of 2", len(cells), planned)
	}
	known := plan.Cells[0].ID
	if cells, _ := plan.missing(map[string]*store.Outcome{known: {ID: known}}); len(cells) != 1 || cells[0].ID == known {
		t.Errorf("%d cells to simulate, want the one that is not finished", len(cells))
	}
}

// A results folder that lacks a single cell, or has a single damaged line, is not judged.
// In cells.csv intervals contain their estimate.
func TestOpenWithoutOneCell(t *testing.T) {
	dir := t.TempDir()
	e, _ := runSweep(t, small, dir, 2)
	var table bytes.Buffer
	if err := e.cellsCSV(&table); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		for i, name := range rows[0] {
			if !strings.HasSuffix(name, "_lo") || row[i] == "" {
				continue
			}
			lo, _ := strconv.ParseFloat(row[i], 64)
			mean, _ := strconv.ParseFloat(row[i-1], 64)
			hi, _ := strconv.ParseFloat(row[i+1], 64)
			if !(lo <= mean && mean <= hi) {
				t.Fatalf("%s: [%g, %g] does not contain %g", name, lo, hi, mean)
			}
		}
	}
	path := filepath.Join(dir, store.JournalName)
	whole := string(readFile(t, path))
	_, rest, _ := strings.Cut(whole, "\n")
	var damaged *store.DamagedError
	for _, text := range []string{rest, whole + "x\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(dir); !errors.As(err, &damaged) {
			t.Errorf("opened, error %v", err)
		}
	}
}

// The errors of the fresh and of the stale stiffness add in squares.
func TestErrorsOfBothParts(t *testing.T) {
	plan := planText(t, resting+"  - {claim: fixed-point, margin: 1}\n")
	o := outcomeOf(
		store.NamedEstimate{Name: stiffnessFresh, Mean: 0.3, StdErr: 0.003, DF: 100},
		store.NamedEstimate{Name: stiffnessStale, Mean: 0.2, StdErr: 0.004, DF: 100},
	)
	j := &judgement{model: model{check: plan.Checks[0].Check}, confidence: 0.99}
	total := func(m *rom.Measured) located {
		return located{Number: scope.Number{Value: 2 * (m.Fresh.At(0, 0) + m.Stale.At(0, 0))}}
	}
	got, want := j.stiffnessError(&plan.Cells[0], &o, 0.5, total), 0.005*student(100, 0.99)/0.5
	if math.Abs(got/want-1) > 1e-6 {
		t.Errorf("relative half-width %g, want %g", got, want)
	}
}
