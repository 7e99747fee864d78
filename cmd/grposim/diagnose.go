package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grposim/training/diagnose"
	"grposim/training/findings"
	"grposim/training/logs"
)

func newDiagnose(stdout, stderr io.Writer) *cobra.Command {
	var (
		how   reading
		out   *printer
		modes []string
	)
	c := newCommand("diagnose", cobra.MinimumNArgs(1), func(_ *cobra.Command, args []string) error {
		about, err := asked(modes)
		if err != nil {
			return err
		}
		var found []*runReport
		var problems []error
		for _, path := range args {
			sources, err := how.sources(path)
			if err != nil {
				problems = append(problems, badInput(path, err))
				continue
			}
			for i := range sources {
				found = append(found, sources[i].report())
			}
		}
		if err := errors.Join(problems...); err != nil {
			return err
		}
		for i, r := range found {
			err := out.print(r.object(), func(p *page) {
				if i > 0 {
					p.printf("\n")
				}
				r.print(p)
			})
			if err != nil {
				return err
			}
		}
		return exit(diagnosisCode(found, about))
	})
	out = addJSON(c, stdout, "", "print a JSON object for every run, one on a line")
	addReading(c, &how, &modes)
	return c
}

// addReading adds the flags that say how logs are read and which modes matter.
func addReading(c *cobra.Command, how *reading, modes *[]string) {
	addLogOptions(c, &how.how)
	c.Flags().StringVar(&how.how.TrueReward, "true-reward", "", "`column` that holds the true reward, by its key in the log; by default the first score of evaluation")
	c.Flags().StringSliceVar(modes, "mode", nil, "failure `modes` or kinds of findings that the exit code is about; all by default")
	complete(c, "mode", questions(), cobra.ShellCompDirectiveDefault)
}

// question lists the failure modes and kinds of findings that a user asks about; nil: all.
type question []string

func (q question) asks(name string) bool { return q == nil || slices.Contains(q, name) }

func questions() (names []string) {
	for _, k := range findings.Kinds() {
		names = append(names, string(k))
	}
	for _, m := range diagnose.Failures {
		names = append(names, string(m))
	}
	return names
}

// asked returns what the flag --mode asks about, or a usage error.
func asked(modes []string) (question, error) {
	for _, m := range modes {
		if !slices.Contains(questions(), m) {
			return nil, usageError{fmt.Errorf("--mode: got %q, want one of %s", m, strings.Join(questions(), ", "))}
		}
	}
	return modes, nil
}

// diagnosisCode returns the exit code of diagnoses: 1 if a failure asked about is found in any, or a
// mode that is one or was asked about by name is present, else 3 if one is not observable in any, else 0. That no column shows a
// finding counts only where it is asked about by name.
func diagnosisCode(reports []*runReport, asked question) (code int) {
	for _, r := range reports {
		for _, f := range r.findings {
			if asked.asks(string(f.Kind)) && f.Level == findings.Failure {
				return exitDisagree
			}
		}
		for _, m := range r.modes {
			switch {
			case !asked.asks(string(m.Mode)):
			case m.Finding == diagnose.Present && (m.level == findings.Failure || asked != nil):
				return exitDisagree
			case m.Finding == diagnose.NotObservable:
				code = exitInconclusive
			}
		}
		if asked != nil && slices.ContainsFunc(r.hidden, func(k findings.Kind) bool { return asked.asks(string(k)) }) {
			code = exitInconclusive
		}
	}
	return code
}

type runReport struct {
	*source
	findings []findings.Finding
	hidden   []findings.Kind // those that no column of the log can show
	modes    []modeVerdict
	leading  string // the first failure found, or else the first mode present, or none
	rows     int
	last     int      // step
	notes    []string // those of the source and of this diagnosis
}

// modeVerdict is the verdict on one mode, with the evidence that is about it, and how each series
// that is missing is logged.
type modeVerdict struct {
	diagnose.Verdict
	level    findings.Level // of one that is present
	why      string         // it is a remark: what speaks for the run
	evidence []diagnose.Evidence
	remedies []string
}

// newModeVerdict chooses the evidence that is about the mode of a verdict on a log, nil of a simulated
// run. A mode that does no harm is a remark. Where groups lose their signal in nearly all rows
// the finding no-signal says so.
func newModeVerdict(v diagnose.Verdict, evidence []diagnose.Evidence, l *logs.Log) modeVerdict {
	of := func(e diagnose.Evidence) bool { return e.Of != v.Mode }
	m := modeVerdict{Verdict: v, level: findings.Failure, evidence: slices.DeleteFunc(slices.Clone(evidence), of)}
	sign := func(harms func(e diagnose.Evidence) bool) bool { return slices.ContainsFunc(m.evidence, harms) }
	harm := true
	switch {
	case l == nil || v.Finding != diagnose.Present:
		return m
	case v.Mode == diagnose.DynamicalInstability:
		harm = sign(func(e diagnose.Evidence) bool { return e.Says != diagnose.None && e.Diagnostic == diagnose.Ringing })
	case v.Mode == diagnose.AdvantageDegeneracy:
		m.level = findings.Remark
	case v.Mode == diagnose.PolicyConcentration:
		harm = false
		if !sign(func(e diagnose.Evidence) bool { return e.Says != diagnose.None && e.Value <= lost }) {
			m.level = findings.Remark
		}
	}
	if m.why = findings.Learnt(l); m.why != "" && !harm {
		m.level = findings.Remark
	}
	return m
}

