package plan

import (
	"context"
	"time"

	"grposim/option"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Forecast estimates the cost of a sweep; `grposim sweep --dry-run` prints it.
type Forecast struct {
	Cells        int     `json:"cells"`         // number of cells in the plan
	ReplicaSteps float64 `json:"replica_steps"` // work of all cells, in steps of one replica
	Seconds      float64 `json:"seconds"`       // of simulating; 0 if no cell can be simulated

	Bytes  float64 `json:"-"` // size of the results folder; 0 if no cell can be simulated
	Memory float64 `json:"-"` // about the largest, in bytes, of any command with the sweep
}

// The cells, evenly spaced in a sweep, whose shortened runs a forecast extrapolates.
const (
	forecastCells = 16
	forecastSteps = 200_000     // replica-steps of each, at most
	forecastDraws = 1e7         // arms drawn and weights moved in each; 1 to 10 ns apiece
	forecastTime  = time.Second // after which no further cell is simulated
)

// The memory of a sweep in bytes, beside that of past policies.
const (
	leastMemory   = 62e6 // the program and a picture
	cellMemory    = 8e3  // of a cell, its prediction and its outcome
	verdictMemory = 2e3  // of a check of a cell
)

// NewForecast estimates the cost of a sweep with the given number of workers, at least 1. Other
// load on the machine makes the forecast too long. Probes and searches of networks are not counted:
// the fixed point where they are placed can take minutes. The error is that of the simulation, or
// the context's, or config.Problems if the sweep needs more memory than the machine has.
func NewForecast(ctx context.Context, spec *config.Spec, workers int) (*Forecast, error) {
	planner, cache, f := newPlanner(spec), theory.NewCache(), &Forecast{}
	stride := (spec.Size() + forecastCells - 1) / forecastCells
	var sample []*Cell
	for point := range spec.EachPoint {
		if f.Cells%1000 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, m, _ := planner.next(point)
		if c.Settings.Deep() {
			m, c.Settings.Policy.Init = measures{}, config.Init{}
		}
		sampled := f.Cells%stride == 0
		if sampled {
			c.ID = cellID(&c.Settings, &m)
		}
		if sampled || m.atFixedPoint() { // else the work of a cell depends on its settings alone
			c.resolve(&m, cache)
		}
		if err := c.fits(spec, workers); err != nil {
			return nil, err
		}
		f.Cells++
		f.ReplicaSteps += c.Work()
		f.Memory = max(f.Memory, float64(workers)*c.memory())
		if sampled && c.Status != store.NoFixedPoint {
			sample = append(sample, c)
		}
	}
	f.Memory += leastMemory + (cellMemory+verdictMemory*float64(len(spec.Checks)))*float64(f.Cells)

	began, work, bytes, tried := time.Now(), 0.0, 0.0, 0.0
	for i := 0; i < len(sample) && (tried == 0 || time.Since(began) < forecastTime); i++ {
		c := shortened(sample[i])
		err := sim.Simulate(ctx, []sim.Cell{c.Sim().Cell}, 1, func(_ int, r sim.Result) error {
			size, err := store.LineSize(newOutcome(&c, r))
			bytes += float64(size)
			return err
		})
		if err != nil {
			return nil, err
		}
		tried++
		work += c.Work()
	}
	if tried > 0 {
		f.Seconds = time.Since(began).Seconds() * f.ReplicaSteps / work / float64(workers)
		// trajectories are in the journal and in the tables
		f.Bytes = 2 * bytes / tried * float64(f.Cells)
	}
	return f, nil
}

// shortened returns a cell with a run that is short enough for a forecast. A step of a probe or
// a search takes as long as a step of a run, so the run alone is timed. Where it is a small part
// of the cell it is made longer.
func shortened(cell *Cell) Cell {
	c, in := *cell, cell.Sim()
	in.Stiffness, in.Relaxation, in.Location, in.Fits, in.Traces, in.Ends = nil, nil, nil, nil, 0, 0
	run := &in.Run
	if c.Work() > 10*float64(run.Steps*run.Replicas) {
		run.Steps = max(run.Steps, forecastSteps/100)
	}
	most := min(forecastSteps, max(1, int(forecastDraws/drawsOfStep(&c.Settings))))
	run.Steps = min(run.Steps, most)
	run.BurnIn = min(run.BurnIn, run.Steps-1)
	run.Replicas = max(1, min(run.Replicas, most/run.Steps))
	c.Settings.Run, c.probed = *run, &in
	return c
}

// drawsOfStep returns the work of a step of a replica in units of forecastDraws.
func drawsOfStep(s *config.Settings) float64 {
	contexts, weights, arms := 1.0, 0.0, float64(len(s.Bandit.Arms))
	if s.Deep() {
		contexts, weights = float64(s.ContextCount()), float64(s.WeightCount())
	}
	groups := arms
	if s.Estimator.GroupSize != option.Infinite {
		groups *= float64(s.Estimator.GroupsPerStep)
		if s.DrawsRewardsSingly() {
			groups *= float64(s.Estimator.GroupSize) / arms
		}
	}
	return contexts * (groups + weights)
}
