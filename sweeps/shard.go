package sweeps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// NewPart returns the plan of one of the shards into which a sweep is divided for several machines:
// some of its cells, without checks. The shards have about equal work, share no cell, and depend on
// nothing but the configuration and their number. It keeps no other cell in memory.
func NewPart(spec *config.Spec, shard store.Shard) *Plan {
	part := &Plan{Spec: spec, Shard: &shard}
	mine := divide(spec, shard.Of)[shard.Index-1].cells // in order
	cache := theory.NewCache()
	isMine := func(i int) bool {
		_, found := slices.BinarySearch(mine, i)
		return found
	}
	newPlanner(spec).each(spec, func(i int, c *Cell, m *measures) {
		if isMine(i) {
			c.ID = cellID(&c.Settings, m)
			c.resolve(m, cache)
		}
	}, func(i int, c *Cell, _ []int) {
		if isMine(i) {
			part.Cells = append(part.Cells, *c)
		}
	})
	return part
}

// load lists the cells of a shard.
type load struct {
	work  float64 // in steps of one replica
	cells []int   // indices in the order of the sweep
}

// divide divides the distinct cells of a sweep among n shards, and returns what each has to do.
// Cells with more work come first, dealt forwards and backwards in turn.
func divide(spec *config.Spec, n int) []load {
	variants := len(spec.Grids()) > 1
	known := make(map[string]bool) // by id: cells of two variants can be the same
	work := make([]float64, spec.Size())
	var order []int // by decreasing work
	cache := theory.NewCache()
	newPlanner(spec).each(spec, func(i int, c *Cell, m *measures) {
		if variants {
			c.ID = cellID(&c.Settings, m)
		}
		// else the work depends on the settings alone
		if m.atFixedPoint() || c.Settings.Policy.Init.Kind == config.AtFixedPoint {
			c.resolve(m, cache)
		}
	}, func(i int, c *Cell, _ []int) {
		if variants && known[c.ID] {
			return
		}
		if variants {
			known[c.ID] = true
		}
		work[i] = c.Work()
		order = append(order, i)
	})
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(work[b], work[a]) })
	shards := make([]load, n)
	for place, i := range order {
		at := place % n
		if place/n%2 == 1 {
			at = n - 1 - at
		}
		shards[at].work += work[i]
		shards[at].cells = append(shards[at].cells, i)
	}
	for i := range shards {
		slices.Sort(shards[i].cells)
	}
	return shards
}

// RunPart simulates the cells of a shard (NewPart) that the results folder dir lacks, as Run
// does; it judges nothing.
func (m Runner) RunPart(ctx context.Context, part *Plan, dir string) (err error) {
	if err := part.fits(m.Workers); err != nil {
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
		for _, id := range plan.ids() {
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
func readShards(dirs []string) (plan *Plan, journals []*store.Journal, err error) {
	var manifests []*store.Manifest
	for _, dir := range dirs {
		m, err := readManifest(dir)
		if err != nil {
			return nil, nil, err
		}
		if manifests = append(manifests, m); m.Hash != manifests[0].Hash {
			return nil, nil, &store.FolderError{Message: fmt.Sprintf("%s holds another configuration than %s: the shards of a sweep have one file and the same --set", dir, dirs[0])}
		}
	}
	spec, err := config.Restore(dirs[0], manifests[0].Config)
	if err != nil {
		return nil, nil, err
	}
	plan = NewPlan(spec)
	held := make(map[string]*store.Outcome)
	for _, dir := range dirs {
		j, err := store.ReadJournal(dir)
		if err != nil {
			return nil, nil, err
		}
		if n := len(j.Damaged); n > 0 {
			return nil, nil, &store.DamagedError{Message: fmt.Sprintf("%s: %d damaged lines: run its shard again, which computes their cells anew", dir, n)}
		}
		for _, id := range slices.Sorted(maps.Keys(j.Outcomes)) {
			o := j.Outcomes[id]
			if o.Version != sim.Version {
				return nil, nil, &store.DamagedError{Message: fmt.Sprintf("%s: cells of version %q of grposim, this is %q: merge with that version, or run its shard again", dir, o.Version, sim.Version)}
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
				return nil, nil, &store.DamagedError{Message: fmt.Sprintf("%s and %s hold different measurements of cell %s: find out which is wrong, and run its shard again in an empty folder", o.Source(), other.Source(), id)}
			}
		}
		journals = append(journals, j)
	}
	missing := 0
	for i := range plan.Cells {
		if c := &plan.Cells[i]; held[c.ID] == nil && c.Status != store.NoFixedPoint {
			missing++
		}
	}
	if missing > 0 {
		return nil, nil, &store.DamagedError{Message: fmt.Sprintf("%d of %d cells are missing: %s", missing, len(plan.Cells), absent(manifests))}
	}
	return plan, journals, nil
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

// Part scales the forecast of a sweep to one of its shards.
func (f *Forecast) Part(part *Plan) *Forecast {
	scaled := Forecast{Cells: len(part.Cells)}
	for i := range part.Cells {
		scaled.ReplicaSteps += part.Cells[i].Work()
	}
	scaled.Seconds = f.secondsOf(scaled.ReplicaSteps)
	return &scaled
}

// secondsOf returns the time of a part of the sweep's replica-steps.
func (f *Forecast) secondsOf(work float64) float64 {
	if f.ReplicaSteps == 0 {
		return 0
	}
	return f.Seconds * work / f.ReplicaSteps
}

// LongestShard returns the largest time of simulation, in seconds, of the n shards of a sweep
// with this forecast.
func (f *Forecast) LongestShard(spec *config.Spec, n int) (seconds float64) {
	for _, shard := range divide(spec, n) {
		seconds = max(seconds, f.secondsOf(shard.work))
	}
	return seconds
}
