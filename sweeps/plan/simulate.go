package plan

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

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
	return outcomes, SimulateCells(ctx, cells, workers, func(float64) {},
		func(index int, o *store.Outcome) error {
			outcomes[cells[index].ID] = o
			return nil
		})
}

// Distinct returns the cells of a plan, each id once: cells of two variants can be the same.
func (p *Plan) Distinct() (cells []*Cell) {
	seen := make(map[string]bool)
	for _, c := range p.Cells {
		if !seen[c.ID] {
			seen[c.ID], cells = true, append(cells, c)
		}
	}
	return cells
}

// Missing returns the cells of a plan that have to be simulated, each id once, and the number of
// distinct ids. It adds to outcomes those of cells without a fixed point.
func (p *Plan) Missing(outcomes map[string]*store.Outcome) (cells []*Cell, planned int) {
	distinct := p.Distinct()
	for _, c := range distinct {
		switch {
		case outcomes[c.ID] != nil:
		case c.Status == store.NoFixedPoint:
			outcomes[c.ID] = &store.Outcome{ID: c.ID, Status: store.NoFixedPoint}
		default:
			cells = append(cells, c)
		}
	}
	return cells, len(distinct)
}

// SimulateCells simulates cells. Several goroutines call worked with work as it is done. One
// goroutine calls done with the index and the outcome of each finished cell; its error stops the
// simulation.
func SimulateCells(ctx context.Context, cells []*Cell, workers int, worked func(work float64),
	done func(index int, o *store.Outcome) error) error {
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

// Always is a part for InParallel to which no part is reported.
func Always() (more bool) { return true }

// InParallel calls do with 0 … n−1, on the given number of goroutines, at least 1, and with the
// number of the goroutine, from 0. Before each it calls part, from one goroutine, and stops
// when that returns false. A panic of do is returned as an error.
func InParallel(workers, n int, part func() (more bool), do func(worker, i int)) error {
	type span struct{ first, last int }
	var (
		spans    = make(chan span)
		group    sync.WaitGroup
		once     sync.Once
		failure  error
		failed   = make(chan struct{})
		together = min(max(n/(8*workers), 1), 256) // neighbours often share a prediction
	)
	for w := range min(workers, n) {
		group.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					once.Do(func() { failure = &sim.Panic{Value: value, Stack: debug.Stack()}; close(failed) })
				}
			}()
			for s := range spans {
				for i := s.first; i < s.last; i++ {
					do(w, i)
				}
			}
		})
	}
	dispatch := func() {
		for s := (span{}); s.first < n; s.first = s.last {
			for s.last = s.first; s.last < min(s.first+together, n); s.last++ {
				if !part() {
					return
				}
			}
			select {
			case spans <- s:
			case <-failed:
				return
			}
		}
	}
	dispatch()
	close(spans)
	group.Wait()
	return failure
}
