// Package judge compares findings with predictions by margins that were fixed before the run.
//
//  1. [Verdicts] judges the checks of a plan: [Compare] applies the margin to each finding. Checks
//     that can fail are run against a deliberately wrong theory too.
//  2. [AddHints] says which change would bring a verdict into scope, and [Shifts] what planted faults
//     do to predictions.
//  3. [Summarize] counts verdicts, and [Statements] the evidence about statements of the paper.
//  4. [WriteJSON] and [WriteMarkdown] write the verdicts as tables.
package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
	"grposim/rom/scope"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// judgement answers a question by verdicts.
type judgement struct{ claim.Question }

// Verdicts compares the evidence about a plan's cells with the predictions of the theory. It needs the
// outcome of every cell, and returns one verdict per quantity and set of cells, in the order of the
// checks.
//
// Every check that has a control, or expects a failure, is also run against a deliberately wrong
// theory, and must fail (Verdict.Control). The first error in reading a trajectory is kept in the
// evidence; the verdicts that needed it are not to be trusted.
func Verdicts(e *claim.Evidence, plan *plan.Plan) []Verdict {
	tasks, total := tasksOf(plan)
	verdicts := make([]Verdict, total)
	e.InParallel(len(tasks), e.Part, func(e *claim.Evidence, i int) {
		t := &tasks[i]
		j := judgement{*claim.NewQuestion(t.planned.Check, e)}
		copy(verdicts[t.first:], j.verdicts(plan.Spec.Name, t.planned.Index, *t.set))
	})
	return verdicts
}

// task is a set of cells that a check judges, and the place of its verdicts.
type task struct {
	planned *plan.PlannedCheck
	set     *plan.CellSet
	place   int // of the set among those of its check
	first   int // index of its first verdict
}

// tasksOf lists the sets of all checks, the first ones of each check first: those of one cell
// share predictions. total is the number of verdicts.
func tasksOf(plan *plan.Plan) (tasks []task, total int) {
	for n := range plan.Checks {
		planned := &plan.Checks[n]
		for i := range planned.Sets {
			tasks = append(tasks, task{planned, &planned.Sets[i], i, total})
			total += claim.VerdictsOn(planned.Check, planned.Sets[i])
		}
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(a.place, b.place) })
	return tasks, total
}

