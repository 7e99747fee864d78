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
		asked, err := how.check(modes)
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
			err := out.print(r, func(p *page) {
				if i > 0 {
					p.printf("\n")
				}
				r.print(p)
			})
			if err != nil {
				return err
			}
		}
		return exit(diagnosisCode(found, asked))
	})
	out = addJSON(c, stdout, "", "print a JSON object for every run, one on a line")
	addReading(c, &how, &modes)
	return c
}

// addReading adds the flags that say how logs are read and which modes matter.
func addReading(c *cobra.Command, how *reading, modes *[]string) {
	c.Flags().IntVar(&how.groupSize, "group-size", 0, "group size G, which logs do not hold; the spread of difficulties is fitted only with it")
	addRun(c, &how.how)
	addPercent(c, &how.how)
	c.Flags().StringVar(&how.trueReward, "true-reward", "", "`column` that holds the true reward, by its key in the log; by default the first score of evaluation")
	c.Flags().StringSliceVar(modes, "mode", nil, "failure `modes` or kinds of findings that the exit code is about; all by default")
	complete(c, "mode", questions(), cobra.ShellCompDirectiveDefault)
}

// question lists the failure modes and kinds of findings that a user asks about; nil: all.
type question []string

// asks reports whether the question is about a mode or kind.
func (q question) asks(name string) bool { return q == nil || slices.Contains(q, name) }

// questions lists all that can be asked about, kinds of findings first.
func questions() (names []string) {
	for _, k := range findings.Kinds() {
		names = append(names, string(k))
	}
	for _, m := range diagnose.Failures {
		names = append(names, string(m))
	}
	return names
}

// check returns what is asked about, or a usage error about the flags.
func (r reading) check(modes []string) (question, error) {
	if r.groupSize < 0 || r.groupSize == 1 {
		return nil, usageError{fmt.Errorf("--group-size: got %d, want at least 2", r.groupSize)}
	}
	for _, m := range modes {
		if !slices.Contains(questions(), m) {
			return nil, usageError{fmt.Errorf("--mode: got %q, want one of %s", m, strings.Join(questions(), ", "))}
		}
	}
	return modes, nil
}

// diagnosisCode returns the exit code of diagnoses: 1 if a failure asked about is found or a
// mode present in any, else 3 if one is not observable in any, else 0. That no column shows a
// finding counts only where it is asked about by name.
func diagnosisCode(reports []*runReport, asked question) (code int) {
	for _, r := range reports {
		for _, f := range r.Findings {
			if asked.asks(string(f.Kind)) && f.Level == findings.Failure {
				return exitDisagree
			}
		}
		for _, m := range r.Modes {
			switch {
			case !asked.asks(string(m.Mode)):
			case m.Verdict == diagnose.Present:
				return exitDisagree
			case m.Verdict == diagnose.NotObservable:
				code = exitInconclusive
			}
		}
		if asked != nil && slices.ContainsFunc(r.Hidden, func(k findings.Kind) bool { return asked.asks(string(k)) }) {
			code = exitInconclusive
		}
	}
	return code
}

// runReport is the diagnosis of one run as it is printed.
type runReport struct {
	File     string          `json:"file"`
	Run      string          `json:"run,omitempty"` // its name, where the file or folder names runs
	About    string          `json:"about"`         // container and trainer, rows; or the cell
	Findings []findingReport `json:"findings"`
	Modes    []modeReport    `json:"modes"`
	Leading  string          `json:"leading"` // the first failure found, or else the first mode present, or none
	Paper    paperReport     `json:"paper"`
	Notes    []string        `json:"notes"`
	Rows     int             `json:"rows"`
	Last     int             `json:"last_step"`
	// Hidden lists kinds of findings that no column of the log can show.
	Hidden []findings.Kind `json:"findings_not_observable"`

	logged bool // it is of a log, which has findings
}

// findingReport is one thing that the log states.
type findingReport struct {
	Kind  findings.Kind  `json:"kind"`
	Level findings.Level `json:"level"`
	Since int            `json:"since_step"`
	Text  string         `json:"text"`
	Next  string         `json:"next,omitempty"`
}

// modeReport is the verdict on one mode.
type modeReport struct {
	Mode     diagnose.Mode     `json:"mode"`
	Verdict  diagnose.Finding  `json:"verdict"`
	Evidence []evidenceReport  `json:"evidence"`
	Since    *int              `json:"since_step"`     // nil unless present
	Next     string            `json:"next,omitempty"` // what to do, "" unless present
	Because  string            `json:"because,omitempty"`
	Missing  []diagnose.Series `json:"missing,omitempty"`
	Remedies []string          `json:"remedies,omitempty"` // how each missing series is logged
}

// paperReport is the diagnosis by the paper's diagnostics.
type paperReport struct {
	Leading  diagnose.Mode    `json:"leading"`
	Evidence []evidenceReport `json:"evidence"`
}

