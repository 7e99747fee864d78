package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
	"grposim/training/logs"
)

func newAdvise(stdout, stderr io.Writer) *cobra.Command {
	var (
		asJSON   bool
		all      bool
		noise    float64
		simulate bool
		fitted   bool
		lag      float64
		workers  int
		set      []string
		log      logs.Options
	)
	c := newCommand("advise", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if !(noise >= 0) {
			return usageError{fmt.Errorf("--noise: got %g, want ≥ 0", noise)}
		}
		if !(lag >= 0) {
			return usageError{fmt.Errorf("--lag: got %g, want ≥ 0", lag)}
		}
		if fitted {
			if simulate || all || noise > 0 || len(set) > 0 {
				return usageError{errors.New("--fit reads a log: --simulate, --all, --noise and --set are of configurations")}
			}
			return adviseLog(stdout, stderr, args[0], log, lag, asJSON)
		}
		for _, flag := range []string{"lag", "run", "percent"} {
			if c.Flags().Changed(flag) {
				return usageError{fmt.Errorf("--%s is of a training log: use it with --fit", flag)}
			}
		}
		plan, err := readPlan(stderr, config.ToPredict, args[0], set)
		if err != nil {
			return err
		}
		if err := checkWorkers(workers); err != nil {
			return err
		}
		if simulate {
			if err := announceLocations(c.Context(), stderr, plan, workers); err != nil {
				return err
			}
		}
		encoder := json.NewEncoder(stdout)
		compared := [][]string{{"CELL", "ARRIVE", "RISE FROM THE START", "RECOVERY", "√VAR J AT REST", "SUGGESTION"}}
		for cell, advice := range sweeps.Advise(plan, noise) {
			name := strings.TrimSpace(plan.Spec.Name + " " + advice.Label)
			trials := sweeps.NewTrials(cell, &advice, workers, func(what string, seconds float64) {
				printLines(stderr, fmt.Sprintf("%s: %s: about %.2g s", name, what, seconds))
			})
			if err := advice.FromStart(c.Context(), trials); err != nil {
				return err
			}
			if simulate {
				located, err := trials.LocateLimits(c.Context())
				if err != nil {
					return err
				}
				advice.Lines = append(advice.Lines, located...)
			}
			if err := advice.Suggest(c.Context(), trials); err != nil {
				return err
			}
			compared = append(compared, comparison(name, &advice))
			switch {
			case asJSON:
				err = encoder.Encode(advice)
			case all:
				err = printAdvice(stdout, name, &advice, adviceRows(advice.Lines))
			default:
				rows := adviceRows(advice.Answers())
				for i := range rows {
					rows[i] = rows[i][:3] // without BY: formulas would fill a screen
				}
				err = printAdvice(stdout, name, &advice, rows)
			}
			if err != nil {
				return err
			}
		}
		if asJSON || len(plan.Cells) == 1 {
			return nil
		}
		return printTable(stdout, compared)
	})
	c.ValidArgsFunction = completeConfiguration
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for every cell, one on a line")
	c.Flags().Float64Var(&noise, "noise", 0, "also print the smallest group size for this `DEVIATION` of the mean reward")
	c.Flags().BoolVar(&simulate, "simulate", false, "also locate the largest learning rate and interval with which runs arrive, from the file's start")
	c.Flags().BoolVar(&all, "all", false, "print every answer to a question, not the safest alone, and what it assumes")
	c.Flags().BoolVar(&fitted, "fit", false, "advise from what a training log identifies instead of a configuration")
	addRun(c, &log)
	addPercent(c, &log)
	c.Flags().Float64Var(&lag, "lag", 0, "age of the snapshot in the run of the log, in optimizer `steps`")
	addWorkers(c, &workers)
	addSet(c, &set)
	return c
}

