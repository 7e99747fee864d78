// Package plan turns a configuration into cells, and simulates them.
//
//  1. [New] expands a [config.Spec] into a [Plan]: numeric input of the simulator for every [Cell],
//     and the sets of cells that each check judges. It asks the theory for fixed points where a
//     cell starts at one or is measured about one.
//  2. [Simulate] runs the cells in memory, and returns a [store.Outcome] of each.
//
// [NewPart] plans one of several shards of a sweep, and [NewForecast] estimates the duration and
// the size of one without running it.
package plan

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"grposim/option"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/probe"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Plan is a configuration resolved into numbers: the cells to simulate, and the checks
// that judge them. Only one goroutine may judge it at a time.
type Plan struct {
	Spec   *config.Spec   // the configuration, with all defaults filled in
	Cells  []*Cell        // in the order of Spec.Points; cells of two variants can share an id
	Checks []PlannedCheck // in the order of the file
	Shard  *store.Shard   // which part of a sweep it is (Part); nil: all of it

	Note string         // what a reader of a results folder has to know of its cells (Open); "": nothing
	Run  *store.RunInfo // that simulated its cells last; nil: not known

	// with the equilibria that cells start from or are measured at; nil: none is needed
	Cache *theory.Cache
}

// Units says what a reader has to know of the unit of the learning rates, by the first cell
// of which there is something to say; "": there is none.
func (p *Plan) Units() string {
	for _, c := range p.Cells {
		if units := c.Settings.Units(); units != "" {
			return units
		}
	}
	return ""
}

// Cell is one point of the sweep.
type Cell struct {
	ID       string              // sha256, in hexadecimal, of everything that decides its measurements
	Variant  string              // name of its variant; "" in a file without variants
	Axes     []config.Assignment // its values of the swept keys, in the order of the axes
	Settings config.Settings     // all its settings; cells share their slices: never write into them
	// CellOK; NoFixedPoint if the theory finds no fixed point and the cell needs one
	Status store.CellStatus

	Start   []float64    // logits at step 0
	network *sim.Network // in their place, of a cell with a network
	// the simulator's input of a cell that measures more than its run; nil: Sim makes it
	probed *probe.Cell
}

// Sim returns the simulator's input; zero if Status is NoFixedPoint. A cell keeps no copy of
// what its settings say already.
func (c *Cell) Sim() probe.Cell {
	switch s := &c.Settings; {
	case c.Status == store.NoFixedPoint:
		return probe.Cell{}
	case c.probed != nil:
		return *c.probed
	default:
		in := theory.Simulation(s, c.ID, c.Start)
		in.Network = c.network
		return probe.Cell{Cell: in}
	}
}

// Deterministic reports whether the cell is simulated at G = ∞, so that all its replicas are equal.
func (c *Cell) Deterministic() bool {
	return c.Settings.Estimator.GroupSize == option.Infinite && c.Status != store.NoFixedPoint
}

// PlannedCheck is a check with the sets of cells that it judges, with one verdict or more a set.
type PlannedCheck struct {
	Index int           // of the check in Spec.Checks
	Check *config.Check // the check itself
	Sets  []CellSet     // in the order of the sweep
}

// CellSet is a set of cells that are judged together: a single cell, or the cells that
// differ only in the check's `over`.
type CellSet struct {
	// the `cell` of its verdicts: the id of a single cell, else `over` and the other swept keys
	Name  string
	Label string  // a short name for people, of the variant and the swept keys; it can be ""
	Cells []*Cell // at least one, in the order of the sweep
}

// Sampled reports whether sampling plays a part in what any of the cells measures.
func (set *CellSet) Sampled() bool {
	return slices.ContainsFunc(set.Cells, func(c *Cell) bool { return !c.Deterministic() })
}

// Members returns the ids of the cells of a set of several; nil for a single one.
func (set *CellSet) Members() []string {
	if len(set.Cells) == 1 {
		return nil
	}
	return config.Each(set.Cells, (*Cell).id)
}

// planner makes the cells of a plan one by one.
type planner struct {
	checks []config.Check
	forces []map[string]bool // those of the cells made so far, by check that judges one cell per force
}

func newPlanner(spec *config.Spec) *planner {
	p := &planner{checks: spec.Checks, forces: make([]map[string]bool, len(spec.Checks))}
	for n := range p.forces {
		p.forces[n] = make(map[string]bool)
	}
	return p
}

// next returns the cell of the next point, which is not yet resolved, what it measures, and
// the indices of the checks that judge it.
func (p *planner) next(point *config.Point) (c *Cell, m measures, judging []int) {
	c = &Cell{Variant: point.Variant, Axes: point.Axes, Settings: point.Settings, Status: store.CellOK}
	for n := range p.checks {
		check := &p.checks[n]
		if !check.Selects(point) {
			continue
		}
		// lag and optimizer, but for its largest norm, do not change the stiffness of the mean force
		if check.Claim.Per == config.PerForce {
			force := config.ForceID(&c.Settings)
			if p.forces[n][force] {
				continue
			}
			p.forces[n][force] = true
		}
		m.add(check)
		judging = append(judging, n)
	}
	return c, m, judging
}