// lost is the share of its entropy below which a policy that does not learn is lost: fewer than
// ⁴√N answers of N are left.
const lost = 0.25

// report diagnoses a run: what its log states, then its modes. These are judged on the rows
// before the first finding from which on no update trains.
func (s *source) report() *runReport {
	trace := s.trace
	r := &runReport{source: s, hidden: findings.Kinds(), notes: slices.Clone(s.notes), rows: len(trace.Steps), last: trace.Steps[len(trace.Steps)-1]}
	if s.log != nil {
		r.findings, r.rows = findings.Of(s.log), len(s.log.Steps)
		r.hidden = slices.DeleteFunc(r.hidden, func(k findings.Kind) bool { return findings.Observable(s.log, k) })
	}
	leading, mode := "", ""
	var stops *findings.Finding // the first after which no row is evidence
	for i, f := range r.findings {
		if f.Level == findings.Failure {
			leading = cmp.Or(leading, string(f.Kind))
		}
		if f.Stops && (stops == nil || f.Since < stops.Since) {
			stops = &r.findings[i]
		}
	}
	if stops != nil {
		if n, _ := slices.BinarySearch(trace.Steps, stops.Since); n > 0 {
			trace = trace.Prefix(n)
			r.notes = append(r.notes, fmt.Sprintf("The failure modes are judged on the %s before step %d: from there on no update trains (%s).", logs.CountWords(n, "row"), stops.Since, stops.Kind))
			stops = nil
		}
	}
	d := diagnose.Name(trace)
	for _, v := range d.Verdicts {
		if because := s.misattributed(v, stops, r.findings); because != "" {
			v = diagnose.Verdict{Mode: v.Mode, Finding: diagnose.NotObservable, Since: -1, Because: because}
		}
		m := newModeVerdict(v, d.Evidence, s.log)
		if v.Finding == diagnose.Present && m.level == findings.Failure {
			mode = cmp.Or(mode, string(v.Mode))
		}
		for _, series := range v.Missing {
			m.remedies = append(m.remedies, fmt.Sprintf("%s: %s", series, remedies[series]))
		}
		r.modes = append(r.modes, m)
	}
	r.leading = cmp.Or(leading, mode, string(diagnose.None))
	return r
}

// object is what diagnose prints of a run as JSON. A diagnostic that was not observed has no
// numbers.
func (r *runReport) object() object {
	found, modes := []object{}, []object{}
	for _, f := range r.findings {
		found = append(found, object{"kind", f.Kind, "level", f.Level, "since_step", f.Since, "text", f.Text}.with("next", f.Next, f.Next != ""))
	}
	for _, m := range r.modes {
		evidence := []object{}
		for _, e := range m.evidence {
			number := func(x float64) any {
				if e.Observable != diagnose.Observed {
					return nil
				}
				return x
			}
			evidence = append(evidence, append(object{"diagnostic", e.Diagnostic, "of", e.Of, "value", number(e.Value), "error", number(e.Error)}.with("side", e.Side, e.Side != ""),
				"threshold", number(e.Threshold), "sign", e.Says != diagnose.None, "observable", e.Observable))
		}
		present := m.Finding == diagnose.Present
		o := object{"mode", m.Mode, "verdict", m.Finding, "evidence", evidence, "since_step", nil}
		if present {
			o[len(o)-1] = m.Since
		}
		o = o.with("level", m.level, present)
		modes = append(modes, o.with("next", m.Mode.Next(), present).with("because", m.Because, m.Because != "").
			with("missing", m.Missing, m.Missing != nil).with("remedies", m.remedies, m.remedies != nil))
	}
	return append(object{"file", r.file}.with("run", r.run, r.run != ""), "about", r.about, "findings", found, "modes", modes, "leading", r.leading,
		"notes", append([]string{}, r.notes...), "rows", r.rows, "last_step", r.last, "findings_not_observable", r.hidden)
}

func evidenceText(e diagnose.Evidence) string {
	text := fmt.Sprintf("%s %.3g", e.Diagnostic, e.Value)
	if e.Error > 0 {
		text += fmt.Sprintf(" ± %.2g", e.Error)
	}
	return text + fmt.Sprintf(" (sign: %s %.3g)", e.Side, e.Threshold)
}

