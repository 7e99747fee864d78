package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps/config"
	"grposim/training/diagnose"
	"grposim/training/findings"
	"grposim/training/logs"
)

func newDiagnose(stdout, stderr io.Writer) *cobra.Command {
	var (
		how   logs.Options
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
			runs, err := sources(path, how)
			if err != nil {
				problems = append(problems, badInput(path, err))
				continue
			}
			for i := range runs {
				found = append(found, runs[i].report(findings.Of(runs[i].log)))
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
func addReading(c *cobra.Command, how *logs.Options, modes *[]string) {
	addLogOptions(c, how)
	c.Flags().StringVar(&how.TrueReward, "true-reward", "", "")
	c.Flags().StringSliceVar(modes, "mode", nil, "")
	complete(c, "mode", questions(), cobra.ShellCompDirectiveDefault)
}

// question lists the failure modes and kinds of findings that a user asks about; nil: all.
type question []string

func (q question) asks(name string) bool { return q == nil || slices.Contains(q, name) }

func questions() []string {
	return config.Each(findings.Table(), func(r findings.Row) string { return string(r.Kind) })
}

// asked returns what the flag --mode asks about, or a usage error.
func asked(modes []string) (question, error) {
	for _, m := range modes {
		if !slices.Contains(questions(), m) {
			return nil, misuse("--mode: got %q, want one of %s", m,
				strings.Join(questions(), ", "))
		}
	}
	return modes, nil
}

// diagnosisCode returns the exit code of diagnoses: 1 if a failure asked about is found in any, or a
// mode is present that was asked about by name, else 3 if a mode is not observable in any, else 0.
// That no column shows another kind counts only where it is asked about by name.
func diagnosisCode(reports []*runReport, asked question) (code int) {
	for _, r := range reports {
		for _, f := range r.findings {
			byName := asked != nil && f.Kind.IsMode()
			if (f.Level == findings.Failure || byName) && asked.asks(string(f.Kind)) {
				return exitDisagree
			}
		}
		hides := func(m findings.Verdict) bool {
			return m.Finding == diagnose.NotObservable && asked.asks(string(m.Mode))
		}
		hidden := func(k findings.Kind) bool { return asked != nil && asked.asks(string(k)) }
		if slices.ContainsFunc(r.modes, hides) || slices.ContainsFunc(r.hidden, hidden) {
			code = exitInconclusive
		}
	}
	return code
}

type runReport struct {
	*source
	findings []findings.Finding // with the modes that are present
	stated   int                // how many of them are no modes
	hidden   []findings.Kind    // those that no column of the log can show
	modes    []findings.Verdict
	leading  string   // the first failure, or none
	notes    []string // those of the source and of this diagnosis
}

// report diagnoses a run: what its log states, then its modes.
func (s *source) report(stated []findings.Finding) *runReport {
	r := &runReport{source: s, stated: len(stated), hidden: findings.Hidden(s.log), leading: "none"}
	r.findings, r.modes, r.notes = findings.Judge(s.log, s.trace, stated)
	r.notes = slices.Concat(s.notes, r.notes)
	if len(r.findings) > 0 && r.findings[0].Level == findings.Failure {
		r.leading = string(r.findings[0].Kind)
	}
	return r
}

// object is what diagnose prints of a run as JSON. A diagnostic that was not observed has no
// numbers.
func (r *runReport) object() object {
	found, modes := []object{}, []object{}
	for _, f := range r.findings {
		if !f.Kind.IsMode() {
			o := object{"kind", f.Kind, "level", f.Level, "since_step", f.Since, "text", f.Text}
			found = append(found, o.with("next", f.Next, f.Next != ""))
		}
	}
	for _, m := range r.modes {
		evidence := []object{}
		for _, e := range m.Evidence {
			o := object{"diagnostic", e.Diagnostic, "of", e.Of, "value", e.Value, "error", e.Error}
			evidence = append(evidence, append(o.with("side", e.Side, e.Side != ""),
				"threshold", e.Threshold, "sign", e.Says != diagnose.None, "observable", e.Observable))
		}
		present := m.Finding == diagnose.Present
		o := object{"mode", m.Mode, "verdict", m.Finding, "evidence", evidence, "since_step", nil}
		if present {
			o[len(o)-1] = m.Since
		}
		o = o.with("level", m.Level, present).with("next", findings.Kind(m.Mode).Next(), present)
		modes = append(modes, o.with("because", m.Because, m.Because != "").
			with("missing", m.Missing, m.Missing != nil).with("remedies", m.Remedies, m.Missing != nil))
	}
	steps, rows := r.trace.Steps, len(r.trace.Steps)
	if r.log != nil { // the trace has steps of evaluation too
		rows = len(r.log.Steps)
	}
	return append(object{"file", r.file}.with("run", r.run, r.run != ""), "about", r.about, "findings", found,
		"modes", modes, "leading", r.leading, "notes", append([]string{}, r.notes...),
		"rows", rows, "last_step", steps[len(steps)-1], "findings_not_observable", r.hidden)
}

// print prints the report: what is found, then what is absent or cannot be seen.
func (r *runReport) print(p *page) {
	name, other := logs.Log{File: r.file, Run: r.run}, ""
	if r.log != nil && r.log.Other != "" {
		other = fmt.Sprintf("This is %s.", r.log.Other)
		p.paragraph("  ", notJudged(name.Name(), r.log))
		p.printf("%s\n\n", r.about)
	} else {
		p.printf("%s (%s)\n%s\n\n", name.Name(), r.about, r.answer())
	}
	say := func(what, text, next string) {
		p.paragraph("  ", what+": "+text+".")
		if next != "" {
			p.paragraph("    ", "  next: "+next+".")
		}
	}
	none := "no findings"
	for _, f := range r.findings {
		say(fmt.Sprintf("%s: %s since step %d", f.Level, f.Kind, f.Since), f.Text, f.Next)
		none = "no other findings"
	}
	unobservable := r.unobservable()
	if kinds := len(findings.Hidden(nil)); r.log != nil && r.stated == 0 && other == "" {
		p.printf("%s: the columns can show %d of %d kinds, and show none\n", none, kinds-len(r.hidden), kinds)
	}
	for _, m := range r.modes {
		if m.Finding != diagnose.Present && unobservable == "" {
			say(strings.ReplaceAll(string(m.Finding), "-", " ")+": "+string(m.Mode), m.Text, strings.Join(m.Remedies, "; "))
		}
	}
	if unobservable != "" && other == "" {
		p.paragraph("  ", "failure modes of the dynamics: not observable: "+unobservable)
	}
	if other == "" {
		p.printf("\n")
	}
	for _, note := range r.notes {
		if note != other {
			p.paragraph("  ", "note: "+note)
		}
	}
}

// notJudged says that a log is of other training.
func notJudged(name string, l *logs.Log) string {
	return fmt.Sprintf("%s: this is %s; it is not judged", name, l.Other)
}

// answer says what leads, or what it means that nothing does.
func (r *runReport) answer() string {
	hidden := config.Count(r.modes,
		func(m findings.Verdict) bool { return m.Finding == diagnose.NotObservable })
	switch {
	case r.leading != string(diagnose.None):
		return "leading: " + r.leading
	case hidden == 0:
		return "no failure is found"
	}
	return fmt.Sprintf("no failure is found; %d of %d failure modes of the dynamics cannot be judged from this log", hidden, len(r.modes))
}

// unobservable says why none of the modes is observable, if that is for one reason; "" otherwise.
func (r *runReport) unobservable() string {
	for _, m := range r.modes {
		if m.Because != r.modes[0].Because {
			return ""
		}
	}
	return r.modes[0].Because
}
