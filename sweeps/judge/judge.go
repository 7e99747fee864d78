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

	"grposim/rom/scope"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Verdicts compares the evidence about a plan's cells with the predictions of the theory. It needs
// the outcome of every cell, and returns one verdict per quantity and set of cells, in the order of
// the checks.
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
	row := Verdict{Experiment: experiment, Variant: set.Cells[0].Variant, Claim: check.Claim.Name,
		Cell: set.Name, Label: set.Label, Expect: check.Expect, Check: index, About: check.About,
		Sampled: set.Sampled(), Members: set.Members()}
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
		v.Hypothesis.Predicted, v.Hypothesis.Neglected = store.Number(math.NaN()),
			store.Number(math.NaN())
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
	ruling := map[Ruling]string{Agree: "holds", Disagree: "is refuted",
		Inconclusive: "is undecided"}[v.Verdict]
	v.Because = fmt.Sprintf("%s %s: %s %s; %s", f.Quantity, v.measured(), claim, ruling, says)
	return v
}

// AddHints adds to verdicts that are out of scope for neglected terms which single change
// of a parameter, in factors of two, would bring them into scope. Each is a part.
func AddHints(e *claim.Evidence, plan *plan.Plan, verdicts []Verdict,
	parts func(what string, total int) (part func() (more bool))) {
	type place struct {
		task    *task
		finding int
	}
	var places []place
	tasks, _ := tasksOf(plan)
	for t := range tasks {
		for i := range claim.VerdictsOn(tasks[t].planned.Check, *tasks[t].set) {
			if v := &verdicts[tasks[t].first+i]; v.Verdict == OutOfScope {
				places = append(places, place{&tasks[t], i})
			}
		}
	}
	e.InParallel(len(places), parts("looking for changes that bring verdicts into scope", len(places)),
		func(e *claim.Evidence, n int) {
			t, i := places[n].task, places[n].finding
			j := judgement{*claim.NewQuestion(t.planned.Check, e)}
			verdicts[t.first+i].Because += j.wouldBeInScope(*t.set, i)
		})
}

// wouldBeInScope returns the changes that bring the i-th finding of a set into scope, in
// words; "" if none does, or if a cell of the set is too large to find out.
func (j *judgement) wouldBeInScope(set plan.CellSet, i int) string {
	given := config.Each(set.Cells, func(c *plan.Cell) config.Settings { return c.Settings })
	cures := theory.WayCures
	if slices.Contains(j.Check.Claim.Needs, config.NeedsBurnIn) {
		cures = theory.Cures
	}
	return cures(given, func(changed []config.Settings) scope.Reason {
		of := set
		of.Cells = nil
		for n, c := range set.Cells {
			cell := *c
			cell.Settings = changed[n]
			of.Cells = append(of.Cells, &cell)
		}
		return j.scope(&j.Find(of)[i])
	})
}
