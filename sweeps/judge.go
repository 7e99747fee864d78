package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// judgement is one check applied to one theory: the theory as derived, or one with a planted fault.
type judgement struct {
	model
	confidence   float64 // of each interval, in (0, 1)
	exactInstead bool    // the control of a refutation: the exact prediction replaces the refuted one
	*evidence
}

// evidence is shared by all judgements of an experiment.
type evidence struct {
	outcomes map[string]*store.Outcome // what was measured, by cell id
	cache    *theory.Cache
	// the first error in reading a trajectory, or of the context; nil: none
	failure error
	part    func() (more bool) // called before each set of cells is judged; false: stop
	workers int                // number of goroutines that judge, at least 1
	others  []*theory.Cache    // of the goroutines beside the first, kept from one call to the next
}

func newEvidence(outcomes map[string]*store.Outcome) *evidence {
	return &evidence{outcomes: outcomes, cache: theory.NewCache(), part: always, workers: 1}
}

// outcome returns the outcome of a cell.
func (e *evidence) outcome(c *Cell) *store.Outcome { return e.outcomes[c.ID] }

// trajectory returns the recorded series of a quantity and of others beside it, or nil where the
// first was not recorded or it cannot be read. The first error of reading is kept in failure.
func (e *evidence) trajectory(o *store.Outcome, of sim.Quantity, beside ...sim.Quantity) *store.Trajectory {
	t, err := o.Trajectory(append([]sim.Quantity{of}, beside...)...)
	e.keep(err)
	if t == nil || t.Series(of) == nil {
		return nil
	}
	return t
}

// means is trajectory without quantiles.
func (e *evidence) means(o *store.Outcome, wanted ...sim.Quantity) *store.Trajectory {
	t, err := o.Means(wanted...)
	e.keep(err)
	return t
}

// keep keeps the first error in failure, and reports whether there is none yet.
func (e *evidence) keep(err error) bool {
	e.failure = cmp.Or(e.failure, err)
	return e.failure == nil
}

// newJudgement returns the judgement of a check by the theory as derived.
func newJudgement(check *config.Check, confidence float64, e *evidence) *judgement {
	return &judgement{model: model{check, check.Prediction, config.NoFault, e.cache}, confidence: confidence, evidence: e}
}

// Judge compares the measured outcomes of a plan's cells with the predictions of the
// theory. It needs the outcome of every cell, by cell id, and returns one verdict per
// quantity and set of cells, in the order of the checks.
//
// The confidence of the configuration holds for all verdicts together
// (Plan.IntervalConfidence). Every check that has a control, or expects a failure, is
// also run against a deliberately wrong theory, and must fail (Verdict.Control).
//
// NewExperiment adds hints to the verdicts that are out of scope. Judge writes nothing. Its error
// is the first in reading a trajectory; the verdicts that needed it are not to be trusted.
func Judge(plan *Plan, outcomes map[string]*store.Outcome) ([]Verdict, error) {
	e := newEvidence(outcomes)
	verdicts := e.judge(plan)
	return verdicts, e.failure
}

func (e *evidence) judge(plan *Plan) []Verdict {
	if plan.cache != nil {
		e.cache = plan.cache
	}
	tasks, total := plan.tasks()
	verdicts := make([]Verdict, total)
	confidence := plan.IntervalConfidence()
	e.inParallel(len(tasks), e.part, func(e *evidence, i int) {
		t := &tasks[i]
		copy(verdicts[t.first:], newJudgement(t.planned.Check, confidence, e).verdicts(plan.Spec.Name, t.planned.Index, *t.set))
	})
	return verdicts
}

// task is a set of cells that a check judges, and the place of its verdicts.
type task struct {
	planned *PlannedCheck
	set     *CellSet
	place   int // of the set among those of its check
	first   int // index of its first verdict
}

// tasks lists the sets of all checks, the first ones of each check first: those of one cell
// share predictions. total is the number of verdicts.
func (p *Plan) tasks() (tasks []task, total int) {
	for n := range p.Checks {
		planned := &p.Checks[n]
		for i := range planned.Sets {
			tasks = append(tasks, task{planned, &planned.Sets[i], i, total})
			total += planned.verdicts(planned.Sets[i])
		}
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(a.place, b.place) })
	return tasks, total
}

