package sweeps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Runner says how sweeps are carried out; results do not depend on it.
type Runner struct {
	Workers  int          // number of goroutines that simulate, and then judge, at least 1
	Progress Progress     // receives the events
	Cache    *store.Cache // finished cells that sweeps share; nil: none
	Wait     bool         // for a results folder that another program uses, instead of an error

	// Draw writes what follows the tables, figures and pages, into the folder that Run or Merge
	// has locked; nil: nothing follows.
	Draw func(e *Experiment) error
}

// Run carries out a plan in the results folder dir, which it creates if necessary: it simulates the
// cells that the folder's journal and the cache lack, judges all cells, and writes the tables
// (open, simulate, NewExperiment, write). When ctx is done it keeps the finished cells and returns
// the context's error; the same call again simulates the remaining ones. A plan that needs more
// memory than the machine has is config.Problems, and nothing is written. It returns a
// *store.InUseError if another program uses the folder and it is not to Wait, and a
// *store.FolderError if the folder holds something other than results of this plan's name.
func (m Runner) Run(ctx context.Context, plan *plan.Plan, dir string) (e *Experiment, err error) {
	if err := plan.Fits(m.Workers); err != nil {
		return nil, err
	}
	r, err := m.open(ctx, plan, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	return r.finish(ctx)
}

// inUsePeriod is the time between two tries to lock a folder that is in use.
const inUsePeriod = 200 * time.Millisecond

// lock locks a results folder, and waits for it if it is to.
func (m Runner) lock(ctx context.Context, dir, name string) (release func() error, err error) {
	for waited := false; ; waited = true {
		release, err = store.Lock(dir, name)
		if _, inUse := errors.AsType[*store.InUseError](err); !m.Wait || !inUse {
			return release, err
		}
		if !waited {
			m.Progress.Note(fmt.Sprintf("%s is in use by another grposim: waiting for it", dir))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(inUsePeriod):
		}
	}
}

// fromCache appends the cells that the cache has to the journal, and returns the others.
func (r *run) fromCache(
	ctx context.Context, missing []*plan.Cell,
) (others []*plan.Cell, err error) {
	if r.Cache == nil {
		return missing, nil
	}
	for i, c := range missing {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		o, err := r.Cache.Get(c.ID)
		if _, damaged := errors.AsType[*store.DamagedError](err); damaged {
			r.Progress.Note(err.Error())
		} else if err != nil {
			r.Progress.Note(fmt.Sprintf("note: the cache cannot be read: %v", err))
			return append(others, missing[i:]...), nil
		}
		if o == nil {
			others = append(others, c)
		} else if err := r.add(o); err != nil {
			return nil, err
		}
	}
	if found := len(missing) - len(others); found > 0 {
		r.Progress.Note(fmt.Sprintf("%s: %d cells come from the cache", r.plan.Spec.Name, found))
	}
	return others, nil
}

// add appends an outcome that is in memory to the journal and to the table of trajectories.
func (r *run) add(o *store.Outcome) error {
	recorded, err := o.Trajectory() // until Append moves it to the journal
	if err := errors.Join(err, r.journal.Append(o)); err != nil {
		return err
	}
	return r.trajectories.WriteNext(r.journal.Outcomes, o.ID, recorded)
}

// finish simulates what is missing, judges, writes the tables, and draws.
func (r *run) finish(ctx context.Context) (*Experiment, error) {
	if err := r.simulate(ctx); err != nil {
		return nil, err
	}
	r.plan.Run = r.manifest.Run
	e, err := NewExperiment(ctx, r.plan, r.journal.Outcomes, r.Workers, r.Progress)
	if err != nil {
		return nil, err
	}
	if err := e.write(r.dir, r.trajectories); err != nil || r.Draw == nil {
		return e, err
	}
	return e, r.Draw(e)
}

// run is a sweep under way: its plan and its locked results folder.
type run struct {
	Runner
	plan         *plan.Plan
	dir          string
	release      func() error // unlocks the folder
	manifest     *store.Manifest
	journal      *store.Journal
	trajectories *store.TrajectoryTable
}

// open locks the folder, reads its journal, moves damaged and foreign lines of it to other
// files and writes the manifest. The caller closes the run.
func (m Runner) open(ctx context.Context, plan *plan.Plan, dir string) (opened *run, err error) {
	release, err := m.lock(ctx, dir, plan.Spec.Name)
	if err != nil {
		return nil, err
	}
	r := &run{Runner: m, plan: plan, dir: dir, release: release,
		manifest: store.NewManifest(plan.Spec.Name, plan.Spec.Document())}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.journal, err = store.OpenJournal(dir); err != nil {
		return nil, err
	}
	notes, err := r.journal.SetAside(plan.IDs())
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		m.Progress.Note(note)
	}
	r.manifest.Shard = plan.Shard
	if previous, err := store.ReadManifest(dir); errors.As(err, new(*store.DamagedError)) {
		m.Progress.Note(fmt.Sprintf("note: %s is damaged; it is written again from the configuration",
			filepath.Join(dir, store.ManifestName)))
	} else if err == nil {
		r.manifest.Run = previous.Run
		if previous.Hash != r.manifest.Hash {
			m.Progress.Note(fmt.Sprintf("note: %s held another configuration; its tables and report are "+
				"replaced, its simulated cells are kept", dir))
		}
	}
	if err := r.manifest.Write(dir); err != nil {
		return nil, err
	}
	if r.trajectories, err = newTrajectoryTable(plan, dir); err != nil {
		return nil, err
	}
	return r, nil
}

