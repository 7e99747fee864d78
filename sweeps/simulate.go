package sweeps

import (
	"context"

	"grposim/sim"
	"grposim/sweeps/store"
)

// Simulate measures every cell of a plan in memory and returns the outcomes by
// id, as Judge takes them. Run is the same with a results folder: what is
// finished is kept, and an interrupted sweep goes on.
func Simulate(ctx context.Context, plan *Plan, workers int) (map[string]*store.Outcome, error) {
	outcomes := make(map[string]*store.Outcome)
	cells, _ := plan.missing(outcomes)
	err := simulate(ctx, cells, workers, func(index int, o *store.Outcome) error {
		outcomes[cells[index].ID] = o
		return nil
	})
	return outcomes, err
}

// missing returns the cells of a plan that have to be simulated because outcomes
// lacks them, each id once, and how many ids there are. A cell without a fixed
// point to start from is finished: its outcome is added.
func (p *Plan) missing(outcomes map[string]*store.Outcome) (cells []*Cell, planned int) {
	seen := make(map[string]bool)
	for i := range p.Cells {
		c := &p.Cells[i]
		if seen[c.ID] {
			continue // two variants may meet in one cell
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

// simulate runs cells and calls done, from one goroutine, with the outcome of
// each, by its index, as it is finished.
func simulate(ctx context.Context, cells []*Cell, workers int, done func(index int, o *store.Outcome) error) error {
	work := make([]sim.Cell, len(cells))
	for i, c := range cells {
		work[i] = c.Sim
	}
	return sim.Simulate(ctx, work, workers, func(index int, result sim.Result) error {
		return done(index, newOutcome(cells[index], result))
	})
}
