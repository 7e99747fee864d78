package sweeps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Stored returns the experiment in a results folder if the same program has simulated, judged and
// drawn it from the same configuration, and no file of the folder has changed since: Run
// would write every file again with the same bytes. It returns nil if that is not known. It
// judges nothing and writes nothing. The experiment has its verdicts and the first cells of
// its plan, at most `cells` of them, with their outcomes, and no figures.
func (m Runner) Stored(ctx context.Context, spec *config.Spec, dir string, cells int) (e *Experiment, err error) {
	if manifest, err := store.ReadManifest(dir); err != nil || manifest.Judged == nil {
		return nil, nil // Run says what is wrong
	}
	release, err := m.lock(ctx, dir, spec.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	manifest, err := store.ReadManifest(dir)
	if err != nil || !manifest.IsOf(spec.Document()) {
		return nil, nil
	}
	if same, err := manifest.Judged.Holds(dir, m.Program); err != nil || !same {
		return nil, err
	}
	e = &Experiment{Plan: firstCells(spec, cells)}
	if e.Verdicts, err = readVerdicts(dir); err != nil {
		return nil, err
	}
	labels := verdictLabels(spec)
	if len(labels) != len(e.Verdicts) {
		return nil, nil
	}
	for i, l := range labels {
		e.Verdicts[i].Label, e.Verdicts[i].Check = l.label, l.check
	}
	e.Plan.Verdicts = len(labels)
	setInfinities(e.Verdicts, manifest.Judged.Infinite)
	if e.Outcomes, err = store.ReadOutcomes(dir, e.Plan.ids()); err != nil {
		return nil, err
	}
	m.Progress.Note(fmt.Sprintf("%s: all %d cells are finished, judged and drawn: nothing to do", spec.Name, spec.Size()))
	return e, nil
}

// firstCells returns the plan of the first cells of a configuration, at most so many, without
// its checks.
func firstCells(spec *config.Spec, cells int) *Plan {
	plan, planner, cache := &Plan{Spec: spec}, newPlanner(spec), theory.NewCache()
	for point := range spec.EachPoint {
		if len(plan.Cells) == cells {
			break
		}
		c, m, _ := planner.next(&point)
		c.ID = cellID(&c.Settings, &m)
		c.resolve(&m, cache)
		plan.Cells = append(plan.Cells, c)
	}
	return plan
}

// verdictLabel holds what verdicts.json does not have of a verdict.
type verdictLabel struct {
	label string
	check int
}

// verdictLabels returns those of all verdicts of a configuration, in order. It plans nothing.
func verdictLabels(spec *config.Spec) []verdictLabel {
	byCheck := make([][]verdictLabel, len(spec.Checks))
	known := make(map[string]bool)
	planner := newPlanner(spec)
	for point := range spec.EachPoint {
		c, _, judging := planner.next(&point)
		for _, n := range judging {
			check, label := &spec.Checks[n], ""
			if check.Claim.Per != config.AcrossCells {
				label = c.Label()
			} else if id := fmt.Sprint(n, config.OverID(check.Over, c.Variant, &c.Settings)); !known[id] {
				known[id], label = true, overLabel(check, &c)
			} else {
				continue
			}
			planned := PlannedCheck{Check: check}
			for range planned.verdicts(CellSet{Cells: []*Cell{&c}}) {
				byCheck[n] = append(byCheck[n], verdictLabel{label, n})
			}
		}
	}
	return slices.Concat(byCheck...)
}

// numberNames are the names of the numbers of a verdict that JSON has as null if they are
// infinite; numbers returns the numbers.
var numberNames = []string{"measured", "lo", "hi", "predicted", "margin"}

func (v *Verdict) numbers() []*store.Number {
	return []*store.Number{&v.Measured, &v.Lo, &v.Hi, &v.Predicted, &v.Margin}
}

// infinities returns the indices of the verdicts with an infinite number, by its sign and name.
func infinities(verdicts []Verdict) map[string][]int {
	at := make(map[string][]int)
	for i := range verdicts {
		for n, x := range verdicts[i].numbers() {
			switch {
			case math.IsInf(float64(*x), 1):
				at["+"+numberNames[n]] = append(at["+"+numberNames[n]], i)
			case math.IsInf(float64(*x), -1):
				at["-"+numberNames[n]] = append(at["-"+numberNames[n]], i)
			}
		}
	}
	return at
}

// setInfinities sets the numbers that infinities has returned.
func setInfinities(verdicts []Verdict, at map[string][]int) {
	for n, name := range numberNames {
		for _, i := range at["+"+name] {
			*verdicts[i].numbers()[n] = store.Number(math.Inf(1))
		}
		for _, i := range at["-"+name] {
			*verdicts[i].numbers()[n] = store.Number(math.Inf(-1))
		}
	}
}

// readVerdicts reads verdicts.json, one verdict at a time. Infinite numbers are NaN there, and
// labels and the indices of checks are missing.
func readVerdicts(dir string) (verdicts []Verdict, err error) {
	path := filepath.Join(dir, "verdicts.json")
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = &store.DamagedError{Message: fmt.Sprintf("%s: %v: run `grposim check %s`, which writes it again", path, err, dir)}
		}
	}()
	decoder := json.NewDecoder(file)
	if _, err := decoder.Token(); err != nil { // the brace
		return nil, err
	}
	shared := make(map[string]string) // of strings that many verdicts have
	share := func(texts ...*string) {
		for _, text := range texts {
			if known, found := shared[*text]; found {
				*text = known
			} else {
				shared[*text] = *text
			}
		}
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		if key != "verdicts" {
			var skipped json.RawMessage
			if err := decoder.Decode(&skipped); err != nil {
				return nil, err
			}
			continue
		}
		if _, err := decoder.Token(); err != nil { // the bracket
			return nil, err
		}
		for decoder.More() {
			var v Verdict
			if err := decoder.Decode(&v); err != nil {
				return nil, err
			}
			share(&v.Experiment, &v.Variant, &v.Claim, &v.Quantity, &v.Estimate, &v.Because, (*string)(&v.PredictionKind), (*string)(&v.Expect))
			if c := v.Control; c != nil {
				share(&c.Fault, (*string)(&c.Kind))
			}
			verdicts = append(verdicts, v)
		}
		if _, err := decoder.Token(); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}
