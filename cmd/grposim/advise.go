package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps/advice"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
	"grposim/training/logs"
)

type adviseFlags struct {
	out           *printer
	all, simulate bool
	workers       int
	set           []string

	fitted bool // the argument is a training log
	lag    string
	log    logs.Options

	gauge gaugeFlags
}

func newAdvise(stdout, stderr io.Writer) *cobra.Command {
	var f adviseFlags
	c := newCommand("advise", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("stiffness") {
			return adviseGauge(f.out, c, args, &f)
		}
		for _, flag := range append([]string{"lag", "run", "percent"}, gaugeNames...) {
			other := "fit"
			if slices.Contains(gaugeNames, flag) {
				other = "stiffness"
			}
			if c.Flags().Changed(flag) && !c.Flags().Changed(other) {
				return misuse("--%s: want it with --%s", flag, other)
			}
		}
		if err := arguments(cobra.ExactArgs(1))(c, args); err != nil {
			return err
		}
		if f.fitted {
			lag, err := strconv.ParseFloat(f.lag, 64)
			switch {
			case err != nil || !(lag >= 0) || math.IsInf(lag, 1):
				return misuse("--lag: got %q, want a number of steps ≥ 0", f.lag)
			case f.simulate || f.all || len(f.set) > 0:
				return misuse("--fit reads a log: --simulate, --all and --set are of configurations")
			}
			return adviseLog(f.out, stderr, args[0], f.log, lag)
		}
		plan, err := readPlan(stderr, config.ToPredict, args[0], f.set)
		if err != nil {
			return err
		}
		if err := withoutNetworks(plan, "advise"); err != nil {
			return err
		}
		return f.advise(c.Context(), stderr, plan)
	})
	f.out = addJSON(c, stdout, "", "")
	c.Flags().BoolVar(&f.simulate, "simulate", false, "")
	c.Flags().BoolVar(&f.all, "all", false, "")
	c.Flags().BoolVar(&f.fitted, "fit", false, "")
	addLogOptions(c, &f.log)
	c.Flags().StringVar(&f.lag, "lag", "0", "")
	f.gauge.add(c)
	addWorkers(c, &f.workers)
	addConfiguration(c, &f.set)
	return c
}

// advise prints the advice for every cell of a plan, and a table that compares several.
func (f *adviseFlags) advise(ctx context.Context, stderr io.Writer, plan *plan.Plan) error {
	compared := [][]string{{"CELL", "ARRIVE", "RISE FROM THE START", "RECOVERY", "√VAR J AT REST", "SUGGESTION"}}
	for cell, given := range advice.Advise(plan) {
		name := strings.TrimSpace(plan.Spec.Name + " " + given.Label)
		trials := advice.NewTrials(cell, &given, f.workers, func(what string, seconds float64) {
			say(stderr, "%s: %s: about %.2g s", name, what, seconds)
		})
		if err := given.FromStart(ctx, trials); err != nil {
			return err
		}
		if f.simulate {
			located, err := trials.LocateLimits(ctx)
			if err != nil {
				return err
			}
			given.Lines = append(given.Lines, located...)
		}
		if err := given.Suggest(ctx, trials); err != nil {
			return err
		}
		compared = append(compared, comparison(name, &given))
		if err := f.out.print(given, func(p *page) { printAdvice(p, name, &given, f.all) }); err != nil {
			return err
		}
	}
	if f.out.json || len(plan.Cells) == 1 {
		return nil
	}
	return f.out.text(func(p *page) {
		p.width = readable
		p.table(compared)
	})
}

func comparison(name string, given *advice.Advice) []string {
	number := func(asked, unit string) string {
		if x := given.Answer(asked); !math.IsNaN(x) {
			return fmt.Sprintf("%.4g", x) + unit
		}
		return "–"
	}
	arrive, rise := "–", "–"
	if start := given.Start; start != nil {
		arrive = start.Arrived.Says()
		if first := start.Endings[0]; first.How == theory.AtTarget {
			rise = fmt.Sprintf("%.0f steps", first.Since)
		}
	}
	choice := given.Suggestion.Choice
	if longer := given.Suggestion.Longer; longer != nil {
		choice += fmt.Sprintf(", may grow to %d", longer.Interval)
	}
	recovery, floor := number(advice.Recovery, " steps"), number(advice.NoiseFloor, "")
	return []string{name, arrive, rise, recovery, floor, choice}
}

// adviceRows returns the first columns of lines of advice as rows of a table, below their names.
func adviceRows(lines []advice.Line, columns int) [][]string {
	rows := [][]string{[]string{"ASKED", "ANSWER", "KIND", "BY"}[:columns]}
	for _, line := range lines {
		row := []string{line.Asked, line.Says, string(line.Kind), line.Assumes}
		rows = append(rows, row[:columns])
	}
	return rows
}

// printAdvice prints the advice for one cell under its name: how its runs end and what cures them,
// the answers, and the suggestion.
func printAdvice(p *page, name string, given *advice.Advice, all bool) {
	p.width = readable
	p.printf("%s\n", name)
	if given.Units != "" {
		p.paragraph("", given.Units)
	}
	if start := given.Start; start != nil {
		runs := "the run"
		if start.Runs > 1 {
			runs = fmt.Sprintf("%d runs", start.Runs)
		}
		p.printf("from its start, %s of %d steps:\n", runs, start.Steps)
		for _, says := range start.Says() {
			p.paragraph("    ", "  "+says)
		}
	}
	if given.Why != "" {
		p.paragraph("  ", "why: "+given.Why)
	}
	printCures(p, given.Cures)
	if all {
		p.table(adviceRows(given.Lines, 4))
	} else {
		p.table(adviceRows(given.Answers(), 3)) // without BY: formulas would fill a screen
	}
	s := given.Suggestion
	says := "suggestion"
	if s.Kind != "" {
		says += " (" + string(s.Kind) + ")"
	}
	p.paragraph("  ", says+": "+s.Says)
	p.printf("\n")
}

const cureLegend = `arrives: the 99 % interval of ARRIVE lies above 95 %; holds: it does not, but that of the runs
that arrive or are too deep on the right arm does; fails: neither does; undecided: too few runs
to tell. TOO DEEP and OTHERS are numbers of RUNS.`

func printCures(p *page, cures []*advice.Trial) {
	if len(cures) == 0 {
		return
	}
	rows := [][]string{{"CHANGE", "OUTCOME", "ARRIVE", "TOO DEEP", "OTHERS", "RUNS"}}
	for _, outcome := range []advice.Outcome{advice.Arrives, advice.Holds, advice.Undecided, advice.Fails} {
		for _, c := range cures {
			if c.Outcome == outcome {
				arrive, deep := c.Count(theory.AtTarget), c.Count(theory.TooDeep)
				rows = append(rows, []string{c.Set, string(outcome), c.Arrived.Says(),
					strconv.Itoa(deep), strconv.Itoa(c.Runs - arrive - deep), strconv.Itoa(c.Runs)})
			}
		}
	}
	p.table(rows)
	p.printf("%s\n\n", cureLegend)
}
