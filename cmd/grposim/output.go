package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grposim/rom/scope"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/report"
	"grposim/sweeps/store"
)

// output says how verdicts are printed: the flags of every command that prints them.
type output struct {
	json  bool
	all   bool
	junit string // file; "": none
}

func addOutput(c *cobra.Command) *output {
	o := new(output)
	c.Flags().BoolVar(&o.json, "json", false, "")
	c.Flags().BoolVar(&o.all, "all", false, "")
	c.Flags().StringVar(&o.junit, "junit", "", "")
	return o
}

// mostRows is the number of verdicts up to which all are printed without --all.
const mostRows = 40

// print prints the verdicts of experiments, and writes the JUnit report. folder is the
// place of the other files. The error is an exitError unless the exit code is 0.
func (o *output) print(stdout, stderr io.Writer, folder string, of []*sweeps.Experiment) error {
	verdicts := allVerdicts(of)
	if o.junit != "" {
		data, err := report.JUnit(of)
		if err != nil {
			return err
		}
		if err := store.WriteFile(o.junit, data); err != nil {
			return err
		}
	}
	p := &page{w: stdout}
	if o.all {
		p.width = anyWidth
	}
	if o.json {
		text := bufio.NewWriter(stdout)
		p.err = errors.Join(judge.WriteJSON(text, nameOf(folder, of), verdicts), text.Flush())
	} else if len(verdicts) == 0 && len(of) == 1 {
		o.printCells(p, folder, of[0])
	} else {
		o.printTables(p, folder, of, verdicts)
	}
	if p.err != nil {
		return p.err
	}
	return verdictExit(stderr, verdicts)
}

// ofSweep prints the verdicts of a sweep in its results folder dir, and where its report is.
func (o *output) ofSweep(stdout, stderr io.Writer, dir string, e *sweeps.Experiment) error {
	say(stderr, "report: %s", filepath.Join(dir, "report.html"))
	return o.print(stdout, stderr, dir, []*sweeps.Experiment{e})
}

// knownColumns returns a table without the columns, the first apart, in which no row after the
// header has a value.
func knownColumns(rows [][]string) [][]string {
	known := make([][]string, len(rows))
	for column := range rows[0] {
		has := func(row []string) bool { return row[column] != "–" }
		if column == 0 || slices.ContainsFunc(rows[1:], has) {
			for i, row := range rows {
				known[i] = append(known[i], row[column])
			}
		}
	}
	return known
}

// printCells prints what was measured in cells without checks, the first ones of many.
func (o *output) printCells(p *page, folder string, e *sweeps.Experiment) {
	var shown []int
	for i := range e.Plan.Cells {
		if i < mostRows || o.all {
			shown = append(shown, i)
		}
	}
	rows, err := e.CellRows(shown)
	if p.err = err; err != nil {
		return
	}
	p.paragraph("", fmt.Sprintf("%s measured. Nothing is judged: the file has no checks.\n",
		config.CountWords(e.Plan.Spec.Size(), "cell")))
	p.table(knownColumns(append([][]string{upper(sweeps.CellColumns)}, rows...)))
	if hidden := e.Plan.Spec.Size() - len(rows); hidden > 0 {
		p.printf("\n%d more cells: see --all, or %s\n", hidden, filepath.Join(folder, "cells.csv"))
	}
}

