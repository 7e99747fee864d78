package sweeps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Open reads a finished results folder and returns its plan and its outcomes by cell id. It writes
// nothing. It returns a *store.FolderError if the folder holds no results, a *store.DamagedError if
// cells are missing or damaged, or a *store.InUseError.
func Open(dir string) (*plan.Plan, map[string]*store.Outcome, error) {
	plan, outcomes, err := open(dir)
	if _, damaged := errors.AsType[*store.DamagedError](err); damaged {
		err = cmp.Or(store.CheckFree(dir), err)
	}
	return plan, outcomes, err
}

// open is Open whoever uses the folder.
func open(dir string) (*plan.Plan, map[string]*store.Outcome, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return nil, nil, err
	}
	spec, err := config.Restore(filepath.Join(dir, store.ManifestName), manifest.Config)
	if err != nil {
		return nil, nil, err
	}
	plan := plan.New(spec)
	journal, err := store.ReadJournal(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(journal.Damaged) > 0 {
		return nil, nil, &store.DamagedError{Message: fmt.Sprintf(
			"%s: %d damaged lines: run the sweep again, which computes their cells anew",
			filepath.Join(dir, store.JournalName), len(journal.Damaged))}
	}
	missing, versions := 0, make(map[string]bool)
	for _, id := range plan.IDs() {
		if o := journal.Outcomes[id]; o != nil {
			versions[o.Version] = true
		} else {
			missing++
		}
	}
	if s := manifest.Shard; missing > 0 && s != nil {
		return nil, nil, &store.FolderError{Message: fmt.Sprintf(
			"%s is shard %d of %d: `grposim merge OUT DIR…` judges all shards together", dir, s.Index, s.Of)}
	}
	if missing > 0 {
		return nil, nil, &store.DamagedError{Message: fmt.Sprintf(
			"%s: %d of %d cells are missing: run the sweep again, which computes them", dir, missing,
			len(plan.Cells))}
	}
	if len(versions) > 1 {
		return nil, nil, &store.DamagedError{Message: fmt.Sprintf(
			"%s: cells of %d versions of grposim: run the sweep again, which computes those of other versions anew", dir, len(versions))}
	}
	plan.Note = journal.ForeignNote(plan.IDs())
	return plan, journal.Outcomes, nil
}

// readManifest reads the manifest of a results folder. The error is a *store.FolderError if
// dir is none.
func readManifest(dir string) (*store.Manifest, error) {
	manifest, err := store.ReadManifest(dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, &store.FolderError{Message: fmt.Sprintf(
			"%s holds no results: run `grposim sweep FILE` with this --out first", dir)}
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
func openNoted(dir string, progress Progress) (*plan.Plan, map[string]*store.Outcome, error) {
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
		cell := labelled(plan, i)
		err = errors.Join(ctx.Err(), table.Write(cell, outcomes[cell.ID]))
	}
	return errors.Join(err, table.Flush())
}
