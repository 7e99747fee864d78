package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"grposim/training/change"
	"grposim/training/diagnose"
	"grposim/training/logs"
)

// Verdict is that on a failure mode, with the evidence about it.
type Verdict struct {
	diagnose.Verdict
	Level    Level  // of one that is present
	Text     string // what was measured, signs first; of a mode that is not observable first why
	Evidence []diagnose.Evidence
}

// LeastRows is the number of rows that modes need: fewer have no verdict.
const LeastRows = 16

// Judge returns the verdicts on the failure modes of a run, and all that is found. Failures come
// first, and what the log states before modes. The log of a simulated run is nil. Modes are judged
// on the rows before the first from which no update trains; a note says so.
func Judge(l *logs.Log, trace diagnose.Trace, stated []Finding) (all []Finding, verdicts []Verdict, notes []string) {
	because, short := "", "" // no row is evidence; there are too few
	stops, found := Lost(stated)
	n, _ := slices.BinarySearch(trace.Steps, stops.Since)
	switch {
	case l != nil && l.Other != "":
		because = "it is no log of a run of GRPO"
	case l != nil && len(l.Steps) < LeastRows:
		short = fmt.Sprintf("the log has %s, and they need %d", logs.CountWords(len(l.Steps), "row"), LeastRows)
	case found && n == 0:
		because = fmt.Sprintf("no update trains the policy in any row (%s)", stops.Kind)
	case found:
		trace = trace.Prefix(n)
		notes = append(notes, fmt.Sprintf("The failure modes are judged on the %s before step %d: "+
			"from there on no update trains (%s).", logs.CountWords(n, "row"), stops.Since, stops.Kind))
	}
	d := diagnose.Name(trace)
	all = slices.Clone(stated)
	for _, v := range d.Verdicts {
		if effect := cmp.Or(because, misattributed(l, v, stated)); effect != "" {
			v = diagnose.Verdict{Mode: v.Mode, Finding: diagnose.NotObservable, Since: -1, Because: effect}
		}
		if short != "" && v.Finding == diagnose.NotObservable {
			v.Because = short
		}
		verdict := Verdict{Verdict: v, Evidence: slices.DeleteFunc(slices.Clone(d.Evidence),
			func(e diagnose.Evidence) bool { return e.Of != v.Mode })}
		verdict.weigh(l)
		verdicts = append(verdicts, verdict)
		if v.Finding == diagnose.Present {
			f := Finding{Kind: Kind(v.Mode), Level: verdict.Level, Since: v.Since, Text: verdict.Text}
			if f.Level == Failure {
				f.Next = f.Kind.Next()
			}
			all = append(all, f)
		}
	}
	// Failures come before remarks in the alphabet too.
	slices.SortStableFunc(all, func(x, y Finding) int { return cmp.Compare(x.Level, y.Level) })
	return all, verdicts, notes
}

// Lost returns the first finding from which on no update trains, which stands before others.
func Lost(stated []Finding) (first Finding, found bool) {
	if i := slices.IndexFunc(stated, func(f Finding) bool { return f.Stops }); i >= 0 {
		return stated[i], true
	}
	return first, false
}

// Crashed returns what Lost does, or else a reward that has collapsed, since it began to fall.
func Crashed(stated []Finding) (first Finding, found bool) {
	first, found = Lost(stated)
	for _, f := range stated {
		if !found && f.Kind == RewardCollapse && f.Level == Failure {
			first, found = f, true
			first.Since = f.begins
		}
	}
	return first, found
}

// misattributed says why a verdict would take the effect of a finding for a mode; "" if it does not.
func misattributed(l *logs.Log, v diagnose.Verdict, stated []Finding) string {
	present := v.Finding == diagnose.Present
	if v.Mode == diagnose.DynamicalInstability && present && l != nil && oneGroup(l) {
		return "each row is one group, so that reward and entropy are those of its prompt"
	}
	for _, f := range stated {
		switch {
		case f.Level != Failure:
		case v.Mode == diagnose.AdvantageDegeneracy && present && f.Kind == Truncation && f.Since <= v.Since:
			return "groups have equal rewards because completions are cut (truncation)"
		case v.Mode == diagnose.DynamicalInstability && v.Finding == diagnose.Absent && f.Kind == RewardCollapse:
			return "the reward falls, as it does where the update is unstable (reward-collapse)"
		}
	}
	return ""
}

// lost is the share of its entropy at which a policy that does not learn is lost: at most ⁴√N
// answers of N are left. The last half of the rows or the last eight of them have it.
const lost = 0.25

// weigh sets level and text. In a log a mode that does no harm is a remark. Where groups lose their
// signal in nearly all rows the finding no-signal says so.
func (v *Verdict) weigh(l *logs.Log) {
	var signs, others []string
	rings, isLost := false, false
	for _, e := range v.Evidence {
		switch says := e.Says != diagnose.None; {
		case e.Observable != diagnose.Observed:
		case says:
			signs = append(signs, evidenceText(e))
			rings = rings || e.Diagnostic == diagnose.Ringing
			isLost = isLost || e.Value <= lost
		case v.Finding != diagnose.Present:
			others = append(others, evidenceText(e))
		}
	}
	if v.Because != "" {
		signs = append([]string{v.Because}, signs...)
	}
	v.Text = strings.Join(append(signs, others...), "; ")
	if v.Level = Failure; l == nil || v.Finding != diagnose.Present {
		return
	}
	learnt, remark := Learnt(l), false
	switch v.Mode {
	case diagnose.DynamicalInstability:
		remark = learnt != "" && !rings
	case diagnose.AdvantageDegeneracy:
		remark = true
	case diagnose.PolicyConcentration:
		// A reward that may rise is no sign of a policy that is lost.
		reward := read(l, anything, logs.Reward)
		if learnt == "" && reward.rose(2.5, 0) {
			learnt = "; the reward may rise meanwhile: " + reward.ends()
		}
		// The last quarter of the rows, at least eight, says whether the reward has risen.
		h, few := read(l, notBelow0, logs.Entropy).values, len(reward.values) < 4*leastExcess
		if len(h) > leastExcess {
			left := change.Mean(h[len(h)-leastExcess:]) / change.Mean(h[:len(h)/10+1])
			isLost = isLost || left <= lost
		}
		remark = learnt != "" || !isLost || few
	}
	if remark {
		v.Level, v.Text = Remark, v.Text+learnt
	}
}

func evidenceText(e diagnose.Evidence) string {
	text := fmt.Sprintf("%s %.3g", e.Diagnostic, e.Value)
	if e.Error > 0 {
		text += fmt.Sprintf(" ± %.2g", e.Error)
	}
	return text + fmt.Sprintf(" (sign: %s %.3g)", e.Side, e.Threshold)
}