// printTables prints the answer in words, statements of the paper, verdicts, and what comes of the
// statements. What an answer does not need, as most of many verdicts that agree, is left to --all.
func (o *output) printTables(p *page, folder string, of []*sweeps.Experiment, verdicts []judge.Verdict) {
	for _, says := range judge.Answer(verdicts) {
		p.paragraph("", says)
	}
	s := judge.Summarize(verdicts)
	if s.Exact > 0 && len(of) == 1 { // a refuted formula alone does not say what is true
		p.paragraph("  ", "Claimed: "+of[0].Plan.Spec.Claim)
	}
	p.printf("\n")
	statements := judge.DecidedStatements(verdicts)
	if statements != nil {
		rows := [][]string{upper(judge.StatementColumns)}
		for i := range statements {
			rows = append(rows, statements[i].Cells())
		}
		if !o.all {
			for i, row := range rows {
				rows[i] = []string{row[0], row[2]} // which, and what comes of it
			}
		}
		p.table(rows)
		p.printf("\n")
	}
	shown := verdicts
	if len(verdicts) > mostRows && !o.all {
		agrees := func(v judge.Verdict) bool { return v.Verdict == judge.Agree }
		shown = slices.DeleteFunc(slices.Clone(verdicts), agrees)
	}
	o.printVerdicts(p, shown)
	if hidden := len(verdicts) - len(shown); hidden > 0 {
		p.printf("\n%d more: see --all, or %s\n", hidden, filepath.Join(folder, "verdicts.md"))
	}
	if o.all {
		p.printf("%s; the confidence is that of each file's verdicts together\n%s\n", s.Measurements(), s)
	}
	if statements != nil {
		p.printf("\n")
		p.paragraph("", judge.Split(statements))
	}
}

// printVerdicts prints verdicts as a table: with --all every column, else those of which rows
// differ, and below them one reason of each kind.
func (o *output) printVerdicts(p *page, verdicts []judge.Verdict) {
	if len(verdicts) == 0 {
		return
	}
	if o.all {
		rows := [][]string{upper(judge.VerdictColumns)}
		for i := range verdicts {
			rows = append(rows, verdicts[i].Cells())
		}
		p.table(rows)
		p.printf("\n")
		return
	}
	const experiment, quantity = 0, 3 // columns
	rows, quantities, differ := [][]string{upper(judge.RowColumns)}, make(map[string]string), false
	for i := range verdicts {
		v := &verdicts[i]
		of := v.Experiment + "\n" + v.Claim + "\n" + v.Label
		differ = differ || v.Quantity != cmp.Or(quantities[of], v.Quantity)
		quantities[of] = v.Quantity
		rows = append(rows, v.Row())
	}
	for i, row := range rows {
		if !differ && i > 0 {
			row[quantity] = "–"
		}
		if verdicts[0].Experiment == verdicts[len(verdicts)-1].Experiment {
			rows[i] = row[experiment+1:]
		}
	}
	p.table(knownColumns(rows))
	printReasons(p, verdicts)
}

// printReasons prints one reason of each kind of verdicts that do not agree, and what to do.
func printReasons(p *page, verdicts []judge.Verdict) {
	var all []said
	for i := range verdicts {
		v, says := &verdicts[i], said{}
		if v.Verdict != judge.Agree {
			says = said{string(v.Verdict) + cmp.Or(v.Reason, v.Claim), string(v.Verdict), v.Because}
		}
		for row := range scope.Rows {
			if row.Name() == v.Reason && v.Reason != "of-part" {
				says.text += ". What to do: " + row.Try()
			}
		}
		all = append(all, says)
	}
	p.once(all)
}

// said is a text under a head, of a kind; "": nothing is said.
type said struct{ kind, head, text string }

// once prints the first text of each kind, and how many rows have the kind.
func (p *page) once(all []said) {
	count := make(map[string]int)
	for _, s := range all {
		count[s.kind]++
	}
	for _, s := range all {
		n := count[s.kind]
		if delete(count, s.kind); n == 0 || s.kind == "" {
			continue
		}
		if n > 1 {
			s.head += fmt.Sprintf(" in %d rows, the first", n)
		}
		p.printf("\n")
		p.paragraph("  ", s.head+": "+s.text+".")
	}
}

func upper(words []string) []string {
	return strings.Split(strings.ToUpper(strings.Join(words, "\n")), "\n")
}

