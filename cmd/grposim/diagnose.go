package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grposim/training/diagnose"
	"grposim/training/logs"
)

func newDiagnose(stdout, stderr io.Writer) *cobra.Command {
	var (
		how    reading
		asJSON bool
		modes  []string
	)
	c := &cobra.Command{
		Use:   "diagnose LOG…",
		Short: "Say which failure modes the log of a training run shows",
		Long: `Reads logs of training runs and says of each of four failure modes whether the run
shows it, with the numbers, their thresholds, and the step since which the sign is there:

  dynamical-instability  the update itself oscillates or diverges: the reward rings or
                         loses most of its rise, the entropy swings, the policy is far
                         from the one that drew the samples, the gradient norm grows
                         while the reward does not rise faster
  reward-hacking         the training reward rises and a score of evaluation does not
                         follow; cannot be seen in the training reward alone
  advantage-degeneracy   most groups have equal rewards and so no advantages, more than
                         the spread of difficulties explains or after the rise has ended
  policy-concentration   the policy has lost half of its entropy or more

A mode is present, absent, or not observable: a column is missing, the run is too short,
or the noise hides it. What is missing is named with the option that logs it. The leading
mode is the first one present, in the order above, because each can cause the signs of
those below. The diagnostics of arXiv:2606.30789 are computed too, with thresholds of this
project.

LOG is a log of one of the trainers of docs/logs.md: TensorBoard event files, a
trainer_state.json, JSON lines, CSV, exports and run files of W&B, Parquet, metrics of
MLflow, console output or a pasted table, gzipped or not; a folder with them; or - for standard
input. A CSV with columns named as in docs/logs.md will do. Of a log with several runs each
is diagnosed, or the one that --run names. LOG may also be a results folder of grposim, of
which every cell is diagnosed.

Exit codes, the first that applies: 2 the command line is wrong or a LOG cannot be
understood; 4 a file cannot be read; 1 a mode is present; 3 none is present and some mode is not observable;
0 all are absent. Stock logs lack a column for some mode, so that 3 is their usual
answer; --mode asks about some modes only.`,
		Example: `  grposim diagnose log.jsonl --group-size 8
  grposim diagnose log.jsonl --json --mode advantage-degeneracy,policy-concentration
  grposim sweep configs/smoke.yaml
  grposim diagnose results/local/smoke --mode policy-concentration`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			asked, err := how.check(modes)
			if err != nil {
				return err
			}
			var found []*runReport
			var problems []error
			for _, path := range args {
				sources, err := how.sources(path)
				if err != nil {
					problems = append(problems, badInput(err))
					continue
				}
				for i := range sources {
					found = append(found, sources[i].report())
				}
			}
			if err := errors.Join(problems...); err != nil {
				return err
			}
			encoder := json.NewEncoder(stdout)
			for i, r := range found {
				if asJSON {
					err = encoder.Encode(r)
				} else {
					err = r.print(stdout, i > 0)
				}
				if err != nil {
					return err
				}
			}
			return diagnosisExit(found, asked)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for every run, one on a line")
	addReading(c, &how, &modes)
	return c
}

// addReading adds the flags that say how logs are read and which modes matter.
func addReading(c *cobra.Command, how *reading, modes *[]string) {
	c.Flags().IntVar(&how.groupSize, "group-size", 0, "group size G, which logs do not hold; the spread of difficulties is fitted only with it")
	addRun(c, &how.how)
	addPercent(c, &how.how)
	c.Flags().StringVar(&how.trueReward, "true-reward", "", "`column` that holds the true reward, by its key in the log; by default the first score of evaluation")
	c.Flags().StringSliceVar(modes, "mode", nil, "failure `modes` that the exit code is about; all by default")
	var names []string
	for _, m := range diagnose.Failures {
		names = append(names, string(m))
	}
	if err := c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is defined above, once
	}
}

// check returns the modes asked about, or a usage error about the flags.
func (r reading) check(modes []string) ([]diagnose.Mode, error) {
	if r.groupSize < 0 || r.groupSize == 1 {
		return nil, usageError{fmt.Errorf("--group-size: got %d, want at least 2", r.groupSize)}
	}
	if len(modes) == 0 {
		return diagnose.Failures, nil
	}
	var asked []diagnose.Mode
	for _, m := range modes {
		if !slices.Contains(diagnose.Failures, diagnose.Mode(m)) {
			return nil, usageError{fmt.Errorf("--mode: got %q, want one of %v", m, diagnose.Failures)}
		}
		asked = append(asked, diagnose.Mode(m))
	}
	return asked, nil
}

