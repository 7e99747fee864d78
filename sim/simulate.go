package sim

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/measure"
)

// Status says whether the run of a cell was completed.
type Status string

// The statuses of a cell.
const (
	OK       Status = "ok"
	Diverged Status = "diverged" // some replica left the range of floating point
)

// Result is what a cell measured. If a replica has diverged there is no average over the others.
// Then Steps, Trajectory and Traces are nil, and Estimates has those of the probes only. A cell that
// is not run has Estimates only.
type Result struct {
	Status     Status
	Diverged   int             // replicas that diverged, in [0, Run.Replicas]
	DivergedAt int             // the first step at which one did; 0 if none
	Steps      []int           // recorded steps, in increasing order (RecordedSteps)
	Quantities []Quantity      // recorded quantities (Cell.Quantities)
	Trajectory [][]Summary     // [recorded step][quantity]
	Estimates  []measure.Named // in the unit that the comment of each name gives
	Traces     [][][]float64   // [replica][recorded step][quantity], of the first Cell.Traces replicas
	Ends       []End           // of the first Cell.Ends replicas, those that diverged too
}

// Ends runs the replicas first, first + 1, … of a cell, count of them, on this goroutine. It
// returns how each ended, with J at the given steps, which ascend to Run.Steps. They are the
// replicas that Simulate averages over. It panics if the cell or the steps are invalid, or the cell
// lacks these replicas.
func Ends(cell Cell, steps []int, first, count int) []End {
	c := cell.checked()
	if first < 0 || count < 1 || first+count > c.Replicas() {
		panic(fmt.Sprintf("sim: Ends: got %d replicas from %d on, want some of the cell's %d", count, first, c.Replicas()))
	}
	if n := len(steps); n == 0 || steps[0] < 0 || steps[n-1] != cell.Run.Steps || !slices.IsSorted(steps) || len(slices.Compact(slices.Clone(steps))) < n {
		panic(fmt.Sprintf("sim: Ends: got steps %v, want ascending ones to %d", steps, cell.Run.Steps))
	}
	b := newBatch(c, steps, newLaws(&c.Bandit, &c.Estimator), count)
	var ends []End
	for _, r := range b.run(context.Background(), first, count) {
		ends = append(ends, r.end(r.finish()))
	}
	return ends
}

// Names of the estimates of the stationary state: averages over the steps after
// burn-in. They are measured if Run.BurnIn > 0.
const (
	ExpectedRewardMean     = "expected_reward_mean"     // of J
	ExpectedRewardVariance = "expected_reward_variance" // of J over time and replicas
	ZeroVarianceShare      = "zero_variance_fraction"   // of groups, in [0, 1]
	LogitGapMean           = "logit_gap_mean"           // of z, two arms
	LogitGapVariance       = "logit_gap_variance"       // of z over time and replicas, two arms
)

// Panic is the error of a cell whose computation panicked, which is a bug of this program.
type Panic struct {
	Cell  string // Cell.ID; "" where no single cell was being computed
	Value any    // the value of the panic
	Stack []byte // the stack of the worker that panicked, as debug.Stack formats it
}

// Error names the cell and the value of the panic, without the stack.
func (p *Panic) Error() string {
	if p.Cell == "" {
		return fmt.Sprintf("the simulation failed: %v", p.Value)
	}
	return fmt.Sprintf("cell %s failed: %v", p.Cell, p.Value)
}

// Unwrap returns the value of the panic if it is an error, else nil.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// chunkSize is the number of replicas whose sums one worker computes before they are
// merged, in order, into the sums of the cell. It affects the last bits of every mean,
// so it must not depend on the number of workers.
const chunkSize = 16

