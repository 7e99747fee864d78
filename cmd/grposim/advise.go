package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"grposim/sweeps"
	"grposim/sweeps/config"
)

func newAdvise(stdout, stderr io.Writer) *cobra.Command {
	var (
		asJSON   bool
		noise    float64
		simulate bool
		fitted   bool
		lag      float64
		workers  int
		set      []string
	)
	c := &cobra.Command{
		Use:   "advise FILE|NAME|LOG",
		Short: "Print which learning rates, refresh intervals and group sizes are safe",
		Long: `Prints for every cell of FILE, or of a built-in configuration, by the theory: the mean
reward and the most probable arm at rest, whether the dynamics is stable and whether it
oscillates, the time to recover from a small displacement, the learning rates and refresh
intervals that are stable and without oscillation, and the noise floor. A line has the
kind of the prediction (exact, leading-order, the sufficient rule, the paper's rule) and
its formula. "all" means that there is provably no threshold, "all up to N" that none was
found up to N, and "not available" that the theory has no answer, with the reason.
"Without noise" marks a limit of the mean dynamics that is so far away that groups of
this size fluctuate too much.

The last line suggests one learning rate and one refresh interval (or delay): the present
learning rate and half of the largest interval that is known to be stable. If that is the
shortest interval, or none is unstable, it is the present interval and the present
learning rate, or half of the largest stable one if that is less. Half is a gain margin
of 2, as is customary in control engineering: closer to a limit fluctuations grow without
bound. A limit without noise does not count. Of limits found by theory and by simulation
the smaller one counts, and where none is found the largest value searched; beyond what
was simulated only exact theory counts.

With --simulate it also locates, for any optimizer, clip, number of arms and group size,
the largest learning rate and refresh interval with which a run stays steady: the reward
fluctuates at most twice as much as without lag, and its mean is no lower by more. It
repeats the file's run up to 30 times a cell, and says first how long that takes.

With --fit the argument is a training log (grposim fit says which). What its timescale
identifies is said by the same formulas: the stiffness, and the largest lag by the paper's
rule; what a log cannot identify is named. --lag is the age of the snapshot in that run,
in optimizer steps, 0 if every batch was used once.`,
		Example: `  grposim advise smoke
  grposim advise configs/smoke.yaml --noise 0.01 --json
  grposim advise smoke --simulate
  grposim advise --fit docs/example/llama-3.1-8b-gsm8k.csv`,
		ValidArgsFunction: completeConfiguration,
		Args:              arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if !(noise >= 0) {
				return usageError{fmt.Errorf("--noise: got %g, want ≥ 0", noise)}
			}
			if !(lag >= 0) {
				return usageError{fmt.Errorf("--lag: got %g, want ≥ 0", lag)}
			}
			if fitted {
				if simulate || noise > 0 || len(set) > 0 {
					return usageError{errors.New("--fit reads a log: --simulate, --noise and --set are of configurations")}
				}
				return adviseLog(stdout, stderr, args[0], lag, asJSON)
			}
			if c.Flags().Changed("lag") {
				return usageError{errors.New("--lag is of a training log: use it with --fit")}
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
			for cell, advice := range sweeps.Advise(plan, noise) {
				if simulate {
					located, err := sweeps.LocateLimits(c.Context(), cell, workers)
					if err != nil {
						return err
					}
					advice.Lines = append(advice.Lines, located...)
				}
				advice.Suggest(cell)
				if asJSON {
					err = encoder.Encode(advice)
				} else {
					err = printAdvice(stdout, plan.Spec.Name, &advice)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for every cell, one on a line")
	c.Flags().Float64Var(&noise, "noise", 0, "also print the smallest group size for this `DEVIATION` of the mean reward")
	c.Flags().BoolVar(&simulate, "simulate", false, "also locate the limits of steady runs by simulation")
	c.Flags().BoolVar(&fitted, "fit", false, "advise from what a training log identifies instead of a configuration")
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

// printAdvice prints the advice for one cell under its label, or the name of the file.
func printAdvice(w io.Writer, name string, advice *sweeps.Advice) error {
	if advice.Label != "" {
		name += " " + advice.Label
	}
	rows := [][]string{{"ASKED", "ANSWER", "KIND", "BY"}}
	for _, line := range advice.Lines {
		rows = append(rows, []string{line.Asked, line.Says, string(line.Kind), line.Assumes})
	}
	if _, err := fmt.Fprintln(w, name); err != nil {
		return err
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	if advice.Units != "" {
		fmt.Fprintln(w, advice.Units)
	}
	s := advice.Suggestion
	says := "suggestion"
	if s.Kind != "" {
		says += " (" + string(s.Kind) + ")"
	}
	_, err := fmt.Fprintf(w, "%s: %s\n\n", says, s.Says)
	return err
}
