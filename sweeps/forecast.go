package sweeps

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Forecast estimates the cost of a sweep; `grposim sweep --dry-run` prints it.
type Forecast struct {
	Cells        int     `json:"cells"`         // number of cells in the plan
	ReplicaSteps float64 `json:"replica_steps"` // work of all cells, in steps of one replica
	Seconds      float64 `json:"seconds"`       // wall time of simulating with the given workers; 0 if no cell can be simulated
	Judging      float64 `json:"judging"`       // wall time of predictions and verdicts, in seconds; figures come on top
	Bytes        int64   `json:"bytes"`         // size of the results folder; 0 if no cell can be simulated

	Memory        float64 `json:"memory"`         // largest memory while it simulates, in bytes
	JudgingMemory float64 `json:"judging_memory"` // largest memory while it judges and draws, in bytes
}

// The size of the sample from which a forecast is extrapolated.
const (
	forecastCells = 8       // at least, spread evenly over the sweep; all, if it has fewer
	forecastSteps = 200_000 // replica-steps of each, at most
)

// The memory of a sweep in bytes, measured.
const (
	leastMemory  = 60e6 // of any
	cellMemory   = 3e3  // of a cell while the sweep is planned and simulated
	judgedMemory = 14e3 // of a cell while the sweep is judged and drawn
)

// NewForecast estimates the cost of a plan with the given number of workers, at least
// 1. It simulates shortened runs of some of the cells, judges them, and scales durations and
// sizes up. Other load on the machine while it measures makes the forecast too long. Its
// error is that of the simulation, or the context's, or config.Problems if the plan needs more
// memory than the machine has.
func NewForecast(ctx context.Context, plan *Plan, workers int) (*Forecast, error) {
	if err := plan.fits(workers); err != nil {
		return nil, err
	}
	f := &Forecast{Cells: len(plan.Cells), JudgingMemory: leastMemory + judgedMemory*float64(len(plan.Cells))}
	for i := range plan.Cells {
		f.ReplicaSteps += plan.Cells[i].Work()
		f.Memory = max(f.Memory, float64(workers)*plan.Cells[i].Sim.Memory())
	}
	f.Memory += leastMemory + cellMemory*float64(len(plan.Cells))
	stride := max(1, len(plan.Cells)/forecastCells)
	var sampled, seconds, bytes float64
	cells, judged := 0, make(map[string]*store.Outcome)
	for i := 0; i < len(plan.Cells); i += stride {
		c := plan.Cells[i]
		if c.Status == store.NoFixedPoint {
			continue
		}
		// A step of a probe or a search takes as long as a step of a run, so the run alone
		// is timed. Where it is a small part of the cell it is too short to be timed, and is
		// made longer; what its trajectory takes is then not counted.
		run := &c.Sim.Run
		probed := c.Sim.Location != nil || c.Work() > 10*float64(run.Steps*run.Replicas)
		if probed {
			run.Steps = max(run.Steps, forecastSteps/100)
		}
		run.Steps = min(run.Steps, forecastSteps)
		run.BurnIn = min(run.BurnIn, run.Steps-1)
		run.Replicas = max(1, min(run.Replicas, forecastSteps/run.Steps))
		c.Settings.Run = *run
		c.Sim = runAlone(c.Sim)
		began := time.Now()
		err := sim.Simulate(ctx, []sim.Cell{c.Sim}, 1, func(_ int, r sim.Result) error {
			if probed {
				r.Steps = nil
			}
			o := newOutcome(&c, r)
			if judged[c.ID] = o; probed {
				judged[c.ID] = nil // its probes are not simulated
			}
			size, err := store.LineSize(o)
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
		if plan.Shard == nil {
			f.Judging = judgingTime(plan, judged)
		}
		f.Seconds = seconds / sampled * f.ReplicaSteps / float64(workers)
		// Twice: the tables contain the trajectories of the journal once more.
		f.Bytes = int64(2 * bytes / float64(cells) * float64(len(plan.Cells)))
	}
	return f, nil
}

// fits returns config.Problems if the policies of the replicas that run at a time take more
// memory than the machine has, else nil.
func (p *Plan) fits(workers int) error {
	has := store.PhysicalMemory()
	for i := range p.Cells {
		c := &p.Cells[i]
		if need := float64(workers) * c.Sim.Memory(); need > has {
			return config.Problems{{Source: strings.TrimSpace(p.Spec.Name + " " + c.Label()), Text: fmt.Sprintf(
				"lag.interval: got %d with %d arms, whose past policies take %.3g GB on %d workers: this machine has %.3g GB",
				c.Settings.Lag.Interval, len(c.Settings.Bandit.Arms), need/1e9, workers, has/1e9)}}
		}
	}
	return nil
}

// judgingTime estimates how long it takes to predict and judge the cells of a plan, in
// seconds, from the outcomes of some of them. Those without an outcome, nil, are only
// predicted. The parts counted are as in NewExperiment.
func judgingTime(plan *Plan, outcomes map[string]*store.Outcome) float64 {
	began, parts := time.Now(), 0
	e := newEvidence(outcomes)
	e.part = func() bool { parts++; return true }
	some := *plan
	some.Checks = nil
	for _, planned := range plan.Checks {
		planned.Sets = slices.DeleteFunc(slices.Clone(planned.Sets), func(set CellSet) bool {
			return len(set.Cells) > 1 || outcomes[set.Cells[0].ID] == nil
		})
		some.Checks = append(some.Checks, planned)
	}
	e.judge(&some)
	for i := range plan.Cells {
		c := &plan.Cells[i]
		if _, known := outcomes[c.ID]; known {
			e.cache.predict(&c.Settings, rom.Unit)
			e.part()
		}
	}
	if parts == 0 {
		return 0
	}
	return time.Since(began).Seconds() / float64(parts) * float64(len(plan.Cells)+plan.sets())
}
