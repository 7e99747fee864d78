package sweeps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Progress hears how a sweep gets on. All calls come from one goroutine.
type Progress interface {
	// Begin announces the work of a sweep in replica-steps, and how many cells
	// of it are finished already.
	Begin(name string, cells, finished int, work float64)
	// Cell reports a finished cell and its work.
	Cell(work float64)
	// End closes the display.
	End()
	// Note tells the user something in one line.
	Note(message string)
}

// Run simulates the cells that the folder does not hold yet, judges, and writes
// everything that derives from them: openRun, simulate, NewExperiment, write.
// When ctx is done it keeps the finished cells and returns the context's error;
// the same call goes on from there.
func Run(ctx context.Context, plan *Plan, dir string, workers int, progress Progress) (e *Experiment, err error) {
	r, err := openRun(plan, dir, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.simulate(ctx, workers, progress); err != nil {
		return nil, err
	}
	if e, err = NewExperiment(plan, r.journal.Outcomes); err != nil {
		return nil, err
	}
	return e, e.write(dir, r.trajectories)
}

// run is a sweep under way: its plan, and the results folder that it fills.
type run struct {
	plan         *Plan
	dir          string
	release      func() error // the lock on the folder
	manifest     *store.Manifest
	journal      *store.Journal
	trajectories *store.TrajectoryTable
}

// openRun locks the folder, reads its journal, sets damaged lines aside and writes
// the manifest. The caller closes what it returns.
func openRun(plan *Plan, dir string, progress Progress) (r *run, err error) {
	release, err := store.Lock(dir, plan.Spec.Name)
	if err != nil {
		return nil, err
	}
	r = &run{plan: plan, dir: dir, release: release, manifest: store.NewManifest(plan.Spec.Name, plan.Spec.Document())}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.journal, err = store.OpenJournal(dir); err != nil {
		return nil, err
	}
	if len(r.journal.Damaged) > 0 {
		if err := r.journal.MoveDamaged(plan.ids()); err != nil {
			return nil, err
		}
		progress.Note(r.journal.DamageReport())
	}
	if previous, err := store.ReadManifest(dir); err == nil {
		r.manifest.Run = previous.Run
	}
	if err := r.manifest.Write(dir); err != nil {
		return nil, err
	}
	r.trajectories, err = store.NewTrajectoryTable(dir, plan.ids())
	return r, err
}

// close releases the folder; what is not saved of the trajectories is removed.
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

// simulate runs the cells that the journal lacks, appends each as it is finished,
// puts the journal in order and notes in the manifest what it took.
func (r *run) simulate(ctx context.Context, workers int, progress Progress) error {
	wall, cpu := time.Now(), store.CPUSeconds()
	missing, planned := r.plan.missing(r.journal.Outcomes)
	for _, id := range r.plan.ids() {
		if o := r.journal.Outcomes[id]; o == nil || o.InJournal() {
			continue
		} else if err := r.journal.Append(o); err != nil { // finished without a simulation
			return err
		}
	}
	work := 0.0
	for _, c := range missing {
		work += c.Work()
	}
	progress.Begin(r.plan.Spec.Name, planned, planned-len(missing), work)
	simulated := 0
	finished := func(c *Cell) {
		simulated++
		progress.Cell(c.Work())
	}
	err := simulateInOrder(ctx, missing, workers, finished, func(o *store.Outcome) error {
		recorded, err := o.Trajectory() // before the journal has it
		if err := errors.Join(err, r.journal.Append(o)); err != nil {
			return err
		}
		return r.trajectories.WriteNext(r.journal.Outcomes, o.ID, recorded)
	})
	progress.End()
	if err != nil {
		return err
	}
	if err := r.journal.Sort(r.plan.ids()); err != nil {
		return err
	}
	if simulated == 0 && r.manifest.Run != nil {
		return nil
	}
	r.manifest.Run = store.NewRunInfo(workers, simulated, time.Since(wall).Seconds(), store.CPUSeconds()-cpu)
	return r.manifest.Write(r.dir)
}

// Open reads a finished results folder: its plan and its outcomes. It neither
// simulates nor writes. A folder whose cells are not all there and intact is an
// error.
func Open(dir string) (*Plan, map[string]*store.Outcome, error) {
	manifest, err := store.ReadManifest(dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil, nil, &store.FolderError{Message: fmt.Sprintf("%s holds no results: run `grposim sweep FILE --out %s` first", dir, dir)}
		}
		return nil, nil, err
	}
	spec, err := config.Restore(filepath.Join(dir, store.ManifestName), manifest.Config, nil)
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
	missing := 0
	for _, id := range plan.ids() {
		if journal.Outcomes[id] == nil {
			missing++
		}
	}
	if missing > 0 {
		return nil, nil, &store.DamagedError{Message: fmt.Sprintf("%s: %d of %d cells are missing: run the sweep again, which computes them", dir, missing, len(plan.Cells))}
	}
	return plan, journal.Outcomes, nil
}

// JudgeFolder judges a finished folder again and rewrites what derives from it.
func JudgeFolder(dir string) (*Experiment, error) {
	plan, outcomes, err := Open(dir)
	if err != nil {
		return nil, err
	}
	e, err := NewExperiment(plan, outcomes)
	if err != nil {
		return nil, err
	}
	return e, e.Write(dir)
}
