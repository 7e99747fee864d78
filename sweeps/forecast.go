package sweeps

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Forecast estimates the cost of a sweep; `grposim sweep --dry-run` prints it.
type Forecast struct {
	Cells        int     `json:"cells"`         // number of cells in the plan
	ReplicaSteps float64 `json:"replica_steps"` // work of all cells, in steps of one replica
	Seconds      float64 `json:"seconds"`       // wall time of simulating with the given workers; 0 if no cell can be simulated
	Judging      float64 `json:"judging"`       // wall time of planning, predictions, verdicts, tables and figures, in seconds
	Bytes        int64   `json:"bytes"`         // size of the results folder; 0 if no cell can be simulated

	Memory        float64 `json:"memory"`         // largest memory while it simulates, in bytes
	JudgingMemory float64 `json:"judging_memory"` // largest memory while it judges and draws, in bytes
}

// The size of the sample from which a forecast is extrapolated.
const (
	forecastCells = 64          // at most, spread evenly over the sweep; all, if it has fewer
	forecastSteps = 200_000     // replica-steps of each, at most
	forecastTime  = time.Second // after which no further cell is simulated
	leastCells    = 8           // that are simulated, however long it takes
)

// The memory of a sweep in bytes, measured.
const (
	leastMemory   = 80e6  // of any
	cellMemory    = 2e3   // of a cell while the sweep is planned and simulated
	judgedMemory  = 3e3   // of a cell while the sweep is judged and drawn
	verdictMemory = 1.2e3 // of a verdict then
	otherMemory   = 24    // of a cell of another shard
)

// drawnShare is the time of figures and the page in units of that of the tables, measured: 0.4
// with a check, 0.9 with a figure that has a point for every one of 100,000 cells.
const drawnShare = 0.65

// workload holds the size of a sweep and the cells that its forecast simulates.
type workload struct {
	spec        *config.Spec
	cells, sets int     // of cells, and of sets of them that checks judge
	work        float64 // of all cells, in steps of one replica
	memory      float64 // largest of a cell while a worker simulates it, in bytes
	listing     float64 // wall time of listing all cells, in seconds
	sample      []Cell
	checks      [][]int // of the sample: the indices of the checks that judge a cell by itself
}

// distinct returns the number of distinct predictions at the cells of a sweep: its points, if
// neither the seed nor keys of run were swept.
func distinct(spec *config.Spec) (n int) {
	for _, g := range spec.Grids() {
		points := 1
		for _, axis := range g.Axes {
			if slices.ContainsFunc(axis.Params, func(path string) bool {
				k, _ := config.LookupKey(path)
				return path != config.SeedKey && !k.OfRun()
			}) {
				points *= len(axis.Points)
			}
		}
		n += points
	}
	return n
}

// add adds a cell.
func (w *workload) add(c *Cell) {
	w.cells++
	w.work += c.Work()
	w.memory = max(w.memory, c.memory())
}

