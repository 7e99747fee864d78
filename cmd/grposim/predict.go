package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"grposim/sweeps"
)

func newPredict(stdout io.Writer) *cobra.Command {
	var (
		asJSON bool
		set    []string
	)
	c := &cobra.Command{
		Use:   "predict FILE",
		Short: "Print what theory says of every cell; no simulation",
		Long: `Prints the theory of every cell of FILE: fixed point, stiffness, damping ratio
and regime of the reduced-order model, spectral radius, thresholds, stationary
variance. A dash means that the theory has none; --json has everything, one
object a line.`,
		Example: `  grposim predict configs/smoke.yaml
  grposim predict configs/smoke.yaml --set grpo.group_size=inf --json`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			plan, err := readPlan(args[0], set)
			if err != nil {
				return err
			}
			if !asJSON {
				return printPredictions(stdout, plan)
			}
			encoder := json.NewEncoder(stdout)
			for _, line := range sweeps.Predictions(plan) {
				if err := encoder.Encode(line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a cell and line")
	c.Flags().StringArrayVar(&set, "set", nil, "override a key of the file, `key=value`; repeatable")
	return c
}

func printPredictions(w io.Writer, plan *sweeps.Plan) error {
	rows := [][]string{{"CELL", "J*", "STIFFNESS", "FRESH", "STALE", "ζ", "REGIME", "RADIUS", "CRITICAL η", "CRITICAL K", "RULE η", "VAR J"}}
	for c, p := range sweeps.Predictions(plan) {
		dynamics := &p.Exact
		if !dynamics.Scope.In {
			dynamics = &p.LeadingOrder
		}
		name := c.Label()
		if name == "" {
			name = plan.Spec.Name
		}
		if p.FixedPoint == nil {
			rows = append(rows, []string{name, "no fixed point"})
			continue
		}
		rows = append(rows, []string{name, digits(p.FixedPoint.Reward),
			digits(p.Stiffness.Total), digits(p.Stiffness.Fresh), digits(p.Stiffness.Stale),
			digits(p.Oscillator.DampingRatio), p.Oscillator.Regime, optional(dynamics.SpectralRadius),
			optional(dynamics.CriticalLearningRate), optional(dynamics.CriticalRefreshInterval),
			optional(p.PaperRule.CriticalLearningRate), optional(dynamics.StationaryVariance.ExpectedReward)})
	}
	return printTable(w, rows)
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func optional(x *float64) string {
	if x == nil {
		return "–"
	}
	return digits(*x)
}

// printForecast says how much work a sweep would be.
func printForecast(ctx context.Context, w io.Writer, plan *sweeps.Plan, workers int, asJSON bool) error {
	f, err := sweeps.NewForecast(ctx, plan, workers)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(w).Encode(f)
	}
	_, err = fmt.Fprintf(w, "%d cells, %.3g replica-steps, about %.2g s on %d workers, about %.2g MB\n",
		f.Cells, f.ReplicaSteps, f.Seconds, workers, float64(f.Bytes)/1e6)
	return err
}
