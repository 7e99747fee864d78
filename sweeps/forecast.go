package sweeps

import (
	"context"
	"time"

	"grposim/sim"
	"grposim/sweeps/store"
)

// Forecast is what a dry run says of a sweep.
type Forecast struct {
	Cells        int     `json:"cells"`
	ReplicaSteps float64 `json:"replica_steps"`
	Seconds      float64 `json:"seconds"`
	Bytes        int64   `json:"bytes"`
}

// The size of the sample that a forecast is scaled up from.
const (
	forecastCells = 8       // spread evenly over the sweep
	forecastSteps = 200_000 // replica-steps of each
)

// NewForecast estimates the work of a plan by running a short piece of some of
// its cells here and now; the estimate is as good as the machine is quiet.
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
		// A step of what is measured besides the run, or in its place, is a step:
		// the run alone tells how long one takes.
		c.Sim.Stiffness, c.Sim.Relaxation, c.Sim.Location, c.Sim.Fits, c.Sim.Traces = nil, nil, nil, nil, 0
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
		// Tables repeat the journal in other forms: the trajectories once more.
		f.Bytes = int64(2 * bytes / float64(cells) * float64(len(plan.Cells)))
	}
	return f, nil
}
