package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
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
		if asked.y != "" && asked.x == "" {
			return usageError{fmt.Errorf("--x: want the parameter on the horizontal axis beside --y: usage: %s", c.UseLine())}
		}
		if asked.over != "steps" && asked.over != "samples" {
			return usageError{fmt.Errorf("--over: got %q, want steps or samples", asked.over)}
		}
		if !c.Flags().Changed("level") {
			asked.level = nil
		}
		plan, err := readPlan(stderr, config.ToJudge, args[0], set)
		if err != nil {
			return err
		}
		if !c.Flags().Changed("out") {
			asked.out = resultsFolder(plan.Spec.Name)
		}
		if asked.y == "" {
			return asked.overKey(c.Context(), stdout, stderr, plan)
		}
		return asked.overTwo(c.Context(), stdout, stderr, plan)
	})
	c.ValidArgsFunction = completeConfiguration
	addWorkers(c, &asked.workers)
	flags := c.Flags()
	flags.StringVar(&asked.x, "x", "", "parameter on the horizontal axis, a dotted key such as lag.interval; without it the cells are side by side")
	flags.StringVar(&asked.y, "y", "", "parameter on the vertical axis, a dotted key; without it the map is over one key")
	flags.StringSliceVar(&asked.quantities, "quantity", nil, "recorded numbers to show, such as entropy or time_to_95; over two keys one, which colours the cells instead of their class")
	flags.StringSliceVar(&asked.quantities, "colour", nil, "the same as --quantity")
	flags.StringVar(&asked.over, "over", "steps", "count times in optimizer steps or in samples drawn: steps or samples")
	asked.level = flags.Float64("level", 0, "level of time_to_level and samples_to_level, in the unit of the quantity")
	flags.StringVar(&asked.out, "out", "", "results folder (default results/local/NAME)")
	flags.StringArrayVar(&asked.where, "where", nil, "show only the cells with `key=value`, for a sweep over more parameters; repeatable")
	addSet(c, &set)
	return c
}

type mapping struct {
	x, y, over, out   string
	quantities, where []string
	level             *float64 // nil: not given
	workers           int
}

// asked returns the quantities, with times in samples if they are asked for so.
func (m *mapping) asked() (names []string) {
	for _, name := range m.quantities {
		if m.over == "samples" {
			name = strings.Replace(name, "time_to_", "samples_to_", 1)
		}
		names = append(names, name)
	}
	return names
}

func (m *mapping) overTwo(ctx context.Context, stdout, stderr io.Writer, plan *plan.Plan) error {
	view, err := sweeps.NewMapView(plan, m.x, m.y, m.where)
	if err != nil {
		return err
	}
	colour := ""
	switch names := m.asked(); len(names) {
	case 0:
	case 1:
		colour = names[0]
	default:
		return usageError{fmt.Errorf("--quantity: got %s, want one, which colours the cells of a map over two keys", strings.Join(names, ","))}
	}
	if err := view.ColourBy(colour, m.level); err != nil {
		return err
	}
	var maps []sweeps.RegimeMap
	return m.draw(ctx, stdout, stderr, plan, func(e *sweeps.Experiment) (drawn, error) {
		if maps, err = e.Maps(view); err != nil {
			return drawn{}, err
		}
		d := drawn{name: sweeps.MapName(m.x, m.y, colour), print: func(p *page) { printMaps(p, maps) }}
		for i := range maps {
			d.figures = append(d.figures, maps[i].Figure())
		}
		d.table, err = sweeps.MapCSV(maps)
		return d, err
	})
}

func (m *mapping) overKey(ctx context.Context, stdout, stderr io.Writer, plan *plan.Plan) error {
	cells, err := sweeps.NewKeyMap(plan, m.x, m.where, m.asked(), m.level)
	if err != nil {
		return err
	}
	return m.draw(ctx, stdout, stderr, plan, func(e *sweeps.Experiment) (drawn, error) {
		if err := e.Measure(cells); err != nil {
			return drawn{}, err
		}
		d := drawn{name: cells.Name(), figures: cells.Figures(), print: func(p *page) { p.table(knownColumns(cells.Rows())) }}
		d.table, err = cells.CSV()
		return d, err
	})
}

// drawn holds the table and the figures that a map makes of an experiment.
type drawn struct {
	name    string // of the table
	table   []byte
	figures []sweeps.Figure
	print   func(p *page)
}

// draw runs the sweep of a plan, and writes and prints what a map makes of it.
func (m *mapping) draw(ctx context.Context, stdout, stderr io.Writer, plan *plan.Plan, of func(e *sweeps.Experiment) (drawn, error)) error {
	display := newProgress(stderr)
	experiment, err := sweeps.Run(ctx, plan, m.out, m.workers, display)
	if err != nil {
		return err
	}
	d, err := of(experiment)
	if err != nil {
		return err
	}
	for _, f := range slices.Backward(d.figures) { // Show puts a new one first
		experiment.Show(f)
	}
	if err := store.WriteFile(filepath.Join(m.out, d.name+".csv"), d.table); err != nil {
		return err
	}
	if _, err := writeReport(ctx, m.out, experiment, report.Sample, display); err != nil {
		return err
	}
	p := &page{w: stdout}
	if d.print(p); p.err != nil {
		return p.err
	}
	if len(d.figures) > 0 {
		display.Note("map: " + filepath.Join(m.out, "figures", d.figures[0].Name+".svg"))
	}
	if len(plan.Checks) == 0 {
		return nil
	}
	display.Note("verdicts: " + judge.Summarize(experiment.Verdicts).String())
	return verdictExit(stderr, experiment.Verdicts)
}

// printMaps prints how many cells of each class lie in each regime of the linear
// dynamics. It omits the column of variants if no map has one.
func printMaps(p *page, maps []sweeps.RegimeMap) {
	rows, first := [][]string{{"VARIANT", "CLASS", "CELLS", "OVERDAMPED", "OSCILLATORY", "UNSTABLE"}}, 1
	for _, m := range maps {
		if m.Variant() != "" {
			first = 0
		}
		for _, n := range m.Counts() {
			rows = append(rows, []string{m.Variant(), string(n.Class), strconv.Itoa(n.Cells),
				strconv.Itoa(n.Overdamped), strconv.Itoa(n.Oscillatory), strconv.Itoa(n.Unstable)})
		}
	}
	for i := range rows {
		rows[i] = rows[i][first:]
	}
	p.table(rows)
}
