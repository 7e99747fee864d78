package sweeps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"grposim/sim"
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
		return nil, nil, damaged("%s: %d damaged lines: run the sweep again, which computes their cells "+
			"anew", filepath.Join(dir, store.JournalName), len(journal.Damaged))
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
		return nil, nil, damaged("%s: %d of %d cells are missing: run the sweep again, which computes "+
			"them", dir, missing, len(plan.Cells))
	}
	if len(versions) > 1 {
		return nil, nil, damaged("%s: cells of %d versions of grposim: run the sweep again, which "+
			"computes those of other versions anew", dir, len(versions))
	}
	plan.Note, plan.Run = journal.ForeignNote(plan.IDs()), manifest.Run
	return plan, journal.Outcomes, nil
}

func damaged(format string, args ...any) error {
	return &store.DamagedError{Message: fmt.Sprintf(format, args...)}
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
	err = store.WriteTrajectoriesCSV(w, func(yield func(store.LabelledCell, *store.Outcome) bool) {
		for i := range plan.Cells {
			if cell := labelled(plan, i); ctx.Err() != nil || !yield(cell, outcomes[cell.ID]) {
				return
			}
		}
	})
	return errors.Join(ctx.Err(), err)
}

// RunPart simulates the cells of a shard (NewPart) that the results folder dir lacks, as Run
// does; it judges nothing.
func (m Runner) RunPart(ctx context.Context, part *plan.Plan, dir string) (err error) {
	if err := part.Fits(m.Workers); err != nil {
		return err
	}
	r, err := m.open(ctx, part, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	return r.simulate(ctx)
}

// Merge copies the cells that shards of one sweep hold into the results folder dir and judges
// them, as Run does. It writes the bytes that a single run writes, except for the field run of
// manifest.json. If a shard is missing, damaged, or of another configuration or version, or if
// two hold a cell with different content, it writes nothing and returns a *store.FolderError or
// a *store.DamagedError, which names it.
func (m Runner) Merge(ctx context.Context, dir string, shards []string) (e *Experiment, err error) {
	plan, journals, err := readShards(shards)
	if err != nil {
		return nil, err
	}
	r, err := m.open(ctx, plan, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for _, j := range journals {
		for _, id := range plan.IDs() {
			if o := j.Outcomes[id]; o != nil && r.journal.Outcomes[id] == nil {
				if err := r.journal.Copy(o); err != nil {
					return nil, err
				}
			}
		}
	}
	return r.finish(ctx)
}

// readShards reads the folders of the shards of one sweep and returns its plan, and the
// journals, which together hold every cell.
func readShards(dirs []string) (p *plan.Plan, journals []*store.Journal, err error) {
	var manifests []*store.Manifest
	for _, dir := range dirs {
		m, err := readManifest(dir)
		if err != nil {
			return nil, nil, err
		}
		if manifests = append(manifests, m); m.Hash != manifests[0].Hash {
			return nil, nil, &store.FolderError{Message: fmt.Sprintf("%s holds another configuration than "+
				"%s: the shards of a sweep have one file and the same --set", dir, dirs[0])}
		}
	}
	spec, err := config.Restore(dirs[0], manifests[0].Config)
	if err != nil {
		return nil, nil, err
	}
	p = plan.New(spec)
	held := make(map[string]*store.Outcome)
	for _, dir := range dirs {
		j, err := store.ReadJournal(dir)
		if err != nil {
			return nil, nil, err
		}
		if n := len(j.Damaged); n > 0 {
			return nil, nil, damaged(
				"%s: %d damaged lines: run its shard again, which computes their cells anew", dir, n)
		}
		for _, id := range slices.Sorted(maps.Keys(j.Outcomes)) {
			o := j.Outcomes[id]
			if o.Version != sim.Version {
				return nil, nil, damaged("%s: cells of version %q of grposim, this is %q: merge with that "+
					"version, or run its shard again", dir, o.Version, sim.Version)
			}
			other := held[id]
			if other == nil {
				held[id] = o
				continue
			}
			switch same, err := o.SameLine(other); {
			case err != nil:
				return nil, nil, err
			case !same:
				return nil, nil, damaged("%s and %s hold different measurements of cell %s: find out which "+
					"is wrong, and run its shard again in an empty folder", o.Source(), other.Source(), id)
			}
		}
		journals = append(journals, j)
	}
	missing := config.Count(p.Cells,
		func(c *plan.Cell) bool { return held[c.ID] == nil && c.Status != store.NoFixedPoint })
	if missing > 0 {
		return nil, nil, damaged("%d of %d cells are missing: %s", missing, len(p.Cells),
			absent(manifests))
	}
	return p, journals, nil
}

// absent says which shards are not among those of the manifests.
func absent(manifests []*store.Manifest) string {
	of, given := 0, make(map[int]bool)
	for _, m := range manifests {
		if s := m.Shard; s != nil {
			of, given[s.Index] = max(of, s.Of), true
		}
	}
	var others []string
	for i := 1; i <= of; i++ {
		if !given[i] {
			others = append(others, fmt.Sprintf("%d/%d", i, of))
		}
	}
	if others == nil {
		return "a shard has not finished: run it again"
	}
	return "no folder is given of shard " + strings.Join(others, ", ")
}