// close removes the table of trajectories unless it has been saved, closes the journal
// and unlocks the folder.
func (r *run) close() error {
	var err error
	if r.trajectories != nil {
		r.trajectories.Discard()
	}
	if r.journal != nil {
		err = r.journal.Close()
	}
	return errors.Join(err, r.release())
}

// simulate simulates the cells that the journal lacks and appends their outcomes to it, sorts the
// journal, and records in the manifest how long it took.
func (r *run) simulate(ctx context.Context) error {
	wall, cpu := time.Now(), store.CPUSeconds()
	simulated, err := r.simulateMissing(ctx)
	if err != nil {
		return err
	}
	if err := r.journal.Sort(r.plan.IDs()); err != nil {
		return err
	}
	if simulated == 0 && r.manifest.Run != nil {
		return nil
	}
	r.manifest.Run = store.NewRunInfo(r.Workers, simulated, time.Since(wall).Seconds(),
		store.CPUSeconds()-cpu)
	return r.manifest.Write(r.dir)
}

// simulateMissing simulates the cells that the journal lacks, appends their outcomes to it, and
// returns their number.
func (r *run) simulateMissing(ctx context.Context) (simulated int, err error) {
	missing, planned := r.plan.Missing(r.journal.Outcomes)
	kept := planned - len(missing)
	for _, id := range r.plan.IDs() {
		if o := r.journal.Outcomes[id]; o == nil || o.InJournal() {
			continue
		} else if err := r.journal.Append(o); err != nil {
			return 0, err
		}
		kept-- // a cell without a fixed point, which needs no simulation
	}
	missing, err = r.fromCache(ctx, missing)
	if err != nil {
		return 0, err
	}
	work := 0.0
	for _, c := range missing {
		work += c.Work()
	}
	if kept > 0 && len(missing) > 0 {
		r.Progress.Note(fmt.Sprintf("%s: continuing after %d of %d cells", r.plan.Spec.Name, kept,
			planned))
	}
	r.Progress.Begin(r.plan.Spec.Name, planned, planned-len(missing), work)
	err = plan.SimulateCells(ctx, missing, r.Workers, r.Progress.Work,
		func(_ int, o *store.Outcome) error {
			simulated++
			r.Progress.Cell()
			if err := r.add(o); err != nil {
				return err
			}
			if r.Cache == nil {
				return nil
			}
			if err := r.Cache.Put(o); err != nil {
				r.Progress.Note(fmt.Sprintf("note: the cache cannot be written: %v", err))
			}
			return nil
		})
	r.Progress.End()
	return simulated, err
}

// Progress receives the progress events of a sweep. All calls but those of Work come from
// one goroutine.
type Progress interface {
	// Begin reports the name of the sweep, the number of its distinct cells, how many
	// of them are finished already, and the work of the others in steps of one replica.
	Begin(name string, cells, finished int, work float64)
	// Work reports that part of the work is done. It is called by several goroutines.
	Work(work float64)
	// Cell reports that one more cell is finished.
	Cell()
	// End reports that the simulation has ended: completed, interrupted or failed.
	End()
	// Part reports that done of total parts of what follows are done: of "judging", say.
	Part(name, what string, done, total int)
	// Note gives a message for the user, of one line. It can come before Begin.
	Note(message string)
}

// newTrajectoryTable creates trajectories.parquet of the plan's cells in a locked results folder,
// with the parameters of every cell and the data dictionary in its metadata.
func newTrajectoryTable(p *plan.Plan, dir string) (*store.TrajectoryTable, error) {
	asJSON := func(value any) func(io.Writer) error {
		return func(w io.Writer) error { return json.NewEncoder(w).Encode(value) }
	}
	return store.NewTrajectoryTable(dir, len(p.Cells),
		func(i int) store.LabelledCell { return labelled(p, i) },
		store.Metadata{Key: "grposim.cells",
			Write: func(w io.Writer) error { return describeCells(p, w) }},
		store.Metadata{Key: "grposim.columns", Write: asJSON(columnDocs().Trajectories)},
		store.Metadata{Key: "grposim.quantities", Write: asJSON(quantityColumns(p))})
}

// labelled names cell i in a table of trajectories.
func labelled(p *plan.Plan, i int) store.LabelledCell {
	return store.LabelledCell{ID: p.Cells[i].ID, Label: p.Cells[i].Label()}
}

// describeCells writes a JSON list of the cells with their parameters.
func describeCells(p *plan.Plan, w io.Writer) error {
	separator, text := "[", json.NewEncoder(w)
	for _, c := range p.Cells {
		parameters := make(map[string]any)
		for _, k := range config.Keys {
			parameters[k.Path] = k.JSON(&c.Settings)
		}
		_, err := io.WriteString(w, separator)
		if err := errors.Join(err, text.Encode(map[string]any{"cell": c.ID, "label": c.Label(),
			"parameters": parameters, "variant": c.Variant})); err != nil {
			return err
		}
		separator = ","
	}
	_, err := io.WriteString(w, "]")
	return err
}
