package sweeps

import (
	"context"
	"fmt"
	"math"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/store"
)

// Simulated is the kind of advice that comes from simulation.
const Simulated rom.Kind = "simulated"

// Limits of a search by simulation. It doubles the parameter until a run is not steady,
// then halves the bracket until its relative width is at most searchedWidth.
const (
	longestSearched  = 1024 // refresh interval or delay
	fewestPeriods    = 8    // of the longest interval in a run
	searchedRates    = 1024 // largest learning rate, in units of the cell's
	searchedWidth    = 0.1
	advisedDeviation = 2 // a steady run has at most this multiple of the deviation without lag
	certainty        = 0.999
)

// runsOfSearch is the largest number of runs of the search for one limit: the doublings,
// the halvings, and the run without lag.
var runsOfSearch = int(math.Log2(longestSearched)) + int(math.Ceil(-math.Log2(searchedWidth))) + 1

// LocationForecast estimates the cost of LocateLimits for a plan, at most.
func LocationForecast(ctx context.Context, plan *Plan, workers int) (*Forecast, error) {
	f, err := NewForecast(ctx, plan, workers)
	if err != nil {
		return nil, err
	}
	runs := float64(2 * runsOfSearch)
	f.ReplicaSteps *= runs
	f.Seconds *= runs
	return f, nil
}

// LocateLimits finds by simulation, for a cell of a plan, the learning rates and refresh
// intervals that are steady, everything else as it is. It needs no theory, so that it
// answers for any optimizer, clip and number of arms, and depends on the length of the
// run and its burn-in. Runs start at the fixed point where the theory finds it, so that
// the way there is no part of the fluctuations.
//
// A run is steady if no replica leaves the range of floating point and, with m and s the
// stationary mean and standard deviation of J without lag at the cell's learning rate η₁,
//
//	Var J ≤ 4 s² η/η₁,    E J ≥ m − 2 s,
//
// because without a threshold Var J is proportional to η. The intervals of the estimates
// (99.9 %) decide.
func LocateLimits(ctx context.Context, cell *Cell, workers int) ([]AdviceLine, error) {
	first, name := shortestLag(&cell.Settings)
	a := &adviser{settings: cell.Settings}
	intervals, rates := name+" that are steady", "learning rates that are steady"
	refuse := func(because string) ([]AdviceLine, error) {
		a.unknown(intervals, because)
		a.unknown(rates, because)
		return a.lines, nil
	}
	switch s := &cell.Settings; {
	case cell.Status == store.NoFixedPoint:
		return refuse(noFixedPoint + " to start from")
	case s.Estimator.GroupSize == grpo.Infinite:
		return refuse("without noise no run can be compared with the fluctuations of another")
	case s.Run.BurnIn == 0 || s.Run.Replicas < 2:
		return refuse("a stationary state is measured with run.burn_in ≥ 1 and run.replicas ≥ 2")
	}
	moved, start := *cell, "the start of the file"
	if point, ok := rom.Reached(Params(&cell.Settings, rom.Unit)); ok {
		in := moved.Sim()
		in.Init, start = point.Logits, "the fixed point"
		moved.probed = &in
	}
	l := &limitSearch{ctx: ctx, cell: &moved, workers: workers}
	without := moved.Sim()
	without.Lag.Interval, without.Lag.Behind = int(first), 0
	if without.Lag.Kind == grpo.Random {
		without.Lag = grpo.Lag{Kind: grpo.Block, Interval: 1}
	}
	l.reference = l.run(without)
	if l.err != nil {
		return nil, l.err
	}
	if l.reference.diverged {
		return refuse("without lag the run diverges")
	}
	assumes := fmt.Sprintf("√Var J ≤ %d s √(η/%g) and E J ≥ m − %d s, with s = %.3g and m = %.4g without lag at η = %g; %d replicas of %d steps from %s",
		advisedDeviation, cell.Settings.Optimizer.LearningRate, advisedDeviation, math.Sqrt(l.reference.variance.Mean), l.reference.mean.Mean,
		cell.Settings.Optimizer.LearningRate, cell.Settings.Run.Replicas, cell.Settings.Run.Steps, start)

	if cell.Settings.Lag.Kind == grpo.Random {
		a.unknown(intervals, noInterval)
	} else {
		longest := min(longestSearched, float64(cell.Settings.Run.Steps-cell.Settings.Run.BurnIn)/fewestPeriods)
		low, high := l.search(first, first+1, longest, 1, func(c *sim.Cell, x float64) { c.Lag.Interval = int(x) })
		low, high = math.Floor(low), math.Floor(high)
		says := fmt.Sprintf("up to %.0f steps; %.0f is not known to be", low, high)
		if math.IsInf(high, 1) {
			says = fmt.Sprintf("all up to %.0f; not searched beyond", low)
		}
		a.add(intervals, low, says, Simulated, assumes)
		a.bound(ofInterval, low, high)
	}

	eta := cell.Settings.Optimizer.LearningRate
	low, high := l.search(0, eta, searchedRates*eta, 0, func(c *sim.Cell, x float64) { c.Optimizer.LearningRate = x })
	says := fmt.Sprintf("up to %.4g, %.3g times the present one; %.4g is not known to be", low, low/eta, high)
	value := low
	switch {
	case low == 0:
		value, says = math.NaN(), "the present one is not known to be; smaller ones are not searched"
	case math.IsInf(high, 1):
		says = fmt.Sprintf("all up to %.4g; not searched beyond", low)
	}
	a.add(rates, value, says, Simulated, assumes)
	a.bound(ofRate, low, high)
	return a.lines, l.err
}