// verdictExit returns the exit code of verdicts as an exitError, nil for 0. It warns of
// controls that did not disagree.
func verdictExit(stderr io.Writer, verdicts []judge.Verdict) error {
	s := judge.Summarize(verdicts)
	missed := s.Uncaught()
	if missed > 0 {
		say(stderr, "%d of %d controls do not disagree: those checks could not have failed", missed, s.Planted+s.Exact)
	}
	switch {
	case s.Disagree > 0:
		return exitError(exitDisagree)
	case s.Inconclusive > 0, missed > 0, len(verdicts) > 0 && s.Agree == 0:
		return exitError(exitInconclusive)
	}
	return nil
}

// reporter makes the parts of pages from experiments.
type reporter struct {
	extent  report.Extent
	alone   bool // for a page alone: nothing is written into results folders
	display *progress
}

// part returns the part of a page that the experiment in the results folder dir is. Unless for a
// page alone, it writes figures/*.svg, figures/*.png and report.html into dir, where older figures
// are removed, except maps.
func (r reporter) part(ctx context.Context, dir string, e *sweeps.Experiment) (report.Part, error) {
	part := report.Part{Experiment: e, Extent: r.extent, Command: commandFor(e.Plan.Spec),
		SVGs: make(map[string][]byte)}
	var err error
	figures, size := "", 0
	if !r.alone {
		figures = filepath.Join(dir, "figures")
		if err := removeFigures(figures); err != nil {
			return part, err
		}
	}
	for i, f := range e.Figures {
		r.display.Part(e.Plan.Spec.Name, "drawing", i+1, len(e.Figures))
		svg, err := drawFigure(figures, r.extent.Figure(f))
		if err := errors.Join(err, ctx.Err()); err != nil {
			return part, err
		}
		if r.extent.Fits(len(svg), size) {
			part.SVGs[f.Name] = svg
			size += len(svg)
		}
	}
	if !r.alone {
		err = writePage(filepath.Join(dir, "report.html"), e.Plan.Spec.Name, []report.Part{part})
		part.Folder = filepath.Base(dir)
	}
	return part, err
}

// drawFigure returns a figure as SVG, and writes it into a folder; "": into none.
func drawFigure(folder string, f sweeps.Figure) ([]byte, error) {
	svg, png, err := report.Draw(f)
	if err != nil || folder == "" {
		return svg, err
	}
	file := filepath.Join(folder, f.Name)
	return svg, errors.Join(store.WriteFile(file+".svg", svg), store.WriteFile(file+".png", png))
}

// drawFigures draws figures into a folder, which it makes, and says where they are.
func drawFigures(stderr io.Writer, folder string, figures ...sweeps.Figure) error {
	err := store.MakeFolder(folder, "folder of figures")
	for _, f := range figures {
		if err == nil {
			_, err = drawFigure(folder, f)
		}
		if err != nil {
			return err
		}
		say(stderr, "figure: %s.svg", filepath.Join(folder, f.Name))
	}
	return err
}

// removeFigures removes what grposim drew in a folder of figures: names that are there as SVG and
// as PNG. Maps stay, and all other files. A folder that is missing is made.
func removeFigures(figures string) error {
	made, rest := os.MkdirAll(figures, 0o755), store.RemovePending(figures)
	drawn, unread := os.ReadDir(figures)
	err := cmp.Or(made, rest, unread) // the first says what is wrong
	for _, figure := range drawn {
		name, isFigure := strings.CutSuffix(figure.Name(), ".svg")
		svg, png := filepath.Join(figures, figure.Name()), filepath.Join(figures, name+".png")
		_, none := os.Stat(png)
		if err == nil && isFigure && none == nil && !strings.HasPrefix(name, "map-") {
			err = errors.Join(os.Remove(svg), os.Remove(png))
		}
	}
	return err
}

