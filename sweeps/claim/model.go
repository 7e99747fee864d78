package claim

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"

	"grposim/rom"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Model is the theory that a check judges: one kind of its predictions, as derived or with a
// planted fault. It has more than 30 methods: one for each number that a claim predicts, beside
// the claim, and what these have in common.
type Model struct {
	Check *config.Check
	Kind  rom.Kind     // the prediction judged; "": the claim's default
	Fault config.Fault // config.NoFault: none
	cache *theory.Cache
}

// By returns the same theory by another kind of prediction; "": the claim's default.
func (m *Model) By(kind rom.Kind) *Model {
	other := *m
	other.Kind = kind
	return &other
}

// Settings returns the cell's settings as given to the theory, with the keys that
// the fault replaces.
func (m *Model) Settings(c *plan.Cell) *config.Settings {
	s := c.Settings
	if m.Fault.Set != nil {
		m.Fault.Set(&s)
	}
	return &s
}

// Params returns the parameters of the theory for a cell, fault included.
func (m *Model) Params(c *plan.Cell) rom.Params {
	return theory.Params(m.Settings(c), m.Fault.Scale)
}

// prediction returns the prediction for a cell at its fixed point, fault included.
func (m *Model) prediction(c *plan.Cell) *rom.Prediction {
	return m.predictSettings(m.Settings(c))
}

func (m *Model) faulty() bool { return m.Fault.Set != nil || m.Fault.Scale != rom.Unit }

// predictSettings returns the prediction for settings as returned by settings, without
// thresholds if they have a fault: the table of predictions has those of the right theory.
func (m *Model) predictSettings(s *config.Settings) *rom.Prediction {
	of := theory.Whole(s)
	if m.faulty() && !s.Deep() {
		of = rest.Multipliers | rest.StationaryLaw
	}
	return m.cache.At(s, m.Fault.Scale, nil, of)
}

// missingExact returns the reason why a check of the exact prediction is out of scope
// where the theory's own prediction is of another kind.
func (m *Model) missingExact(kind rom.Kind) scope.Reason {
	if m.Kind == rom.Exact && kind != rom.Exact {
		return scope.NoNumber.Because(fmt.Sprintf("the prediction is of the kind %s", kind))
	}
	return scope.Reason{}
}

// Question is one check put to one theory, as derived or with a planted fault, and to the evidence.
type Question struct {
	Model
	ExactInstead bool // the control of a refutation: the exact prediction replaces the refuted one
	*Evidence
}

// By returns the same question about another prediction; "": the claim's default.
func (j *Question) By(kind rom.Kind) *Question {
	other := *j
	other.Kind = kind
	return &other
}

// ofEstimate returns a finding with the named estimate of a cell and its interval,
// to be completed by a prediction.
func (j *Question) ofEstimate(c *plan.Cell, name string) Finding {
	f, o := newFinding(rom.Exact), j.Outcome(c)
	f.Estimate = name
	if e, ok := o.Estimate(name); ok {
		f.Measured, f.Replicas = e.Mean, e.DF+1
		f.Lo, f.Hi = c.Interval(name, e, j.Confidence)
	} else if o.Status == store.CellOverflow {
		f.Unresolved = "the measured number left the range of floating point"
	}
	return f
}

// Margin returns the absolute margin about a prediction, 0 about an infinite one.
func (j *Question) Margin(predicted float64) float64 {
	if math.IsInf(predicted, 0) {
		return 0
	}
	if j.Check.AbsoluteMargin > 0 {
		return j.Check.AbsoluteMargin
	}
	return j.Check.Margin * math.Abs(predicted)
}

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

// Outcome returns the outcome of a cell.
func (e *Evidence) Outcome(c *plan.Cell) *store.Outcome { return e.Outcomes[c.ID] }

// Trajectory returns the recorded series of a quantity and of others beside it, or nil where the
// first was not recorded or it cannot be read. The first error of reading is kept in failure.
func (e *Evidence) Trajectory(o *store.Outcome, of sim.Quantity,
	beside ...sim.Quantity) *store.Trajectory {
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

// Side is the way in which a measurement can contradict a prediction.
type Side int

// The sides of a comparison.
const (
	FromBothSides Side = iota // too low or too high
	FromBelow                 // too low only, without margin: the prediction is a lower bound
	Unfound                   // an event was not found up to lo, and was predicted below
	Unreached                 // a level was not reached in a run of lo steps, and was predicted to be
)

// Tally counts in how many of several cases something holds.
type Tally struct {
	Holds int `json:"holds"` // 0 ≤ Holds ≤ Of
	Of    int `json:"of"`
}

// Add adds the cases of another tally.
func (t *Tally) Add(other *Tally) { t.Holds, t.Of = t.Holds+other.Holds, t.Of+other.Of }

// divergence says which replicas of a cell left the range of floating point. Its zero
// value is none.
type divergence struct {
	Diverged, Replicas int // numbers of replicas, 0 ≤ diverged ≤ replicas
	at                 int // the first step at which one did
}

func divergenceOf(c *plan.Cell, o *store.Outcome) divergence {
	in := c.Sim()
	return divergence{o.Diverged, in.Replicas(), o.DivergedAt}
}

// String returns the numbers in words.
func (d divergence) String() string {
	return fmt.Sprintf("%d of %d replicas left the range of floating point, the first at step %d",
		d.Diverged, d.Replicas, d.at)
}

// Finding is the measurement and the prediction of one quantity of one set of cells,
// before they are compared within the check's margin.
type Finding struct {
	Quantity         string  // "": the claim's quantity of the same index
	Estimate         string  // name of what was measured; "": the claim's event or name
	Measured, Lo, Hi float64 // value and interval; NaN where nothing was measured
	Replicas         int     // independent values behind the interval; 0 where there are none
	Predicted        scope.Number
	// of a claim about rest with a hypothesis: what the way there leaves in measured
	Unrested   scope.Number
	Side       Side               // how the measurement can contradict the prediction
	Expect     config.Expectation // "": the check's
	About      *config.About      // nil: the check's
	Fault      string             // in words, of a control that is not the check's; ""
	Diverged   divergence         // of the replicas behind the measurement
	Instead    string             // what was found, for a verdict that does not agree; ""
	Unresolved string             // why an inconclusive finding has no number; "": not known
	tested     bool               // a hypothesis is about this quantity, else about the first
	// in how many of the set's bandits the claim holds; nil: they are not counted
	Bandits *Tally
}

// newFinding returns a finding without a measurement. Its NaNs make the comparison
// inconclusive until a claim replaces them.
func newFinding(kind rom.Kind) Finding {
	nan := math.NaN()
	return Finding{Measured: nan, Lo: nan, Hi: nan, Predicted: scope.Number{Kind: kind}}
}

// exactly returns the finding with a measured number that has no error.
func (f Finding) exactly(x float64) Finding {
	f.Measured, f.Lo, f.Hi = x, x, x
	return f
}
