package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps"
	"grposim/sweeps/claim"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
	"grposim/tools/internal/tool"
)

// confidence is the confidence of every single interval.
const confidence = 0.95

type dataBudget string

const (
	allData     dataBudget = ""         // as the configuration says
	fewReplicas dataBudget = "replicas" // fewer replicas
	fewDraws    dataBudget = "draws"    // fewer draws by the stiffness probes
)

const (
	replicasDivisor = 100
	drawsDivisor    = 1000
	leastReplicas   = 8     // with fewer the half-width itself is unreliable
	leastPairs      = 4     // of a search; with fewer it requires more standard errors
	leastDraws      = 8 * 9 // eight batches
)

// reducedBudget returns the budget of the cell's trials with reduced data. A search has
// fewer replicas, because they decide whether it finds the event. Reducing the draws
// would not do: even the least number of them gives the stiffness, from which the
// located value is predicted, to about the margin.
func (c *cell) reducedBudget() dataBudget {
	if check := &c.spec.Checks[0]; check.Draws > 0 && check.Locate == nil {
		return fewDraws
	}
	return fewReplicas
}

// reduce returns n/divisor, at least least and at most n.
func reduce(n, divisor, least int) int { return min(n, max(n/divisor, least)) }

// interval is a measured value and the ends of its confidence interval.
type interval struct{ value, lo, hi float64 }

// rounding is a bound on the relative rounding error of a mean over seeds.
const rounding = 1e-9

// holds reports whether x lies in the interval, to within rounding.
func (i interval) holds(x float64) bool {
	slack := rounding * math.Abs(x)
	return i.lo-slack <= x && x <= i.hi+slack
}

// trial is the result of one seed.
type trial struct {
	verdicts  []judge.Verdict
	intervals [][]interval // [verdict][recorded step]; one for a verdict that is not on a band
}

// trials runs seeds 1 to n, as many at the same time as there are workers, and judges the data of
// each once for every confidence. It returns the trials by confidence and seed.
func (c *cell) trials(
	ctx context.Context, n, workers int, budget dataBudget, confidences ...float64,
) ([][]trial, error) {
	// of predictions, which seeds share: one goroutine at a time has each
	caches := make(chan *theory.Cache, workers)
	for range workers {
		caches <- theory.NewCache()
	}
	trials := make([][]trial, len(confidences))
	for k := range trials {
		trials[k] = make([]trial, n)
	}
	_, err := tool.Each(ctx, n, workers, func(ctx context.Context, i int) (_ struct{}, err error) {
		cache := <-caches
		defer func() { caches <- cache }()
		p, err := c.plan(i+1, budget, cache)
		if err != nil {
			return struct{}{}, err
		}
		outcomes, err := plan.Simulate(ctx, p, 1)
		for k, confidence := range confidences {
			if err == nil {
				trials[k][i], err = judgedAt(p, outcomes, confidence)
			}
		}
		if err != nil {
			err = fmt.Errorf("seed %d: %w", i+1, err)
		}
		return struct{}{}, err
	})
	return trials, err
}

// ofAll returns the confidence of all verdicts of a plan together with which each verdict
// alone has the given confidence (Bonferroni).
func ofAll(plan *plan.Plan, confidence float64) float64 {
	return 1 - (1-confidence)*float64(claim.Verdicts(plan))
}

// judgedAt judges the outcomes of a plan's cells, with the given confidence for each verdict alone.
func judgedAt(
	of *plan.Plan, outcomes map[string]*store.Outcome, confidence float64,
) (t trial, err error) {
	of.Spec.Confidence = ofAll(of, confidence)
	if t.verdicts, err = sweeps.Judge(of, outcomes); err != nil {
		return trial{}, err
	}
	for _, v := range t.verdicts {
		x := interval{float64(v.Measured), float64(v.Lo), float64(v.Hi)}
		intervals := []interval{x}
		switch intervalKinds[v.Claim] {
		case simultaneous:
			c := slices.IndexFunc(of.Cells, func(c *plan.Cell) bool { return c.ID == v.Cell })
			if intervals, err = band(of.Cells[c], outcomes[v.Cell], confidence); err != nil {
				return trial{}, err
			}
		case bracket: // predicted at the stiffness that the trial measured, so predictions differ
			p := float64(v.Predicted)
			intervals[0] = interval{x.value / p, x.lo / p, x.hi / p}
		}
		t.intervals = append(t.intervals, intervals)
	}
	return t, nil
}

// plan plans the cell under a seed, with a cache of predictions.
func (c *cell) plan(seed int, budget dataBudget, cache *theory.Cache) (*plan.Plan, error) {
	set := []string{fmt.Sprintf("seed=%d", seed)}
	if budget == fewReplicas {
		least := leastReplicas
		if c.spec.Checks[0].Locate != nil {
			least = leastPairs
		}
		replicas := reduce(c.spec.Base.Run.Replicas, replicasDivisor, least)
		set = append(set, fmt.Sprintf("run.replicas=%d", replicas))
	}
	spec, err := c.load(set...)
	if err != nil {
		return nil, err
	}
	if budget == fewDraws {
		spec.Checks[0].Draws = reduce(spec.Checks[0].Draws, drawsDivisor, leastDraws)
	}
	return plan.NewWith(spec, cache), nil
}

// band returns the simultaneous band of the mean reward, an interval for each recorded
// step after step 0, at which all replicas are equal. The confidence is shared among the
// recorded steps (Bonferroni), as in the trajectory claim.
func band(c *plan.Cell, o *store.Outcome, confidence float64) ([]interval, error) {
	recorded, err := o.Trajectory(sim.ExpectedReward)
	if err != nil {
		return nil, err
	}
	var intervals []interval
	series := recorded.Series(sim.ExpectedReward)
	for i, step := range recorded.Steps {
		mean, err := float64(series.Mean[i]), float64(series.StdErr[i])
		e := measure.Estimate{Mean: mean, StdErr: err, DF: c.Settings.Run.Replicas - 1}
		lo, hi := e.Interval(1 - (1-confidence)/float64(len(recorded.Steps)))
		if step > 0 {
			intervals = append(intervals, interval{mean, lo, hi})
		}
	}
	return intervals, nil
}
