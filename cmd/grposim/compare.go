package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/training/equivalence"
	"grposim/training/logs"
)

func newCompare(stdout, stderr io.Writer) *cobra.Command {
	var o equivalenceOptions
	c := newCommand("compare", func(c *cobra.Command, args []string) error {
		if len(args) == 1 && !isFolder(args[0]) {
			return nil
		}
		return cobra.ExactArgs(2)(c, args)
	}, func(c *cobra.Command, args []string) error {
		isLogs, err := o.check(c, args)
		switch {
		case err != nil:
			return err
		case len(args) == 1:
			return compareScores(stdout, stderr, args[0], o)
		case isLogs:
			return compareRuns(stdout, stderr, [2]string(args), o)
		}
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		pairs, only := sweeps.FoldersToCompare(args[0], args[1])
		for i, pair := range pairs {
			comparison, err := sweeps.CompareFolders(pair[0], pair[1])
			switch {
			case err != nil:
				if other := errors.Join(badFolder(pair[0], nil), badFolder(pair[1], nil)); other != nil {
					return other
				}
				return err
			case o.json:
				err = encoder.Encode(comparison)
			default:
				if i > 0 {
					fmt.Fprintln(stdout)
				}
				err = printComparison(stdout, comparison, o.all)
			}
			if err != nil {
				return err
			}
		}
		for _, folder := range only {
			fmt.Fprintf(stderr, "grposim: only in one of the two: %s\n", folder)
		}
		return nil
	})
	c.Flags().BoolVar(&o.json, "json", false, "print JSON instead of tables")
	c.Flags().BoolVar(&o.all, "all", false, fmt.Sprintf("print every quantity or row, also of more than %d", mostRows))
	c.Flags().Float64Var(&o.margin, marginFlag, 0, fmt.Sprintf("largest difference that counts as the same, in units of the reward or in points (default 5 %% of the range of A's curve, %d points)", defaultPoints))
	c.Flags().Float64Var(&o.confidence, confidenceFlag, 0.95, "confidence of logs and scores, in (0, 1)")
	c.Flags().Float64Var(&o.largest, largestFlag, math.Inf(1), "of logs: the largest `reward` that is possible; no plateau is above it")
	c.Flags().StringVar(&o.schedule, scheduleFlag, "", "of logs: compare in the intrinsic time of this `KIND:WARMUP:TOTAL`, or logged; two with a comma between")
	c.Flags().StringArrayVar(&o.runs, runFlag, nil, "of logs that hold several runs: the `name` of the one to read; twice for A and B")
	return c
}

// The flags of compare that belong to tests of equivalence.
const (
	marginFlag     = "margin"
	confidenceFlag = "confidence"
	scheduleFlag   = "schedule"
	largestFlag    = "largest-reward"
	runFlag        = "run"
)

// equivalenceOptions are the flags of compare.
type equivalenceOptions struct {
	json, all          bool
	margin, confidence float64 // a margin of 0 is the default
	largest            float64 // reward; +Inf: not known
	schedule           string
	runs               []string // names of runs: none, of A and B, or of each
}

// log says how the logs of side i are read.
func (o *equivalenceOptions) log(i int) logs.Options {
	if len(o.runs) == 0 {
		return logs.Options{}
	}
	return logs.Options{Run: o.runs[min(i, len(o.runs)-1)]}
}

