package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grposim/option"
	"grposim/sweeps/advice"
)

type gaugeFlags struct {
	advice.Gauge
	optimizer string
}

// gaugeNames are the flags of gaugeFlags other than --stiffness and --lag.
var gaugeNames = []string{"stiffness-fresh", "optimizer", "lr"}

func (f *gaugeFlags) add(c *cobra.Command) {
	c.Flags().Float64Var(&f.Total, "stiffness", 0, "")
	c.Flags().Float64Var(&f.Fresh, "stiffness-fresh", 0, "")
	c.Flags().StringVar(&f.optimizer, "optimizer", "", "")
	c.Flags().Float64Var(&f.Rate, "lr", 0, "")
}

func adviseGauge(out *printer, c *cobra.Command, args []string, f *adviseFlags) error {
	g, err := f.read(c, args)
	if err != nil {
		return usageError{err}
	}
	given := g.Advise()
	return out.print(given, func(p *page) {
		p.table(adviceRows(given.Lines, 2)) // KIND is the same in all, and BY would fill a screen
		p.paragraph("  ", "suggestion: "+given.Says)
	})
}

// mostGauged is the largest stiffness or learning rate, and its inverse the least: their products
// neither overflow nor vanish.
const mostGauged = 1e100

// read returns the gauge that the flags describe, or every problem of them.
func (f *adviseFlags) read(c *cobra.Command, args []string) (*advice.Gauge, error) {
	g := &f.gauge.Gauge
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(args) > 0 {
		problem("--stiffness: got %s beside it, want no FILE: it advises from numbers alone", args[0])
	}
	for _, flag := range []string{"simulate", "all", "fit", "run", "percent", "set", "workers"} {
		if c.Flags().Changed(flag) {
			problem("--%s does not go with --stiffness: it is of a configuration or a log", flag)
		}
	}
	for _, name := range append([]string{"lag"}, gaugeNames...) {
		if !c.Flags().Changed(name) {
			problem("--%s: not given, want it beside --stiffness", name)
		}
	}
	within := func(flag string, x, least float64) {
		if c.Flags().Changed(flag) && !(least <= x && math.Abs(x) <= mostGauged) {
			problem("--%s: got %g, want a number from %g to %g", flag, x, least, mostGauged)
		}
	}
	within("stiffness", g.Total, 1/mostGauged)
	within("lr", g.Rate, 1/mostGauged)
	within("stiffness-fresh", g.Fresh, -mostGauged)
	if c.Flags().Changed("optimizer") {
		kind, value, _ := strings.Cut(f.gauge.optimizer, ":")
		momentum, err := strconv.ParseFloat(value, 64)
		if kind != "sgd" && kind != "adam" || err != nil || !(momentum >= 0 && momentum < 1) {
			problem("--optimizer: got %q, want sgd:μ or adam:β1, 0 ≤ μ, β1 < 1", f.gauge.optimizer)
		}
		g.Adam, g.Momentum = kind == "adam", momentum
	}
	if c.Flags().Changed("lag") {
		var err error
		if g.Lag, err = readLag(f.lag); err != nil {
			problem("--lag: %w", err)
		}
	}
	if len(problems) == 0 {
		if because := g.TooLarge(); because.Out() {
			problem("--lag: got %s: %s", f.lag, because)
		}
	}
	return g, errors.Join(problems...)
}

// readLag reads block:K, K ≥ 1, or delay:τ, τ ≥ 0.
func readLag(text string) (lag option.Lag, err error) {
	kind, value, _ := strings.Cut(text, ":")
	lag.Interval, err = strconv.Atoi(value)
	switch {
	case err == nil && kind == "block" && lag.Interval >= 1:
		lag.Kind = option.Block
	case err == nil && kind == "delay" && lag.Interval >= 0:
		lag.Kind = option.Delay
	default:
		return lag, fmt.Errorf("got %q, want block:K, K ≥ 1, or delay:τ, τ ≥ 0", text)
	}
	return lag, nil
}
