package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/training/equivalence"
	"grposim/training/findings"
	"grposim/training/fit"
	"grposim/training/logs"
)

func newCompare(stdout, stderr io.Writer) *cobra.Command {
	var o equivalenceOptions
	c := newCommand("compare", func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
				return nil
			}
		}
		return cobra.ExactArgs(2)(c, args)
	}, func(c *cobra.Command, args []string) error {
		isLogs, err := o.check(c, args)
		switch {
		case err != nil:
			return err
		case len(args) == 1:
			return compareScores(stderr, args[0], &o)
		case isLogs:
			return compareRuns(stderr, [2]string(args), &o)
		}
		pairs, only := sweeps.FoldersToCompare(args[0], args[1])
		differ := len(only) > 0
		for i, pair := range pairs {
			comparison, err := sweeps.CompareFolders(pair[0], pair[1], newProgress(stderr))
			if err != nil {
				return cmp.Or(errors.Join(badFolder(pair[0], nil), badFolder(pair[1], nil)), err)
			}
			differ = differ || comparison.Differ()
			if err = o.out.print(comparison, func(p *page) {
				if i > 0 {
					p.printf("\n")
				}
				printComparison(p, comparison, o.all)
			}); err != nil {
				return err
			}
		}
		for _, folder := range only {
			printLines(stderr, "only in one of the two: "+folder)
		}
		if differ && o.fail {
			return exitError(exitDisagree)
		}
		return nil
	})
	o.out = addJSON(c, stdout, "  ", "print JSON instead of tables")
	c.Flags().BoolVar(&o.all, "all", false, "")
	c.Flags().BoolVar(&o.fail, "fail-on-difference", false, "")
	c.Flags().Float64Var(&o.margin, "margin", 0, "")
	c.Flags().Float64Var(&o.confidence, "confidence", 0.95, "")
	c.Flags().StringArrayVar(&o.runs, "run", []string{""}, "")
	return c
}

// ofVerdict has the exit codes of verdicts on runs and scores, and the words before their margins.
var ofVerdict = map[equivalence.Verdict]struct {
	code  int
	words string
}{
	equivalence.Same:      {0, "same within"},
	equivalence.Different: {exitDisagree, "different by more than"},
	equivalence.Undecided: {exitInconclusive, "undecided within"},
}

// headline begins a comparison: the verdict by the margin, and on how many rows it rests.
func headline(whole equivalence.Verdict, margin string, n equivalence.Counts) string {
	same, different, undecided := n[equivalence.Same], n[equivalence.Different], n[equivalence.Undecided]
	return fmt.Sprintf("%s ± %s: of %d rows %d are the same, %d different, %d undecided",
		ofVerdict[whole].words, margin, same+different+undecided, same, different, undecided)
}

type equivalenceOptions struct {
	out                *printer
	all, fail          bool
	margin, confidence float64  // a margin of 0 is the default
	runs               []string // names of runs: of both sides, or of A and of B; "": the only one
}

// check returns whether the two arguments are training logs, and the error of flags and
// arguments that do not go together.
func (o *equivalenceOptions) check(c *cobra.Command, args []string) (isLogs bool, err error) {
	var missing []error
	for _, arg := range args {
		for _, path := range separated(arg) {
			if _, err := os.Stat(path); err != nil {
				missing = append(missing, toCompare.refuse(path, usageError{err}))
			}
		}
	}
	if err := errors.Join(missing...); err != nil {
		return false, err
	}
	flags := c.Flags()
	if len(args) == 2 {
		isLogs = logsOf(args[0]) != nil
		if other := logsOf(args[1]) != nil; isLogs != other {
			return false, misuse("got %s and %s, one of which is a training log, "+
				"want two of a kind", args[0], args[1])
		}
	}
	switch {
	case len(args) == 2 && !isLogs && (flags.Changed("margin") || flags.Changed("confidence")):
		return false, misuse("--margin and --confidence are for training logs and " +
			"scores; results folders have the confidence of their configurations")
	case len(args) == 1 && o.margin > 100*equivalence.MaxMargin:
		return false, misuse("--margin: got %g points, want at most %g: "+
			"the errors of wider ones are not those declared", o.margin, 100*equivalence.MaxMargin)
	case o.fail && (isLogs || len(args) == 1):
		return false, misuse("--fail-on-difference is for results folders: " +
			"logs and scores have exit code 1 without it")
	case !isLogs && flags.Changed("run"):
		return false, misuse("--run is for training logs")
	case len(o.runs) > 2:
		return false, misuse("--run: got %d names, want one or two", len(o.runs))
	case flags.Changed("margin") && !(o.margin > 0 && !math.IsInf(o.margin, 1)):
		return false, misuse("--margin: got %g, want > 0", o.margin)
	case !(o.confidence > 0 && o.confidence < 1):
		return false, misuse("--confidence: got %g, want in (0, 1)", o.confidence)
	}
	return isLogs, nil
}

