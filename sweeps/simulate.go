package sweeps

import (
	"context"
	"slices"

	"grposim/sim"
	"grposim/sweeps/store"
)

// Simulate simulates every cell of a plan in memory, with the given number of workers,
// at least 1, and returns the outcomes by cell id, as Judge takes them. When ctx is
// done it returns the outcomes of the finished cells and the context's error. Unlike
// Run it stores nothing, so that an interrupted sweep starts again from nothing.
func Simulate(ctx context.Context, plan *Plan, workers int) (map[string]*store.Outcome, error) {
	outcomes := make(map[string]*store.Outcome)
	cells, _ := plan.missing(outcomes)
	return outcomes, simulate(ctx, cells, workers, func(float64) {}, func(index int, o *store.Outcome) error {
		outcomes[cells[index].ID] = o
		return nil
	})
}

// missing returns the cells of a plan that outcomes lacks and that have to be
// simulated, each id once, and the number of distinct ids in the plan. A cell of status
// NoFixedPoint needs no simulation: missing adds its outcome to outcomes.
func (p *Plan) missing(outcomes map[string]*store.Outcome) (cells []*Cell, planned int) {
	seen := make(map[string]bool)
	for i := range p.Cells {
		c := &p.Cells[i]
		if seen[c.ID] {
			continue // cells of two variants can be the same
		}
		seen[c.ID] = true
		switch {
		case outcomes[c.ID] != nil:
		case c.Status == store.NoFixedPoint:
			outcomes[c.ID] = &store.Outcome{ID: c.ID, Status: store.NoFixedPoint}
		default:
			cells = append(cells, c)
		}
	}
	return cells, len(seen)
}

// kept returns the number of distinct ids of a plan whose outcomes there are.
func (p *Plan) kept(outcomes map[string]*store.Outcome) int {
	ids := make(map[string]bool)
	for i := range p.Cells {
		if id := p.Cells[i].ID; outcomes[id] != nil {
			ids[id] = true
		}
	}
	return len(ids)
}

// simulate simulates cells. It calls worked, from several goroutines, with work as it is done,
// and done, from one goroutine, with the index and the outcome of each cell as it finishes. An
// error of done stops the simulation and is returned.
func simulate(ctx context.Context, cells []*Cell, workers int, worked func(work float64), done func(index int, o *store.Outcome) error) error {
	const together = 4096 // inputs of the simulator in memory
	first := 0
	for batch := range slices.Chunk(cells, together) {
		in := make([]sim.Cell, len(batch))
		for i, c := range batch {
			in[i] = c.Sim()
			in[i].Progress = func(share float64) { worked(share * c.Work()) }
		}
		err := sim.Simulate(ctx, in, workers, func(index int, result sim.Result) error {
			return done(first+index, newOutcome(batch[index], result))
		})
		if err != nil {
			return err
		}
		first += len(batch)
	}
	return context.Cause(ctx)
}