// marginSource says where the margin comes from.
func (o *equivalenceOptions) marginSource(byDefault string) string {
	if o.margin == 0 {
		return byDefault
	}
	return "declared"
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
			log, folder := args[0], args[1]
			if other {
				log, folder = folder, log
			}
			return false, usageError{fmt.Errorf("%s is a training log and %s is none, want two of a kind", log, folder)}
		}
	}
	ofLogs := []string{scheduleFlag, largestFlag, runFlag}
	switch {
	case len(args) == 2 && !isLogs && (flags.Changed(marginFlag) || flags.Changed(confidenceFlag)):
		return false, usageError{fmt.Errorf("--%s and --%s are for training logs and scores; results folders have the confidence of their configurations", marginFlag, confidenceFlag)}
	case len(args) == 1 && o.margin > 100*equivalence.MaxMargin:
		return false, usageError{fmt.Errorf("--%s: got %g points, want at most %g: the errors of wider ones are not those declared", marginFlag, o.margin, 100*equivalence.MaxMargin)}
	case !isLogs && slices.ContainsFunc(ofLogs, flags.Changed):
		return false, usageError{fmt.Errorf("--%s, --%s and --%s are for training logs", scheduleFlag, largestFlag, runFlag)}
	case len(o.runs) > 2:
		return false, usageError{fmt.Errorf("--%s: got %d names, want one, or those of A and of B", runFlag, len(o.runs))}
	case math.IsNaN(o.largest):
		return false, usageError{fmt.Errorf("--%s: got %g, want a number", largestFlag, o.largest)}
	case flags.Changed(marginFlag) && !(o.margin > 0 && !math.IsInf(o.margin, 1)):
		return false, usageError{fmt.Errorf("--%s: got %g, want > 0", marginFlag, o.margin)}
	case !(o.confidence > 0 && o.confidence < 1):
		return false, usageError{fmt.Errorf("--%s: got %g, want in (0, 1)", confidenceFlag, o.confidence)}
	}
	return isLogs, nil
}

// isFolder reports whether a path is that of a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// printComparison prints a comparison: the folders, what differs between them as a
// whole, the table of quantities, what is in one folder only, and changed verdicts.
func printComparison(w io.Writer, c *sweeps.Comparison, all bool) error {
	for i, f := range []sweeps.ComparedFolder{c.A, c.B} {
		fmt.Fprintf(w, "%c: %s (%s, version %s, %d cells)\n", 'A'+i, f.Folder, f.Name, cmp.Or(f.Version, "unknown"), f.Cells)
	}
	for _, p := range c.Differing {
		fmt.Fprintf(w, "%s: %s in A, %s in B\n", p.Param, p.A, p.B)
	}
	count := c.Differences()
	found := count[sweeps.Higher] + count[sweeps.Lower]
	quantities := found + count[sweeps.NoneFound] + count[sweeps.NotComparable]
	rows := [][]string{sweeps.ComparisonColumns}
	var changed []string
	for _, pair := range c.Pairs {
		if pair.StatusA != pair.StatusB {
			changed = append(changed, fmt.Sprintf("status of %s: %s in A, %s in B", cmp.Or(pair.Label, pair.CellA), pair.StatusA, pair.StatusB))
		}
		for _, q := range pair.Quantities {
			if all || quantities <= mostRows || q.Verdict == sweeps.Higher || q.Verdict == sweeps.Lower {
				rows = append(rows, q.Cells(pair.Label))
			}
		}
	}
	for _, set := range c.Sets {
		if all || quantities <= mostRows || set.Verdict == sweeps.Higher || set.Verdict == sweeps.Lower {
			rows = append(rows, set.Cells(set.Label))
		}
	}
	fmt.Fprintln(w)
	if len(rows) > 1 {
		rows[0] = upper(rows[0])
		if err := printTable(w, rows); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, line := range changed {
		fmt.Fprintln(w, line)
	}
	for _, v := range c.Verdicts {
		fmt.Fprintf(w, "verdict of %s, %s, %s (%s): %s in A, %s in B\n", v.Claim, cmp.Or(v.Cell, "–"), v.Quantity, cmp.Or(v.Prediction, "hypothesis"), v.A, v.B)
	}
	for i, only := range [][]sweeps.UnpairedCell{c.OnlyA, c.OnlyB} {
		for _, cell := range only {
			fmt.Fprintf(w, "only in %c: %s\n", 'A'+i, cmp.Or(cell.Label, cell.Cell))
		}
	}
	if c.SameID > 0 {
		fmt.Fprintf(w, "%d of %d pairs have the same id: with the same version of the streams they draw the same random numbers, and their intervals are too wide\n", c.SameID, len(c.Pairs))
	}
	if hidden := quantities - len(rows) + 1; hidden > 0 {
		fmt.Fprintf(w, "%d quantities without a difference found are not shown: see --all\n", hidden)
	}
	_, err := fmt.Fprintf(w, "%d pairs of cells; %d quantities: %d higher, %d lower, %d no difference found, %d not comparable; %d verdicts changed; %g confidence over all differences together\n",
		len(c.Pairs), quantities, count[sweeps.Higher], count[sweeps.Lower], count[sweeps.NoneFound], count[sweeps.NotComparable], len(c.Verdicts), c.Confidence)
	return err
}
