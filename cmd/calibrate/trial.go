package main

import (
	"context"
	"fmt"
	"math"
	"sync"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps"
	"grposim/sweeps/store"
)

// confidence of every single interval.
const confidence = 0.95

// diet is how much data a trial has.
type diet string

const (
	fed         diet = "" // as the configuration says
	fewReplicas diet = "replicas"
	fewDraws    diet = "draws" // of the probes of the stiffness
)

const (
	fewerReplicas  = 100 // times
	fewerDraws     = 1000
	fewestReplicas = 8 // of which a scatter is known: with fewer the half-width itself is a matter of luck
	fewestPairs    = 4 // of a search: of fewer, it asks for more standard errors
	fewestDraws    = 8 * 9
)

// starvations lists what the cell's data can be starved of. A search is starved of
// what it decides by; the stiffness that its result is held against is known to
// about the margin from as few draws as have a scatter.
func (c *cell) starvations() []diet {
	if check := &c.spec.Checks[0]; check.Draws > 0 && check.Locate == nil {
		return []diet{fewDraws}
	}
	return []diet{fewReplicas}
}

// starve returns a part of n, at least the fewest but never more than n.
func starve(n, part, fewest int) int { return min(n, max(n/part, fewest)) }

// interval is a measured value and where it says the long-run value is.
type interval struct{ value, lo, hi float64 }

// rounding is the relative error of a mean of seeds that is not chance.
const rounding = 1e-9

// holds reports whether the interval holds x.
func (i interval) holds(x float64) bool {
	slack := rounding * math.Abs(x)
	return i.lo-slack <= x && x <= i.hi+slack
}

// trial is what one seed measured, and what was said of it.
type trial struct {
	verdicts  []sweeps.Verdict
	intervals [][]interval // of each verdict: one, or one a recorded step
}

// try runs one seed through the whole flow: load, plan, simulate, judge.
func (c *cell) try(ctx context.Context, seed int, fare diet) (trial, error) {
	plan, err := c.plan(seed, fare)
	if err != nil {
		return trial{}, err
	}
	outcomes, err := sweeps.Simulate(ctx, plan, 1)
	if err != nil {
		return trial{}, err
	}
	var t trial
	if t.verdicts, err = sweeps.Judge(plan, outcomes); err != nil {
		return trial{}, err
	}
	for _, v := range t.verdicts {
		intervals := []interval{{float64(v.Measured), float64(v.Lo), float64(v.Hi)}}
		switch c.cover {
		case simultaneous:
			if intervals, err = band(&plan.Cells[0], outcomes[plan.Cells[0].ID]); err != nil {
				return trial{}, err
			}
		case bracket: // the prediction is made at the stiffness that the trial measured
			p := float64(v.Predicted)
			intervals = []interval{{float64(v.Measured) / p, float64(v.Lo) / p, float64(v.Hi) / p}}
		}
		t.intervals = append(t.intervals, intervals)
	}
	return t, nil
}

// plan plans the cell under a seed. The file's confidence is family-wise: it is
// set to what gives each of its verdicts the confidence of a single one.
func (c *cell) plan(seed int, fare diet) (*sweeps.Plan, error) {
	set := []string{fmt.Sprintf("seed=%d", seed)}
	if fare == fewReplicas {
		fewest := fewestReplicas
		if c.spec.Checks[0].Locate != nil {
			fewest = fewestPairs
		}
		set = append(set, fmt.Sprintf("run.replicas=%d", starve(c.spec.Base.Run.Replicas, fewerReplicas, fewest)))
	}
	spec, err := c.load(set...)
	if err != nil {
		return nil, err
	}
	if fare == fewDraws {
		spec.Checks[0].Draws = starve(spec.Checks[0].Draws, fewerDraws, fewestDraws)
	}
	plan := sweeps.NewPlan(spec)
	spec.Confidence = 1 - (1-confidence)*float64(plan.Verdicts)
	return plan, nil
}

// band is the simultaneous band of the mean reward (Bonferroni over the recorded
// steps, as the trajectory claim has it). Every replica starts in one place.
func band(c *sweeps.Cell, o *store.Outcome) ([]interval, error) {
	recorded, err := o.Trajectory(sim.ExpectedReward)
	if err != nil {
		return nil, err
	}
	var intervals []interval
	steps, series := recorded.Steps, recorded.Series(sim.ExpectedReward)
	for i := range steps {
		if steps[i] == 0 {
			continue
		}
		e := measure.Estimate{Mean: float64(series.Mean[i]), StdErr: float64(series.StdErr[i]), DF: c.Settings.Run.Replicas - 1}
		lo, hi := e.Interval(1 - (1-confidence)/float64(len(steps)))
		intervals = append(intervals, interval{e.Mean, lo, hi})
	}
	return intervals, nil
}

// trials runs seeds 1 to n, several at a time.
func (c *cell) trials(ctx context.Context, n, workers int, fare diet) ([]trial, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	trials := make([]trial, n)
	numbers := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range numbers {
				t, err := c.try(ctx, i+1, fare)
				if err != nil {
					cancel(fmt.Errorf("seed %d: %w", i+1, err))
				}
				trials[i] = t
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		numbers <- i
	}
	close(numbers)
	group.Wait()
	return trials, context.Cause(ctx)
}