// misattributed says why a verdict would take the effect of a finding for a mode; "" if it
// does not. stops is a finding because of which no update trains in any row, nil if there is
// none. Groups of completions that are all cut have equal rewards for that reason.
func (s *source) misattributed(v diagnose.Verdict, stops *findings.Finding, found []findings.Finding) string {
	switch {
	case s.log != nil && s.log.Other:
		return "it is no log of a run of GRPO"
	case stops != nil:
		return fmt.Sprintf("no update trains the policy in any row (%s)", stops.Kind)
	case v.Mode == diagnose.DynamicalInstability && v.Finding == diagnose.Present && s.log != nil && findings.OneGroup(s.log):
		return "each row is one group, so that reward and entropy are those of its prompt"
	}
	for _, f := range found {
		switch {
		case f.Level != findings.Failure:
		case v.Mode == diagnose.AdvantageDegeneracy && v.Finding == diagnose.Present && f.Kind == findings.Truncation && f.Since <= v.Since:
			return "groups have equal rewards because completions are cut (truncation)"
		case v.Mode == diagnose.DynamicalInstability && v.Finding == diagnose.Absent && f.Kind == findings.RewardCollapse:
			return "the reward falls, as it does where the update is unstable (reward-collapse)"
		}
	}
	return ""
}

// print prints the report.
func (r *runReport) print(p *page) {
	name, logged := logs.Log{File: r.file, Run: r.run}, r.log != nil
	p.printf("%s (%s)\n\n", name.Name(), r.about)
	none := "no findings"
	for _, m := range r.modes {
		said := m.Mode == diagnose.AdvantageDegeneracy && slices.ContainsFunc(r.findings, func(f findings.Finding) bool { return f.Kind == findings.NoSignal })
		if logged && m.Finding == diagnose.Present && (m.level == findings.Remark && !said || string(m.Mode) == r.leading) {
			p.printf("%s: %s since step %d: %s.\n", m.level, m.Mode, m.Since, m.text())
			if m.level == findings.Failure {
				p.printf("  next: %s.\n", m.Mode.Next())
			}
			none = "no other findings"
		}
	}
	for _, f := range r.findings {
		p.printf("%s: %s since step %d: %s.\n", f.Level, f.Kind, f.Since, f.Text)
		if f.Next != "" {
			p.printf("  next: %s.\n", f.Next)
		}
	}
	if len(r.findings) == 0 && logged {
		p.printf("%s: the columns can show %d of %d kinds, and show none\n", none, len(findings.Kinds())-len(r.hidden), len(findings.Kinds()))
	}
	if logged {
		p.printf("\n")
	}
	unobservable := r.unobservable()
	if unobservable != "" {
		p.printf("failure modes of the dynamics: not observable: %s\n", unobservable)
	} else {
		rows := [][]string{{"MODE", "VERDICT", "SINCE", "EVIDENCE"}}
		for _, m := range r.modes {
			since := "–"
			if m.Finding == diagnose.Present {
				since = fmt.Sprint(m.Since)
			}
			rows = append(rows, []string{string(m.Mode), string(m.Finding), since, m.text()})
		}
		p.table(rows)
	}
	p.printf("\nleading: %s%s\n", r.leading, r.whyNone())
	for _, note := range r.notes {
		p.printf("note: %s\n", note)
	}
	if unobservable != "" {
		return
	}
	for _, m := range r.modes {
		for _, remedy := range m.remedies {
			p.printf("to observe %s: %s\n", m.Mode, remedy)
		}
	}
}

// whyNone says what it means that nothing leads; "" if something does.
func (r *runReport) whyNone() string {
	if r.leading != string(diagnose.None) {
		return ""
	}
	var says, hidden []string
	if r.log != nil {
		says = append(says, "no failure is found")
	}
	for _, m := range r.modes {
		if m.Finding == diagnose.NotObservable {
			hidden = append(hidden, string(m.Mode))
		}
	}
	if len(hidden) == len(r.modes) {
		says = append(says, "no mode is observable")
	} else if says = append(says, "no mode does harm"); len(hidden) > 0 {
		says = append(says, "not observable: "+strings.Join(hidden, ", "))
	}
	return " (" + strings.Join(says, "; ") + ")"
}

// unobservable says why none of the modes is observable, if that is for one reason: there are
// fewer rows than any of them needs, or no row is evidence. It is "" otherwise.
func (r *runReport) unobservable() string {
	if slices.ContainsFunc(r.modes, func(m modeVerdict) bool { return m.Finding != diagnose.NotObservable }) {
		return ""
	}
	because := r.modes[0].Because
	if r.rows < firstLook {
		return fmt.Sprintf("the log has %s, and they need %d", logs.CountWords(r.rows, "row"), firstLook)
	}
	if slices.ContainsFunc(r.modes, func(m modeVerdict) bool { return m.Because != because }) {
		return ""
	}
	return because
}

// text lists what was measured, signs first; of a mode that is not observable first why.
func (m *modeVerdict) text() string {
	var signs, others []string
	for _, e := range m.evidence {
		text := evidenceText(e)
		switch {
		case e.Observable != diagnose.Observed:
		case e.Says != diagnose.None:
			signs = append(signs, text)
		case m.Finding != diagnose.Present:
			others = append(others, text)
		}
	}
	if m.Because != "" {
		signs = append([]string{m.Because}, signs...)
	}
	text := strings.Join(append(signs, others...), "; ")
	if m.Finding == diagnose.Present && m.level == findings.Remark {
		text += m.why
	}
	return text
}
