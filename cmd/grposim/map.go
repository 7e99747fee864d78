package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/training/logs"
)

func newMap(stdout, stderr io.Writer) *cobra.Command {
	var (
		x, y       string
		colour     string
		out        string
		workers    int
		set, where []string
	)
	c := newCommand("map", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if x == "" || y == "" {
			return usageError{fmt.Errorf("--x and --y: want the two parameters of the map: usage: %s", c.UseLine())}
		}
		plan, err := readPlan(stderr, config.ToJudge, args[0], set)
		if err != nil {
			return err
		}
		view, err := sweeps.NewMapView(plan, x, y, where)
		if err != nil {
			return err
		}
		if err := view.ColourBy(colour); err != nil {
			return err
		}
		if !c.Flags().Changed("out") {
			out = resultsFolder(plan.Spec.Name)
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
		table, err := sweeps.MapCSV(maps)
		if err != nil {
			return err
		}
		file := filepath.Join(out, sweeps.MapName(x, y, colour)+".csv")
		if err := store.WriteFile(file, table); err != nil {
			return err
		}
		if _, err := writeReport(c.Context(), out, experiment, display); err != nil {
			return err
		}
		p := &page{w: stdout}
		if printMaps(p, maps); p.err != nil {
			return p.err
		}
		display.Note("map: " + filepath.Join(out, "figures", maps[0].Figure().Name+".svg"))
		if len(plan.Checks) == 0 {
			return nil
		}
		display.Note("verdicts: " + sweeps.Summarize(experiment.Verdicts).String())
		return verdictExit(stderr, experiment.Verdicts)
	})
	c.ValidArgsFunction = completeConfiguration
	addWorkers(c, &workers)
	c.Flags().StringVar(&x, "x", "", "parameter on the horizontal axis, a dotted key such as lag.interval")
	c.Flags().StringVar(&y, "y", "", "parameter on the vertical axis, a dotted key")
	c.Flags().StringVar(&colour, "colour", "", "colour the cells by this quantity at the end of the run instead of by class")
	c.Flags().StringVar(&out, "out", "", "results folder (default results/local/NAME)")
	c.Flags().StringArrayVar(&where, "where", nil, "show only the cells with `key=value`, for a sweep over more than two parameters; repeatable")
	addSet(c, &set)
	return c
}

// printMaps prints how many cells of each class lie in each regime of the linear
// dynamics, and the range of the quantity that colours the maps, if any. It omits the
// column of variants if no map has one.
func printMaps(p *page, maps []sweeps.RegimeMap) {
	classes := [][]string{{"VARIANT", "CLASS", "CELLS", "OVERDAMPED", "OSCILLATORY", "UNSTABLE"}}
	x, y := maps[0].Axes()
	values := [][]string{{"VARIANT", "", maps[0].Colour(), x, y}}
	first := 1 // column
	for _, m := range maps {
		if m.Variant() != "" {
			first = 0
		}
		for _, n := range m.Counts() {
			classes = append(classes, []string{m.Variant(), string(n.Class), strconv.Itoa(n.Cells),
				strconv.Itoa(n.Overdamped), strconv.Itoa(n.Oscillatory), strconv.Itoa(n.Unstable)})
		}
		for _, r := range m.Ranked() {
			values = append(values, []string{m.Variant(), r.Rank, digits(float64(r.Value)), digits(float64(r.X)), digits(float64(r.Y))})
		}
		if n := m.Missing(); n > 0 {
			values = append(values, []string{m.Variant(), "none", logs.CountWords(n, "cell"), "", ""})
		}
	}
	for _, rows := range [][][]string{classes, values} {
		for i := range rows {
			rows[i] = rows[i][first:]
		}
	}
	p.table(classes)
	if maps[0].Colour() != "" {
		p.printf("\n")
		p.table(values)
	}
}
