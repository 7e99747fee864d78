package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/training/equivalence"
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
