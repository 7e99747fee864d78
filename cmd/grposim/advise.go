package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
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
	from          string // a trainer's configuration

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
		if f.from != "" {
			if len(args) > 0 || f.fitted || f.all || f.simulate || len(f.set) > 0 {
				return misuse("--from reads the configuration of a trainer, and goes with --json alone")
			}
			return adviseFrom(f.out, f.from)
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
	c.Flags().StringVar(&f.from, "from", "", "")
	addLogOptions(c, &f.log)
	c.Flags().StringVar(&f.lag, "lag", "0", "")
	f.gauge.add(c)
	addWorkers(c, &f.workers)
	addConfiguration(c, &f.set)
	return c
}

// advise prints the advice for every cell of a plan, and a table that compares several. What an
// interrupted cell has come to is printed.
func (f *adviseFlags) advise(ctx context.Context, stderr io.Writer, plan *plan.Plan) error {
	compared := [][]string{{"CELL", "90 % OF THE WAY", "SAMPLES", "ARRIVE", "SUGGESTION"}}
	display := newProgress(stderr)
	for cell, given := range advice.Advise(plan) {
		given.All = f.all
		name := strings.TrimSpace(plan.Spec.Name + " " + given.Label)
		if !f.out.json {
			if err := f.out.text(func(p *page) { printTheory(p, name, &given) }); err != nil {
				return err
			}
		}
		trials := advice.NewTrials(cell, &given, f.workers, func(what string, done, all int) {
			display.Part(name, what, done, all)
		})
		err := f.try(ctx, trials, &given)
		if display.End(); err != nil && f.out.json {
			return err
		}
		compared = append(compared, comparison(name, &given))
		if unread := f.out.print(given, func(p *page) { printTrials(p, &given) }); err == nil {
			err = unread
		}
		if err != nil {
			return err
		}
	}
	if f.out.json || len(plan.Cells) == 1 {
		return nil
	}
	return f.out.text(func(p *page) { p.table(compared) })
}

// try simulates what the advice for a cell needs.
func (f *adviseFlags) try(ctx context.Context, trials *advice.Trials, given *advice.Advice) error {
	err := given.FromStart(ctx, trials)
	if err == nil && f.simulate {
		given.Located, err = trials.LocateLimits(ctx)
		given.Lines = append(given.Lines, given.Located...)
	}
	if err == nil {
		err = given.Suggest(ctx, trials)
	}
	return err
}

// comparison returns the row of a cell in the table of several.
func comparison(name string, given *advice.Advice) []string {
	way, arrive, choice := given.Answer(advice.Way), "–", given.Suggestion.Choice
	if start := given.Start; start != nil {
		arrive = start.Arrived.Says()
		if first := start.Endings[0]; way.Kind == "" && first.How == theory.AtTarget {
			way.Says = fmt.Sprintf("simulated, by step %.0f", first.Since)
		}
	}
	if longer := given.Suggestion.Longer; longer != nil {
		choice += fmt.Sprintf(", may grow to %d", longer.Interval)
	}
	return []string{name, way.Says, given.Answer("samples drawn by then").Says, arrive, choice}
}

// adviceRows returns the first columns of lines of advice as rows of a table, below their names.
func adviceRows(lines []advice.Line, columns int) [][]string {
	rows := [][]string{[]string{"ASKED", "ANSWER", "KIND", "BY"}[:columns]}
	for _, line := range lines {
		rows = append(rows, []string{line.Asked, line.Says, string(line.Kind), line.Assumes}[:columns])
	}
	return rows
}

// printTheory prints what takes no trial: the answer in words, and its rows.
func printTheory(p *page, name string, given *advice.Advice) {
	p.printf("%s\n", name)
	for _, says := range given.Words {
		p.paragraph("  ", says)
	}
	if given.Units != "" {
		p.paragraph("  ", given.Units)
	}
	p.printf("\n")
	if given.All {
		p.table(adviceRows(given.Lines, 4))
	} else {
		p.table(adviceRows(given.Rows(), 3)) // without BY: formulas would fill a screen
	}
}

// printTrials prints how the runs of a cell end, what cures them, and the suggestion.
func printTrials(p *page, given *advice.Advice) {
	if start := given.Start; start != nil {
		runs := "the run"
		if start.Runs > 1 {
			runs = fmt.Sprintf("%d runs", start.Runs)
		}
		p.printf("\nsimulated from its start, %s of %d steps:\n", runs, start.Steps)
		for _, says := range start.Says() {
			p.paragraph("    ", "  "+says)
		}
	}
	if given.Why != "" {
		p.paragraph("  ", "why: "+given.Why)
	}
	printCures(p, given)
	p.table(adviceRows(given.Located, 3))
	says := "suggestion"
	if s := given.Suggestion; s.Kind != "" {
		says += " (" + string(s.Kind) + ")"
	}
	if given.Suggestion.Says != "" { // else interrupted
		p.paragraph("  ", says+": "+given.Suggestion.Says)
	}
	p.printf("\n")
}

// printCures prints the changes that were tried, without --all those that come first.
func printCures(p *page, given *advice.Advice) {
	rows, shown := [][]string{{"CHANGE", "OUTCOME", "ARRIVE", "TOO DEEP", "OTHERS", "RUNS"}}, 0
	cures := slices.Clone(given.Cures)
	slices.SortStableFunc(cures, func(a, b *advice.Trial) int { // those that arrive stay: mildest first
		return cmp.Compare(min(b.Arrived.Mean, 0.95), min(a.Arrived.Mean, 0.95))
	})
	for _, outcome := range []advice.Outcome{advice.Arrives, advice.Holds, advice.Undecided, advice.Fails} {
		for _, c := range cures {
			if c.Outcome != outcome || shown == advice.MostCures && !given.All {
				continue
			}
			shown++
			arrive, deep := c.Count(theory.AtTarget), c.Count(theory.TooDeep)
			rows = append(rows, []string{c.Set, string(outcome), c.Arrived.Says(),
				strconv.Itoa(deep), strconv.Itoa(c.Runs - arrive - deep), strconv.Itoa(c.Runs)})
		}
	}
	p.table(rows)
	if more := len(cures) - shown; more > 0 {
		p.printf("%d other changes were tried: --all\n", more)
	} else if given.Untried > 0 {
		p.printf("%d other kinds of changes were not tried: --all\n", given.Untried)
	}
}

// aTrainers is what --from reads.
var aTrainers = &input{name: "the configuration of TRL or verl, or a file with its arguments"}

// adviseFrom prints the file that a trainer's configuration makes, with comments on its keys.
func adviseFrom(out *printer, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return aTrainers.refuse(file, misuse("%v", err))
	}
	t, err := config.Translate(file, data)
	if err != nil {
		return err
	}
	return out.print(t, func(p *page) {
		p.printf("# made by `grposim advise --from %s`; the rest is the preset %s\n", pathWord(file), t.Trainer)
		for i, lines := range [][]string{t.Modelled, t.Left, {strings.Join(t.Unknown, ", ")}, t.Learn} {
			if strings.Join(lines, "") == "" {
				continue
			}
			p.printf("#\n# %s:\n", []string{"modelled", "left out, and why", "not known, or nothing of the update",
				"to learn from a run"}[i])
			for _, line := range lines {
				p.paragraph("#     ", "#   "+line)
			}
		}
		p.printf("%s", t.File)
	})
}