// Simulate runs cells on the given number of workers, at least 1. It calls done, from one
// goroutine, with the index and the result of each finished cell, in any order. Results do not
// depend on the number of workers.
//
// Simulate panics before any work if a cell is invalid. It stops and returns the error when ctx is
// done (its cause), or done returns one. It does so too when the computation of a cell panics
// (*Panic).
func Simulate(ctx context.Context, cells []Cell, workers int, done func(index int, result Result) error) error {
	if workers < 1 {
		panic(fmt.Sprintf("sim: workers: got %d, want at least 1", workers))
	}
	for i := range cells {
		cells[i].checked()
	}
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
			work := newCellWork(cells[i].complete(), i)
			for n := range work.units {
				select {
				case units <- unit{work, n}:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	for range workers {
		group.Go(func() {
			var memory workerMemory
			for u := range units {
				result, err := u.do(ctx, &memory)
				if err != nil {
					cancel(err)
				}
				if result == nil {
					continue
				}
				select {
				case results <- finished{u.work.index, *result}:
				case <-ctx.Done():
				}
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

// unit is the smallest piece of work: one chunk of replicas, or a unit of the probes.
type unit struct {
	work   *cellWork
	number int
}

// do does the unit. It returns the result of the cell if the unit was the cell's last,
// and a *Panic if the computation panicked.
func (u unit) do(ctx context.Context, memory *workerMemory) (result *Result, err error) {
	defer func() {
		if value := recover(); value != nil {
			result, err = nil, &Panic{Cell: u.work.cell.ID, Value: value, Stack: debug.Stack()}
		}
	}()
	if !u.work.run(ctx, u.number, memory) {
		return nil, nil
	}
	r := u.work.result()
	return &r, nil
}

// workerMemory is the memory that a worker keeps from one unit of work to the next.
type workerMemory struct {
	batch *batch
	laws  *laws // of the batch's cell
}

// batchFor returns a batch for the chunks of a cell. A new batch takes over the laws of the
// previous one if the cells' laws are equal. Building their tables can take as long as a short run.
func (m *workerMemory) batchFor(w *cellWork) *batch {
	c := w.cell
	if m.batch != nil && m.batch.cell == c {
		return m.batch
	}
	if m.batch == nil || !sameLaws(m.batch.cell, c) {
		m.laws = newLaws(&c.Bandit, &c.Estimator)
	}
	m.batch = newBatch(c, w.recorded, m.laws, min(chunkSize, len(w.averages)))
	return m.batch
}

// cellWork is a cell being simulated. Its chunks may finish in any order; they are
// merged in the order of their numbers.
type cellWork struct {
	cell     *Cell
	index    int   // in the cells of Simulate
	units    int   // chunks first, then those of the probes
	chunks   int   // number of chunks
	recorded []int // steps
	read     []int // steps at which J is read for Cell.Fits

	averages []averages      // [replica]
	early    [][]float64     // [replica]: recorded values, for quantiles and traces
	logs     [][]float64     // [replica][index in read]: logged rewards, for LoggedFit
	ends     []End           // of the first Cell.Ends replicas
	probes   Probes          // nil: none
	probed   []measure.Named // their estimates
	edge     []measure.Named // StiffnessAtEnd, if wanted

	mutex      sync.Mutex
	reward0    float64           // J at step 0
	gap0       float64           // z at step 0, two arms
	left       int               // units not yet finished
	pending    map[int]chunkSums // finished chunks that wait for an earlier one
	merged     int               // chunks merged
	total      moments           // of the merged chunks
	curves     [][]float64       // [bin of replicas][index in read]: sum of J over the bin
	diverged   int               // replicas that diverged
	divergedAt int               // first step of a divergence, Run.Steps+1 if none
}

// chunkSums are the sums over the replicas of a chunk.
type chunkSums struct {
	moments
	curves [][]float64 // as cellWork.curves, from the bin of the chunk's first replica on
}

// newCellWork returns the work of a complete and valid cell.
func newCellWork(cell *Cell, index int) *cellWork {
	var probes Probes
	if cell.Probes != nil {
		probes = cell.Probes(cell)
		if units := probes.Units(); probes.Alone() {
			return &cellWork{cell: cell, index: index, probes: probes, units: units, left: units}
		}
	}
	replicas := cell.Replicas()
	w := &cellWork{
		cell:       cell,
		index:      index,
		probes:     probes,
		chunks:     (replicas + chunkSize - 1) / chunkSize,
		recorded:   RecordedSteps(cell.Run.Steps, cell.Lag),
		read:       curveSteps(cell.Fits, cell.Run.Steps),
		averages:   make([]averages, replicas),
		early:      make([][]float64, min(replicas, max(quantileReplicas, cell.Traces))),
		ends:       make([]End, min(replicas, cell.Ends)),
		pending:    make(map[int]chunkSums),
		divergedAt: cell.Run.Steps + 1,
	}
	if len(w.read) > 0 {
		w.curves = newCurves(min(replicas, curveBins), len(w.read))
	}
	if slices.Contains(cell.Fits, LoggedFit) {
		w.logs = make([][]float64, replicas)
	}
	if w.units = w.chunks; probes != nil {
		w.units += probes.Units()
	}
	w.left = w.units
	return w
}

// newCurves returns a zero matrix of bins rows.
func newCurves(bins, columns int) [][]float64 {
	curves := make([][]float64, bins)
	for b := range curves {
		curves[b] = make([]float64, columns)
	}
	return curves
}

// run does one unit and reports whether it was the cell's last.
func (w *cellWork) run(ctx context.Context, number int, memory *workerMemory) bool {
	if number < w.chunks {
		w.runChunk(ctx, number, memory)
	} else {
		w.probes.Do(ctx, number-w.chunks)
	}
	w.mutex.Lock()
	w.left--
	last := w.left == 0
	w.mutex.Unlock()
	if last && w.probes != nil && ctx.Err() == nil {
		w.probed = w.probes.Estimates(ctx)
	}
	switch progress := w.cell.Progress; {
	case progress == nil:
	case w.chunks > 0:
		progress(1 / float64(w.units))
	case last: // nearly all of its work is in the estimates
		progress(1)
	}
	return last && ctx.Err() == nil
}

// runChunk runs the replicas of one chunk and merges all chunks whose turn has come.
func (w *cellWork) runChunk(ctx context.Context, chunk int, memory *workerMemory) {
	batch := memory.batchFor(w)
	sums := newMoments(len(batch.replicas[0].values))
	first, last := chunk*chunkSize, min((chunk+1)*chunkSize, len(w.averages))-1
	var curves [][]float64
	if len(w.curves) > 0 {
		curves = newCurves(w.binOf(last)-w.binOf(first)+1, len(w.read))
	}
	diverged, divergedAt := 0, w.cell.Run.Steps+1
	replicas := batch.run(ctx, w.cell.First+first, last-first+1)
	if ctx.Err() != nil {
		return
	}
	for n, r := range replicas {
		i := first + n
		w.averages[i] = r.finish()
		if i < len(w.ends) {
			w.ends[i] = r.end(w.averages[i])
		}
		if r.divergedAt != running {
			diverged++
			divergedAt = min(divergedAt, r.divergedAt)
			continue
		}
		sums.add(r.values)
		if w.cell.Edge {
			w.edge = stiffnessAtEnd(r)
		}
		if len(curves) > 0 {
			floats.Add(curves[w.binOf(i)-w.binOf(first)], r.curve)
		}
		if w.logs != nil {
			w.logs[i] = slices.Clone(r.log)
		}
		if i < len(w.early) {
			w.early[i], r.values = r.values, make([]float64, len(r.values))
		}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.reward0, w.gap0 = replicas[0].reward0, replicas[0].gap0
	w.diverged += diverged
	w.divergedAt = min(w.divergedAt, divergedAt)
	w.pending[chunk] = chunkSums{sums, curves}
	for {
		next, ready := w.pending[w.merged]
		if !ready {
			return
		}
		if w.merged == 0 {
			w.total = next.moments
		} else {
			w.total.merge(&next.moments)
		}
		for b, curve := range next.curves {
			floats.Add(w.curves[w.binOf(w.merged*chunkSize)+b], curve)
		}
		delete(w.pending, w.merged)
		w.merged++
	}
}

// binOf returns the bin of w.curves to which a replica belongs.
func (w *cellWork) binOf(replica int) int {
	return ((replica+1)*len(w.curves) - 1) / len(w.averages)
}

// result returns the result of a cell whose units are all done.
func (w *cellWork) result() Result {
	r := Result{Status: OK, Quantities: w.cell.Quantities(), Steps: w.recorded, Ends: w.ends}
	if w.diverged > 0 {
		r.Status, r.Diverged, r.DivergedAt = Diverged, w.diverged, w.divergedAt
		r.Steps = nil
	}
	summaries := make([]Summary, len(r.Steps)*len(r.Quantities))
	for i := range summaries {
		summaries[i] = w.total.summary(i)
	}
	setQuantiles(summaries, w.early[:min(len(w.early), quantileReplicas)])
	r.Trajectory = slices.Collect(slices.Chunk(summaries, len(r.Quantities)))
	if r.Status == OK && w.chunks > 0 {
		if w.cell.Run.BurnIn > 0 {
			r.Estimates = append(r.Estimates, w.stationary()...)
		}
		r.Estimates = append(r.Estimates, curveEstimates(w.cell, w.read, w.curves)...)
		r.Estimates = append(r.Estimates, loggedEstimates(w.cell, w.read, w.logs)...)
		r.Traces = w.traces(len(r.Quantities))
	}
	r.Estimates = append(append(r.Estimates, w.probed...), w.edge...)
	return r
}

func (w *cellWork) traces(width int) (traces [][][]float64) {
	for _, values := range w.early[:min(w.cell.Traces, len(w.early))] {
		var trace [][]float64
		for row := range slices.Chunk(values, width) {
			trace = append(trace, row[:len(Quantities(len(w.cell.Bandit.Arms)))])
		}
		traces = append(traces, trace)
	}
	return traces
}

// stationary returns the estimates of the stationary state from the replicas' time averages.
func (w *cellWork) stationary() []measure.Named {
	column := func(of func(*averages) float64) []float64 {
		values := make([]float64, len(w.averages))
		for i := range w.averages {
			values[i] = of(&w.averages[i])
		}
		return values
	}
	reward := column(func(a *averages) float64 { return a.reward })
	mean, variance := w.moments(reward, column(func(a *averages) float64 { return a.rewardSquare }))
	estimates := []measure.Named{
		{Name: ExpectedRewardMean, Estimate: mean.Shift(w.reward0)},
		{Name: ExpectedRewardVariance, Estimate: variance},
		{Name: ZeroVarianceShare, Estimate: w.cell.Estimate(column(func(a *averages) float64 { return a.zeroVariance }), 0)},
	}
	if len(w.cell.Bandit.Arms) == 2 {
		z := column(func(a *averages) float64 { return a.gap })
		mean, variance := w.moments(z, column(func(a *averages) float64 { return a.gapSquare }))
		estimates = append(estimates,
			measure.Named{Name: LogitGapMean, Estimate: mean.Shift(w.gap0)},
			measure.Named{Name: LogitGapVariance, Estimate: variance},
		)
	}
	return estimates
}

// moments returns the estimates of the mean and the variance of x from the replicas' time averages.
// These are of x and of x², x relative to its value at step 0.
//
// Where x hardly varies, n terms x² have a sum with a relative rounding error of (n+1)/2 halves of
// ε = 2⁻⁵². So have those of x, twice. The error is 3(n+1)/4 ε E x², and the last operations add
// less than 3.5 ε. What is below (n + 4) ε E x² is rounding, and the variance 0.
func (w *cellWork) moments(mean, square []float64) (first, second measure.Estimate) {
	rounding, size := float64(w.cell.Run.Steps-w.cell.Run.BurnIn+4)*0x1p-52, measure.Average(square)
	about := measure.SquaresAboutMean(square, mean)
	if math.Abs(measure.Average(about)) < rounding*size {
		clear(about)
	}
	return w.cell.Estimate(mean, rounding*math.Sqrt(size)), w.cell.Estimate(about, rounding*size)
}

// Memory returns about how many bytes one worker needs for the policies of the replicas that it
// runs together. There are 16 for each arm of the present and of all older snapshots that the lag
// needs. With Network each replica also has some 8 lists of the P weights, such as its own, the
// gradient, the optimizer's state and the workspace.
func (c *Cell) Memory() float64 {
	policies := 4 + max(grpo.StoredPolicies(&c.Lag, c.Run.Steps)-1, 0) // with the initial
	if c.tabular() {
		policies += 2 * len(c.Prompts.Means) // with the state of the optimizer
	}
	weights := 0.0
	if c.Network != nil {
		policies *= len(c.Network.Means)
		weights = float64(min(chunkSize, c.Replicas())) * 8 * 8 * float64(len(c.Network.Weights))
	}
	if c.Prompts != nil && c.Estimator.Filter == option.Redraw {
		policies += len(c.Prompts.Means) // as much as promptRedraws
	}
	return float64(chunkSize*float64(policies)*float64(16*len(c.Bandit.Arms)+100)) + weights
}
