package sweeps

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

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
			return nil, nil, &store.FolderError{Message: fmt.Sprintf(
				"%s holds another configuration than %s: the shards of a sweep have one file and the same --set", dir, dirs[0])}
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
			return nil, nil, &store.DamagedError{Message: fmt.Sprintf(
				"%s: %d damaged lines: run its shard again, which computes their cells anew", dir, n)}
		}
		for _, id := range slices.Sorted(maps.Keys(j.Outcomes)) {
			o := j.Outcomes[id]
			if o.Version != sim.Version {
				return nil, nil, &store.DamagedError{Message: fmt.Sprintf(
					"%s: cells of version %q of grposim, this is %q: merge with that version, or run its shard again", dir, o.Version, sim.Version)}
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
				return nil, nil, &store.DamagedError{Message: fmt.Sprintf(
					"%s and %s hold different measurements of cell %s: find out which is wrong, and run its shard again in an empty folder", o.Source(), other.Source(), id)}
			}
		}
		journals = append(journals, j)
	}
	missing := 0
	for i := range p.Cells {
		if c := &p.Cells[i]; held[c.ID] == nil && c.Status != store.NoFixedPoint {
			missing++
		}
	}
	if missing > 0 {
		return nil, nil, &store.DamagedError{Message: fmt.Sprintf("%d of %d cells are missing: %s",
			missing, len(p.Cells), absent(manifests))}
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
