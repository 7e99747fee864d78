package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
)

// The limits that jobs ask for, as multiples of the forecast on this machine: other machines
// are slower, or busy.
const (
	timeFactor    = 3
	memoryFactor  = 2
	storageFactor = 4 // the shards and their merge, twice
	shortestTime  = 10 * time.Minute
)

// jobFlags are the flags of the commands that write jobs.
type jobFlags struct {
	tasks, workers int
	out, cache     string
	set            []string
}

// add adds the flags to a command.
func (f *jobFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.tasks, "tasks", 0, "number of tasks, each of which simulates a part of the cells; required")
	c.Flags().IntVar(&f.workers, "workers", 1, "processors of a task, 1 to 4096")
	c.Flags().StringVar(&f.out, "out", "", "write into this `file`, not to stdout")
	c.Flags().StringVar(&f.cache, "cache", "", "`folder` of finished cells that the tasks share, as in sweep --cache")
	addSet(c, &f.set)
}

// jobs holds the limits of the jobs of a sweep: a task for each shard, and a merge.
type jobs struct {
	Sweep          string // its name
	Tasks, Workers int
	Cache          string  // folder of finished cells that the tasks share; "": none
	Bytes          float64 // of all tasks together, on disk
	Task, Merge    resources
}

// resources are the limits of a job.
type resources struct {
	Time   time.Duration
	Memory int // MB
}

// newResources returns the limits of a job with a forecast in seconds and bytes.
func newResources(seconds, bytes float64) resources {
	limit := time.Duration(math.Ceil(timeFactor*seconds/60)) * time.Minute
	return resources{max(shortestTime, limit), int(math.Ceil(memoryFactor * bytes / 1e6))}
}

// newJobs forecasts the jobs of a sweep.
func (f *jobFlags) newJobs(ctx context.Context, spec *config.Spec) (*jobs, error) {
	var problems []error
	if most := min(spec.Size(), maxShards); f.tasks < 1 || f.tasks > most {
		problems = append(problems, fmt.Errorf("--tasks: got %d, want 1 to %d", f.tasks, most))
	}
	if err := errors.Join(append(problems, checkWorkers(f.workers))...); err != nil {
		return nil, usageError{err}
	}
	forecast, err := sweeps.NewForecast(ctx, spec, f.workers)
	if err != nil {
		return nil, err
	}
	seconds, memory := forecast.LargestShard(spec, f.tasks)
	return &jobs{
		Sweep: spec.Name, Tasks: f.tasks, Workers: f.workers, Cache: f.cache, Bytes: float64(forecast.Bytes),
		Task:  newResources(seconds, memory),
		Merge: newResources(forecast.Judging, forecast.JudgingMemory),
	}, nil
}

// readSpec reads the configuration of the jobs.
func (f *jobFlags) readSpec(c *cobra.Command, file string) (*config.Spec, error) {
	return readSpec(c.ErrOrStderr(), config.ToJudge, file, f.set)
}
