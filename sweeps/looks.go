package sweeps

import (
	"context"
	"math"
	"slices"

	"grposim/sweeps/store"
)

// With looks (config.Spec.Looks) all cells are simulated with few replicas first. All checks are
// judged; the cells of undecided ones are simulated anew with more replicas, and so on. The
// outcome of a later look takes the place of the one before, so a cell has one outcome, and its
// number of replicas says at which look it stopped. Cells that a check compares go on together:
// each verdict is judged at most once a look, at a fixed number of replicas, with an n-th of the
// error probability, n the number of looks (Plan.IntervalConfidence). Replica i reads the same
// stream at every look, because the cell has the same id.

// lookSizes returns the numbers of replicas of a cell at its looks, increasing; without looks
// that of the configuration.
func (p *Plan) lookSizes(c *Cell) []int {
	if p.Spec.Looks == nil || c.deterministic() || c.replicas < 2 {
		return []int{c.replicas}
	}
	var sizes []int
	for _, share := range p.Spec.Looks {
		sizes = append(sizes, max(2, int(math.Round(share*float64(c.replicas)))))
	}
	return slices.Compact(sizes)
}

// setLook gives a cell the replicas of a look, from 0; those of its last one if it has fewer. It
// reports whether the number has changed.
func (p *Plan) setLook(c *Cell, look int) (changed bool) {
	sizes := p.lookSizes(c)
	run := &c.Settings.Run
	before := run.Replicas
	run.Replicas = sizes[min(look, len(sizes)-1)]
	if c.probed != nil {
		c.probed.Run.Replicas = run.Replicas
		if c.probed.Traces > 0 {
			c.probed.Traces = run.Replicas
		}
	}
	return run.Replicas != before
}

// look returns the look of cells that go on together, from 0.
func (p *Plan) look(cells []*Cell) (look int) {
	for _, c := range cells {
		look = max(look, slices.Index(p.lookSizes(c), c.Settings.Run.Replicas))
	}
	return look
}

// measured reports whether an outcome, nil for none, is of the cell with its present number of
// replicas.
func (c *Cell) measured(o *store.Outcome) bool {
	return o != nil && (o.Status == store.NoFixedPoint || c.replicasOf(o) == c.Settings.Run.Replicas)
}

// replicasOf returns the number of replicas of an outcome of the cell.
func (c *Cell) replicasOf(o *store.Outcome) int {
	if o.Replicas == 0 {
		return c.replicas
	}
	return o.Replicas
}

// cellGroup holds the cells of a plan that go on together.
type cellGroup struct{ cells []*Cell }

// groups returns the group of each cell by its id: cells with one id are in one group, and so
// are those that a check compares.
func (p *Plan) groups() map[string]*cellGroup {
	of := make(map[string]*cellGroup)
	for i := range p.Cells {
		c := &p.Cells[i]
		if of[c.ID] == nil {
			of[c.ID] = new(cellGroup)
		}
		of[c.ID].cells = append(of[c.ID].cells, c)
	}
	for _, planned := range p.Checks {
		for _, set := range planned.Sets {
			for _, c := range set.Cells[1:] {
				joined, other := of[set.Cells[0].ID], of[c.ID]
				if joined == other {
					continue
				}
				joined.cells = append(joined.cells, other.cells...)
				for _, c := range other.cells {
					of[c.ID] = joined
				}
			}
		}
	}
	return of
}

// adopt gives the cells of each group the replicas of the latest look of which there is an
// outcome, else of the first look, and removes the outcomes of other numbers of replicas.
func (p *Plan) adopt(outcomes map[string]*store.Outcome) {
	if p.Spec.Looks != nil {
		looks := make(map[*cellGroup]int)
		of := p.groups()
		for i := range p.Cells {
			c := &p.Cells[i]
			if o := outcomes[c.ID]; o != nil {
				looks[of[c.ID]] = max(looks[of[c.ID]], slices.Index(p.lookSizes(c), c.replicasOf(o)))
			}
		}
		for i := range p.Cells {
			c := &p.Cells[i]
			p.setLook(c, looks[of[c.ID]])
		}
	}
	for i := range p.Cells {
		if c := &p.Cells[i]; !c.measured(outcomes[c.ID]) {
			delete(outcomes, c.ID)
		}
	}
}

// goOn judges the outcomes of all cells, and gives those that go on the replicas of the next
// look. It reports whether there are any.
func (p *Plan) goOn(ctx context.Context, outcomes map[string]*store.Outcome, workers int) (more bool, err error) {
	if p.Spec.Looks == nil {
		return false, nil
	}
	e := newEvidence(outcomes)
	e.workers = workers
	e.part = func() bool { return e.keep(ctx.Err()) }
	verdicts := e.judge(p)
	if e.failure != nil {
		return false, e.failure
	}
	return p.advance(verdicts), nil
}

// advance gives the cells of undecided verdicts the replicas of the next look, and reports
// whether there are any. verdicts are those of all checks.
func (p *Plan) advance(verdicts []Verdict) (more bool) {
	if p.Spec.Looks == nil {
		return false
	}
	of := p.groups()
	going := make(map[*cellGroup]bool)
	tasks, _ := p.tasks()
	for _, t := range tasks {
		g := of[t.set.Cells[0].ID]
		if !going[g] && slices.ContainsFunc(verdicts[t.first:][:t.planned.verdicts(*t.set)], Verdict.undecided) {
			going[g] = true
			next := p.look(g.cells) + 1
			for _, c := range g.cells {
				more = p.setLook(c, next) || more
			}
		}
	}
	return more
}
