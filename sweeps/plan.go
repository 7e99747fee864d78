package sweeps

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Plan is a Spec resolved into numbers: what to simulate, and what to judge.
type Plan struct {
	Spec     *config.Spec
	Cells    []Cell
	Checks   []PlannedCheck
	Verdicts int // how many the checks will make; confidence is shared among them
}

// Cell is one point of the sweep.
type Cell struct {
	ID       string // sha256 of what decides its measurements
	Variant  string
	Axes     []config.Assignment
	Settings config.Settings
	Status   store.CellStatus
	Sim      sim.Cell // empty where Status is NoFixedPoint
}

// PlannedCheck is a check with the cells it judges: one set of cells a
// verdict, or a few verdicts, each.
type PlannedCheck struct {
	Index int
	Check *config.Check
	Sets  []CellSet
}

// CellSet is the cells that one judgement takes together: a single one, or
// those that differ only in the check's `over`.
type CellSet struct {
	Name  string // the verdict's `cell`; of a single cell its id
	Label string // the same for people
	Cells []*Cell
}

// NewPlan expands a checked Spec.
func NewPlan(spec *config.Spec) *Plan {
	plan := &Plan{Spec: spec}
	points := spec.Points()
	plan.Cells = make([]Cell, len(points))
	selected := make([][]*Cell, len(spec.Checks))
	for i := range points {
		cell := &plan.Cells[i]
		*cell = Cell{Variant: points[i].Variant, Axes: points[i].Axes, Settings: points[i].Settings, Status: store.CellOK}
		for n := range spec.Checks {
			if spec.Checks[n].Selects(&points[i]) {
				selected[n] = append(selected[n], cell)
			}
		}
	}
	measured := make(map[*Cell]*measures)
	for i := range plan.Cells {
		measured[&plan.Cells[i]] = new(measures)
	}
	for n := range spec.Checks {
		check := &spec.Checks[n]
		planned := PlannedCheck{Index: n, Check: check, Sets: setsOf(check, selected[n])}
		plan.Checks = append(plan.Checks, planned)
		for _, set := range planned.Sets {
			plan.Verdicts += len(logics[check.Claim].quantities(check, set.Cells))
			for _, cell := range set.Cells {
				measured[cell].add(check)
			}
		}
	}
	for i := range plan.Cells {
		plan.Cells[i].resolve(spec.Seed, measured[&plan.Cells[i]])
	}
	for _, planned := range plan.Checks {
		for i := range planned.Sets {
			if set := &planned.Sets[i]; set.Name == "" { // its id was not known before its probes were
				set.Name = set.Cells[0].ID
			}
		}
	}
	return plan
}

// resolve names the cell and turns its start, and what its checks measure, into
// numbers.
func (c *Cell) resolve(seed uint64, m *measures) {
	c.ID = cellID(seed, &c.Settings, m)
	s := &c.Settings
	c.Sim = sim.Cell{
		ID: c.ID, Seed: seed,
		Bandit: s.Bandit, Estimator: s.Estimator, Lag: s.Lag, Optimizer: s.Optimizer,
		Init: s.Policy.Init.Logits, Reference: s.Policy.Reference, Run: s.Run,
		Fits: m.fits,
	}
	if m.modes {
		c.Sim.Traces = s.Run.Replicas
	}
	if s.Policy.Init.Kind == config.AtLogits && !m.atRest() {
		return
	}
	params := Params(s, rom.Unit)
	point, ok := rom.Reached(params)
	if !ok && (s.Policy.Init.Kind == config.AtFixedPoint || m.location != nil) {
		c.Status, c.Sim = store.NoFixedPoint, sim.Cell{}
		return
	}
	if s.Policy.Init.Kind == config.AtFixedPoint {
		c.Sim.Init = config.RoundAll(displace(point.Logits, s.Policy.Init.Offset, seed))
	}
	if ok {
		m.place(&c.Sim, params, config.RoundAll(point.Logits))
	}
}

// cellID returns the sha256 of the canonical JSON of everything that decides
// what a cell measures; margins and prose do not.
func cellID(seed uint64, s *config.Settings, m *measures) string {
	content := map[string]any{"seed": seed, "settings": json.RawMessage(config.Canonical(*s))}
	m.identify(content)
	data, err := json.Marshal(content) // sorts keys
	if err != nil {
		panic(err) // settings are finite numbers and plain strings
	}
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// displace moves a fixed point by x in its direction.
func displace(logits []float64, x float64, seed uint64) []float64 {
	moved := append([]float64(nil), logits...)
	if x == 0 {
		return moved
	}
	for a, e := range direction(len(logits), seed) {
		moved[a] += x * e
	}
	return moved
}

// direction returns the direction of an offset x: of two arms the one along
// which z moves by x; of more a generic one drawn from the seed, centred, its
// largest |entry| 1.
func direction(arms int, seed uint64) []float64 {
	if arms == 2 {
		return []float64{0.5, -0.5}
	}
	e := make([]float64, arms)
	mean := 0.0
	for a := range e {
		digest := sha256.Sum256(fmt.Appendf(nil, "grposim direction 1\n%d\n%d\n", seed, a))
		e[a] = float64(binary.BigEndian.Uint64(digest[:8])) / (1 << 63)
		mean += e[a] / float64(len(e))
	}
	largest := 0.0
	for a := range e {
		e[a] -= mean
		largest = max(largest, math.Abs(e[a]))
	}
	for a := range e {
		e[a] /= largest
	}
	return e
}

// Label names the cell for people: its variant and the last words of its axes.
func (c *Cell) Label() string { return label(c.Variant, c.Axes, "") }

func label(variant string, axes []config.Assignment, without string) string {
	var parts []string
	if variant != "" {
		parts = append(parts, variant)
	}
	for _, a := range axes {
		if k, _ := config.LookupKey(a.Param); a.Param != without && !k.OfRun() {
			parts = append(parts, k.ShortName()+"="+config.Format(a.Value))
		}
	}
	return strings.Join(parts, " ")
}

// Work is the work of simulating a cell, in steps of one replica.
func (c *Cell) Work() float64 {
	if c.Status == store.NoFixedPoint {
		return 0
	}
	replicas := float64(c.Settings.Run.Replicas)
	if c.Settings.Estimator.GroupSize == grpo.Infinite {
		replicas = 1
	}
	run := replicas * float64(c.Settings.Run.Steps)
	work := run
	if c.Sim.Location != nil {
		work = c.Sim.SearchSteps()
	}
	if c.Sim.Relaxation != nil {
		work += 2 * run
	}
	for _, p := range c.Sim.Stiffness {
		work += 2 * float64(p.Pairs)
	}
	return work
}

// ids lists the ids of the cells in order, one that several cells share more than
// once.
func (p *Plan) ids() []string {
	ids := make([]string, len(p.Cells))
	for i := range p.Cells {
		ids[i] = p.Cells[i].ID
	}
	return ids
}
