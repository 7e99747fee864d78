package main

import (
	"context"
	"fmt"
	"time"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/tools/internal/tool"
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

// falseAlarm is the probability that agree rejects one estimate of two contenders that
// simulate the same law. The test is Student's t with Welch's degrees of freedom, from the
// scatter over replicas. Every timed run is compared, in mean and in variance; that makes
// about 200 comparisons.
const falseAlarm = 1e-6

// agree returns tool.Unmet if the two outcomes come from different stationary laws,
// to within a probability of falseAlarm for each of mean and variance, so that their times cannot be
// compared.
func agree(p process, peer string, ours, theirs outcome) error {
	for _, x := range []struct {
		quantity     string
		ours, theirs measure.Estimate
	}{
		{"mean", ours.mean, theirs.mean},
		{"variance", ours.variance, theirs.variance},
	} {
		stdErr, df := measure.Combine([]measure.Estimate{x.ours, x.theirs})
		difference := measure.Estimate{Mean: x.ours.Mean - x.theirs.Mean, StdErr: stdErr, DF: df}
		if low, high := difference.Interval(1 - falseAlarm); !(low <= 0 && 0 <= high) {
			return tool.Unmet{fmt.Sprintf("%s and grposim disagree on %s: %s of the %s %.6g ± %.2g and %.6g ± %.2g (standard errors), a difference that occurs by chance with a probability below %.0e",
				peer, p, x.quantity, p.observed(), x.theirs.Mean, x.theirs.StdErr, x.ours.Mean, x.ours.StdErr, falseAlarm)}
		}
	}
	return nil
}
