package sweeps

import (
	"fmt"
	"slices"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/rom/scope"
	"grposim/sweeps/config"
)

// hint is a change of one parameter that can bring a prediction into scope: it makes the
// neglected terms, which grow with the noise, smaller.
type hint struct {
	key    string
	change func(s *config.Settings) (value string, possible bool) // by one step
}

// hints are the changes that are tried, each in up to hintSteps steps.
var hints = []hint{
	{config.LearningRateKey, func(s *config.Settings) (string, bool) {
		s.Optimizer.LearningRate /= 2
		return fmt.Sprintf("%.3g", s.Optimizer.LearningRate), true
	}},
	{config.GroupSizeKey, func(s *config.Settings) (string, bool) {
		if s.Estimator.GroupSize == option.Infinite || s.Estimator.GroupSize > largestGroup/2 {
			return "", false
		}
		s.Estimator.GroupSize *= 2
		return fmt.Sprint(s.Estimator.GroupSize), true
	}},
	{"grpo.kl.coefficient", func(s *config.Settings) (string, bool) {
		s.Estimator.KL.Coefficient *= 2
		return fmt.Sprintf("%.3g", s.Estimator.KL.Coefficient), s.Estimator.KL.Coefficient > 0
	}},
	{"run.burn_in", func(s *config.Settings) (string, bool) {
		s.Run.Steps += s.Run.BurnIn
		s.Run.BurnIn *= 2
		return fmt.Sprint(s.Run.BurnIn), s.Run.BurnIn > 0
	}},
}

const (
	hintSteps    = 8
	largestGroup = 1 << 16 // that is tried
)

// addHints adds to verdicts that are out of scope for neglected terms which single change
// of a parameter, in factors of two, would bring them into scope.
func (e *evidence) addHints(plan *Plan, verdicts []Verdict) {
	type place struct {
		task    *task
		finding int
	}
	var places []place
	tasks, _ := plan.tasks()
	for t := range tasks {
		for i := range tasks[t].planned.verdicts(*tasks[t].set) {
			if v := &verdicts[tasks[t].first+i]; v.Verdict == OutOfScope {
				places = append(places, place{&tasks[t], i})
			}
		}
	}
	e.inParallel(len(places), always, func(e *evidence, n int) {
		t, i := places[n].task, places[n].finding
		j := newJudgement(t.planned.Check, plan.IntervalConfidence(), e)
		verdicts[t.first+i].Because += j.wouldBeInScope(*t.set, i)
	})
}

// maxHinted is the largest number of arms times stored snapshots of a cell for which hints are looked
// for: a prediction of more takes a second.
const maxHinted = 100

// wouldBeInScope returns the changes that bring the i-th finding of a set into scope, in
// words; "" if none does, or if a cell of the set is too large to find out.
func (j *judgement) wouldBeInScope(set CellSet, i int) string {
	for _, c := range set.Cells {
		if s := &c.Settings; len(s.Bandit.Arms)*grpo.StoredPolicies(&s.Lag, s.Run.Steps) > maxHinted {
			return ""
		}
	}
	if f := j.find(set)[i]; !f.predicted.Judged(j.margin(f.predicted.Value)).Is(scope.TooMuchNeglected, scope.UnknownSize, scope.OtherAttractor) {
		return ""
	}
	var found []string
	for _, h := range hints {
		changed := set
		changed.Cells = nil
		for _, c := range set.Cells {
			copied := *c
			changed.Cells = append(changed.Cells, &copied)
		}
		for range hintSteps {
			var values []string
			possible := true
			for _, c := range changed.Cells {
				value, ok := h.change(&c.Settings)
				possible = possible && ok
				if !slices.Contains(values, value) {
					values = append(values, value)
				}
			}
			if !possible {
				break
			}
			if j.rule(Verdict{}, j.find(changed)[i]).Verdict != OutOfScope {
				found = append(found, h.key+" = "+strings.Join(values, ", "))
				break
			}
		}
	}
	if found == nil {
		return ""
	}
	return "; in scope with " + strings.Join(found, " or ")
}
