package main

import (
	"context"
	"fmt"
	"time"

	"grposim/sim"
	"grposim/sim/measure"
)

// contender is a program that simulates processes.
type contender struct {
	name         string
	replicas     int // number of replicas that suits it: large for NumPy, which computes all at once
	largestGroup int // largest group size that it runs; 0 for any
	mostArms     int // largest number of arms that it runs; 0 for any
	run          func(ctx context.Context, p process, l length, seed int) (outcome, error)
}

// outcome is the time of a run and its estimates of the stationary law.
type outcome struct {
	seconds        float64
	mean, variance measure.Estimate // of process.observed, with errors from the scatter over replicas
}

// nanoseconds returns the time per replica-step.
func (o outcome) nanoseconds(l length) float64 {
	return 1e9 * o.seconds / (float64(l.steps) * float64(l.replicas))
}

// grposim runs few replicas over many steps. Each replica is recorded at about 200 steps,
// so in short runs recording would dominate the time.
var grposim = contender{name: "grposim", replicas: 32, run: simulate}

// simulate runs grposim on one worker.
func simulate(ctx context.Context, p process, l length, seed int) (outcome, error) {
	results, seconds, err := timed(ctx, []sim.Cell{p.cell(l, seed)}, 1)
	if err != nil {
		return outcome{}, err
	}
	mean, variance := sim.LogitGapMean, sim.LogitGapVariance
	if len(p.means) != 2 {
		mean, variance = sim.ExpectedRewardMean, sim.ExpectedRewardVariance
	}
	o := outcome{seconds: seconds}
	for _, e := range results[0].Estimates {
		switch e.Name {
		case mean:
			o.mean = e.Estimate
		case variance:
			o.variance = e.Estimate
		}
	}
	return o, nil
}

// timed simulates cells and returns their results and the time it took.
func timed(ctx context.Context, cells []sim.Cell, workers int) (results []sim.Result, seconds float64, err error) {
	results = make([]sim.Result, len(cells))
	start := time.Now()
	err = sim.Simulate(ctx, cells, workers, func(i int, r sim.Result) error {
		if r.Status != sim.OK {
			return fmt.Errorf("grposim: %s", r.Status)
		}
		results[i] = r
		return nil
	})
	return results, time.Since(start).Seconds(), err
}