// cellsTogether is the number of cells that are prepared in parallel.
const cellsTogether = 4096

// each makes the cells of a configuration in order. It calls prepare for several in parallel, with
// the index of a cell and what it measures. Then it calls take for each, in order, with the indices
// of the checks that judge it.
func (p *planner) each(spec *config.Spec, prepare func(i int, c *Cell, m *measures),
	take func(i int, c *Cell, judging []int)) {
	var (
		cells    []*Cell
		measured []measures
		judges   [][]int
		first    int
	)
	finish := func() {
		err := InParallel(runtime.GOMAXPROCS(0), len(cells), Always,
			func(_, i int) { prepare(first+i, cells[i], &measured[i]) })
		if err != nil {
			panic(err)
		}
		for i, c := range cells {
			take(first+i, c, judges[i])
		}
		first += len(cells)
		cells, measured, judges = cells[:0], measured[:0], judges[:0]
	}
	for point := range spec.EachPoint {
		c, m, judging := p.next(point)
		cells, measured, judges = append(cells, c), append(measured, m), append(judges, judging)
		if len(cells) == cellsTogether {
			finish()
		}
	}
	finish()
}

// New expands a Spec that config.Load has checked.
func New(spec *config.Spec) *Plan { return NewWith(spec, theory.NewCache()) }

// NewWith is New with a cache of what the theory says, which plans that are judged one
// after the other may share.
func NewWith(spec *config.Spec, cache *theory.Cache) *Plan {
	plan := &Plan{Spec: spec, Cache: cache, Cells: make([]*Cell, 0, spec.Size())}
	judged := make([][]*Cell, len(spec.Checks))
	newPlanner(spec).each(spec, func(_ int, c *Cell, m *measures) {
		c.ID = cellID(&c.Settings, m)
		c.resolve(m, plan.Cache)
	}, func(_ int, c *Cell, judging []int) {
		plan.Cells = append(plan.Cells, c)
		for _, n := range judging {
			judged[n] = append(judged[n], c)
		}
	})
	for n := range spec.Checks {
		check := &spec.Checks[n]
		planned := PlannedCheck{Index: n, Check: check, Sets: Each(judged[n])}
		if check.Claim.Per == config.AcrossCells {
			planned.Sets = acrossOver(check, judged[n])
		}
		plan.Checks = append(plan.Checks, planned)
	}
	return plan
}

// NewCell returns the cell of settings alone, of which no check measures more than its run.
func NewCell(s config.Settings, cache *theory.Cache) Cell {
	none := new(measures)
	c := Cell{ID: cellID(&s, none), Settings: s, Status: store.CellOK}
	c.resolve(none, cache)
	return c
}

// resolve sets the cell's status, its start, and what the checks measure, as numbers.
func (c *Cell) resolve(m *measures, cache *theory.Cache) {
	s := &c.Settings
	if s.Deep() {
		c.resolveNetwork(m, cache)
		return
	}
	if c.Start = cache.Start(s); c.Start == nil {
		c.Status = store.NoFixedPoint
		return
	}
	in := c.Sim()
	if in.Fits = m.fits; m.modes {
		in.Traces = s.Run.Replicas
	}
	if m.ends {
		in.Ends = s.Run.Replicas
	}
	if m.atFixedPoint() {
		params := theory.Params(s, rom.Unit)
		point, ok := cache.Equilibrium(params).Reached()
		if !ok && m.location != nil {
			c.Status, c.Start = store.NoFixedPoint, nil
			return
		}
		if ok {
			m.place(&in, params, config.RoundAll(point.Logits))
		}
	}
	if m.fits != nil || m.modes || m.ends || m.atFixedPoint() {
		c.probed = &in
	}
}

// resolveNetwork is resolve of a cell with a network.
func (c *Cell) resolveNetwork(m *measures, cache *theory.Cache) {
	s := &c.Settings
	if c.network = cache.Network(s); s.Policy.Init.Kind == config.AtFixedPoint || m.atFixedPoint() {
		c.network = cache.FixedNetwork(s)
	}
	if c.network == nil {
		c.Status = store.NoFixedPoint
		return
	}
	c.Start = make([]float64, len(s.Bandit.Arms))
	in := c.Sim()
	if in.Fits, in.Edge = m.fits, m.edge; m.ends {
		in.Ends = s.Run.Replicas
	}
	if m.atFixedPoint() {
		m.placeNetwork(&in)
	}
	if m.fits != nil || m.edge || m.ends || m.atFixedPoint() {
		c.probed = &in
	}
}

// Label returns a short name of the cell for people: its variant and its values of the
// swept keys, as in "fast η=0.1 K=4". It is "" for the only cell of a file.
func (c *Cell) Label() string { return Label(c.Variant, c.Axes) }

