package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
func (o *output) print(stdout, stderr io.Writer, folder string, experiments []*sweeps.Experiment) error {
	verdicts := allVerdicts(experiments)
	if o.junit != "" {
		data, err := report.JUnit(verdicts)
		if err != nil {
			return err
		}
		if err := store.WriteFile(o.junit, data); err != nil {
			return err
		}
	}
	p := &page{w: stdout}
	if o.json {
		text := bufio.NewWriter(stdout)
		p.err = errors.Join(judge.WriteJSON(text, nameOf(folder, experiments), verdicts), text.Flush())
	} else if len(verdicts) == 0 && len(experiments) == 1 {
		o.printCells(p, folder, experiments[0])
	} else {
		o.printTables(p, folder, verdicts)
	}
	if p.err != nil {
		return p.err
	}
	return verdictExit(stderr, verdicts)
}

// knownColumns returns a table without the columns, the first apart, in which no row after the
// header has a value.
func knownColumns(rows [][]string) [][]string {
	known := make([][]string, len(rows))
	for column := range rows[0] {
		if column == 0 || slices.ContainsFunc(rows[1:], func(row []string) bool { return row[column] != "–" }) {
			for i, row := range rows {
				known[i] = append(known[i], row[column])
			}
		}
	}
	return known
}

// printCells prints what was measured in the cells of an experiment without checks, the
// first ones of many.
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
	p.table(knownColumns(append([][]string{upper(sweeps.CellColumns)}, rows...)))
	if hidden := e.Plan.Spec.Size() - len(rows); hidden > 0 {
		p.printf("\n%d more cells are not shown: see --all, or %s\n", hidden, filepath.Join(folder, "cells.csv"))
	}
}

// printTables prints the statements of the paper that the verdicts decide, a table of
// verdicts, and the counts of statements, measurements and verdicts. Of many verdicts it
// prints the counts by experiment, and the rows that do not agree.
func (o *output) printTables(p *page, folder string, verdicts []judge.Verdict) {
	statements := judge.DecidedStatements(verdicts)
	if statements != nil {
		rows := [][]string{upper(judge.StatementColumns)}
		for i := range statements {
			rows = append(rows, statements[i].Cells())
		}
		p.table(rows)
		p.printf("\n")
	}
	shown := verdicts
	if len(verdicts) > mostRows && !o.all {
		p.table(countRows(verdicts))
		p.printf("\n")
		shown = slices.DeleteFunc(slices.Clone(verdicts), func(v judge.Verdict) bool { return v.Verdict == judge.Agree })
	}
	rows := [][]string{upper(judge.VerdictColumns)}
	for i := range shown {
		rows = append(rows, shown[i].Cells())
	}
	p.table(rows)
	s := judge.Summarize(verdicts)
	p.printf("\n")
	if hidden := len(verdicts) - len(shown); hidden > 0 {
		p.printf("%d verdicts that agree are not shown: see --all, or %s\n", hidden, filepath.Join(folder, "verdicts.md"))
	}
	if statements != nil {
		p.printf("%s\n", judge.Headline(statements))
	}
	if len(verdicts) > 0 {
		p.printf("%s; the confidence is that of each file's verdicts together\n", s.Measurements())
	}
	p.printf("%s\n", s)
}

// countRows returns the number of verdicts of each experiment by ruling.
func countRows(verdicts []judge.Verdict) [][]string {
	rows := [][]string{{"EXPERIMENT", "AGREE", "DISAGREE", "INCONCLUSIVE", "OUT OF SCOPE", "CONTROLS CAUGHT"}}
	for begin, end := 0, 1; end <= len(verdicts); end++ {
		name := verdicts[begin].Experiment
		if end < len(verdicts) && verdicts[end].Experiment == name {
			continue
		}
		s := judge.Summarize(verdicts[begin:end])
		rows = append(rows, []string{name, fmt.Sprint(s.Agree), fmt.Sprint(s.Disagree), fmt.Sprint(s.Inconclusive), fmt.Sprint(s.OutOfScope),
			fmt.Sprintf("%d of %d", s.Planted+s.Exact-s.Uncaught(), s.Planted+s.Exact)})
		begin = end
	}
	return rows
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
		printLines(stderr, fmt.Sprintf("%d of %d controls do not disagree: those checks could not have failed", missed, s.Planted+s.Exact))
	}
	switch {
	case s.Disagree > 0:
		return exitError(exitDisagree)
	case s.Inconclusive > 0, missed > 0, len(verdicts) > 0 && s.Agree == 0:
		return exitError(exitInconclusive)
	}
	return nil
}

// writeReport writes figures/*.svg, figures/*.png and report.html of one experiment
// into its results folder dir. Older figures are removed, except maps with a table. It
// returns the part that the experiment is on a page beside the folder.
func writeReport(ctx context.Context, dir string, e *sweeps.Experiment, extent report.Extent, display *progress) (report.Part, error) {
	figures := filepath.Join(dir, "figures")
	err := os.MkdirAll(figures, 0o755)
	if err == nil {
		err = removeFigures(dir, figures)
	}
	if err != nil {
		return report.Part{}, err
	}
	part, err := drawPart(ctx, dir, e, extent, display, figures)
	if err != nil {
		return part, err
	}
	err = writePage(filepath.Join(dir, "report.html"), e.Plan.Spec.Name, []report.Part{part})
	part.Folder = filepath.Base(dir)
	return part, err
}

func writeFigure(folder, name string, svg, png []byte) error {
	return errors.Join(store.WriteFile(filepath.Join(folder, name+".svg"), svg), store.WriteFile(filepath.Join(folder, name+".png"), png))
}

