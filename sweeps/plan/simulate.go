package plan

import (
	"context"
	"slices"

	"grposim/sim"
	"grposim/sim/probe"
	"grposim/sweeps/store"
)

// Simulate simulates every cell of a plan in memory, with at least one worker, and returns the
// outcomes by cell id. When ctx is done it returns those of the finished cells and the context's
// error. It stores nothing.
func Simulate(ctx context.Context, plan *Plan, workers int) (map[string]*store.Outcome, error) {
	outcomes := make(map[string]*store.Outcome)
	cells, _ := plan.Missing(outcomes)
	return outcomes, SimulateCells(ctx, cells, workers, func(float64) {}, func(index int, o *store.Outcome) error {
		outcomes[cells[index].ID] = o
		return nil
	})
}

// Missing returns the cells of a plan that have to be simulated, each id once, and the number of
// distinct ids. It adds to outcomes those of cells without a fixed point.
func (p *Plan) Missing(outcomes map[string]*store.Outcome) (cells []*Cell, planned int) {
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

// Kept returns the number of distinct ids of a plan whose outcomes there are.
func (p *Plan) Kept(outcomes map[string]*store.Outcome) int {
	ids := make(map[string]bool)
	for i := range p.Cells {
		if id := p.Cells[i].ID; outcomes[id] != nil {
			ids[id] = true
		}
	}
	return len(ids)
}

// SimulateCells simulates cells. Several goroutines call worked with work as it is done. One goroutine
// calls done with the index and the outcome of each finished cell; its error stops the simulation.
func SimulateCells(ctx context.Context, cells []*Cell, workers int, worked func(work float64), done func(index int, o *store.Outcome) error) error {
	const together = 4096 // inputs of the simulator in memory
	first := 0
	for batch := range slices.Chunk(cells, together) {
		in := make([]probe.Cell, len(batch))
		for i, c := range batch {
			in[i] = c.Sim()
			in[i].Progress = func(share float64) { worked(share * c.Work()) }
		}
		err := probe.Simulate(ctx, in, workers, func(index int, result sim.Result) error {
			return done(first+index, newOutcome(batch[index], result))
		})
		if err != nil {
			return err
		}
		first += len(batch)
	}
	return context.Cause(ctx)
}
