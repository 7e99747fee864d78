package sim

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"grposim/grpo"
	"grposim/sim/measure"
)

// Status is what became of a cell.
type Status string

const (
	OK       Status = "ok"
	Diverged Status = "diverged" // some replica left the range of floating point
)

// Result is what a cell measured. Of a diverged cell nothing is averaged over
// survivors: it has no trajectory and no stationary estimates.
type Result struct {
	Status     Status
	Diverged   int // replicas that diverged
	DivergedAt int // first step at which one did
	Steps      []int
	Quantities []Quantity
	Trajectory [][]Summary // [recorded step][quantity]
	Estimates  []measure.Named
	Traces     [][][]float64 // [replica][recorded step][quantity], of the first Cell.Traces replicas
}

// Names of the estimates of the stationary state, over the steps after burn-in.
const (
	ExpectedRewardMean     = "expected_reward_mean"
	ExpectedRewardVariance = "expected_reward_variance"
	ZeroVarianceShare      = "zero_variance_fraction"
	LogitGapMean           = "logit_gap_mean"     // two arms
	LogitGapVariance       = "logit_gap_variance" // two arms
)

// chunkSize is the number of replicas that one worker runs and sums before
// their sums are merged, in order, into the cell's. It decides the last bits of
// every mean, and must not depend on the number of workers.
const chunkSize = 16

