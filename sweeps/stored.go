package sweeps

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

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
	e = &Experiment{}
	read := make(chan error)
	go func() { // while the files are hashed
		var err error
		e.Verdicts, err = readVerdicts(dir)
		read <- err
	}()
	same, err := manifest.Judged.Holds(dir, m.Program)
	if failure := <-read; err != nil || !same {
		return nil, err
	} else if failure != nil {
		return nil, failure
	}
	e.Plan = firstCells(spec, cells)
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
		c, m, _ := planner.next(point)
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
		c, _, judging := planner.next(point)
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
	file, err := store.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = damagedVerdicts(path, err)
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
			share(&v.Experiment, &v.Variant, &v.Claim, &v.Quantity, &v.Estimate, &v.Because, &v.Reason, (*string)(&v.PredictionKind), (*string)(&v.Expect))
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

// damagedVerdicts returns the error of a file of verdicts that cannot be read.
func damagedVerdicts(path string, err error) error {
	return &store.DamagedError{Message: fmt.Sprintf("%s: %v: run `grposim check` with its folder, which writes it again", path, err)}
}

// Open reads a finished results folder and returns its plan and its outcomes by cell
// id. It neither simulates nor writes. It returns a *store.FolderError if the folder
// holds no results, and a *store.DamagedError if cells are missing or damaged, or a
// *store.InUseError if another program is about to write them.
func Open(dir string) (*Plan, map[string]*store.Outcome, error) {
	plan, outcomes, err := open(dir)
	if _, damaged := errors.AsType[*store.DamagedError](err); damaged {
		err = cmp.Or(store.CheckFree(dir), err)
	}
	return plan, outcomes, err
}

// open is Open whoever uses the folder.
func open(dir string) (*Plan, map[string]*store.Outcome, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return nil, nil, err
	}
	spec, err := config.Restore(filepath.Join(dir, store.ManifestName), manifest.Config)
	if err != nil {
		return nil, nil, err
	}
	plan := NewPlan(spec)
	journal, err := store.ReadJournal(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(journal.Damaged) > 0 {
		return nil, nil, &store.DamagedError{Message: fmt.Sprintf("%s: %d damaged lines: run the sweep again, which computes their cells anew", filepath.Join(dir, store.JournalName), len(journal.Damaged))}
	}
	missing, versions := 0, make(map[string]bool)
	for _, id := range plan.ids() {
		if o := journal.Outcomes[id]; o != nil {
			versions[o.Version] = true
		} else {
			missing++
		}
	}
	if s := manifest.Shard; missing > 0 && s != nil {
		return nil, nil, &store.FolderError{Message: fmt.Sprintf("%s is shard %d of %d: `grposim merge OUT DIR…` judges all shards together", dir, s.Index, s.Of)}
	}
	if missing > 0 {
		return nil, nil, &store.DamagedError{Message: fmt.Sprintf("%s: %d of %d cells are missing: run the sweep again, which computes them", dir, missing, len(plan.Cells))}
	}
	if len(versions) > 1 {
		return nil, nil, &store.DamagedError{Message: fmt.Sprintf("%s: cells of %d versions of grposim: run the sweep again, which computes those of other versions anew", dir, len(versions))}
	}
	plan.Note = journal.ForeignNote(plan.ids())
	return plan, journal.Outcomes, nil
}

// readManifest reads the manifest of a results folder. The error is a *store.FolderError if
// dir is none.
func readManifest(dir string) (*store.Manifest, error) {
	manifest, err := store.ReadManifest(dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, &store.FolderError{Message: fmt.Sprintf("%s holds no results: run `grposim sweep FILE` with this --out first", dir)}
	}
	return manifest, err
}

// JudgeFolder judges the outcomes in a finished results folder again and rewrites its
// tables, unless the folder is read-only. Its errors are those of Open, of writing and of ctx.
func JudgeFolder(ctx context.Context, dir string, progress Progress) (*Experiment, error) {
	e, err := JudgeStored(ctx, dir, progress)
	if err != nil {
		return nil, err
	}
	if err := e.Write(dir); store.ReadOnly(err) {
		progress.Note(fmt.Sprintf("note: %s is read-only: it is judged, and nothing is written", dir))
	} else if err != nil {
		return nil, err
	}
	return e, nil
}

// openNoted is Open, which tells a reader what the plan notes.
func openNoted(dir string, progress Progress) (*Plan, map[string]*store.Outcome, error) {
	plan, outcomes, err := Open(dir)
	if err == nil && plan.Note != "" {
		progress.Note(plan.Note)
	}
	return plan, outcomes, err
}

// JudgeStored judges the outcomes in a finished results folder again, and writes nothing. Its
// errors are those of Open and of ctx.
func JudgeStored(ctx context.Context, dir string, progress Progress) (*Experiment, error) {
	plan, outcomes, err := openNoted(dir, progress)
	if err != nil {
		return nil, err
	}
	return NewExperiment(ctx, plan, outcomes, runtime.GOMAXPROCS(0), progress)
}

// TrajectoriesCSV writes the rows of trajectories.parquet of a finished results folder as CSV, from
// its journal, and writes nothing into the folder. Its errors are those of Open, of w and of ctx.
func TrajectoriesCSV(ctx context.Context, w io.Writer, dir string, progress Progress) error {
	plan, outcomes, err := openNoted(dir, progress)
	if err != nil {
		return err
	}
	table, err := store.NewTrajectoryCSV(w)
	for i := 0; i < len(plan.Cells) && err == nil; i++ {
		cell := plan.labelled(i)
		err = errors.Join(ctx.Err(), table.Write(cell, outcomes[cell.ID]))
	}
	return errors.Join(err, table.Flush())
}
