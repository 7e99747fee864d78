package sweeps

import (
	"context"
	"time"

	"grposim/sim"
	"grposim/sweeps/store"
)

// Forecast estimates the cost of a sweep; `grposim sweep --dry-run` prints it.
type Forecast struct {
	Cells        int     `json:"cells"`         // number of cells in the plan
	ReplicaSteps float64 `json:"replica_steps"` // work of all cells, in steps of one replica
	Seconds      float64 `json:"seconds"`       // wall time with the given workers; 0 if no cell can be simulated
	Bytes        int64   `json:"bytes"`         // size of the results folder; 0 if no cell can be simulated
}

// The size of the sample from which a forecast is extrapolated.
const (
	forecastCells = 8       // at least, spread evenly over the sweep; all, if it has fewer
	forecastSteps = 200_000 // replica-steps of each, at most
)

// NewForecast estimates the cost of a plan with the given number of workers, at least
// 1. It simulates shortened runs of some of the cells, one at a time, and scales their
// duration and size up. Other load on the machine while it measures makes the forecast
// too long. Its error is that of the simulation, or the context's.
func NewForecast(ctx context.Context, plan *Plan, workers int) (*Forecast, error) {
	f := &Forecast{Cells: len(plan.Cells)}
	for i := range plan.Cells {
		f.ReplicaSteps += plan.Cells[i].Work()
	}
	stride := max(1, len(plan.Cells)/forecastCells)
	var sampled, seconds, bytes float64
	cells := 0
	for i := 0; i < len(plan.Cells); i += stride {
		c := plan.Cells[i]
		if c.Status == store.NoFixedPoint {
			continue
		}
		run := &c.Sim.Run
		run.Steps = min(run.Steps, forecastSteps)
		run.BurnIn = min(run.BurnIn, run.Steps-1)
		run.Replicas = max(1, min(run.Replicas, forecastSteps/run.Steps))
		c.Settings.Run = *run
		located := c.Sim.Location != nil
		// A step of a probe or a search takes as long as a step of the run, so the run
		// alone is timed.
		c.Sim = runAlone(c.Sim)
		began := time.Now()
		err := sim.Simulate(ctx, []sim.Cell{c.Sim}, 1, func(_ int, r sim.Result) error {
			if located {
				r.Steps = nil // no trajectory is stored
			}
			size, err := store.LineSize(newOutcome(&c, r))
			bytes += float64(size)
			return err
		})
		if err != nil {
			return nil, err
		}
		seconds += time.Since(began).Seconds()
		sampled += c.Work()
		cells++
	}
	if cells > 0 {
		f.Seconds = seconds / sampled * f.ReplicaSteps / float64(workers)
		// Twice: the tables contain the trajectories of the journal once more.
		f.Bytes = int64(2 * bytes / float64(cells) * float64(len(plan.Cells)))
	}
	return f, nil
}