// Label joins a variant and the values of the swept keys, except those of `run` and the
// keys without.
func Label(variant string, axes []config.Assignment, without ...string) string {
	var parts []string
	if variant != "" {
		parts = append(parts, variant)
	}
	for _, a := range axes {
		if k, _ := config.LookupKey(a.Param); !slices.Contains(without, a.Param) && !k.OfRun() {
			parts = append(parts, k.ShortName()+"="+config.Format(a.Value))
		}
	}
	return strings.Join(parts, " ")
}

// Searches reports whether a search is all that is simulated in the cell.
func (c *Cell) Searches() bool { return c.probed != nil && c.probed.Location != nil }

// Work returns the work of simulating the cell in steps of one replica, with its probes and the
// expected steps of its search at a stiffness of 1. It is 0 for a cell without a fixed point.
func (c *Cell) Work() float64 {
	if c.Status == store.NoFixedPoint {
		return 0
	}
	replicas := float64(c.Settings.Run.Replicas)
	if c.Settings.Estimator.GroupSize == option.Infinite {
		replicas = 1
	}
	run := replicas * float64(c.Settings.Run.Steps)
	work := run
	if c.probed == nil {
		return work
	}
	if c.probed.Location != nil {
		work = c.probed.SearchSteps(1)
	}
	if c.probed.Relaxation != nil {
		work += 2 * run
	}
	for _, p := range c.probed.Stiffness {
		work += 2 * float64(p.Pairs)
	}
	return work
}

// IDs returns the id of every cell, in order; an id that several cells share occurs more than once.
func (p *Plan) IDs() []string {
	return config.Each(p.Cells, (*Cell).id)
}

func (c *Cell) id() string { return c.ID }

// Each returns one set per cell.
func Each(cells []*Cell) []CellSet {
	return config.Each(cells, func(c *Cell) CellSet {
		return CellSet{Name: c.ID, Label: c.Label(), Cells: []*Cell{c}}
	})
}

// acrossOver groups the cells that differ only in the keys that are compared over check.Over,
// and in keys of `run`. Sets and cells keep the order of the sweep.
func acrossOver(check *config.Check, cells []*Cell) []CellSet {
	var sets []CellSet
	compared := config.Compared(check.Over)
	index := make(map[string]int)
	for _, c := range cells {
		id := config.OverID(check.Over, c.Variant, &c.Settings)
		n, known := index[id]
		if !known {
			n = len(sets)
			index[id] = n
			var others []string
			for _, a := range c.Axes {
				if k, _ := config.LookupKey(a.Param); !slices.Contains(compared, a.Param) && !k.OfRun() {
					others = append(others, a.Param+"="+config.Format(a.Value))
				}
			}
			sets = append(sets, CellSet{
				Name: check.Over + "|" + strings.Join(others, ","),
				Label: strings.TrimSpace(Label(c.Variant, c.Axes, compared...) + " over " +
					config.ShortName(check.Over)),
			})
		}
		sets[n].Cells = append(sets[n].Cells, c)
	}
	return sets
}

// memory returns the memory in bytes of the policies of the replicas that a worker simulates at
// a time.
func (c *Cell) memory() float64 {
	if c.Status == store.NoFixedPoint {
		return 0
	}
	in := sim.Cell{Bandit: c.Settings.Bandit, Prompts: theory.Prompts(&c.Settings),
		Estimator: c.Settings.Estimator, Lag: c.Settings.Lag, Run: c.Settings.Run}
	if s := &c.Settings; s.Deep() { // whose sizes are known before it is built
		in.Network = &sim.Network{Weights: make([]float64, s.WeightCount()),
			Means: make([][]float64, s.ContextCount())}
	}
	return in.Memory()
}

// fits returns config.Problems if the policies of the replicas that run at a time take more
// memory than the machine has, else nil.
func (c *Cell) fits(spec *config.Spec, workers int) error {
	has := physicalMemory()
	if need := float64(workers) * c.memory(); need > has {
		what := fmt.Sprintf("lag.interval: got %d with %d arms, whose past policies take",
			c.Settings.Lag.Interval, len(c.Settings.Bandit.Arms))
		if s := &c.Settings; s.Deep() {
			what = fmt.Sprintf(
				"policy.network.width: got %d with lag.interval %d, whose %d weights and past policies take",
				s.Network.Width, s.Lag.Interval, s.WeightCount())
		}
		return config.Wrong(strings.TrimSpace(spec.Name+" "+c.Label()),
			"%s %.3g GB on %d workers: this machine has %.3g GB", what, need/1e9, workers, has/1e9)
	}
	return nil
}

var physicalMemory = sync.OnceValue(store.PhysicalMemory)

// Fits is Cell.fits for all cells.
func (p *Plan) Fits(workers int) error {
	for _, c := range p.Cells {
		if err := c.fits(p.Spec, workers); err != nil {
			return err
		}
	}
	return nil
}