// diagnosisExit returns the exit code of diagnoses as an error: 1 if a mode asked about is
// present in any, else 3 if one is not observable in any, else nil.
func diagnosisExit(reports []*runReport, asked []diagnose.Mode) error {
	code := 0
	for _, r := range reports {
		for _, m := range r.Modes {
			switch {
			case !slices.Contains(asked, m.Mode):
			case m.Verdict == diagnose.Present:
				code = exitDisagree
			case m.Verdict == diagnose.NotObservable && code == 0:
				code = exitInconclusive
			}
		}
	}
	if code == 0 {
		return nil
	}
	return exitError(code)
}

// runReport is the diagnosis of one run as it is printed.
type runReport struct {
	File    string        `json:"file"`
	Run     string        `json:"run,omitempty"` // its name, where the file or folder names runs
	About   string        `json:"about"`         // container and trainer, rows; or the cell
	Modes   []modeReport  `json:"modes"`
	Leading diagnose.Mode `json:"leading"`
	Paper   paperReport   `json:"paper"`
	Notes   []string      `json:"notes"`

	last int // the last step
}

// modeReport is the verdict on one mode.
type modeReport struct {
	Mode     diagnose.Mode     `json:"mode"`
	Verdict  diagnose.Finding  `json:"verdict"`
	Evidence []evidenceReport  `json:"evidence"`
	Since    *int              `json:"since_step"` // nil unless present
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
func (e evidenceReport) text() string {
	text := fmt.Sprintf("%s %.3g", e.Diagnostic, *e.Value)
	if *e.Error > 0 {
		text += fmt.Sprintf(" ± %.2g", *e.Error)
	}
	if e.Side == diagnose.Neither {
		return text + fmt.Sprintf(" (still rising from %.3g)", *e.Threshold)
	}
	return text + fmt.Sprintf(" (sign: %s %.3g)", e.Side, *e.Threshold)
}

// report diagnoses a run.
func (s *source) report() *runReport {
	d, paper := diagnose.Name(s.trace), diagnose.PaperName(s.trace)
	r := &runReport{File: s.file, Run: s.run, About: s.about, Leading: d.Mode, Notes: append([]string{}, s.notes...), last: s.trace.Steps[len(s.trace.Steps)-1]}
	for _, v := range d.Verdicts {
		m := newModeReport(v, d.Evidence)
		for _, series := range v.Missing {
			m.Remedies = append(m.Remedies, fmt.Sprintf("%s: %s", series, s.remedy(series)))
		}
		r.Modes = append(r.Modes, m)
	}
	r.Paper.Leading = paper.Mode
	for _, e := range paper.Evidence {
		r.Paper.Evidence = append(r.Paper.Evidence, newEvidenceReport(e))
	}
	return r
}

// newModeReport returns a verdict with the evidence that is about its mode.
func newModeReport(v diagnose.Verdict, evidence []diagnose.Evidence) modeReport {
	m := modeReport{Mode: v.Mode, Verdict: v.Finding, Because: v.Because, Missing: v.Missing, Evidence: []evidenceReport{}}
	if v.Finding == diagnose.Present {
		m.Since = &v.Since
	}
	for _, e := range evidence {
		if e.Of == v.Mode {
			m.Evidence = append(m.Evidence, newEvidenceReport(e))
		}
	}
	return m
}

// print prints the report, after an empty line if another one came before.
func (r *runReport) print(w io.Writer, again bool) error {
	if again {
		fmt.Fprintln(w)
	}
	name := logs.Log{File: r.File, Run: r.Run}
	fmt.Fprintf(w, "%s (%s)\n\n", name.Name(), r.About)
	rows := [][]string{{"MODE", "VERDICT", "SINCE", "EVIDENCE"}}
	for _, m := range r.Modes {
		since := "–"
		if m.Since != nil {
			since = fmt.Sprint(*m.Since)
		}
		rows = append(rows, []string{string(m.Mode), string(m.Verdict), since, m.text()})
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nleading: %s\n", r.Leading)
	for _, m := range r.Modes {
		for _, remedy := range m.Remedies {
			fmt.Fprintf(w, "to observe %s: %s\n", m.Mode, remedy)
		}
	}
	var paper []string
	for _, e := range r.Paper.Evidence {
		if e.Sign {
			paper = append(paper, e.text())
		}
	}
	fmt.Fprintf(w, "the paper's diagnostics: %s (signs: %s)\n", r.Paper.Leading, cmp.Or(strings.Join(paper, "; "), "none"))
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	return nil
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