// announceLocations says what the search for the limits of a plan's cells costs at most.
func announceLocations(ctx context.Context, w io.Writer, plan *sweeps.Plan, workers int) error {
	f, err := sweeps.LocationForecast(ctx, plan, workers)
	if err == nil {
		_, err = fmt.Fprintf(w, "grposim: simulation: %d cells, at most %.3g replica-steps, about %.2g s on %d workers\n", f.Cells, f.ReplicaSteps, f.Seconds, workers)
	}
	return err
}

// comparison returns the row of a cell in the table that compares cells.
func comparison(name string, advice *sweeps.Advice) []string {
	number := func(asked, unit string) string {
		if x := advice.Answer(asked); !math.IsNaN(x) {
			return fmt.Sprintf("%.4g", x) + unit
		}
		return "–"
	}
	arrive, rise := "–", "–"
	if start := advice.Start; start != nil {
		arrive = start.Arrived.Says()
		if first := start.Endings[0]; first.How == theory.AtTarget {
			rise = fmt.Sprintf("%.0f steps", first.Since)
		}
	}
	choice := advice.Suggestion.Choice
	if longer := advice.Suggestion.Longer; longer != nil {
		choice += fmt.Sprintf(", may grow to %d", longer.Interval)
	}
	return []string{name, arrive, rise, number(sweeps.Recovery, " steps"), number(sweeps.NoiseFloor, ""), choice}
}

// adviceRows returns lines of advice as rows of a table, below the names of its columns.
func adviceRows(lines []sweeps.AdviceLine) [][]string {
	rows := [][]string{{"ASKED", "ANSWER", "KIND", "BY"}}
	for _, line := range lines {
		rows = append(rows, []string{line.Asked, line.Says, string(line.Kind), line.Assumes})
	}
	return rows
}

// printAdvice prints the advice for one cell under its name: how its runs end and what cures them,
// the given rows, and the suggestion.
func printAdvice(w io.Writer, name string, advice *sweeps.Advice, rows [][]string) error {
	fmt.Fprintln(w, name)
	if advice.Units != "" {
		fmt.Fprintln(w, advice.Units)
	}
	if start := advice.Start; start != nil {
		runs := "the run"
		if start.Runs > 1 {
			runs = fmt.Sprintf("%d runs", start.Runs)
		}
		fmt.Fprintf(w, "from its start, %s of %d steps:\n  %s\n", runs, start.Steps, strings.Join(start.Says(), "\n  "))
	}
	if advice.Why != "" {
		fmt.Fprintf(w, "why: %s\n", advice.Why)
	}
	if err := printCures(w, advice.Cures); err != nil {
		return err
	}
	if len(rows) > 1 {
		if err := printTable(w, rows); err != nil {
			return err
		}
	}
	s := advice.Suggestion
	says := "suggestion"
	if s.Kind != "" {
		says += " (" + string(s.Kind) + ")"
	}
	_, err := fmt.Fprintf(w, "%s: %s\n\n", says, s.Says)
	return err
}

// printCures prints the changes that were tried, those that arrive first.
func printCures(w io.Writer, cures []*sweeps.Trial) error {
	if len(cures) == 0 {
		return nil
	}
	rows := [][]string{{"CHANGE", "OUTCOME", "ARRIVE", "TOO DEEP", "OTHERS", "RUNS"}}
	for _, outcome := range []sweeps.Outcome{sweeps.Arrives, sweeps.Holds, sweeps.Undecided, sweeps.Fails} {
		for _, c := range cures {
			if c.Outcome == outcome {
				arrive, deep := c.Count(theory.AtTarget), c.Count(theory.TooDeep)
				rows = append(rows, []string{c.Set, string(outcome), c.Arrived.Says(), fmt.Sprint(deep), fmt.Sprint(c.Runs - arrive - deep), fmt.Sprint(c.Runs)})
			}
		}
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, `arrives: the 99 % interval of ARRIVE lies above 95 %; holds: it does not, but that of the runs
that arrive or are too deep on the right arm does; fails: neither does; undecided: too few runs
to tell. TOO DEEP and OTHERS are numbers of RUNS.

`)
	return err
}
