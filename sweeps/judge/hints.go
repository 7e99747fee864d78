package judge

import (
	"slices"

	"grposim/rom/scope"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// AddHints adds to verdicts that are out of scope for neglected terms which single change
// of a parameter, in factors of two, would bring them into scope. Each is a part.
func AddHints(e *claim.Evidence, plan *plan.Plan, verdicts []Verdict, parts func(what string, total int) (part func() (more bool))) {
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
	e.InParallel(len(places), parts("looking for changes that bring verdicts into scope", len(places)), func(e *claim.Evidence, n int) {
		t, i := places[n].task, places[n].finding
		j := judgement{*claim.NewQuestion(t.planned.Check, e)}
		verdicts[t.first+i].Because += j.wouldBeInScope(*t.set, i)
	})
}

// wouldBeInScope returns the changes that bring the i-th finding of a set into scope, in
// words; "" if none does, or if a cell of the set is too large to find out.
func (j *judgement) wouldBeInScope(set plan.CellSet, i int) string {
	var given []config.Settings
	for _, c := range set.Cells {
		given = append(given, c.Settings)
	}
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
