package sweeps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"grposim/sweeps/claim"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Experiment is a finished sweep with its verdicts and figures.
type Experiment struct {
	Plan     *plan.Plan                // what was simulated and judged
	Outcomes map[string]*store.Outcome // by cell id; one for every cell of the plan
	Verdicts []judge.Verdict           // in the order of the checks
	Figures  []Figure                  // regime maps, then the figures of the checks

	evidence *claim.Evidence
}

// Show adds a figure: in the place of the figure with the same name, or first if there is none.
func (e *Experiment) Show(f Figure) {
	same := func(other Figure) bool { return other.Name == f.Name }
	if i := slices.IndexFunc(e.Figures, same); i >= 0 {
		e.Figures[i] = f
		return
	}
	e.Figures = slices.Insert(e.Figures, 0, f)
}

// NewExperiment judges the outcomes of a plan's cells, by id, on at least one goroutine, and makes
// the figures. progress counts sets of cells, rows of predictions.csv, and verdicts for which a
// change is looked for. It writes nothing. Its error is the first in reading a trajectory, or that
// of ctx, which it looks at before each part.
func NewExperiment(ctx context.Context, plan *plan.Plan, outcomes map[string]*store.Outcome,
	workers int, progress Progress) (*Experiment, error) {
	e := &Experiment{Plan: plan, Outcomes: outcomes, evidence: claim.NewEvidence(plan, outcomes)}
	e.evidence.Workers = workers
	parts := func(what string, total int) (part func() (more bool)) {
		done := 0
		return func() bool {
			if e.evidence.Failure == nil {
				done++
				progress.Part(plan.Spec.Name, what, done, total)
			}
			return e.evidence.Keep(ctx.Err())
		}
	}
	total := len(plan.Cells)
	for _, planned := range plan.Checks {
		total += len(planned.Sets)
	}
	e.evidence.Part = parts("judging", total)
	e.Verdicts = judge.Verdicts(e.evidence, plan)
	if e.evidence.Failure == nil {
		judge.AddHints(e.evidence, plan, e.Verdicts, parts)
	}
	if e.evidence.Failure == nil {
		e.Figures = figuresOf(e.evidence, plan, e.Verdicts)
	}
	return e, e.evidence.Failure
}

// Write writes the tables of an experiment into its results folder and replaces those
// there. It locks the folder while it writes.
func (e *Experiment) Write(dir string) (err error) {
	release, err := store.Lock(dir, e.Plan.Spec.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	trajectories, err := newTrajectoryTable(e.Plan, dir)
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
		{"verdicts.json", func(w io.Writer) error {
			return judge.WriteJSON(w, e.Plan.Spec.Name, e.Verdicts)
		}},
		{"verdicts.md", func(w io.Writer) error { return judge.WriteMarkdown(w, e.Verdicts) }},
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

// figuresOf returns the regime map of every sweep that automaticMaps finds, and the figures
// of the checks, or where there are none plainFigures. A figure shows all checks that
// compare the same measurement with different theories.
func figuresOf(e *claim.Evidence, plan *plan.Plan, verdicts []judge.Verdict) []Figure {
	var figures []Figure
	for _, p := range automaticMaps(plan) {
		m := newRegimeMap(e, p, nil)
		moves := func(n classCount) bool { return n.class != claim.AtRest && n.class != claim.Unresolved }
		if slices.ContainsFunc(m.counts, moves) {
			f := m.figure()
			f.Series = append(f.Series, frontierOn(e, p, plan.Checks))
			figures = append(figures, f)
		}
	}
	if len(plan.Checks) == 0 {
		return append(figures, plainFigures(e, plan)...)
	}
	taken := make(map[string]int) // repeated names get a number
	for _, source := range figureSources(plan, verdicts) {
		question := claim.NewQuestion(source.checks[0], e)
		if source.picture.panels != nil {
			figures = append(figures, source.picture.panels(question, source)...)
			continue
		}
		f := source.picture.draw(question, source)
		f.Name = source.name()
		if taken[f.Name]++; taken[f.Name] > 1 {
			f.Name += fmt.Sprintf("-%d", taken[f.Name])
		}
		if source.variant != "" {
			f.Title = source.variant + ": " + f.Title
		}
		if failing := source.failing(); failing != "" && source.picture.word == "" {
			f.Title += " (" + failing + ")"
		}
		figures = append(figures, f)
	}
	return figures
}

// Judge returns the verdicts on the outcomes of a plan's cells, by id; of each cell there is one.
// NewExperiment adds hints to those that are out of scope. Its error is the first in reading a
// trajectory; the verdicts that needed it are not to be trusted.
func Judge(plan *plan.Plan, outcomes map[string]*store.Outcome) ([]judge.Verdict, error) {
	e := claim.NewEvidence(plan, outcomes)
	return judge.Verdicts(e, plan), e.Failure
}
