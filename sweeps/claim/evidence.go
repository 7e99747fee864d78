package claim

import (
	"cmp"
	"sync/atomic"

	"grposim/sim"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Evidence is shared by all questions of an experiment.
type Evidence struct {
	Outcomes   map[string]*store.Outcome // what was measured, by cell id
	Confidence float64                   // of each interval, in (0, 1)
	Cache      *theory.Cache
	// the first error in reading a trajectory, or of the context; nil: none
	Failure error
	Part    func() (more bool) // called before each set of cells is judged; false: stop
	Workers int                // number of goroutines that judge, at least 1
	others  []*theory.Cache    // of the goroutines beside the first, kept from one call to the next
}

// NewEvidence returns the outcomes of a plan's cells as evidence. The confidence of every interval
// is 1 − (1 − Spec.Confidence)/n with n = max(Verdicts(plan), 1): those of all verdicts hold together
// with the confidence of the configuration (Bonferroni).
func NewEvidence(p *plan.Plan, outcomes map[string]*store.Outcome) *Evidence {
	e := &Evidence{Outcomes: outcomes, Cache: p.Cache, Part: plan.Always, Workers: 1}
	e.Confidence = 1 - (1-p.Spec.Confidence)/float64(max(Verdicts(p), 1))
	if e.Cache == nil {
		e.Cache = theory.NewCache()
	}
	return e
}

// Outcome returns the outcome of a cell.
func (e *Evidence) Outcome(c *plan.Cell) *store.Outcome { return e.Outcomes[c.ID] }

// Trajectory returns the recorded series of a quantity and of others beside it, or nil where the
// first was not recorded or it cannot be read. The first error of reading is kept in failure.
func (e *Evidence) Trajectory(o *store.Outcome, of sim.Quantity, beside ...sim.Quantity) *store.Trajectory {
	t, err := o.Trajectory(append([]sim.Quantity{of}, beside...)...)
	e.Keep(err)
	if t == nil || t.Series(of) == nil {
		return nil
	}
	return t
}

// Means is trajectory without quantiles.
func (e *Evidence) Means(o *store.Outcome, wanted ...sim.Quantity) *store.Trajectory {
	t, err := o.Means(wanted...)
	e.Keep(err)
	return t
}

// Keep keeps the first error in failure, and reports whether there is none yet.
func (e *Evidence) Keep(err error) bool {
	e.Failure = cmp.Or(e.Failure, err)
	return e.Failure == nil
}

// InParallel calls do with 0 … n−1 as the function InParallel does, each goroutine with an
// evidence of its own. The first error of each is kept.
func (e *Evidence) InParallel(n int, part func() (more bool), do func(e *Evidence, i int)) {
	own := make([]*Evidence, min(e.Workers, n))
	for w := range own {
		own[w] = &Evidence{Outcomes: e.Outcomes, Confidence: e.Confidence, Cache: e.Cache}
		if w > len(e.others) { // equilibria are for one goroutine
			e.others = append(e.others, e.Cache.Sharing(e.Workers))
		}
		if w > 0 {
			own[w].Cache = e.others[w-1]
		}
	}
	var failed atomic.Bool
	more := func() bool { return part() && !failed.Load() }
	e.Keep(plan.InParallel(e.Workers, n, more, func(w, i int) {
		if own[w].Failure == nil {
			do(own[w], i)
			failed.CompareAndSwap(false, own[w].Failure != nil)
		}
	}))
	for _, worker := range own {
		e.Keep(worker.Failure)
	}
}
