package sweeps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Experiment is a finished sweep with its verdicts and figures.
type Experiment struct {
	Plan     *Plan                     // what was simulated and judged
	Outcomes map[string]*store.Outcome // by cell id; one for every cell of the plan
	Verdicts []Verdict                 // in the order of the checks
	Figures  []Figure                  // regime maps, then the figures of the checks

	evidence *evidence
}

// NewExperiment judges the outcomes of a plan's cells, by id, on at least one goroutine, and makes
// the figures. progress counts sets of cells, rows of predictions.csv, and verdicts for which a
// change is looked for. It writes nothing. Its error is the first in reading a trajectory, or that
// of ctx, which it looks at before each part.
func NewExperiment(ctx context.Context, plan *Plan, outcomes map[string]*store.Outcome, workers int, progress Progress) (*Experiment, error) {
	e := &Experiment{Plan: plan, Outcomes: outcomes, evidence: newEvidence(outcomes)}
	e.evidence.workers = workers
	parts := func(what string, total int) (part func() (more bool)) {
		done := 0
		return func() bool {
			if e.evidence.failure == nil {
				done++
				progress.Part(plan.Spec.Name, what, done, total)
			}
			return e.evidence.keep(ctx.Err())
		}
	}
	e.evidence.part = parts("judging", plan.sets()+len(plan.Cells))
	e.Verdicts = e.evidence.judge(plan)
	if e.evidence.failure == nil {
		e.evidence.addHints(plan, e.Verdicts, parts)
	}
	if e.evidence.failure == nil {
		e.Figures = e.evidence.figures(plan, e.Verdicts)
	}
	return e, e.evidence.failure
}

// figures returns the regime map of every sweep that automaticMaps finds, and the figures
// of the checks, or where there are none plainFigures. A figure shows all checks that
// compare the same measurement with different theories.
func (e *evidence) figures(plan *Plan, verdicts []Verdict) []Figure {
	var figures []Figure
	for _, p := range automaticMaps(plan) {
		if m := e.regimeMap(p, nil); m.moves() {
			figures = append(figures, m.Figure())
		}
	}
	if len(plan.Checks) == 0 {
		return append(figures, e.plainFigures(plan)...)
	}
	sources := figureSources(plan, verdicts)
	names := namesOf(sources)
	for i, source := range sources {
		f := source.picture.draw(newJudgement(source.checks[0], plan.IntervalConfidence(), e), source)
		f.Name = names[i]
		if source.variant != "" {
			f.Title = source.variant + ": " + f.Title
		}
		if failing := source.failing(); failing != "" {
			f.Title += " (" + failing + ")"
		}
		figures = append(figures, f)
	}
	return figures
}

// Maps returns the maps of a view of the experiment's plan, one a panel. Its error is the
// first in reading a trajectory.
func (e *Experiment) Maps(view *MapView) ([]RegimeMap, error) {
	var maps []RegimeMap
	for _, p := range view.panels {
		maps = append(maps, e.evidence.regimeMap(p, view.colour))
	}
	valued := func(p mapPoint) bool { return !math.IsNaN(p.value) }
	if view.colour != nil && !slices.ContainsFunc(maps, func(m RegimeMap) bool { return slices.ContainsFunc(m.points, valued) }) {
		return nil, config.Problems{{Source: quantityFlag, Text: fmt.Sprintf("got %s, which no cell of the map has. %s", view.colour.name, view.colour.column().Doc)}}
	}
	return maps, e.evidence.failure
}

// Write writes the tables of an experiment into its results folder and replaces those
// there. It locks the folder while it writes.
func (e *Experiment) Write(dir string) (err error) {
	release, err := store.Lock(dir, e.Plan.Spec.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	trajectories, err := e.Plan.newTrajectoryTable(dir)
	if err != nil {
		return err
	}
	defer trajectories.Discard()
	return e.write(dir, trajectories)
}

// write writes the tables into a locked folder. The table of trajectories can contain
// some of the cells already; write adds the others and saves it.
func (e *Experiment) write(dir string, trajectories *store.TrajectoryTable) error {
	for _, table := range []struct {
		name string
		make func(w io.Writer) error
	}{
		{"cells.csv", e.cellsCSV},
		{"predictions.csv", e.predictionsCSV},
		{"verdicts.json", func(w io.Writer) error { return VerdictsJSON(w, e.Plan.Spec.Name, e.Verdicts) }},
		{"verdicts.md", func(w io.Writer) error { return VerdictsMarkdown(w, e.Verdicts) }},
	} {
		err := store.ReplaceFile(filepath.Join(dir, table.name), func(w io.Writer) error {
			if err := table.make(w); err != nil {
				return fmt.Errorf("%s: %w", table.name, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return trajectories.Save(e.Outcomes)
}

// Show adds a figure: in the place of the figure with the same name, or first if there is none.
func (e *Experiment) Show(f Figure) {
	for i := range e.Figures {
		if e.Figures[i].Name == f.Name {
			e.Figures[i] = f
			return
		}
	}
	e.Figures = slices.Insert(e.Figures, 0, f)
}
