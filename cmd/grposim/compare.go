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
	c := &cobra.Command{
		Use:   "compare A B | SCORES",
		Short: "Compare two results folders, two training runs, or a table of evaluation scores",
		Long: `Compares two things of a kind, and writes nothing: results folders, training logs, or
the columns of a table of scores. The kind of the arguments decides.

Results folders

A and B are finished results folders: of another version of the program, of another
seed, or with another setting.

A and B can also be two folders of results folders, as reproduce writes them: those of
the same name are compared, one after the other.

Cells are paired by their parameters. A parameter that has one value in all of A and
another in all of B is listed, and cells are paired by the others; cells without a
partner are listed too. For every estimate of every pair, and for the policy at the
last step (final_…), and for every slope and other number that a check of A or B judges
across cells, it prints A, B, the difference B − A with its confidence
interval, and a verdict:

  higher, lower           the interval lies above or below 0
  ~ no difference found   it contains 0: there is none, or too little data to see it
  not comparable          a value is missing, or its error is not known

The intervals are Welch's, of shares Newcombe's. All of them hold together with the
confidence of the configurations, the larger one (Bonferroni). Verdicts of checks
that are not the same in A and B follow.

Of more than 40 quantities it prints those with a difference, and how many others
there are; --all prints every one.

Training logs

A and B are logs of trainers (files, or folders that diagnose reads), and the question
is whether their mean curves of reward are the same within a margin. Repeated runs of one
recipe are separated by commas: compare a1.csv,a2.csv b1.csv,b2.csv. Times are optimizer
steps; runs with different learning rates are compared in intrinsic time, ∫η dt/max η,
with --schedule KIND:WARMUP:TOTAL (constant, linear or cosine, in steps) or --schedule
logged; two schedules, separated by a comma, are those of A and of B. Of logs that hold
several runs --run names the one to read; given twice, that of A and that of B.

It compares the mean over the times that all runs have, the curve in ten segments of them
(fewer of short logs), and start, plateau and half-time: the time from the first row on
until half of the rise from there to the plateau is made. Verdicts:

  same       the interval of B − A lies inside ± margin. A difference that is not 0 but
             smaller than the margin is the same
  different  the interval excludes 0, and does not lie inside ± margin
  undecided  neither: there are not enough data. No difference found is not the same

No law is taken for granted: start, plateau and half-time average the exponential, the
three-phase law, the logistic, the scaling curve and the constant, each run with weights
e^{−BIC/2} of its own, and an interval holds what the laws disagree about. Plateau and
half-time are compared only where every run has flattened: at most 10 % of its rise is
still to come (upper end of the 90 % interval). Else it says which run has not, and how
long a log would decide.

The curves are the same if the mean and every segment are, and different if one of them
is. With repeated runs on a side the noise is the scatter between runs, and the verdict is
about the recipes. Logs of a side with the same rows are one run. With one run on each side it is that of the residuals, with their
autocorrelation, and the verdict is about these two runs only.

--margin is in units of the reward. Without it the margin is 5 % of the range of A's curve,
and exchanging A and B can change it. --largest-reward says how large a reward can be (1
of right and wrong answers); no plateau is then above it.

Scores

SCORES is a CSV file with the columns benchmark, score_a, n_a, score_b and n_b (numbers of
questions), and perhaps model, metric, and se_a and se_b (standard errors) or sd_a, sd_b,
runs_a and runs_b: the scores are means over so many training runs, with these standard
deviations of single runs. Scores are percent if one is above 1, else shares; columns
percent_a, percent_b or share_a, share_b declare it. Every row gets a verdict, as above;
--margin is in points, 2 without it.

Without standard errors a row's interval is that of two independent shares of n questions
(from those of Clopper and Pearson), which is too wide rather than too narrow: both
columns come from the same questions, and scores that average several answers, such as
pass@1 of several samples, scatter less. Training again with another seed is in it where the
file has the scatter between runs. Two runs a side say little: rows lend each other degrees
of freedom, the more the more alike their scatter is, relative to that of the questions
(the moderated t statistic of Smyth).

The chance that any row without a difference is called different is at most 1 less the
confidence (Holm); that any row of a table, or a curve as a whole, is wrongly called the
same at most half of that.

Exit codes: grposim help exit-codes.`,
		Example: `  grposim sweep configs/smoke.yaml
  grposim sweep configs/smoke.yaml --set optimizer.momentum=0.6 --out results/local/smoke-0.6
  grposim compare results/local/smoke results/local/smoke-0.6
  grposim compare configs/runs/a1.csv configs/runs/a2.csv --margin 0.15   # two seeds of a recipe: same
  grposim compare configs/runs/a1.csv configs/runs/a2.csv   # undecided at 5 % of the range: exit code 3
  grposim compare configs/runs/a1.csv,configs/runs/a2.csv,configs/runs/a3.csv configs/runs/b1.csv,configs/runs/b2.csv,configs/runs/b3.csv   # two recipes: exit code 1
  grposim compare configs/benchmarks.csv --margin 5   # scores of a paper, two of which differ: exit code 1`,
		Args: arguments(func(c *cobra.Command, args []string) error {
			if len(args) == 1 && !isFolder(args[0]) {
				return nil
			}
			return cobra.ExactArgs(2)(c, args)
		}),
		RunE: func(c *cobra.Command, args []string) error {
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
		},
	}
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