func writePage(file, name string, parts []report.Part) error {
	heading := headingOf(name, parts)
	write := func(file, layout string) error {
		return store.ReplaceFile(file,
			func(w io.Writer) error { return report.Page(w, layout, heading, parts) })
	}
	if heading.Source == "" || len(parts) == 1 {
		return write(file, "page")
	}
	return errors.Join(write(file, "page"), write(filepath.Join(filepath.Dir(file), "figures.html"), "beside"))
}

// writeSummary writes verdicts.json, verdicts.md and report.html over several
// experiments into dir, which holds their results folders.
func writeSummary(dir string, parts []report.Part) error {
	experiments := config.Each(parts, func(p report.Part) *sweeps.Experiment { return p.Experiment })
	name, verdicts := nameOf(dir, experiments), allVerdicts(experiments)
	json := func(w io.Writer) error { return judge.WriteJSON(w, name, verdicts) }
	markdown := func(w io.Writer) error { return judge.WriteMarkdown(w, verdicts) }
	return errors.Join(
		store.RemovePending(dir),
		store.ReplaceFile(filepath.Join(dir, "verdicts.json"), json),
		store.ReplaceFile(filepath.Join(dir, "verdicts.md"), markdown),
		writePage(filepath.Join(dir, "report.html"), name, parts),
	)
}

func allVerdicts(experiments []*sweeps.Experiment) []judge.Verdict {
	of := func(e *sweeps.Experiment) []judge.Verdict { return e.Verdicts }
	return slices.Concat(config.Each(experiments, of)...)
}

// judgement judges a results folder.
type judgement func(context.Context, string, sweeps.Progress) (*sweeps.Experiment, error)

// checkFolder judges the results folder dir or, if dir is not one, every results folder directly
// inside it. It returns the folders and their experiments.
func checkFolder(ctx context.Context, dir string, display *progress, judge judgement) (
	folders []string, experiments []*sweeps.Experiment, err error,
) {
	// if dir cannot be read, judge returns the error
	if folders = store.FoldersIn(dir); store.HoldsResults(dir) || folders == nil {
		folders = []string{dir}
	}
	for _, d := range folders {
		e, err := judge(ctx, d, display)
		if err != nil {
			return nil, nil, badFolder(d, err)
		}
		experiments = append(experiments, e)
	}
	return folders, experiments, nil
}

// badFolder returns the error of a results folder: if it is none, what it is instead.
func badFolder(dir string, err error) error {
	if store.HoldsResults(dir) {
		return err
	}
	return aFolder.refuse(dir, err)
}

// nameOf returns the name of a single experiment, of the suite if all experiments are of it,
// each once, or else of the folder dir that holds their results folders.
func nameOf(dir string, experiments []*sweeps.Experiment) string {
	if len(experiments) == 1 {
		return experiments[0].Plan.Spec.Name
	}
	suite := suiteOf(experiments[0].Plan.Spec.Name)
	others := experimentNames(suite)
	for _, e := range experiments {
		i := slices.Index(others, e.Plan.Spec.Name)
		if i < 0 {
			if whole, err := filepath.Abs(dir); err == nil {
				dir = whole
			}
			return filepath.Base(dir)
		}
		others = slices.Delete(others, i, i+1)
	}
	return suite
}

// commandFor returns a command that runs the experiment: reproduce or, for a built-in configuration
// of another kind, sweep with its name; else sweep with the file that its page offers.
func commandFor(spec *config.Spec) string {
	built, err := embeddedSpec(config.ToJudge, spec.Name)
	switch {
	case err != nil || !bytes.Equal(built.Document(), spec.Document()):
		return "grposim sweep " + pathWord(report.ConfigFile(spec.Name))
	case suiteOf(spec.Name) == suites[0].Name:
		return "grposim reproduce " + spec.Name
	case suiteOf(spec.Name) != "":
		return "grposim reproduce --suite " + suiteOf(spec.Name) + " " + spec.Name
	}
	return "grposim sweep " + spec.Name
}
