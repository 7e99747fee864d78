package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"grposim/sweeps"
)

func newMap(stdout, stderr io.Writer) *cobra.Command {
	var (
		x, y       string
		out        string
		workers    int
		set, where []string
	)
	c := &cobra.Command{
		Use:   "map FILE --x PARAM --y PARAM",
		Short: "Draw the regimes of a sweep over two parameters, with theory's boundaries",
		Long: `Runs the sweep of FILE as ` + "`sweep`" + ` does, in the same folder, and draws its cells
over two numeric parameters, each by what its own trajectory does (monotone,
overshooting, oscillatory, sustained, locked, diverged), under the boundaries of
theory: where the linear dynamics is unstable, where it begins to oscillate, the
paper's rule ηλK = 1 − μ, and ζ = 1 of its reduced-order model.

Writes figures/map-X-Y.svg and .png and map-X-Y.csv, and prints how many cells of
each class lie in each exact regime. In the CSV a row of kind cell is a simulated
cell, rows of kind boundary are the points of theory's lines; along a parameter
of whole numbers these are steps halfway between. Variants have a map each.`,
		Example: `  grposim map regimes.yaml --x optimizer.learning_rate --y lag.interval
  grposim map regimes.yaml --x lag.interval --y optimizer.momentum --where optimizer.learning_rate=0.1`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWorkers(workers); err != nil {
				return err
			}
			if x == "" || y == "" {
				return usageError{fmt.Errorf("--x and --y: want the two parameters of the map: usage: %s", c.UseLine())}
			}
			plan, err := readPlan(args[0], set)
			if err != nil {
				return err
			}
			view, err := sweeps.NewMapView(plan, x, y, where)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("out") {
				out = filepath.Join("results", "local", plan.Spec.Name)
			}
			display := newProgress(stderr)
			experiment, err := sweeps.Run(c.Context(), plan, out, workers, display)
			if err != nil {
				return err
			}
			maps, err := experiment.Maps(view)
			if err != nil {
				return err
			}
			for _, m := range maps {
				experiment.Show(m.Figure())
			}
			if err := writeReport(out, experiment); err != nil {
				return err
			}
			table, err := sweeps.MapCSV(maps)
			if err != nil {
				return err
			}
			file := filepath.Join(out, sweeps.MapName(x, y)+".csv")
			if err := renameio.WriteFile(file, table, 0o644); err != nil {
				return err
			}
			if err := printMaps(stdout, maps); err != nil {
				return err
			}
			display.Note("map: " + filepath.Join(out, "figures", maps[0].Figure().Name+".svg"))
			if len(plan.Checks) == 0 {
				return nil
			}
			fmt.Fprintf(stderr, "grposim: verdicts: %s\n", sweeps.Summarize(experiment.Verdicts))
			return verdictExit(stderr, experiment.Verdicts)
		},
	}
	addWorkers(c, &workers)
	c.Flags().StringVar(&x, "x", "", "parameter along the horizontal axis, a dotted key")
	c.Flags().StringVar(&y, "y", "", "parameter along the vertical axis, a dotted key")
	c.Flags().StringVar(&out, "out", "", "results folder (default results/local/NAME)")
	c.Flags().StringArrayVar(&where, "where", nil, "of a sweep over more parameters, show the cells with `key=value`; repeatable")
	c.Flags().StringArrayVar(&set, "set", nil, "override a key of the file, `key=value`; repeatable")
	return c
}

// printMaps prints how many cells of each class lie in each regime of the
// linear dynamics.
func printMaps(w io.Writer, maps []sweeps.RegimeMap) error {
	rows := [][]string{{"VARIANT", "CLASS", "CELLS", "OVERDAMPED", "OSCILLATORY", "UNSTABLE"}}
	named := false
	for _, m := range maps {
		named = named || m.Variant() != ""
		for _, n := range m.Counts() {
			rows = append(rows, []string{m.Variant(), string(n.Class), strconv.Itoa(n.Cells),
				strconv.Itoa(n.Overdamped), strconv.Itoa(n.Oscillatory), strconv.Itoa(n.Unstable)})
		}
	}
	if !named {
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	return printTable(w, rows)
}