// verdicts judges a set of cells.
func (right *judgement) verdicts(experiment string, index int, set plan.CellSet) []Verdict {
	check := right.Check
	wrong, fault := right.control()
	row := Verdict{
		Experiment: experiment, Variant: set.Cells[0].Variant, Claim: check.Claim.Name,
		Cell: set.Name, Label: set.Label, Expect: check.Expect, Check: index,
		About: check.About, Sampled: set.Sampled(), Members: set.Members(),
	}
	var faulty []claim.Finding
	if wrong != nil {
		faulty = wrong.Find(set)
	}
	if check.Hypothesis != nil {
		return []Verdict{right.test(row, right.Find(set)[0])}
	}
	var verdicts []Verdict
	scaled := newScaledTheory(right, set, faulty)
	for i, f := range right.Find(set) {
		v := right.rule(row, f)
		if wrong != nil {
			// what is left out decides the scope of both alike: of the theory as derived
			faulty[i].Predicted.Neglected = nil
			v.Control = &ControlVerdict{Fault: fault, Kind: PlantedFault, Verdict: OutOfScope}
			if v.Verdict != OutOfScope {
				v.Control.Verdict = wrong.rule(row, faulty[i]).Verdict
			}
			switch {
			case faulty[i].Fault != "":
				v.Control.Fault, v.Control.Size = faulty[i].Fault, OtherSetting
			case wrong.ExactInstead:
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
	switch control := j.Check.Control; {
	case control != nil:
		other.Fault = control.Fault()
		return &other, control.String()
	case j.Check.Expect == config.Fails:
		other.Kind, other.ExactInstead = "", true
		return &other, "the exact prediction"
	}
	return nil, ""
}

// rule completes a verdict by comparing a finding with its prediction, within the check's margin.
func (j *judgement) rule(v Verdict, f claim.Finding) Verdict {
	nan := store.Number(math.NaN())
	v.Quantity = f.Quantity
	v.Measured, v.Lo, v.Hi = store.Number(f.Measured), store.Number(f.Lo), store.Number(f.Hi)
	v.Predicted, v.PredictionKind = store.Number(f.Predicted.Value), f.Predicted.Kind
	v.Expect = cmp.Or(f.Expect, v.Expect)
	v.About, v.Estimate, v.Bandits = cmp.Or(f.About, v.About), f.Estimate, f.Bandits
	margin := j.judgedMargin(&f)
	v.Margin = store.Number(margin)
	switch because := j.scope(&f); {
	case because.Out():
		v.Verdict, v.Because, v.Reason = OutOfScope, because.String(), because.Name()
		v.Predicted, v.Margin = nan, nan
	case f.Diverged.Diverged > 0:
		// No mean over all replicas exists. A prediction says nothing of rare events,
		// so that it is contradicted only if at least half of the replicas diverged.
		v.Verdict, v.Because = Disagree, f.Diverged.String()
		if 2*f.Diverged.Diverged < f.Diverged.Replicas {
			v.Verdict, v.Because = Inconclusive, v.Because+"; there is no mean over all replicas, and the theory does not predict rare events"
		}
		v.Measured, v.Lo, v.Hi = nan, nan, nan
	default:
		v.Verdict = Compare(f.Lo, f.Hi, f.Predicted.Value, margin, f.Side, v.Expect)
		v.Because = decided(v.Verdict, f, margin, v.Expect)
		if f.Instead != "" && v.Verdict != Agree {
			v.Because += "; " + f.Instead
		}
	}
	return v
}

// test completes a verdict by comparing a finding with the check's hypothesis, and adds
// what the theory says of the same quantity.
func (j *judgement) test(v Verdict, f claim.Finding) Verdict {
	const rounded = 1e-12 // share of a value that rounding decides
	h, theory := j.Check.Hypothesis, &f.Predicted
	v.Hypothesis = &TestedHypothesis{
		Hypothesis: *h, Predicted: store.Number(theory.Value), PredictionKind: theory.Kind,
		Neglected: store.Number(theory.Size()), OutOfScope: theory.Because.String(),
	}
	says := "the theory predicts " + Format(store.Number(theory.Value), 4)
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
	margin := j.Margin(h.Value)
	v.Quantity, v.Estimate = f.Quantity, f.Estimate
	v.Measured, v.Lo, v.Hi = store.Number(f.Measured), store.Number(f.Lo), store.Number(f.Hi)
	v.Predicted, v.PredictionKind, v.Margin = store.Number(h.Value), "", store.Number(margin)
	if because := j.scope(&f); because.Out() {
		v.Verdict, v.Because, v.Reason = OutOfScope, because.String(), because.Name()
		if j.Check.Claim.Has(config.NeedsBurnIn) {
			v.Because += "; the claim is about rest: of the way there trajectory and time-to-level judge"
		}
		return v
	}
	lo, hi, value, side := f.Lo, f.Hi, h.Value, claim.FromBothSides
	switch h.Relation {
	case config.AtLeast:
		side = claim.FromBelow
	case config.AtMost:
		lo, hi, value, side = -f.Hi, -f.Lo, -h.Value, claim.FromBelow
	}
	if f.Diverged.Diverged > 0 {
		lo, hi = math.NaN(), math.NaN()
		v.Measured, v.Lo, v.Hi = store.Number(lo), store.Number(lo), store.Number(lo)
		says = f.Diverged.String() + "; " + says
	}
	v.Verdict = Compare(lo, hi, value, margin, side, config.Holds)
	claim := h.String()
	if margin > 0 {
		claim += fmt.Sprintf(" ± %.2g", margin)
	}
	if v.Verdict == Inconclusive && f.Diverged.Diverged == 0 {
		asked := f
		asked.Predicted.Value = h.Value
		why := decided(Inconclusive, asked, margin, config.Holds)
		if h.Relation != config.Equals {
			why = strings.Replace(why, "the margin", "the bound", 1)
		}
		says = why + "; " + says
	}
	if f.Instead != "" && v.Verdict != Agree {
		says = f.Instead + "; " + says
	}
	ruling := map[Ruling]string{Agree: "holds", Disagree: "is refuted", Inconclusive: "is undecided"}[v.Verdict]
	v.Because = fmt.Sprintf("%s %s: %s %s; %s", f.Quantity, v.measured(), claim, ruling, says)
	return v
}

// scope returns why a finding is not judged. For a hypothesis it asks what the run is, and not what
// else the theory leaves out of its own number.
func (j *judgement) scope(f *claim.Finding) scope.Reason {
	h := j.Check.Hypothesis
	if h == nil {
		return f.Predicted.Judged(j.judgedMargin(f))
	}
	run := f.Unrested
	if !f.Predicted.Out() {
		run.Neglected = scope.OfRun(f.Predicted.Neglected)
	}
	if h.Relation != config.Equals {
		return run.JudgedWithin(max(math.Abs(f.Lo-h.Value), math.Abs(f.Hi-h.Value)), "the distance to the bound,")
	}
	return run.Judged(j.Margin(h.Value))
}

// judgedMargin returns the margin within which a finding is judged: none from below.
func (j *judgement) judgedMargin(f *claim.Finding) float64 {
	if f.Side == claim.FromBelow {
		return 0
	}
	return max(j.Margin(f.Predicted.Value), f.Predicted.Resolution)
}

// decided returns the reason for a ruling in one sentence; for an inconclusive one,
// what would decide it.
func decided(ruling Ruling, f claim.Finding, margin float64, expect config.Expectation) string {
	if ruling == Inconclusive {
		half := (f.Hi - f.Lo) / 2
		switch {
		case f.Unresolved != "":
			return f.Unresolved
		case math.IsNaN(half) || math.IsNaN(f.Predicted.Value):
			return "there is no number to compare"
		case math.IsInf(half, 0) && f.Replicas == 1:
			return "the error of a single replica is not known: run at least two"
		case math.IsInf(half, 0):
			return "at this confidence the interval has no end"
		}
		distance := math.Abs(math.Abs(f.Measured-f.Predicted.Value) - margin)
		reach := max(f.Hi-f.Measured, f.Measured-f.Lo) // of a share near 0 or 1 the longer side
		if more := fp.Pow(reach/distance, 2); f.Replicas > 0 && more < math.Inf(1) {
			return fmt.Sprintf("the interval straddles the margin: about %.2g times the replicas or draws would decide", more)
		}
		return "the interval straddles the margin"
	}
	if inside := (ruling == Agree) == (expect == config.Holds); inside {
		return reasons[f.Side].inside
	}
	return reasons[f.Side].outside
}

// reasons are those of decided verdicts, by the side of the comparison.
var reasons = map[claim.Side]struct{ inside, outside string }{
	claim.FromBothSides: {"the interval lies inside predicted ± margin", "the interval lies wholly outside predicted ± margin"},
	claim.FromBelow:     {"the interval does not lie below the prediction", "the interval lies wholly below the prediction"},
	claim.Unfound: {
		"no event up to the end of the search, and none predicted before it",
		"no event up to the end of the search, where one is predicted",
	},
	claim.Unreached: {"the level is not reached in the run, and is not predicted to be", "the level is not reached in the run, and is predicted to be"},
}