// drawFigures draws figures into a folder, which it makes, and says where they are.
func drawFigures(stderr io.Writer, folder string, figures ...sweeps.Figure) error {
	if err := store.MakeFolder(folder, "folder of figures"); err != nil {
		return err
	}
	for _, f := range figures {
		svg, png, err := report.Draw(f)
		if err != nil {
			return err
		}
		if err := writeFigure(folder, f.Name, svg, png); err != nil {
			return err
		}
		printLines(stderr, "figure: "+filepath.Join(folder, f.Name)+".svg")
	}
	return nil
}

// drawPart draws the figures of the results folder dir into a folder, "": into none, and returns
// the part that the experiment is on a page inside the results folder.
func drawPart(ctx context.Context, dir string, e *sweeps.Experiment, extent report.Extent, display *progress, into string) (report.Part, error) {
	part := report.Part{Experiment: e, Extent: extent, Command: commandFor(e.Plan.Spec), SVGs: make(map[string][]byte), Tables: make(map[string]string)}
	manifest, err := store.ReadManifest(dir)
	if err != nil {
		return part, err
	}
	part.Run = manifest.Run
	size := 0
	for i, f := range e.Figures {
		display.Part(e.Plan.Spec.Name, "drawing", i+1, len(e.Figures))
		svg, png, err := report.Draw(extent.Figure(f))
		if err != nil {
			return part, err
		}
		if extent.Fits(len(svg), size) {
			part.SVGs[f.Name], part.Tables[f.Name] = svg, tableOf(f.Name, dir, e)
			size += len(svg)
		}
		if into != "" {
			err = writeFigure(into, f.Name, svg, png)
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return part, err
		}
	}
	return part, nil
}

// tableOf returns the name of the file in a results folder dir in which the map command has
// written the numbers of a figure, if all of its cells are those of the experiment; else "".
func tableOf(figure, dir string, e *sweeps.Experiment) (name string) {
	tables, _ := filepath.Glob(filepath.Join(dir, "map-*.csv")) // the pattern is valid
	for _, path := range tables {
		file := filepath.Base(path)
		if strings.HasPrefix(figure, strings.TrimSuffix(file, ".csv")) && len(file) > len(name) && e.HasCellsOf(path) {
			name = file
		}
	}
	return name
}

// removeFigures removes the figures of a results folder dir: what is there as SVG and as
// PNG, as grposim draws, except what the map command drew, whose names begin with that of a
// table of a map in the folder. Other files are not grposim's.
func removeFigures(dir, figures string) error {
	files, err := os.ReadDir(dir)
	drawn, unread := os.ReadDir(figures)
	err = errors.Join(err, unread, store.RemovePending(figures))
	for _, figure := range drawn {
		name, isFigure := strings.CutSuffix(figure.Name(), ".svg")
		mapped := func(file os.DirEntry) bool {
			table, isTable := strings.CutSuffix(file.Name(), ".csv")
			return isTable && strings.HasPrefix(table, "map-") && strings.HasPrefix(name, table)
		}
		svg, png := filepath.Join(figures, figure.Name()), filepath.Join(figures, name+".png")
		if _, none := os.Stat(png); err == nil && isFigure && none == nil && !slices.ContainsFunc(files, mapped) {
			err = errors.Join(os.Remove(svg), os.Remove(png))
		}
	}
	return err
}

func writePage(file, name string, parts []report.Part) error {
	return store.ReplaceFile(file, func(w io.Writer) error { return report.Page(w, headingOf(name, parts), parts) })
}

// writeSummary writes verdicts.json, verdicts.md and report.html over several
// experiments into dir, which holds their results folders.
func writeSummary(dir string, parts []report.Part) error {
	var experiments []*sweeps.Experiment
	for _, part := range parts {
		experiments = append(experiments, part.Experiment)
	}
	name, verdicts := nameOf(dir, experiments), allVerdicts(experiments)
	return errors.Join(
		store.RemovePending(dir),
		store.ReplaceFile(filepath.Join(dir, "verdicts.json"), func(w io.Writer) error { return judge.WriteJSON(w, name, verdicts) }),
		store.ReplaceFile(filepath.Join(dir, "verdicts.md"), func(w io.Writer) error { return judge.WriteMarkdown(w, verdicts) }),
		writePage(filepath.Join(dir, "report.html"), name, parts),
	)
}

func allVerdicts(experiments []*sweeps.Experiment) []judge.Verdict {
	var all []judge.Verdict
	for _, e := range experiments {
		all = append(all, e.Verdicts...)
	}
	return all
}

// checkFolder judges, by the function judge, the results folder dir or, if dir is not one, every
// results folder directly inside it. It returns the folders and their experiments.
func checkFolder(ctx context.Context, dir string, display *progress, judge func(context.Context, string, sweeps.Progress) (*sweeps.Experiment, error)) (folders []string, experiments []*sweeps.Experiment, err error) {
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

// commandFor returns a command that runs the experiment: reproduce or, for a built-in
// configuration of another kind, sweep with its name; else sweep with the file that its
// page offers.
func commandFor(spec *config.Spec) string {
	built, err := embeddedSpec(config.ToJudge, spec.Name)
	switch {
	case err != nil || !bytes.Equal(built.Document(), spec.Document()):
		return "grposim sweep " + pathWord(report.ConfigFile(spec.Name))
	case suiteOf(spec.Name) == suites[0].name:
		return "grposim reproduce " + spec.Name
	case suiteOf(spec.Name) != "":
		return "grposim reproduce --suite " + suiteOf(spec.Name) + " " + spec.Name
	}
	return "grposim sweep " + spec.Name
}
