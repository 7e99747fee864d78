package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"grposim/sweeps"
)

func newAdvise(stdout io.Writer) *cobra.Command {
	var (
		asJSON bool
		noise  float64
		set    []string
	)
	c := &cobra.Command{
		Use:   "advise FILE|NAME",
		Short: "Print which learning rates, refresh intervals and group sizes are safe, by the theory",
		Long: `Prints for every cell of FILE, or of a built-in configuration, without simulating: the
mean reward at rest, whether the dynamics is stable and whether it oscillates, the time to recover from a small
displacement, the learning rates and refresh intervals that are stable and without
oscillation, and the noise floor. A line has the kind of the prediction (exact,
leading-order, the sufficient rule, the paper's rule) and its formula. "all" means that
there is provably no threshold, "all up to N" that none was found up to N, and "not
available" that the theory has no answer, with the reason.`,
		Example: `  grposim advise smoke
  grposim advise configs/smoke.yaml --noise 0.01 --json`,
		ValidArgsFunction: completeConfiguration,
		Args:              arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if !(noise >= 0) {
				return usageError{fmt.Errorf("--noise: got %g, want ≥ 0", noise)}
			}
			plan, err := readPlan(args[0], set)
			if err != nil {
				return err
			}
			encoder := json.NewEncoder(stdout)
			for advice := range sweeps.Advise(plan, noise) {
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
	addSet(c, &set)
	return c
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
	_, err := fmt.Fprintln(w)
	return err
}
