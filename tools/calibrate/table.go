package main

import (
	"context"
	"math"
	"slices"

	papers "grposim/configs"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/tools/internal/tool"
)

// Requirements of the table fault × claim.
const (
	caughtAt    = 3.0 // margins by which a fault moves a claim that catches it
	leastCaught = 2   // faults that each claim catches
)

// table gives the largest number of margins by which each fault moves each claim.
type table struct {
	claims []string
	faults []string
	moved  [][]float64 // [fault][claim]; +Inf where a threshold comes or goes

	compared []bool // [claim]: some check compares two-sided, which faults can move
}

// tabulate computes by how much each fault moves the checks of the paper's experiments
// and of the cells.
func tabulate(ctx context.Context, cells []*cell, faults []fault, workers int) (*table, error) {
	t := &table{}
	for _, row := range config.Claims {
		t.claims, t.compared = append(t.claims, row.Name), append(t.compared, false)
	}
	mistakes := make([]mistake, len(faults))
	for i, f := range faults {
		t.faults = append(t.faults, f.name)
		t.moved = append(t.moved, make([]float64, len(t.claims)))
		mistakes[i] = f.mistake
	}
	paper, err := loadFiles(papers.Files, "configs", "paper/*.yaml")
	if err != nil {
		return nil, err
	}
	cells = slices.Concat(cells, paper)
	ofCell := func(_ context.Context, i int) ([][]shift, error) { // [fault]
		return shiftsOf(plan.New(cells[i].spec), mistakes), nil
	}
	shifts, err := tool.Each(ctx, len(cells), workers, ofCell)
	for _, file := range shifts {
		t.add(file)
	}
	return t, err
}

// add enters the shifts of one file's checks by each fault.
func (t *table) add(file [][]shift) {
	for fault, shifts := range file {
		for _, s := range shifts {
			claim := slices.Index(t.claims, s.check.Claim.Name)
			// 0 is predicted whatever the theory
			t.compared[claim] = t.compared[claim] || s.check.Claim.Name != "frontier-constant"
			// false for NaN: no prediction
			if moved := math.Abs(s.margins); moved > t.moved[fault][claim] {
				t.moved[fault][claim] = moved
			}
		}
	}
}

// unmet returns a message for each fault that no claim catches, and for each claim that
// catches too few faults although it compares two-sided.
func (t *table) unmet() (messages tool.Unmet) {
	require := requirements(&messages, "")
	caught := make([]int, len(t.claims))
	for f, name := range t.faults {
		for c := range t.claims {
			if t.moved[f][c] >= caughtAt {
				caught[c]++
			}
		}
		require(slices.Max(t.moved[f]) >= caughtAt,
			"no claim is moved by %g margins or more by the fault: %s", caughtAt, name)
	}
	for c, name := range t.claims {
		require(!t.compared[c] || caught[c] >= leastCaught,
			"%s is moved by %g margins or more by %d faults, want at least %d",
			name, caughtAt, caught[c], leastCaught)
	}
	return messages
}