// verdicts judges a set of cells.
func (right *judgement) verdicts(experiment string, index int, set CellSet) []Verdict {
	check := right.check
	wrong, fault := right.control()
	row := Verdict{
		Experiment: experiment, Variant: set.Cells[0].Variant, Claim: check.Claim.Name,
		Cell: set.Name, Label: set.Label, Expect: check.Expect, Check: index,
		About: check.About, Sampled: set.sampled(), Members: set.members(),
	}
	var faulty []finding
	if wrong != nil {
		faulty = wrong.find(set)
	}
	if check.Hypothesis != nil {
		return []Verdict{right.test(row, right.find(set)[0])}
	}
	var verdicts []Verdict
	scaled := newScaledTheory(right, set, faulty)
	for i, f := range right.find(set) {
		v := right.rule(row, f)
		if wrong != nil {
			// what is left out decides the scope of both alike: of the theory as derived
			faulty[i].predicted.Neglected = nil
			v.Control = &ControlVerdict{Fault: fault, Kind: PlantedFault, Verdict: OutOfScope}
			if v.Verdict != OutOfScope {
				v.Control.Verdict = wrong.rule(row, faulty[i]).Verdict
			}
			switch {
			case faulty[i].fault != "":
				v.Control.Fault, v.Control.Size = faulty[i].fault, OtherSetting
			case wrong.exactInstead:
				v.Control.Kind = ExactPrediction
			default:
				v.Control.Size = sizeOf(check.Control)
			}
		}
		v.SmallestFault = scaled.smallestFault(i, f, &v)
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// control returns the judgement of the same check by a theory with the check's planted fault, and
// the fault in words; nil where the check has no control. The control of a refutation, unless it
// has another, judges the exact prediction instead of the refuted one.
func (j *judgement) control() (wrong *judgement, fault string) {
	other := *j
	switch control := j.check.Control; {
	case control != nil:
		other.fault = control.Fault()
		return &other, control.String()
	case j.check.Expect == config.Fails:
		other.kind, other.exactInstead = "", true
		return &other, "the exact prediction"
	}
	return nil, ""
}

// find returns the findings of the claim in a set of cells: one per quantity, with a hypothesis the
// one that it is about. If a cell of the set has no fixed point to start from, all are out of
// scope.
func (j *judgement) find(set CellSet) []finding {
	l := claims[j.check.Claim]
	quantities := l.quantities(j.check, set.Cells)
	findings := make([]finding, len(quantities))
	if slices.ContainsFunc(set.Cells, func(c *Cell) bool { return c.Status == store.NoFixedPoint }) {
		for i := range findings {
			findings[i] = newFinding(rom.Exact)
			findings[i].predicted.Because = scope.NotReached.Because()
			findings[i].unrested = findings[i].predicted
		}
	} else {
		findings = l.find(j, set)
	}
	for i := range findings {
		findings[i].quantity = cmp.Or(findings[i].quantity, quantities[i])
		findings[i].estimate = cmp.Or(findings[i].estimate, string(j.check.Claim.Event), j.check.Claim.Name)
	}
	if j.check.Hypothesis != nil {
		tested := max(0, slices.IndexFunc(findings, func(f finding) bool { return f.tested }))
		return findings[tested : tested+1]
	}
	return findings
}

// rule completes a verdict by comparing a finding with its prediction, within the check's margin.
func (j *judgement) rule(v Verdict, f finding) Verdict {
	nan := store.Number(math.NaN())
	v.Quantity = f.quantity
	v.Measured, v.Lo, v.Hi = store.Number(f.measured), store.Number(f.lo), store.Number(f.hi)
	v.Predicted, v.PredictionKind = store.Number(f.predicted.Value), f.predicted.Kind
	v.Expect = cmp.Or(f.expect, v.Expect)
	v.About, v.Estimate, v.Bandits = cmp.Or(f.about, v.About), f.estimate, f.bandits
	margin := j.judgedMargin(&f)
	v.Margin = store.Number(margin)
	switch because := j.scope(&f); {
	case because.Out():
		v.Verdict, v.Because, v.Reason = OutOfScope, because.String(), because.Name()
		v.Predicted, v.Margin = nan, nan
	case f.diverged.diverged > 0:
		// No mean over all replicas exists. A prediction says nothing of rare events,
		// so that it is contradicted only if at least half of the replicas diverged.
		v.Verdict, v.Because = Disagree, f.diverged.String()
		if 2*f.diverged.diverged < f.diverged.replicas {
			v.Verdict, v.Because = Inconclusive, v.Because+"; there is no mean over all replicas, and the theory does not predict rare events"
		}
		v.Measured, v.Lo, v.Hi = nan, nan, nan
	default:
		v.Verdict = Compare(f.lo, f.hi, f.predicted.Value, margin, f.side, v.Expect)
		v.Because = decided(v.Verdict, f, margin, v.Expect)
		if f.instead != "" && v.Verdict != Agree {
			v.Because += "; " + f.instead
		}
	}
	return v
}

// test completes a verdict by comparing a finding with the check's hypothesis, and adds
// what the theory says of the same quantity.
func (j *judgement) test(v Verdict, f finding) Verdict {
	const rounded = 1e-12 // share of a value that rounding decides
	h, theory := j.check.Hypothesis, &f.predicted
	v.Hypothesis = &TestedHypothesis{
		Hypothesis: *h, Predicted: store.Number(theory.Value), PredictionKind: theory.Kind,
		Neglected: store.Number(theory.Size()), OutOfScope: theory.Because.String(),
	}
	says := "the theory predicts " + format(store.Number(theory.Value), 4)
	switch {
	case theory.Out():
		v.Hypothesis.Predicted, v.Hypothesis.Neglected = store.Number(math.NaN()), store.Number(math.NaN())
		says = "the theory predicts nothing: " + theory.Because.String()
	case math.IsInf(theory.Value, 0):
		says = "the theory predicts that it never occurs"
	case math.IsInf(theory.Size(), 1):
		says += ", and neglects what is of unknown size"
	case theory.Size() > rounded*math.Abs(theory.Value):
		says += fmt.Sprintf(", and neglects about %.2g", theory.Size())
	}
	margin := j.margin(h.Value)
	v.Quantity, v.Estimate = f.quantity, f.estimate
	v.Measured, v.Lo, v.Hi = store.Number(f.measured), store.Number(f.lo), store.Number(f.hi)
	v.Predicted, v.PredictionKind, v.Margin = store.Number(h.Value), "", store.Number(margin)
	if because := j.scope(&f); because.Out() {
		v.Verdict, v.Because, v.Reason = OutOfScope, because.String(), because.Name()
		if j.check.Claim.Has(config.NeedsBurnIn) {
			v.Because += "; the claim is about rest: of the way there trajectory and time-to-level judge"
		}
		return v
	}
	lo, hi, value, side := f.lo, f.hi, h.Value, FromBothSides
	switch h.Relation {
	case config.AtLeast:
		side = FromBelow
	case config.AtMost:
		lo, hi, value, side = -f.hi, -f.lo, -h.Value, FromBelow
	}
	if f.diverged.diverged > 0 {
		lo, hi = math.NaN(), math.NaN()
		v.Measured, v.Lo, v.Hi = store.Number(lo), store.Number(lo), store.Number(lo)
		says = f.diverged.String() + "; " + says
	}
	v.Verdict = Compare(lo, hi, value, margin, side, config.Holds)
	claim := h.String()
	if margin > 0 {
		claim += fmt.Sprintf(" ± %.2g", margin)
	}
	if v.Verdict == Inconclusive && f.diverged.diverged == 0 {
		asked := f
		asked.predicted.Value = h.Value
		why := decided(Inconclusive, asked, margin, config.Holds)
		if h.Relation != config.Equals {
			why = strings.Replace(why, "the margin", "the bound", 1)
		}
		says = why + "; " + says
	}
	if f.instead != "" && v.Verdict != Agree {
		says = f.instead + "; " + says
	}
	ruling := map[Ruling]string{Agree: "holds", Disagree: "is refuted", Inconclusive: "is undecided"}[v.Verdict]
	v.Because = fmt.Sprintf("%s %s: %s %s; %s", f.quantity, v.measured(), claim, ruling, says)
	return v
}

// scope returns why a finding is not judged. For a hypothesis it asks what the run is, and not what
// else the theory leaves out of its own number.
func (j *judgement) scope(f *finding) scope.Reason {
	h := j.check.Hypothesis
	if h == nil {
		return f.predicted.Judged(j.judgedMargin(f))
	}
	run := f.unrested
	if !f.predicted.Out() {
		run.Neglected = scope.OfRun(f.predicted.Neglected)
	}
	if h.Relation != config.Equals {
		return run.JudgedWithin(max(math.Abs(f.lo-h.Value), math.Abs(f.hi-h.Value)), "the distance to the bound,")
	}
	return run.Judged(j.margin(h.Value))
}

// margin returns the absolute margin about a prediction, 0 about an infinite one.
func (j *judgement) margin(predicted float64) float64 {
	if math.IsInf(predicted, 0) {
		return 0
	}
	if j.check.AbsoluteMargin > 0 {
		return j.check.AbsoluteMargin
	}
	return j.check.Margin * math.Abs(predicted)
}

// judgedMargin returns the margin within which a finding is judged: none from below.
func (j *judgement) judgedMargin(f *finding) float64 {
	if f.side == FromBelow {
		return 0
	}
	return max(j.margin(f.predicted.Value), f.predicted.Resolution)
}

// decided returns the reason for a ruling in one sentence; for an inconclusive one,
// what would decide it.
func decided(ruling Ruling, f finding, margin float64, expect config.Expectation) string {
	if ruling == Inconclusive {
		half := (f.hi - f.lo) / 2
		switch {
		case f.unresolved != "":
			return f.unresolved
		case math.IsNaN(half) || math.IsNaN(f.predicted.Value):
			return "there is no number to compare"
		case math.IsInf(half, 0) && f.replicas == 1:
			return "the error of a single replica is not known: run at least two"
		case math.IsInf(half, 0):
			return "at this confidence the interval has no end"
		}
		distance := math.Abs(math.Abs(f.measured-f.predicted.Value) - margin)
		reach := max(f.hi-f.measured, f.measured-f.lo) // of a share near 0 or 1 the longer side
		if more := fp.Pow(reach/distance, 2); f.replicas > 0 && more < math.Inf(1) {
			return fmt.Sprintf("the interval straddles the margin: about %.2g times the replicas or draws would decide", more)
		}
		return "the interval straddles the margin"
	}
	if inside := (ruling == Agree) == (expect == config.Holds); inside {
		return reasons[f.side].inside
	}
	return reasons[f.side].outside
}

// reasons are those of decided verdicts, by the side of the comparison.
var reasons = map[Side]struct{ inside, outside string }{
	FromBothSides: {"the interval lies inside predicted ± margin", "the interval lies wholly outside predicted ± margin"},
	FromBelow:     {"the interval does not lie below the prediction", "the interval lies wholly below the prediction"},
	Unfound: {
		"no event up to the end of the search, and none predicted before it",
		"no event up to the end of the search, where one is predicted",
	},
	Unreached: {"the level is not reached in the run, and is not predicted to be", "the level is not reached in the run, and is predicted to be"},
}

// by returns the same judgement of another prediction; "": the claim's default.
func (j *judgement) by(kind rom.Kind) *judgement {
	other := *j
	other.kind = kind
	return &other
}

// ofEstimate returns a finding with the named estimate of a cell and its interval,
// to be completed by a prediction.
func (j *judgement) ofEstimate(c *Cell, name string) finding {
	f, o := newFinding(rom.Exact), j.outcome(c)
	f.estimate = name
	if e, ok := o.Estimate(name); ok {
		f.measured, f.replicas = e.Mean, e.DF+1
		f.lo, f.hi = c.interval(name, e, j.confidence)
	} else if o.Status == store.CellOverflow {
		f.unresolved = "the measured number left the range of floating point"
	}
	return f
}
