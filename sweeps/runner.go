package sweeps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
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
	// Program is the sha256 of the executable file, store.Program, by which Stored knows that
	// it has made a folder's files; "": not known.
	Program string
}

// Run carries out a plan with the given number of workers and without a cache; see Runner.Run.
func Run(ctx context.Context, plan *Plan, dir string, workers int, progress Progress) (*Experiment, error) {
	return Runner{Workers: workers, Progress: progress}.Run(ctx, plan, dir)
}

// Run carries out a plan in the results folder dir, which it creates if necessary: it
// simulates the cells that the folder's journal and the cache lack, judges all cells, and
// writes the tables (open, simulate, NewExperiment, write). When ctx is done it keeps the
// finished cells and returns the context's error; the same call again simulates the remaining
// ones. A plan that needs more memory than the machine has is config.Problems, and nothing is
// written. It returns a *store.InUseError if another program uses the folder and it is not to
// Wait, and a *store.FolderError if the folder holds something other than results of this
// plan's name.
func (m Runner) Run(ctx context.Context, plan *Plan, dir string) (e *Experiment, err error) {
	if err := plan.fits(m.Workers); err != nil {
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
		var inUse *store.InUseError
		if !m.Wait || !errors.As(err, &inUse) {
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
func (r *run) fromCache(ctx context.Context, missing []*Cell) (others []*Cell, err error) {
	if r.Cache == nil {
		return missing, nil
	}
	for i, c := range missing {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		o, err := r.Cache.Get(c.ID)
		var damaged *store.DamagedError
		if errors.As(err, &damaged) {
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

// intoCache adds a cell of the journal to the cache.
func (r *run) intoCache(o *store.Outcome) {
	if r.Cache == nil {
		return
	}
	if err := r.Cache.Put(o); err != nil {
		r.Progress.Note(fmt.Sprintf("note: the cache cannot be written: %v", err))
	}
}

// add appends an outcome that is in memory to the journal and to the table of trajectories.
func (r *run) add(o *store.Outcome) error {
	recorded, err := o.Trajectory() // until Append moves it to the journal
	if err := errors.Join(err, r.journal.Append(o)); err != nil {
		return err
	}
	return r.trajectories.WriteNext(r.journal.Outcomes, o.ID, recorded)
}

// memory returns the memory in bytes of the policies of the replicas that a worker simulates at
// a time.
func (c *Cell) memory() float64 {
	if c.Status == store.NoFixedPoint {
		return 0
	}
	in := sim.Cell{Bandit: c.Settings.Bandit, Prompts: theory.Prompts(&c.Settings), Lag: c.Settings.Lag, Run: c.Settings.Run}
	return in.Memory()
}

// fits returns config.Problems if the policies of the replicas that run at a time take more
// memory than the machine has, else nil.
func (c *Cell) fits(spec *config.Spec, workers int) error {
	has := physicalMemory()
	if need := float64(workers) * c.memory(); need > has {
		return config.Problems{{Source: strings.TrimSpace(spec.Name + " " + c.Label()), Text: fmt.Sprintf(
			"lag.interval: got %d with %d arms, whose past policies take %.3g GB on %d workers: this machine has %.3g GB",
			c.Settings.Lag.Interval, len(c.Settings.Bandit.Arms), need/1e9, workers, has/1e9)}}
	}
	return nil
}

var physicalMemory = sync.OnceValue(store.PhysicalMemory)

// fits is Cell.fits for all cells.
func (p *Plan) fits(workers int) error {
	for i := range p.Cells {
		if err := p.Cells[i].fits(p.Spec, workers); err != nil {
			return err
		}
	}
	return nil
}
