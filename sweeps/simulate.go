package sweeps

import (
	"context"

	"grposim/sim"
)

// Simulate measures every cell of a plan in memory and returns the outcomes by
// id, as Judge takes them. Run is the same with a results folder: what is
// finished is kept, and an interrupted sweep goes on.
func Simulate(ctx context.Context, plan *Plan, workers int) (map[string]*Outcome, error) {
	outcomes := make(map[string]*Outcome)
	var planned []*Cell
	var cells []sim.Cell
	for i := range plan.Cells {
		c := &plan.Cells[i]
		switch {
		case outcomes[c.ID] != nil: // two variants may meet in one cell
		case c.Status == NoFixedPoint:
			outcomes[c.ID] = &Outcome{ID: c.ID, Status: NoFixedPoint}
		default:
			outcomes[c.ID] = &Outcome{ID: c.ID}
			planned = append(planned, c)
			cells = append(cells, c.Sim)
		}
	}
	err := sim.Simulate(ctx, cells, workers, func(index int, result sim.Result) error {
		c := planned[index]
		outcomes[c.ID] = newOutcome(c, result)
		return nil
	})
	return outcomes, err
}