// printComparison prints a comparison: what differs, the folders, the table of quantities, and what
// is in one folder only.
func printComparison(p *page, c *sweeps.Comparison, all bool) {
	if all {
		p.width = anyWidth
	}
	count := make(map[sweeps.Change]int)
	rows := [][]string{upper(sweeps.ComparisonColumns)}
	for i := range c.Quantities {
		q := &c.Quantities[i]
		count[q.Verdict]++
		if all || len(c.Quantities) <= mostRows || q.Verdict == sweeps.Higher || q.Verdict == sweeps.Lower {
			rows = append(rows, q.Cells())
		}
	}
	verdict, same := "No difference is found", c.SameCells == max(c.A.Cells, c.B.Cells)
	if n := count[sweeps.Higher] + count[sweeps.Lower]; n > 0 {
		verdict = fmt.Sprintf("%d of %d quantities differ", n, len(c.Quantities))
	} else if same {
		verdict = "The cells of both are the same: no number differs"
	}
	verdict += fmt.Sprintf(", and %d of %d verdicts changed", len(c.Changed), c.Verdicts)
	if !same {
		verdict += fmt.Sprintf(": %d higher in B, %d lower, %d no difference found, %d not comparable, "+
			"in %s of cells, at %g confidence over all of them together",
			count[sweeps.Higher], count[sweeps.Lower], count[sweeps.NoneFound],
			count[sweeps.NotComparable], config.CountWords(c.Pairs, "pair"), c.Confidence)
	}
	p.paragraph("", verdict+".")
	for i, f := range []sweeps.ComparedFolder{c.A, c.B} {
		p.printf("%c: %s (%s, %s)\n", 'A'+i, f.Folder, f.Name, config.CountWords(f.Cells, "cell"))
	}
	for _, param := range c.Differing {
		p.printf("%s: %s in A, %s in B\n", param.Param, param.A, param.B)
	}
	p.printf("\n")
	p.table(rows)
	p.printf("\n")
	for _, v := range c.Changed {
		p.paragraph("  ", fmt.Sprintf("%s %s %s %s: %s -> %s",
			v[0].Experiment, v[0].Claim, cmp.Or(v[0].Label, "–"), v[0].Quantity, v[0].Verdict, v[1].Verdict))
	}
	for i, only := range [][]string{c.OnlyA, c.OnlyB} {
		for _, cell := range only {
			p.printf("only in %c: %s\n", 'A'+i, cell)
		}
	}
	if c.SameID > c.SameCells {
		p.paragraph("", fmt.Sprintf("%s of %d with the same id: with the same version of the streams "+
			"they draw the same random numbers, and their intervals are too wide",
			config.CountWords(c.SameID, "pair"), c.Pairs))
	}
	if hidden := len(c.Quantities) - len(rows) + 1; hidden > 0 {
		p.printf("%d quantities without a difference found are not shown: see --all\n", hidden)
	}
}

func compareRuns(stderr io.Writer, args [2]string, o *equivalenceOptions) error {
	var files [2][]string
	var curves [2][]fit.Curve
	var notes []string
	for i, arg := range args {
		files[i] = logsOf(arg)
		for _, file := range files[i] {
			log, err := openLog(stderr, file, logs.Options{Run: o.runs[min(i, len(o.runs)-1)]})
			if err != nil {
				return err
			}
			_, curve, lost, err := curveBeforeLoss(log, findings.Lost, "compared")
			if err != nil {
				return err
			}
			if lost != "" {
				notes = append(notes, fmt.Sprintf("%c: %s is %s", 'A'+i, log.Name(), lost))
			}
			curves[i] = append(curves[i], curve)
		}
	}
	c, err := equivalence.Runs(curves[0], curves[1], o.margin, o.confidence)
	if err != nil {
		return usageError{err}
	}
	c.Notes = append(notes, c.Notes...)
	var curve []object
	for _, q := range c.Curve {
		curve = append(curve, object{"name", q.Name, "from", q.From, "to", q.To, "a", q.A, "b", q.B,
			"change", q.Change, "lo", q.Lo, "hi", q.Hi,
			"interval_confidence", q.Confidence, "verdict", q.Verdict}.with("reason", q.Reason,
			q.Reason != ""))
	}
	err = o.out.print(object{"a", files[0], "b", files[1], "verdict", c.Verdict, "noise", c.Noise,
		"confidence", c.Confidence,
		"from", c.From, "to", c.To, "range", c.Range, "margin", c.Margin, "same_from", c.SameFrom,
		"curve", curve}.with("notes", c.Notes, len(c.Notes) > 0),
		func(p *page) { printRuns(p, files, c, o) })
	return cmp.Or(err, exit(ofVerdict[c.Verdict].code))
}