// limitSearch searches for the limits of one cell.
type limitSearch struct {
	ctx       context.Context
	cell      *Cell
	workers   int
	reference stationaryRun // without lag
	err       error         // the first; later runs are skipped
}

// stationaryRun holds what a search needs of a run.
type stationaryRun struct {
	diverged       bool
	mean, variance measure.Estimate // of J
}

// run simulates the run of a cell; after an error it does nothing.
func (l *limitSearch) run(c sim.Cell) (r stationaryRun) {
	if l.err != nil {
		return r
	}
	l.err = sim.Simulate(l.ctx, []sim.Cell{runAlone(c)}, l.workers, func(_ int, result sim.Result) error {
		o := newOutcome(l.cell, result)
		r.diverged = o.Diverged > 0
		r.mean, _ = o.Estimate(sim.ExpectedRewardMean)
		r.variance, _ = o.Estimate(sim.ExpectedRewardVariance)
		return nil
	})
	return r
}

// steady runs the cell with a value of the parameter, and reports whether the run is
// certainly steady.
func (l *limitSearch) steady(value float64, set func(*sim.Cell, float64)) bool {
	c := l.cell.Sim()
	set(&c, value)
	r := l.run(c)
	if r.diverged || l.err != nil {
		return false
	}
	_, variance := r.variance.Interval(certainty)
	mean, _ := r.mean.Interval(certainty)
	most, _ := l.reference.variance.Interval(certainty)
	most *= advisedDeviation * advisedDeviation
	least := l.reference.mean.Mean - math.Sqrt(most)
	return variance <= most*c.Optimizer.LearningRate/l.cell.Settings.Optimizer.LearningRate && mean >= least
}

// search doubles a parameter from first as long as runs are certainly steady, up to last,
// and halves the bracket down to a width of step or, relatively, searchedWidth. It
// returns the largest value known to be steady, known if there is no larger one, and the
// least above it that is not known to be, +Inf if there is none.
func (l *limitSearch) search(known, first, last, step float64, set func(*sim.Cell, float64)) (low, high float64) {
	low, high = known, math.Inf(1)
	for value := first; value <= last; value *= 2 {
		if !l.steady(value, set) {
			high = value
			break
		}
		low = value
	}
	for low >= first && high-low > max(step, searchedWidth*low) && !math.IsInf(high, 1) && l.err == nil {
		middle := (low + high) / 2
		if l.steady(middle, set) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high
}