// Simulate runs cells on a fixed number of workers and calls done, from one
// goroutine, with each cell's result as it is finished, in no particular order.
// Results do not depend on the number of workers. Simulate stops when ctx is
// done or done returns an error, and returns that error.
func Simulate(ctx context.Context, cells []Cell, workers int, done func(index int, result Result) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	type finished struct {
		index  int
		result Result
	}
	var (
		units   = make(chan unit, 2*workers)
		results = make(chan finished)
		group   sync.WaitGroup
	)
	go func() {
		defer close(units)
		for i := range cells {
			work := newCellWork(&cells[i], i)
			for n := range work.units {
				select {
				case units <- unit{work, n}:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	pools := new(memoryPools)
	for range workers {
		group.Go(func() {
			memory := workerMemory{pools: pools}
			for u := range units {
				last, err := u.do(ctx, &memory)
				if err != nil {
					cancel(err)
				}
				if !last {
					continue
				}
				select {
				case results <- finished{u.work.index, u.work.result()}:
				case <-ctx.Done():
				}
				pools.reclaim(u.work)
			}
		})
	}
	go func() { group.Wait(); close(results) }()
	for f := range results {
		if ctx.Err() != nil {
			continue // drain: nothing is reported after the first error
		}
		if err := done(f.index, f.result); err != nil {
			cancel(err)
		}
	}
	return context.Cause(ctx)
}

// unit is the smallest piece of work: one chunk of replicas, or one bin of a
// stiffness probe or of the relaxation probe.
type unit struct {
	work   *cellWork
	number int
}

// do does the unit and reports whether it was its cell's last. A panic, which
// is a bug here, becomes an error that names the cell: the others are kept.
func (u unit) do(ctx context.Context, memory *workerMemory) (last bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cell %s failed: %v", u.work.cell.ID, p)
		}
	}()
	return u.work.run(ctx, u.number, memory), nil
}

// cellWork is a cell being run. Chunks may finish in any order; they are
// merged in theirs.
type cellWork struct {
	cell     *Cell
	index    int
	units    int // chunks first, then the bins of each probe, then of the relaxation
	chunks   int
	recorded []int
	read     []int // steps at which J is read for Cell.Fits

	averages   []averages                 // by replica
	early      [][][quantityCount]float64 // [replica < 1024 or Traces][recorded step]
	probes     [][]float64                // [probe][bin]
	relaxation []measure.Recurrence       // [bin]
	located    []measure.Named

	mutex      sync.Mutex
	left       int               // units not yet finished
	pending    map[int]chunkSums // chunks finished before their turn
	merged     int               // chunks merged
	total      record            // of the merged chunks
	curves     [][]float64       // [bin of replicas][index of read]: sum of J
	diverged   int
	divergedAt int
}

// chunkSums is what the replicas of a chunk add to their cell.
type chunkSums struct {
	record record
	curves [][]float64 // of the bins from that of its first replica on
}

func newCellWork(cell *Cell, index int) *cellWork {
	replicas := cell.replicas()
	if cell.Location != nil {
		return newLocationWork(cell, index)
	}
	w := &cellWork{
		cell:       cell,
		index:      index,
		chunks:     (replicas + chunkSize - 1) / chunkSize,
		recorded:   RecordedSteps(cell.Run.Steps, cell.Lag),
		read:       curveSteps(cell.Fits, cell.Run.Steps),
		averages:   make([]averages, replicas),
		early:      make([][][quantityCount]float64, min(replicas, max(quantileReplicas, cell.Traces))),
		pending:    make(map[int]chunkSums),
		divergedAt: cell.Run.Steps + 1,
	}
	if len(w.read) > 0 {
		w.curves = newCurves(min(replicas, curveBins), len(w.read))
	}
	w.units = w.chunks
	w.addProbes()
	if cell.Relaxation != nil {
		w.relaxation = make([]measure.Recurrence, min(replicas, relaxationBins))
		w.units += len(w.relaxation)
	}
	w.left = w.units
	return w
}

// newLocationWork is the work of a located cell: its stiffness, and what run
// does after it.
func newLocationWork(cell *Cell, index int) *cellWork {
	if !slices.ContainsFunc(cell.Stiffness, func(p StiffnessProbe) bool { return p.Name == StiffnessTotal }) {
		panic("sim: a located cell needs a probe of " + StiffnessTotal)
	}
	w := &cellWork{cell: cell, index: index}
	w.addProbes()
	w.left = w.units
	return w
}

// addProbes adds the bins of the cell's stiffness probes to the work.
func (w *cellWork) addProbes() {
	for i := range w.cell.Stiffness {
		bins := w.cell.Stiffness[i].bins(w.cell)
		w.probes = append(w.probes, make([]float64, bins))
		w.units += bins
	}
}

func newCurves(bins, columns int) [][]float64 {
	curves := make([][]float64, bins)
	for b := range curves {
		curves[b] = make([]float64, columns)
	}
	return curves
}

// run does one unit and reports whether it was the cell's last. A location
// starts from the measured stiffness, so it follows the last bin.
func (w *cellWork) run(ctx context.Context, number int, memory *workerMemory) bool {
	if number < w.chunks {
		w.runChunk(ctx, number, memory)
	} else {
		w.runBin(ctx, number-w.chunks)
	}
	w.mutex.Lock()
	w.left--
	last := w.left == 0
	w.mutex.Unlock()
	if last && w.cell.Location != nil {
		for i, bins := range w.probes {
			if w.cell.Stiffness[i].Name == StiffnessTotal {
				w.located = w.cell.Location.locate(ctx, w.cell, w.estimate(bins))
			}
		}
	}
	return last && ctx.Err() == nil
}

func (w *cellWork) runBin(ctx context.Context, number int) {
	for probe, bins := range w.probes {
		if number < len(bins) {
			bins[number] = w.cell.Stiffness[probe].bin(ctx, w.cell, probe, number)
			return
		}
		number -= len(bins)
	}
	w.relaxation[number] = w.cell.Relaxation.bin(ctx, w.cell, number, len(w.relaxation))
}

func (w *cellWork) runChunk(ctx context.Context, chunk int, memory *workerMemory) {
	batch := memory.batchFor(w)
	sums := record(memory.pools.records.take(len(w.recorded)))
	clear(sums)
	first, last := chunk*chunkSize, min((chunk+1)*chunkSize, len(w.averages))-1
	var curves [][]float64
	if len(w.curves) > 0 {
		curves = newCurves(w.binOf(last)-w.binOf(first)+1, len(w.read))
	}
	diverged, divergedAt := 0, w.cell.Run.Steps+1
	for from := first; from <= last; from += batchSize {
		replicas := batch.run(ctx, from, last-from+1)
		if ctx.Err() != nil {
			return
		}
		for n, r := range replicas {
			i := from + n
			w.averages[i] = r.finish()
			if r.divergedAt != running {
				diverged++
				divergedAt = min(divergedAt, r.divergedAt)
				continue
			}
			for step := range sums {
				for q := range sums[step] {
					sums[step][q].add(r.values[step][q])
				}
			}
			if len(curves) > 0 {
				curve := curves[w.binOf(i)-w.binOf(first)]
				for n, reward := range r.curve {
					curve[n] += reward
				}
			}
			if i < len(w.early) {
				w.early[i], r.values = r.values, memory.pools.values.take(len(w.recorded))
			}
		}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.diverged += diverged
	w.divergedAt = min(w.divergedAt, divergedAt)
	w.pending[chunk] = chunkSums{record: sums, curves: curves}
	for {
		next, ready := w.pending[w.merged]
		if !ready {
			return
		}
		if w.merged == 0 {
			w.total = next.record
		} else {
			w.total.merge(next.record)
			memory.pools.records.put(next.record)
		}
		for b, curve := range next.curves {
			sum := w.curves[w.binOf(w.merged*chunkSize)+b]
			for n, reward := range curve {
				sum[n] += reward
			}
		}
		delete(w.pending, w.merged)
		w.merged++
	}
}

// binOf returns the bin of w.curves that a replica belongs to.
func (w *cellWork) binOf(replica int) int {
	return ((replica+1)*len(w.curves) - 1) / len(w.averages)
}

// result summarizes a cell whose units are all done.
func (w *cellWork) result() Result {
	quantities := Quantities(len(w.cell.Bandit.Arms))
	r := Result{Status: OK, Quantities: quantities, Steps: w.recorded}
	if w.diverged > 0 {
		r.Status, r.Diverged, r.DivergedAt = Diverged, w.diverged, w.divergedAt
		r.Steps = nil
	}
	values := make([]float64, min(len(w.early), quantileReplicas))
	summaries := make([]Summary, len(r.Steps)*len(quantities))
	for i := range r.Steps {
		row := summaries[i*len(quantities):][:len(quantities):len(quantities)]
		for q := range row {
			for j := range values {
				values[j] = w.early[j][i][q]
			}
			row[q] = summarize(w.total[i][q], values)
		}
		r.Trajectory = append(r.Trajectory, row)
	}
	if r.Status == OK && w.chunks > 0 {
		if w.cell.Run.BurnIn > 0 {
			r.Estimates = append(r.Estimates, w.stationary()...)
		}
		r.Estimates = append(r.Estimates, curveEstimates(w.cell, w.read, w.curves)...)
		r.Traces = w.traces(len(quantities))
	}
	for i, bins := range w.probes {
		r.Estimates = append(r.Estimates, measure.Named{
			Name:     w.cell.Stiffness[i].Name,
			Estimate: w.estimate(bins),
		})
	}
	if len(w.relaxation) > 0 {
		r.Estimates = append(r.Estimates, relaxationEstimates(w.cell, w.relaxation)...)
	}
	r.Estimates = append(r.Estimates, w.located...)
	return r
}

// traces returns what the first replicas have recorded.
func (w *cellWork) traces(quantities int) [][][]float64 {
	var traces [][][]float64
	for _, values := range w.early[:min(w.cell.Traces, len(w.early))] {
		trace := make([][]float64, len(values))
		for i := range values {
			trace[i] = values[i][:quantities]
		}
		traces = append(traces, trace)
	}
	return traces
}

// stationary turns the replicas' time averages into estimates.
func (w *cellWork) stationary() []measure.Named {
	column := func(of func(*averages) float64) []float64 {
		values := make([]float64, len(w.averages))
		for i := range w.averages {
			values[i] = of(&w.averages[i])
		}
		return values
	}
	start := grpo.NewPolicy(w.cell.Init)
	reward := column(func(a *averages) float64 { return a.reward })
	estimates := []measure.Named{
		{Name: ExpectedRewardMean, Estimate: w.estimate(reward).Shift(start.Mean(means(&w.cell.Bandit)))},
		{Name: ExpectedRewardVariance, Estimate: w.estimate(measure.SquaresAboutMean(
			column(func(a *averages) float64 { return a.rewardSquare }), reward))},
		{Name: ZeroVarianceShare, Estimate: w.estimate(column(func(a *averages) float64 { return a.zeroVariance }))},
	}
	if len(w.cell.Bandit.Arms) == 2 {
		z := column(func(a *averages) float64 { return a.gap })
		estimates = append(estimates,
			measure.Named{Name: LogitGapMean, Estimate: w.estimate(z).Shift(gap(start))},
			measure.Named{Name: LogitGapVariance, Estimate: w.estimate(measure.SquaresAboutMean(
				column(func(a *averages) float64 { return a.gapSquare }), z))},
		)
	}
	return estimates
}

// estimate takes the mean over independent values; at G = ∞ nothing is random.
func (w *cellWork) estimate(values []float64) measure.Estimate {
	if w.cell.Deterministic() {
		return measure.Certain(values[0])
	}
	return measure.Mean(values)
}