// evidenceReport is the result of one diagnostic; numbers are nil if it has none.
type evidenceReport struct {
	Diagnostic string                 `json:"diagnostic"`
	Of         diagnose.Mode          `json:"of"`
	Value      *float64               `json:"value"`
	Error      *float64               `json:"error"`
	Side       diagnose.Side          `json:"side,omitempty"`
	Threshold  *float64               `json:"threshold"`
	Sign       bool                   `json:"sign"`
	Observable diagnose.Observability `json:"observable"`
}

func newEvidenceReport(e diagnose.Evidence) evidenceReport {
	r := evidenceReport{Diagnostic: e.Diagnostic, Of: e.Of, Side: e.Side, Sign: e.Says != diagnose.None, Observable: e.Observable}
	if e.Observable == diagnose.Observed {
		r.Value, r.Error, r.Threshold = &e.Value, &e.Error, &e.Threshold
	}
	return r
}

// text is the result in words: value ± error (sign at least threshold).
func (e evidenceReport) text() string { return e.with(fmt.Sprintf("%.3g", *e.Value)) }

// paperText is that of one of the paper's diagnostics, of values up to a thousand: a trend in
// standard errors is beyond any bound where the rows have no noise about their line.
func (e evidenceReport) paperText() string {
	const most = 1000
	switch {
	case *e.Value > most:
		return e.with(fmt.Sprintf("> %d", most))
	case *e.Value < -most:
		return e.with(fmt.Sprintf("< −%d", most))
	}
	return e.text()
}

// with is the result in words with its value as it is printed.
func (e evidenceReport) with(value string) string {
	text := e.Diagnostic + " " + value
	if *e.Error > 0 {
		text += fmt.Sprintf(" ± %.2g", *e.Error)
	}
	if e.Side == diagnose.Neither {
		return text + fmt.Sprintf(" (still rising from %.3g)", *e.Threshold)
	}
	return text + fmt.Sprintf(" (sign: %s %.3g)", e.Side, *e.Threshold)
}

// report diagnoses a run: what its log states, then its modes. These are judged on the rows
// before the first finding from which on no update trains.
func (s *source) report() *runReport {
	trace := s.trace
	r := &runReport{File: s.file, Run: s.run, About: s.about, Findings: []findingReport{}, Notes: append([]string{}, s.notes...),
		Last: trace.Steps[len(trace.Steps)-1], Rows: len(trace.Steps), Hidden: findings.Kinds()}
	var found []findings.Finding
	if s.log != nil {
		found, r.logged, r.Rows = findings.Of(s.log), true, len(s.log.Steps)
		r.Hidden = slices.DeleteFunc(r.Hidden, func(k findings.Kind) bool { return findings.Observable(s.log, k) })
	}
	leading := ""
	var stops *findings.Finding // the first after which no row is evidence
	for i, f := range found {
		r.Findings = append(r.Findings, findingReport{f.Kind, f.Level, f.Since, f.Text, f.Next})
		if f.Level == findings.Failure {
			leading = cmp.Or(leading, string(f.Kind))
		}
		if f.Stops && (stops == nil || f.Since < stops.Since) {
			stops = &found[i]
		}
	}
	if stops != nil {
		if n, _ := slices.BinarySearch(trace.Steps, stops.Since); n > 0 {
			trace = trace.Prefix(n)
			r.Notes = append(r.Notes, fmt.Sprintf("The failure modes are judged on the %s before step %d: from there on no update trains (%s).", logs.CountWords(n, "row"), stops.Since, stops.Kind))
			stops = nil
		}
	}
	d, paper := diagnose.Name(trace), diagnose.PaperName(trace)
	mode := ""
	for _, v := range d.Verdicts {
		if because := misattributed(v, stops, found); because != "" {
			v = diagnose.Verdict{Mode: v.Mode, Finding: diagnose.NotObservable, Since: -1, Because: because}
		}
		if v.Finding == diagnose.Present {
			mode = cmp.Or(mode, string(v.Mode))
		}
		m := newModeReport(v, d.Evidence)
		for _, series := range v.Missing {
			m.Remedies = append(m.Remedies, fmt.Sprintf("%s: %s", series, s.remedy(series)))
		}
		r.Modes = append(r.Modes, m)
	}
	r.Leading = cmp.Or(leading, mode, string(diagnose.None))
	r.Paper.Leading = paper.Mode
	for _, e := range paper.Evidence {
		r.Paper.Evidence = append(r.Paper.Evidence, newEvidenceReport(e))
	}
	return r
}

// misattributed says why a verdict would take the effect of a finding for a mode; "" if it
// does not. stops is a finding because of which no update trains in any row, nil if there is
// none. Groups of completions that are all cut have equal rewards for that reason.
func misattributed(v diagnose.Verdict, stops *findings.Finding, found []findings.Finding) string {
	if stops != nil {
		return fmt.Sprintf("no update trains the policy in any row (%s)", stops.Kind)
	}
	for _, f := range found {
		if v.Mode == diagnose.AdvantageDegeneracy && v.Finding == diagnose.Present && f.Kind == findings.Truncation && f.Level == findings.Failure && f.Since <= v.Since {
			return "groups have equal rewards because completions are cut (truncation)"
		}
	}
	return ""
}

