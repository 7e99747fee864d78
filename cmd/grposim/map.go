package main

import (
	"context"
	"encoding/csv"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/report"
	"grposim/sweeps/store"
)

func newMap(stdout, stderr io.Writer) *cobra.Command {
	var (
		asked mapping
		set   []string
	)
	c := newCommand("map", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if asked.Y != "" && asked.X == "" {
			return misuse("--x: want the parameter on the horizontal axis beside --y: usage: %s",
				c.UseLine())
		}
		if asked.over != "steps" && asked.over != "samples" {
			return misuse("--over: got %q, want steps or samples", asked.over)
		}
		if !c.Flags().Changed("level") {
			asked.Level = nil
		}
		for i, name := range asked.Quantities {
			if asked.over == "samples" {
				asked.Quantities[i] = strings.Replace(name, "time_to_", "samples_to_", 1)
			}
		}
		plan, err := readPlan(stderr, config.ToJudge, args[0], set)
		if err != nil {
			return err
		}
		if !c.Flags().Changed("out") {
			asked.out = resultsFolder(plan.Spec.Name)
		}
		return asked.draw(c.Context(), stdout, stderr, plan)
	})
	addWorkers(c, &asked.workers)
	flags := c.Flags()
	flags.StringVar(&asked.X, "x", "", "")
	flags.StringVar(&asked.Y, "y", "", "")
	flags.StringSliceVar(&asked.Quantities, "quantity", nil, "")
	flags.StringSliceVar(&asked.Quantities, "colour", nil, "")
	flags.StringVar(&asked.over, "over", "steps", "")
	asked.Level = flags.Float64("level", 0, "")
	flags.StringVar(&asked.out, "out", "", "")
	flags.StringArrayVar(&asked.Where, "where", nil, "")
	addConfiguration(c, &set)
	return c
}

type mapping struct {
	sweeps.MapQuery
	over, out string
	workers   int
}

// draw runs the sweep of a plan, and writes and prints what the map shows of it.
func (m *mapping) draw(ctx context.Context, stdout, stderr io.Writer, plan *plan.Plan) error {
	selected, err := sweeps.NewMap(plan, m.MapQuery)
	if err != nil {
		return err
	}
	display := newProgress(stderr)
	experiment, err := sweeps.Runner{Workers: m.workers, Progress: display}.Run(ctx, plan, m.out)
	if err != nil {
		return err
	}
	d, err := selected.Draw(experiment)
	if err != nil {
		return err
	}
	for _, f := range slices.Backward(d.Figures) { // Show puts a new one first
		experiment.Show(f)
	}
	write := func(w io.Writer) error { return csv.NewWriter(w).WriteAll(d.Table) }
	if err := store.ReplaceFile(filepath.Join(m.out, d.Name+".csv"), write); err != nil {
		return err
	}
	if _, err := (reporter{report.Sample, false, display}).part(ctx, m.out, experiment); err != nil {
		return err
	}
	p := &page{w: stdout}
	for _, says := range d.Words {
		p.paragraph("", says)
	}
	p.printf("\n")
	if p.table(knownColumns(d.Rows)); p.err != nil {
		return p.err
	}
	if len(d.Figures) > 0 {
		display.Note("map: " + filepath.Join(m.out, "figures", d.Figures[0].Name+".svg"))
	}
	if len(plan.Checks) == 0 {
		return nil
	}
	display.Note("verdicts: " + strings.Join(judge.Answer(experiment.Verdicts), " "))
	return verdictExit(stderr, experiment.Verdicts)
}
