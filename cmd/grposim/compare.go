package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"grposim/sweeps"
)

func newCompare(stdout, stderr io.Writer) *cobra.Command {
	var asJSON, all bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare what two results folders measured, cell by cell",
		Long: `Compares two finished results folders: of another version of the program, of
another seed, or with another setting. It simulates and writes nothing.

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

Exit codes: 0 compared, whatever was found; 2 the command line is wrong, or a folder
holds no results; 4 results are damaged or incomplete.`,
		Example: `  grposim sweep configs/smoke.yaml
  grposim sweep configs/smoke.yaml --set optimizer.momentum=0.6 --out results/local/smoke-0.6
  grposim compare results/local/smoke results/local/smoke-0.6`,
		Args: arguments(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			encoder := json.NewEncoder(stdout)
			encoder.SetIndent("", "  ")
			pairs, only := sweeps.FoldersToCompare(args[0], args[1])
			for i, pair := range pairs {
				comparison, err := sweeps.CompareFolders(pair[0], pair[1])
				switch {
				case err != nil:
					return err
				case asJSON:
					err = encoder.Encode(comparison)
				default:
					if i > 0 {
						fmt.Fprintln(stdout)
					}
					err = printComparison(stdout, comparison, all)
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
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of tables")
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("print every quantity, also of more than %d", mostRows))
	return c
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
