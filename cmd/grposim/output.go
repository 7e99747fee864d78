package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/google/renameio/v2"

	"grposim/sweeps"
	"grposim/sweeps/report"
)

// printVerdicts prints the verdict table, or verdicts.json.
func printVerdicts(w io.Writer, name string, verdicts []sweeps.Verdict, asJSON bool) error {
	if asJSON {
		data, err := sweeps.VerdictsJSON(name, verdicts)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	if len(verdicts) > 0 {
		rows := [][]string{{"EXPERIMENT", "CLAIM", "CELL", "QUANTITY", "MEASURED", "PREDICTED", "MARGIN", "VERDICT", "CONTROL"}}
		for i := range verdicts {
			rows = append(rows, verdicts[i].Cells())
		}
		if err := printTable(w, rows); err != nil {
			return err
		}
	}
	s := sweeps.Summarize(verdicts)
	_, err := fmt.Fprintf(w, "\n%d agree, %d disagree, %d inconclusive, %d out of scope\n", s.Agree, s.Disagree, s.Inconclusive, s.OutOfScope)
	return err
}

// printTable prints rows with columns aligned by runes.
func printTable(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// verdictExit turns verdicts into the exit code.
func verdictExit(stderr io.Writer, verdicts []sweeps.Verdict) error {
	blind := 0
	for _, v := range verdicts {
		if v.Control != nil && v.Verdict != sweeps.OutOfScope && v.Control.Verdict != sweeps.Disagree {
			blind++
		}
	}
	if blind > 0 {
		fmt.Fprintf(stderr, "grposim: %d controls were not caught: those checks cannot see the fault they plant\n", blind)
	}
	switch s := sweeps.Summarize(verdicts); {
	case s.Disagree > 0:
		return exitError(exitDisagree)
	case s.Inconclusive > 0, len(verdicts) > 0 && s.Agree == 0:
		return exitError(exitInconclusive)
	}
	return nil
}

// writeReport writes figures/*.svg, figures/*.png and report.html of one
// experiment.
func writeReport(dir, title string, e *sweeps.Experiment) error {
	figures := filepath.Join(dir, "figures")
	if err := os.RemoveAll(figures); err != nil { // a check that is gone leaves no picture
		return err
	}
	if err := os.MkdirAll(figures, 0o755); err != nil {
		return err
	}
	svgs := make(map[string][]byte)
	for _, f := range e.Figures {
		svg, png, err := report.Draw(f)
		if err != nil {
			return err
		}
		svgs[e.Plan.Spec.Name+"/"+f.Name] = svg
		if err := errors.Join(
			renameio.WriteFile(filepath.Join(figures, f.Name+".svg"), svg, 0o644),
			renameio.WriteFile(filepath.Join(figures, f.Name+".png"), png, 0o644),
		); err != nil {
			return err
		}
	}
	return writePage(dir, title, []*sweeps.Experiment{e}, svgs)
}

func writePage(dir, title string, experiments []*sweeps.Experiment, svgs map[string][]byte) error {
	page, err := report.Page(title, experiments, svgs)
	if err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(dir, "report.html"), page, 0o644)
}

// writeSummary writes verdicts.json, verdicts.md and report.html over several
// experiments, whose own folders are in dir.
func writeSummary(dir string, experiments []*sweeps.Experiment) error {
	verdicts := allVerdicts(experiments)
	data, err := sweeps.VerdictsJSON(filepath.Base(dir), verdicts)
	if err != nil {
		return err
	}
	svgs := make(map[string][]byte)
	for _, e := range experiments {
		for _, f := range e.Figures {
			svg, err := os.ReadFile(filepath.Join(dir, e.Plan.Spec.Name, "figures", f.Name+".svg"))
			if err != nil {
				return err
			}
			svgs[e.Plan.Spec.Name+"/"+f.Name] = svg
		}
	}
	return errors.Join(
		renameio.WriteFile(filepath.Join(dir, "verdicts.json"), data, 0o644),
		renameio.WriteFile(filepath.Join(dir, "verdicts.md"), sweeps.VerdictsMarkdown(verdicts), 0o644),
		writePage(dir, filepath.Base(dir), experiments, svgs),
	)
}

func allVerdicts(experiments []*sweeps.Experiment) []sweeps.Verdict {
	var all []sweeps.Verdict
	for _, e := range experiments {
		all = append(all, e.Verdicts...)
	}
	return all
}

// checkFolder judges a results folder, or each of those in it.
func checkFolder(dir string) ([]*sweeps.Experiment, error) {
	dirs := []string{dir}
	if !holdsManifest(dir) {
		inside, err := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
		if err != nil {
			return nil, err
		}
		if len(inside) > 0 {
			dirs = nil
			for _, m := range inside {
				dirs = append(dirs, filepath.Dir(m))
			}
		}
	}
	var experiments []*sweeps.Experiment
	for _, d := range dirs {
		e, err := sweeps.JudgeFolder(d)
		if err != nil {
			return nil, err
		}
		e.Command = commandFor(e.Plan)
		experiments = append(experiments, e)
	}
	return experiments, nil
}

func holdsManifest(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "manifest.json"))
	return !errors.Is(err, fs.ErrNotExist)
}

func experimentName(dir string, experiments []*sweeps.Experiment) string {
	if len(experiments) == 1 {
		return experiments[0].Plan.Spec.Name
	}
	return filepath.Base(dir)
}

// commandFor returns the command that makes an experiment, as far as its
// configuration tells: `reproduce` for those built in.
func commandFor(plan *sweeps.Plan) string {
	name := plan.Spec.Name
	if built, err := embeddedPlan(name); err == nil && bytes.Equal(built.Spec.Document(), plan.Spec.Document()) {
		return "grposim reproduce " + name
	}
	return "grposim sweep " + name + ".yaml"
}
