package sweeps

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grposim/sweeps/store"
)

// Equal cells of two variants are simulated once, finished cells not at all.
func TestMissingCells(t *testing.T) {
	text := strings.Replace(resting, "checks:", "variants: [{name: a}, {name: b}, {name: c, set: {grpo.group_size: 8}}]\nchecks:", 1)
	plan := planText(t, text+"  - {claim: fixed-point, margin: 1}\n")
	cells, planned := plan.Missing(map[string]*store.Outcome{})
	if len(cells) != 2 || planned != 2 {
		t.Errorf("%d cells to simulate of %d, want 2 of 2", len(cells), planned)
	}
	known := plan.Cells[0].ID
	if cells, _ := plan.Missing(map[string]*store.Outcome{known: {ID: known}}); len(cells) != 1 || cells[0].ID == known {
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