// newModeReport returns a verdict with the evidence that is about its mode.
func newModeReport(v diagnose.Verdict, evidence []diagnose.Evidence) modeReport {
	m := modeReport{Mode: v.Mode, Verdict: v.Finding, Because: v.Because, Missing: v.Missing, Evidence: []evidenceReport{}}
	if v.Finding == diagnose.Present {
		m.Since, m.Next = &v.Since, v.Mode.Next()
	}
	for _, e := range evidence {
		if e.Of == v.Mode {
			m.Evidence = append(m.Evidence, newEvidenceReport(e))
		}
	}
	return m
}

// print prints the report.
func (r *runReport) print(p *page) {
	name := logs.Log{File: r.File, Run: r.Run}
	p.printf("%s (%s)\n\n", name.Name(), r.About)
	none := "no findings"
	for _, m := range r.Modes {
		if r.logged && string(m.Mode) == r.Leading {
			p.printf("mode: %s since step %d: %s.\n  next: %s.\n", m.Mode, *m.Since, m.text(), m.Next)
			none = "no other findings"
		}
	}
	for _, f := range r.Findings {
		p.printf("%s: %s since step %d: %s.\n", f.Level, f.Kind, f.Since, f.Text)
		if f.Next != "" {
			p.printf("  next: %s.\n", f.Next)
		}
	}
	if len(r.Findings) == 0 && r.logged {
		p.printf("%s: the columns can show %d of %d kinds, and show none\n", none, len(findings.Kinds())-len(r.Hidden), len(findings.Kinds()))
	}
	if r.logged {
		p.printf("\n")
	}
	unobservable := r.unobservable()
	if unobservable != "" {
		p.printf("failure modes of the dynamics: not observable: %s\n", unobservable)
	} else {
		p.table(r.modeRows())
	}
	p.printf("\nleading: %s%s\n", r.Leading, r.whyNone())
	for _, note := range r.Notes {
		p.printf("note: %s\n", note)
	}
	if unobservable != "" {
		return
	}
	for _, m := range r.Modes {
		for _, remedy := range m.Remedies {
			p.printf("to observe %s: %s\n", m.Mode, remedy)
		}
	}
	var signs []string
	for _, e := range r.Paper.Evidence {
		if e.Sign {
			signs = append(signs, e.paperText())
		}
	}
	p.printf("the paper's diagnostics (for comparison, not the verdict of this tool): %s (signs: %s)\n", r.Paper.Leading, cmp.Or(strings.Join(signs, "; "), "none"))
}

// whyNone says what it means that nothing leads; "" if something does.
func (r *runReport) whyNone() string {
	if r.Leading != string(diagnose.None) {
		return ""
	}
	var says, hidden []string
	if r.logged {
		says = append(says, "no failure is found")
	}
	for _, m := range r.Modes {
		if m.Verdict == diagnose.NotObservable {
			hidden = append(hidden, string(m.Mode))
		}
	}
	if len(hidden) == len(r.Modes) {
		says = append(says, "no mode is observable")
	} else if says = append(says, "no mode is present"); len(hidden) > 0 {
		says = append(says, "not observable: "+strings.Join(hidden, ", "))
	}
	return " (" + strings.Join(says, "; ") + ")"
}

// unobservable says why none of the modes is observable, if that is for one reason: there are
// fewer rows than any of them needs, or no row is evidence. It is "" otherwise.
func (r *runReport) unobservable() string {
	if slices.ContainsFunc(r.Modes, func(m modeReport) bool { return m.Verdict != diagnose.NotObservable }) {
		return ""
	}
	because := r.Modes[0].Because
	if r.Rows < firstLook {
		return fmt.Sprintf("the log has %s, and they need %d", logs.CountWords(r.Rows, "row"), firstLook)
	}
	if slices.ContainsFunc(r.Modes, func(m modeReport) bool { return m.Because != because }) {
		return ""
	}
	return because
}

// modeRows returns the table of the modes.
func (r *runReport) modeRows() [][]string {
	rows := [][]string{{"MODE", "VERDICT", "SINCE", "EVIDENCE"}}
	for _, m := range r.Modes {
		since := "–"
		if m.Since != nil {
			since = fmt.Sprint(*m.Since)
		}
		rows = append(rows, []string{string(m.Mode), string(m.Verdict), since, m.text()})
	}
	return rows
}

// text lists what was measured, signs first; of a mode that is not observable first why.
func (m *modeReport) text() string {
	var signs, others []string
	for _, e := range m.Evidence {
		switch {
		case e.Observable != diagnose.Observed:
		case e.Sign:
			signs = append(signs, e.text())
		case m.Verdict != diagnose.Present || e.Side == diagnose.Neither:
			others = append(others, e.text())
		}
	}
	all := append(signs, others...)
	if m.Because != "" {
		all = append([]string{m.Because}, all...)
	}
	return strings.Join(all, "; ")
}