func printRuns(p *page, files [2][]string, c *equivalence.RunsComparison, o *equivalenceOptions) {
	same := fmt.Sprintf("they would be the same with a margin above %.3g", c.SameFrom)
	if math.IsInf(c.SameFrom, 1) {
		same = "no margin would make them the same: the errors of some segments are not known"
	}
	reason, rows := "", [][]string{{"QUANTITY", "TIMES", "A", "B", "B − A", "VERDICT"}}
	for _, q := range c.Curve {
		change := fmt.Sprintf("%+.3g [%+.3g, %+.3g]", q.Change, q.Lo, q.Hi)
		if q.Reason != "" {
			change = fmt.Sprintf("%+.3g, error not known", q.Change)
			reason = q.Reason
		}
		rows = append(rows, []string{q.Name, fmt.Sprintf("%.4g to %.4g", q.From, q.To),
			fmt.Sprintf("%.3g", q.A), fmt.Sprintf("%.3g", q.B), change, string(q.Verdict)})
	}
	says := headline(c.Verdict, fmt.Sprintf("%.3g of reward", c.Margin), c.Count)
	p.paragraph("  ", says+"; "+same+"; in the mean B − A is "+rows[1][4])
	for _, note := range c.Notes {
		p.paragraph("  ", note)
	}
	p.printf("\n")
	for i, side := range files {
		p.paragraph("   ", fmt.Sprintf("%c: %s", 'A'+i, strings.Join(side, ", ")))
	}
	source := "declared"
	if o.margin == 0 {
		source = fmt.Sprintf("the default, %g %% of the range of A's curve: "+
			"a smaller difference hardly changes the choice of a recipe", 100*equivalence.DefaultMargin)
	}
	p.printf("times: %.4g to %.4g, which all runs have (optimizer steps)\n", c.From, c.To)
	p.paragraph("  ", fmt.Sprintf("margin: %.3g of reward (%s); A's curve ranges over %.3g",
		c.Margin, source, c.Range))
	p.printf("\n")
	p.table(rows)
	p.printf("\n")
	if reason != "" {
		p.paragraph("  ", "not decided: "+reason)
	}
	about := "the mean curves of the two recipes: the noise is the scatter between repeated runs, " +
		"taken to be the same in A and B"
	if c.Noise == equivalence.WithinRuns {
		about = "these two runs, not their recipes: with one run on each side the scatter between " +
			"seeds is not observable, and runs of one recipe can differ by more. Give repeated runs, " +
			"separated by commas, to compare recipes"
	}
	p.paragraph("  ", "this is about "+about)
	p.paragraph("  ", errorsOf(c.Confidence, "the whole curve"))
}

// defaultPoints is the margin of scores where none is declared, in points of percent.
// Gains of a training that papers report begin at about this size, so that scores which
// differ by less rank two trainings alike. It is ours.
const defaultPoints = 2

func compareScores(stderr io.Writer, file string, o *equivalenceOptions) error {
	table, err := readScores(file)
	if bad, is := err.(*equivalence.BadScores); is {
		return someScores.refuse(file, usageError{bad})
	} else if err != nil {
		return err
	}
	for _, note := range table.Notes {
		printLines(stderr, file+": "+note)
	}
	points := cmp.Or(o.margin, defaultPoints)
	judged := equivalence.Scores(table.Scores, points/100, o.confidence)
	whole, count := equivalence.Together(judged)
	var rows []object
	shown := [][]string{{"BENCHMARK", "A", "B", "B − A", "VERDICT"}}
	for i, j := range judged {
		s := table.Scores[i]
		if o.all || len(judged) <= mostRows || j.Verdict != equivalence.Undecided {
			shown = append(shown, []string{
				strings.Join(strings.Fields(s.Benchmark+" "+s.Model+" "+s.Metric), " "),
				fmt.Sprintf("%.2f", 100*s.A), fmt.Sprintf("%.2f", 100*s.B),
				fmt.Sprintf("%+.2f [%+.2f, %+.2f]", 100*(s.B-s.A), 100*j.Lo, 100*j.Hi), string(j.Verdict),
			})
		}
		rows = append(rows, object{"benchmark", s.Benchmark, "model", s.Model, "metric", s.Metric, "a",
			100 * s.A, "b", 100 * s.B, "difference", 100 * (s.B - s.A),
			"lo", 100 * j.Lo, "hi", 100 * j.Hi, "interval_confidence", j.Confidence, "verdict", j.Verdict})
	}
	err = o.out.print(object{"file", file, "unit", table.Unit, "margin", points, "confidence",
		o.confidence, "counts", count, "rows", rows}, func(p *page) {
		p.paragraph("  ", headline(whole, fmt.Sprintf("%g points", points), count))
		p.printf("\n")
		if p.table(shown); len(shown) > 1 {
			p.printf("\n")
		}
		if hidden := len(judged) - len(shown) + 1; hidden > 0 {
			p.printf("%d rows that are undecided are not shown: see --all\n", hidden)
		}
		source := "declared"
		if o.margin == 0 {
			source = "the default: gains that are reported begin at about this size"
		}
		p.printf("scores in percent, margin %g points (%s)\n", points, source)
		p.paragraph("  ", errorsOf(o.confidence, "any row"))
	})
	return cmp.Or(err, exit(ofVerdict[whole].code))
}

// errorsOf returns a sentence with the largest probabilities of wrong verdicts at a
// confidence; claim names the rows that may wrongly be called the same.
func errorsOf(confidence float64, claim string) string {
	return fmt.Sprintf("chance that any row whose difference is within the margin is called "+
		"different: at most %.3g; that %s is wrongly called the same: at most %.3g", 1-confidence, claim,
		(1-confidence)/2)
}
