package main

import (
	"context"
	"fmt"
	"time"

	"grposim/sim"
	"grposim/sim/measure"
)

// contender simulates processes.
type contender struct {
	name         string
	replicas     int // that suit it: NumPy works on all of them at once, the others on one
	largestGroup int // beyond which it is not run; 0: any
	run          func(ctx context.Context, p process, l length, seed int) (outcome, error)
}

// outcome is what a run took and what it says of the stationary law.
type outcome struct {
	seconds        float64
	mean, variance measure.Estimate // over replicas
}

// nanoseconds is the time of a replica-step.
func (o outcome) nanoseconds(l length) float64 {
	return 1e9 * o.seconds / (float64(l.steps) * float64(l.replicas))
}

// grposim's replicas are few and long, so that its time is that of steps: it also
// records each replica at some 200 of them.
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

// timed simulates cells and returns how many seconds it took.
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