// sampled returns the indices of cells of the sample, in an order in which the first ones are
// spread evenly, too: those of the multiples of the golden ratio.
func sampled(cells int) (order []int) {
	if cells <= forecastCells {
		for i := range cells {
			order = append(order, i)
		}
		return order
	}
	for k := range forecastCells {
		_, share := math.Modf(float64(k) * math.Phi)
		if i := int(share * float64(cells)); !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	return order
}

// NewForecast estimates the cost of a sweep with the given number of workers, at least 1. It
// simulates shortened runs of some of the cells, judges them, and scales durations and sizes
// up. Other load on the machine while it measures makes the forecast too long. It keeps no
// cell but these. Its error is that of the simulation, or the context's, or config.Problems if
// the sweep needs more memory than the machine has.
func NewForecast(ctx context.Context, spec *config.Spec, workers int) (*Forecast, error) {
	w := workload{spec: spec}
	planner, order, across := newPlanner(spec), sampled(spec.Size()), make(map[string]bool)
	w.sample, w.checks = make([]Cell, len(order)), make([][]int, len(order))
	cache, began := theory.NewCache(), time.Now()
	for point := range spec.EachPoint {
		if w.cells%1000 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, m, judging := planner.next(&point)
		place := slices.Index(order, w.cells)
		if place >= 0 {
			c.ID = cellID(&c.Settings, &m)
		}
		if place >= 0 || m.atFixedPoint() { // else the work of a cell depends on its settings alone
			c.resolve(&m, cache)
		}
		if err := c.fits(spec, workers); err != nil {
			return nil, err
		}
		w.add(&c)
		for _, n := range judging {
			if check := &spec.Checks[n]; check.Claim.Per != config.AcrossCells {
				w.sets++
				if place >= 0 {
					w.checks[place] = append(w.checks[place], n)
				}
			} else if set := fmt.Sprint(n, config.OverID(check.Over, c.Variant, &c.Settings)); !across[set] {
				across[set] = true
				w.sets++
			}
		}
		if place >= 0 {
			w.sample[place] = c
		}
	}
	w.listing = time.Since(began).Seconds()
	return w.forecast(ctx, workers)
}

// Part scales the forecast of a sweep to one of its shards.
func (f *Forecast) Part(part *Plan) *Forecast {
	scaled := *f
	scaled.Cells, scaled.ReplicaSteps, scaled.Judging = len(part.Cells), 0, 0
	scaled.Memory = f.shardMemory(len(part.Cells))
	scaled.JudgingMemory = 0 // a merge judges
	for i := range part.Cells {
		scaled.ReplicaSteps += part.Cells[i].Work()
	}
	if f.ReplicaSteps > 0 {
		scaled.Seconds *= scaled.ReplicaSteps / f.ReplicaSteps
	}
	scaled.Bytes = int64(float64(f.Bytes) * float64(len(part.Cells)) / float64(f.Cells))
	return &scaled
}

// shardMemory returns the largest memory of a shard with so many cells while it simulates.
func (f *Forecast) shardMemory(cells int) float64 {
	return f.Memory - (cellMemory-otherMemory)*float64(f.Cells-cells)
}

// LargestShard returns the largest time of simulation, in seconds, and the largest memory, in
// bytes, of the n shards of a sweep with this forecast.
func (f *Forecast) LargestShard(spec *config.Spec, n int) (seconds, memory float64) {
	for _, shard := range divide(spec, n) {
		if f.ReplicaSteps > 0 {
			seconds = max(seconds, f.Seconds*shard.work/f.ReplicaSteps)
		}
		memory = max(memory, f.shardMemory(len(shard.cells)))
	}
	return seconds, memory
}

// forecast simulates and judges the sample, and scales up.
func (w *workload) forecast(ctx context.Context, workers int) (*Forecast, error) {
	f := &Forecast{Cells: w.cells}
	f.ReplicaSteps = w.work
	f.Memory = leastMemory + cellMemory*float64(w.cells) + float64(workers)*w.memory
	f.JudgingMemory = leastMemory + verdictMemory*float64(w.sets) + judgedMemory*float64(w.cells)
	var total trial
	judged := make(map[string]*store.Outcome)
	cells := 0
	for i, began := 0, time.Now(); i < len(w.sample) && (time.Since(began) < forecastTime || i < leastCells); i++ {
		c := &w.sample[i]
		if c.Status == store.NoFixedPoint {
			continue
		}
		if cells == 0 {
			if _, err := try(ctx, c); err != nil { // which fills caches
				return nil, err
			}
		}
		t, err := try(ctx, c)
		if err != nil {
			return nil, err
		}
		total.work += t.work
		total.simulating += t.simulating
		total.storing += t.storing
		total.bytes += t.bytes
		judged[c.ID] = t.outcome
		cells++
	}
	if cells == 0 {
		return f, nil
	}
	w.judging(f, judged, workers)
	simulating, storing := total.simulating*w.work/total.work, storedTwice*total.storing*float64(w.cells)/float64(cells)
	f.Seconds = max(storing, (simulating+storing)/float64(workers))
	f.Bytes = int64(storedTwice * total.bytes / float64(cells) * float64(w.cells))
	return f, nil
}

// trial holds the time and size of a shortened run of a cell.
type trial struct {
	work                float64        // in steps of one replica
	simulating, storing float64        // seconds
	bytes               float64        // of its line in the journal
	outcome             *store.Outcome // nil if its probes were not simulated
}

// try simulates a shortened run of a cell.
func try(ctx context.Context, cell *Cell) (t trial, err error) {
	c, probed := shortened(cell)
	began := time.Now()
	err = sim.Simulate(ctx, []sim.Cell{c.Sim()}, 1, func(_ int, r sim.Result) error {
		finished := time.Now()
		if probed {
			r.Steps = nil
		}
		o := newOutcome(&c, r)
		if !probed {
			t.outcome = o
		}
		size, err := store.LineSize(o)
		t.bytes, t.storing = float64(size), time.Since(finished).Seconds()
		return err
	})
	t.work, t.simulating = c.Work(), time.Since(began).Seconds()-t.storing
	return t, err
}

// storedTwice is how often trajectories are stored: in the journal and in the tables.
const storedTwice = 2

// shortened returns a cell with a run that is short enough for a forecast. A step of a probe or
// a search takes as long as a step of a run, so the run alone is timed. Where it is a small part
// of the cell, which is then probed, it is too short to be timed, and is made longer; what its
// trajectory takes is then not counted.
func shortened(cell *Cell) (c Cell, probed bool) {
	c = *cell
	in := c.Sim()
	run := &in.Run
	probed = in.Location != nil || c.Work() > 10*float64(run.Steps*run.Replicas)
	if probed {
		run.Steps = max(run.Steps, forecastSteps/100)
	}
	run.Steps = min(run.Steps, forecastSteps)
	run.BurnIn = min(run.BurnIn, run.Steps-1)
	run.Replicas = max(1, min(run.Replicas, forecastSteps/run.Steps))
	c.Settings.Run = *run
	in = runAlone(in)
	c.probed = &in
	return c, probed
}

// memory returns the memory in bytes of the policies of the replicas that a worker simulates at
// a time.
func (c *Cell) memory() float64 {
	if c.Status == store.NoFixedPoint {
		return 0
	}
	in := sim.Cell{Bandit: c.Settings.Bandit, Prompts: theory.Prompts(&c.Settings), Lag: c.Settings.Lag, Run: c.Settings.Run}
	return in.Memory()
}

// fits returns config.Problems if the policies of the replicas that run at a time take more
// memory than the machine has, else nil.
func (c *Cell) fits(spec *config.Spec, workers int) error {
	has := physicalMemory()
	if need := float64(workers) * c.memory(); need > has {
		return config.Problems{{Source: strings.TrimSpace(spec.Name + " " + c.Label()), Text: fmt.Sprintf(
			"lag.interval: got %d with %d arms, whose past policies take %.3g GB on %d workers: this machine has %.3g GB",
			c.Settings.Lag.Interval, len(c.Settings.Bandit.Arms), need/1e9, workers, has/1e9)}}
	}
	return nil
}

var physicalMemory = sync.OnceValue(store.PhysicalMemory)

// fits is Cell.fits for all cells.
func (p *Plan) fits(workers int) error {
	for i := range p.Cells {
		if err := p.Cells[i].fits(p.Spec, workers); err != nil {
			return err
		}
	}
	return nil
}

// judging estimates how long it takes to predict, judge, write and draw all cells. It times this
// for some cells, at least one, of which it has the outcomes; cells without an outcome, nil, are
// only predicted. It judges them twice: only the first time computes what equal predictions share,
// which a sweep computes once.
func (w *workload) judging(f *Forecast, outcomes map[string]*store.Outcome, workers int) {
	plan := &Plan{Spec: w.spec}
	for n := range w.spec.Checks {
		planned := PlannedCheck{Index: n, Check: &w.spec.Checks[n]}
		for i := range w.sample {
			if c := &w.sample[i]; slices.Contains(w.checks[i], n) && outcomes[c.ID] != nil {
				planned.Sets = append(planned.Sets, CellSet{Name: c.ID, Cells: []*Cell{c}})
				plan.Verdicts += planned.verdicts(planned.Sets[len(planned.Sets)-1])
			}
		}
		plan.Checks = append(plan.Checks, planned)
	}
	kept, written := make(map[theory.Key]bool), make(map[string]*store.Outcome)
	for i := range w.sample {
		c := &w.sample[i]
		if o, known := outcomes[c.ID]; known {
			if written[c.ID] = o; o == nil {
				written[c.ID] = &store.Outcome{ID: c.ID, Status: store.CellOK}
			}
			plan.Cells = append(plan.Cells, *c)
			params := theory.Params(&c.Settings, rom.Unit)
			kept[theory.KeyOf(params, rom.Everything)] = true
		}
	}
	seconds := func(do func()) float64 {
		began := time.Now()
		do()
		return time.Since(began).Seconds()
	}
	e := &Experiment{Plan: plan, Outcomes: written, evidence: newEvidence(outcomes)}
	predict := func() {
		for i := range plan.Cells {
			e.evidence.cache.Predict(&plan.Cells[i].Settings, rom.Unit)
		}
	}
	predicting := seconds(predict)
	first := seconds(func() { e.Verdicts = e.evidence.judge(plan) })
	judging := seconds(func() { e.evidence.judge(plan) })
	planning := seconds(func() {
		for i := range plan.Cells {
			cellID(&plan.Cells[i].Settings, new(measures))
		}
	})
	tables := seconds(func() {
		for _, write := range []func(io.Writer) error{e.cellsCSV, e.predictionsCSV, plan.describeCells} {
			_ = write(io.Discard) // which has no errors
		}
		_ = VerdictsJSON(io.Discard, "", e.Verdicts)
		_ = VerdictsMarkdown(io.Discard, e.Verdicts)
	})
	all, sampled := distinct(w.spec), float64(len(plan.Cells))
	different := float64(all) / float64(len(kept)) * (predicting + max(first-judging, 0))
	if all > theory.MaxPredictions { // they are computed again for the table
		different += float64(all) / float64(len(kept)) * predicting
	}
	each := 0.0
	if sets := plan.sets(); sets > 0 {
		each = judging / float64(sets) * float64(w.sets)
	}
	parallel := float64(min(workers, runtime.GOMAXPROCS(0)))
	f.Judging = (different+each)/parallel + w.listing + planning/sampled*float64(w.cells)/float64(runtime.GOMAXPROCS(0)) + (1+drawnShare)*tables/sampled*float64(w.cells)
}
