package sweeps

import (
	"context"
	"io"
	"math"
	"runtime"
	"slices"
	"time"

	"grposim/option"
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
	Judging      float64 `json:"judging"`       // wall time of predictions, verdicts, tables and figures, in seconds
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

// forecastDraws bounds the work of a shortened run in arms of groups that are drawn, and in weights times contexts of a network:
// each takes 1 to 10 ns, the whole at most 0.1 s.
const forecastDraws = 1e7

// The theory of networks is computed for a forecast as long as it takes at most so many operations in all, about a second; else its time
// is estimated from their number by the second, measured of 18 directions and 5 million weights: 14 s.
const (
	mostSettling = 1e9
	settlingRate = 1.2e9
)

// The memory of a sweep in bytes, a quarter of which is garbage, and 19 MB for what the program lets gather besides: fitted to the
// largest resident memory of the sweeps in docs/scale.md.
const (
	leastMemory      = 62e6  // of any: the program, a picture, and garbage
	batchMemory      = 3e3   // of a cell of the batchCells that are prepared at a time
	cellMemory       = 2.1e3 // of any cell: settings, id, outcome, place in the journal
	verdictMemory    = 1.8e3 // of a check of a cell while the sweep is judged
	predictionMemory = 5.7e3 // of one of the predictions that are kept then
	otherMemory      = 24    // of a cell of another shard
)

// drawnShare is the time of figures and the page in units of that of the tables, measured: 0.4
// with a check, 0.9 with a figure that has a point for every one of 100,000 cells.
const drawnShare = 0.65

// storedTwice is how often trajectories are stored: in the journal and in the tables.
const storedTwice = 2

// NewForecast estimates the cost of a sweep with the given number of workers, at least 1. It
// simulates shortened runs of some of the cells, judges them, and scales durations and sizes
// up. Other load on the machine while it measures makes the forecast too long. It keeps no
// cell but these. Of a network whose theory takes long it counts no probes and no searches, which are placed by that theory. Its error is that of the simulation, or the context's, or config.Problems if
// the sweep needs more memory than the machine has.
func NewForecast(ctx context.Context, spec *config.Spec, workers int) (*Forecast, error) {
	planner, order, cache := newPlanner(spec), sampled(spec.Size()), theory.NewCache()
	sample, checks, works := make([]Cell, len(order)), make([][]int, len(order)), make([]float64, len(order))
	long := longTheory{networks: make(map[string]bool)}
	f, judged, largest := &Forecast{}, 0, 0.0
	for point := range spec.EachPoint {
		if f.Cells%1000 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, m, judging := planner.next(point)
		place := slices.Index(order, f.Cells)
		work := theoryWork(&c.Settings)
		if work > mostSettling {
			long.add(&c.Settings)
			m, judging, c.Settings.Policy.Init = measures{}, nil, config.Init{}
		}
		if place >= 0 {
			c.ID = cellID(&c.Settings, &m)
		}
		if place >= 0 || m.atFixedPoint() { // else the work of a cell depends on its settings alone
			c.resolve(&m, cache)
		}
		if err := c.fits(spec, workers); err != nil {
			return nil, err
		}
		f.Cells++
		f.ReplicaSteps += c.Work()
		judged += len(judging)
		largest = max(largest, c.memory())
		if place >= 0 {
			sample[place], checks[place], works[place] = c, judging, work
		}
	}
	f.Judging = long.seconds(workers)
	cells := float64(f.Cells)
	planned := leastMemory + cellMemory*cells + batchMemory*min(cells, batchCells)
	f.Memory = planned + float64(workers)*largest
	f.JudgingMemory = planned + verdictMemory*float64(judged) + predictionMemory*float64(min(distinct(spec), theory.MaxPredictions))

	plan, outcomes, total, tried, settling := samplePlan(spec), make(map[string]*store.Outcome), trial{}, 0, 0.0
	for i, began := 0, time.Now(); i < len(sample) && (time.Since(began) < forecastTime || i < leastCells); i++ {
		c := &sample[i]
		if c.Status == store.NoFixedPoint {
			continue
		}
		if tried == 0 {
			if _, err := try(ctx, c); err != nil { // which fills caches
				return nil, err
			}
		}
		t, err := try(ctx, c)
		if err != nil {
			return nil, err
		}
		tried++
		total.work += t.work
		total.simulating += t.simulating
		total.storing += t.storing
		total.bytes += t.bytes
		if outcomes[c.ID] = t.outcome; t.outcome == nil {
			outcomes[c.ID] = &store.Outcome{ID: c.ID, Status: store.CellOK}
			checks[i] = nil
		}
		if settling+works[i] > mostSettling {
			continue
		}
		settling += works[i]
		plan.Cells = append(plan.Cells, *c)
		plan.judge(c, checks[i])
	}
	if tried == 0 {
		return f, nil
	}
	each := cells / float64(tried)
	simulating, storing := total.simulating*f.ReplicaSteps/total.work, storedTwice*total.storing*each
	f.Seconds = max(storing, (simulating+storing)/float64(workers))
	f.Bytes = int64(storedTwice * total.bytes * each)
	if len(plan.Cells) > 0 {
		f.Judging += plan.judgingTime(outcomes, workers)
	}
	return f, nil
}

// longTheory adds up the theory of networks that is not computed for a forecast, in operations.
type longTheory struct {
	networks     map[string]bool // those counted, which their cells share
	sum, longest float64         // of all, and of a single cell with its network
}

// add counts the theory of a cell.
func (l *longTheory) add(s *config.Settings) {
	l.longest = max(l.longest, theoryWork(s))
	l.sum += theory.LawWork(s)
	if id := theory.NetworkID(s); !l.networks[id] {
		l.networks[id] = true
		l.sum += theory.SettlingWork(s)
	}
}

// seconds returns how long it takes with the given workers: cells that wait for one network do not share its time among them.
func (l *longTheory) seconds(workers int) float64 {
	return max(l.longest, l.sum/float64(min(workers, runtime.GOMAXPROCS(0)))) / settlingRate
}

// theoryWork returns the operations that the theory of a cell with a network takes, 0 of others.
func theoryWork(s *config.Settings) float64 {
	if !s.Deep() {
		return 0
	}
	return theory.SettlingWork(s) + theory.LawWork(s)
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

// trial holds the time and size of a shortened run of a cell.
type trial struct {
	work                float64        // in steps of one replica
	simulating, storing float64        // seconds
	bytes               float64        // of its line in the journal
	outcome             *store.Outcome // nil if its probes were not simulated
}

// try simulates a shortened run of a cell.
func try(ctx context.Context, cell *Cell) (t trial, err error) {
	c, probed, share := shortened(cell)
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
	t.work, t.simulating = c.Work(), (time.Since(began).Seconds()-t.storing)/share
	return t, err
}

// shortened returns a cell with a run that is short enough for a forecast. A step of a probe or
// a search takes as long as a step of a run, so the run alone is timed. Where it is a small part
// of the cell, which is then probed, it is too short to be timed, and is made longer; what its
// trajectory takes is then not counted. Where a single step takes long, only a share of its groups is drawn.
func shortened(cell *Cell) (c Cell, probed bool, share float64) {
	c = *cell
	in := c.Sim()
	run := &in.Run
	probed = in.Location != nil || c.Work() > 10*float64(run.Steps*run.Replicas)
	if probed {
		run.Steps = max(run.Steps, forecastSteps/100)
	}
	groups, rest := drawsOfStep(&c.Settings)
	share = min(1, forecastDraws/groups)
	if drawn := max(1, int(share*float64(in.Estimator.GroupsPerStep))); share < 1 {
		share = float64(drawn) / float64(in.Estimator.GroupsPerStep)
		in.Estimator.GroupsPerStep = drawn
	}
	most := min(forecastSteps, max(1, int(forecastDraws/(share*groups+rest))))
	run.Steps = min(run.Steps, most)
	run.BurnIn = min(run.BurnIn, run.Steps-1)
	run.Replicas = max(1, min(run.Replicas, most/run.Steps))
	c.Settings.Run = *run
	in = runAlone(in)
	c.probed = &in
	return c, probed, share
}

// drawsOfStep returns the work of a step of a replica in units of forecastDraws: that of the groups, and the rest.
func drawsOfStep(s *config.Settings) (groups, rest float64) {
	contexts := 1.0
	if s.Deep() {
		contexts = float64(s.ContextCount())
		rest = contexts * float64(s.WeightCount())
	}
	arms := float64(len(s.Bandit.Arms))
	groups = contexts * arms
	if s.Estimator.GroupSize == option.Infinite {
		return groups, rest
	}
	if groups *= float64(s.Estimator.GroupsPerStep); s.DrawsRewardsSingly() {
		groups *= float64(s.Estimator.GroupSize) / arms
	}
	return groups, rest
}

// samplePlan returns a plan of a configuration without cells.
func samplePlan(spec *config.Spec) *Plan {
	plan := &Plan{Spec: spec}
	for n := range spec.Checks {
		plan.Checks = append(plan.Checks, PlannedCheck{Index: n, Check: &spec.Checks[n]})
	}
	return plan
}

// judge adds a cell to those that the checks judge which do so cell by cell.
func (p *Plan) judge(c *Cell, checks []int) {
	for _, n := range checks {
		if planned := &p.Checks[n]; planned.Check.Claim.Per != config.AcrossCells {
			set := CellSet{Name: c.ID, Cells: []*Cell{c}}
			planned.Sets = append(planned.Sets, set)
			p.Verdicts += planned.verdicts(set)
		}
	}
}

// judgingTime estimates how long it takes to predict, judge, write and draw all cells of the sweep,
// of which a plan has some, at least one, with their outcomes. It judges these twice: only the first time
// computes what equal predictions share, which a sweep computes once.
func (p *Plan) judgingTime(outcomes map[string]*store.Outcome, workers int) float64 {
	kept := make(map[theory.Key]bool)
	e := &Experiment{Plan: p, Outcomes: outcomes, evidence: newEvidence(outcomes)}
	seconds := func(do func()) float64 {
		began := time.Now()
		do()
		return time.Since(began).Seconds()
	}
	first := seconds(func() {
		for i := range p.Cells {
			s := &p.Cells[i].Settings
			e.evidence.cache.Predict(s, rom.Unit)
			kept[theory.KeyOf(theory.Params(s, rom.Unit), rom.Everything)] = true
		}
		e.Verdicts = e.evidence.judge(p)
	})
	again := seconds(func() { e.evidence.judge(p) })
	tables := seconds(func() {
		for _, write := range []func(io.Writer) error{e.cellsCSV, e.predictionsCSV, p.describeCells} {
			_ = write(io.Discard) // which has no errors
		}
		_ = VerdictsJSON(io.Discard, "", e.Verdicts)
		_ = VerdictsMarkdown(io.Discard, e.Verdicts)
	})
	different := distinct(p.Spec)
	shared := max(first-again, 0) * float64(different) / float64(len(kept))
	if different > theory.MaxPredictions { // they are computed again for the table
		shared *= 2
	}
	each := float64(p.Spec.Size()) / float64(len(p.Cells))
	return (shared+again*each)/float64(min(workers, runtime.GOMAXPROCS(0))) + (1+drawnShare)*tables*each
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
