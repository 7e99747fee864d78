package main

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"sync"

	papers "grposim/configs"
	"grposim/sweeps"
	"grposim/sweeps/config"
)

// Requirements of the table fault × claim.
const (
	caughtAt    = 3.0 // margins
	leastCaught = 2   // faults a claim
)

// table is by how many margins each fault moves each claim, at the most.
type table struct {
	claims []string
	faults []string
	moved  [][]float64 // [fault][claim]; +Inf where a threshold comes or goes
}

// tabulate moves the checks of the paper's experiments, and those of the cells,
// by each of the faults.
func tabulate(cells []*cell, faults []fault) (*table, error) {
	t := &table{}
	for _, row := range config.Claims {
		t.claims = append(t.claims, row.Name)
	}
	plant := make([]sweeps.Mistake, len(faults))
	for i, f := range faults {
		t.faults = append(t.faults, f.name)
		t.moved = append(t.moved, make([]float64, len(t.claims)))
		plant[i] = f.plant
	}
	files, err := fs.Glob(papers.Paper, "paper/*.yaml")
	if err != nil {
		return nil, err
	}
	var specs []*config.Spec
	for _, file := range files {
		data, err := papers.Paper.ReadFile(file)
		if err != nil {
			return nil, err
		}
		spec, err := config.Load(path.Join("configs", file), data)
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	for _, c := range cells {
		specs = append(specs, c.spec)
	}
	shifts := make([][][]sweeps.Shift, len(specs)) // [file][fault]
	var group sync.WaitGroup
	for i, spec := range specs {
		group.Go(func() { shifts[i] = sweeps.Shifts(sweeps.NewPlan(spec), plant) })
	}
	group.Wait()
	for _, file := range shifts {
		t.add(file)
	}
	return t, nil
}

func (t *table) claim(name string) int {
	i := slices.Index(t.claims, name)
	if i < 0 {
		panic("no claim " + name)
	}
	return i
}

// add enters what each fault does to the checks of a file.
func (t *table) add(file [][]sweeps.Shift) {
	for fault, shifts := range file {
		for _, s := range shifts {
			claim := t.claim(s.Check.Claim.Name)
			if moved := math.Abs(s.Margins); moved > t.moved[fault][claim] {
				t.moved[fault][claim] = moved
			}
		}
	}
}

// unmet says which claims catch too few faults, and which faults nobody catches.
func (t *table) unmet() []string {
	var complaints []string
	caught := make([]int, len(t.claims))
	for f, name := range t.faults {
		somewhere := false
		for c := range t.claims {
			if t.moved[f][c] >= caughtAt {
				caught[c]++
				somewhere = true
			}
		}
		if !somewhere {
			complaints = append(complaints, fmt.Sprintf("no claim is moved by %g margins or more by the fault: %s", caughtAt, name))
		}
	}
	for c, name := range t.claims {
		if caught[c] < leastCaught {
			complaints = append(complaints, fmt.Sprintf("%s is moved by %g margins or more by %d faults, want at least %d", name, caughtAt, caught[c], leastCaught))
		}
	}
	return complaints
}
