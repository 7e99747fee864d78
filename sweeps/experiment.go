package sweeps

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Experiment is a finished sweep with its verdicts and figures.
type Experiment struct {
	Plan     *Plan
	Outcomes map[string]*store.Outcome // by cell id
	Verdicts []Verdict
	Figures  []Figure
	Command  string // how to run it again

	evidence *evidence
}

// NewExperiment judges the outcomes of a plan's cells, by id, and pictures them. It
// writes nothing; its error is one of reading a trajectory.
func NewExperiment(plan *Plan, outcomes map[string]*store.Outcome) (*Experiment, error) {
	e := &Experiment{Plan: plan, Outcomes: outcomes, evidence: newEvidence(outcomes)}
	e.Verdicts = e.evidence.judge(plan)
	e.Figures = e.evidence.figures(plan, e.Verdicts)
	return e, e.evidence.failure
}

// Write writes the tables of an experiment into its results folder, which it locks
// meanwhile.
func (e *Experiment) Write(dir string) (err error) {
	release, err := store.Lock(dir, e.Plan.Spec.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	trajectories, err := store.NewTrajectoryTable(dir, e.Plan.ids())
	if err != nil {
		return err
	}
	defer trajectories.Discard()
	return e.write(dir, trajectories)
}

// write writes the tables into a locked folder; the table of trajectories may hold
// some of the cells already.
func (e *Experiment) write(dir string, trajectories *store.TrajectoryTable) error {
	for _, table := range []struct {
		name string
		make func() ([]byte, error)
	}{
		{"cells.csv", e.cellsCSV},
		{"predictions.csv", e.predictionsCSV},
		{"verdicts.json", func() ([]byte, error) { return VerdictsJSON(e.Plan.Spec.Name, e.Verdicts) }},
		{"verdicts.md", func() ([]byte, error) { return VerdictsMarkdown(e.Verdicts), nil }},
	} {
		data, err := table.make()
		if err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
		if err := store.WriteFile(filepath.Join(dir, table.name), data); err != nil {
			return err
		}
	}
	return trajectories.Save(e.Outcomes)
}

// Show puts a figure before those of the checks, in the place of one of the
// same name.
func (e *Experiment) Show(f Figure) {
	for i := range e.Figures {
		if e.Figures[i].Name == f.Name {
			e.Figures[i] = f
			return
		}
	}
	e.Figures = slices.Insert(e.Figures, 0, f)
}

// parameters returns the keys that differ between cells, those of the axes and
// of the variants' settings, in the order of the key table.
func (e *Experiment) parameters() []config.Key {
	used := make(map[string]bool)
	axes := func(sweep []config.Axis) {
		for _, axis := range sweep {
			for _, path := range axis.Params {
				used[path] = true
			}
		}
	}
	axes(e.Plan.Spec.Sweep)
	for _, v := range e.Plan.Spec.Variants {
		for _, a := range v.Set {
			used[a.Param] = true
		}
		axes(v.Sweep)
	}
	var keys []config.Key
	for _, k := range config.Keys {
		if used[k.Path] {
			keys = append(keys, k)
		}
	}
	return keys
}

func (e *Experiment) identify(c *Cell, keys []config.Key) []string {
	row := []string{c.ID, c.Variant}
	for _, k := range keys {
		row = append(row, config.Format(k.Get(&c.Settings)))
	}
	return row
}
