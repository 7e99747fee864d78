package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

func newPredict(stdout, stderr io.Writer) *cobra.Command {
	var (
		asJSON, path bool
		figures      string
		set          []string
	)
	c := &cobra.Command{
		Use:   "predict FILE|NAME",
		Short: "Print the theory's predictions for every cell, without simulating",
		Long: `Prints one line for every cell of FILE, or of a built-in configuration: expected
reward at the fixed point, stiffness (total, fresh and stale), damping ratio ζ of the two
largest multipliers, regime with the number of directions in which the fixed point is neutral,
spectral radius of the others, critical learning rate and refresh interval of the mean
dynamics, the paper's critical learning rate (grposim advise gives the largest one proven
stable), and the stationary variance of the expected reward with the predicted size of what it
neglects. A dash means that the theory predicts no value. The last column says whether
the theory of the stationary state holds for the cell, or why not. With --json every
prediction is printed.

The regimes, of a small displacement from the fixed point:
  overdamped   it decays, and no mode oscillates
  oscillatory  it decays, and at least one mode oscillates, be it a fast one that ζ is not of
  unstable     it grows
RADIUS is the factor of the slowest mode over a refresh period, which is K steps in a block
and one step otherwise: its K-th root is that of a step.

With --path prints the predicted path of every cell from its start: the expected reward over
optimizer steps, by which the claim trajectory judges runs, the standard deviation over runs,
and the predicted size of what the expected reward neglects. It needs no fixed point.
--figures FOLDER draws it, with one standard deviation on either side. With --json the path
at every recorded step joins the other predictions.`,
		Example: `  grposim predict smoke
  grposim predict configs/smoke.yaml --set grpo.kl.coefficient=1 --json
  grposim predict smoke --path --figures results/local/smoke-path`,
		ValidArgsFunction: completeConfiguration,
		Args:              arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			plan, err := readPlan(stderr, config.ToPredict, args[0], set)
			if err != nil {
				return err
			}
			if figures != "" {
				if !path {
					return usageError{errors.New("--figures draws the path: use it with --path")}
				}
				if err := drawFigures(stderr, figures, plan.PathFigure()); err != nil {
					return err
				}
			}
			switch {
			case path && !asJSON:
				return printPaths(stdout, plan)
			case !asJSON:
				return printPredictions(stdout, plan)
			}
			encoder := json.NewEncoder(stdout)
			for c, line := range sweeps.Predictions(plan) {
				if path {
					line.Path = plan.Path(c)
				}
				if err := encoder.Encode(line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for every cell, one on a line")
	c.Flags().BoolVar(&path, "path", false, "print the expected reward over optimizer steps instead")
	c.Flags().StringVar(&figures, "figures", "", "`folder` to draw the path in, as SVG and PNG")
	addSet(c, &set)
	return c
}

// printedSteps is the number of steps of a path that a table has.
const printedSteps = 12

// printPaths prints the predicted path of every cell: the first and the last step, and some
// between them, evenly spaced on a logarithmic scale.
func printPaths(w io.Writer, plan *sweeps.Plan) error {
	rows := [][]string{{"CELL", "STEP", "EXPECTED REWARD", "DEVIATION OVER RUNS", "NEGLECTED"}}
	for i := range plan.Cells {
		c := &plan.Cells[i]
		p, name := plan.Path(c), cmp.Or(c.Label(), plan.Spec.Name)
		if !p.Scope.In {
			rows = append(rows, []string{name, "–", p.Scope.Because, "–", "–"})
			continue
		}
		number := func(s theory.Series, n int) string {
			if n >= len(s) || math.IsNaN(s[n]) || math.IsInf(s[n], 0) {
				return "–"
			}
			return digits(s[n])
		}
		last, shown := p.Steps[len(p.Steps)-1], -1
		for i := range printedSteps {
			step := 0
			if i > 0 {
				step = int(math.Pow(float64(last), float64(i)/(printedSteps-1)))
			}
			n, _ := slices.BinarySearch(p.Steps, step)
			if n == shown {
				continue
			}
			shown = n
			rows = append(rows, []string{name, strconv.Itoa(p.Steps[n]), number(p.Reward, n), number(p.Deviation, n), number(p.Neglected, n)})
		}
	}
	return printTable(w, rows)
}

// printPredictions prints a row of predictions for every cell: those of the exact
// dynamics or, outside its scope, of the leading order.
func printPredictions(w io.Writer, plan *sweeps.Plan) error {
	rows := [][]string{{"CELL", "J*", "STIFFNESS", "FRESH", "STALE", "ζ", "REGIME", "RADIUS", "CRITICAL η", "CRITICAL K", "RULE η", "VAR J", "NEGLECTED", "SCOPE"}}
	var faster []string           // cells that oscillate in a mode other than the slowest
	periods := make(map[int]bool) // of which RADIUS is
	for c, p := range sweeps.Predictions(plan) {
		dynamics, _ := p.Linear()
		scope, variance := cmp.Or(p.Scope.Because, "in"), p.Variance
		switch {
		case p.Scope.In && p.FixedPoint != nil && !dynamics.Scope.In:
			scope = "in, except for the dynamics: " + dynamics.Scope.Because
		case p.Scope.In && variance != nil && p.Neglected.RewardVariance > *variance/2:
			scope = "in, except for VAR J: it neglects as much"
		case p.Scope.In && dynamics.MeanSquareLearningRate != nil:
			scope = "in; under random ages the variance is finite below η = " + digits(*dynamics.MeanSquareLearningRate)
		}
		name := c.Label()
		if name == "" {
			name = plan.Spec.Name
		}
		if p.FixedPoint == nil {
			row := append([]string{name}, slices.Repeat([]string{"–"}, len(rows[0])-2)...)
			rows = append(rows, append(row, p.Scope.Because))
			continue
		}
		regime := cmp.Or(p.Regime, "–")
		if ringsFaster(p.Regime, dynamics) {
			faster = append(faster, name)
		}
		if dynamics.SpectralRadius != nil {
			periods[sim.RefreshPeriod(c.Settings.Lag)] = true
		}
		if dynamics.Neutral > 0 {
			regime += fmt.Sprintf(", %d neutral", dynamics.Neutral)
		}
		if variance != nil && *variance < 0 {
			variance = nil // its second order is larger than its first
		}
		stiffness, neglected := []string{"–", "–", "–"}, "–"
		if p.Scope.In || dynamics.Scope.In {
			stiffness = []string{digits(p.Stiffness.Total), digits(p.Stiffness.Fresh), digits(p.Stiffness.Stale)}
			neglected = digits(p.Neglected.RewardVariance)
		}
		rows = append(rows, []string{name, digits(p.FixedPoint.Reward),
			stiffness[0], stiffness[1], stiffness[2],
			optional(dynamics.DampingRatio), regime, optional(dynamics.SpectralRadius),
			optional(dynamics.CriticalLearningRate), optional(dynamics.CriticalRefreshInterval),
			optional(p.PaperRule.CriticalLearningRate), optional(variance),
			neglected, scope})
	}
	notes := []string{plan.Units()}
	if len(periods) > 1 {
		notes = append(notes, "RADIUS is over a refresh period, which differs between these cells: K steps in a block, one step otherwise. Its K-th root is that of a step.")
	}
	if len(faster) > 0 {
		notes = append(notes, "Oscillatory in a mode that decays faster than the slowest one, which creeps back: "+strings.Join(faster, ", ")+". There ζ, of the two largest multipliers, does not decide the regime.")
	}
	err := printTable(w, rows)
	for _, note := range notes {
		if note != "" && err == nil {
			_, err = fmt.Fprintf(w, "\n%s\n", note)
		}
	}
	return err
}

// ringsFaster reports whether a mode oscillates other than the slowest, which does not.
func ringsFaster(regime string, d *rom.Dynamics) bool {
	if regime != theory.Oscillatory || len(d.Multipliers) == 0 {
		return false
	}
	slowest := d.Multipliers[0]
	return slowest[0] > 0 && slowest[1] == 0
}

// digits formats a number with six significant digits.
func digits(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// optional formats a prediction, nil if the theory makes none.
func optional(x *float64) string {
	if x == nil {
		return "–"
	}
	return digits(*x)
}

// printForecast prints the estimated work of a sweep on the given number of workers.
func printForecast(w io.Writer, f *sweeps.Forecast, workers int) error {
	_, err := fmt.Fprintf(w, "%d cells, %.3g replica-steps, about %.2g s on %d workers, then %.2g s of judging, about %.2g MB of files, %.2g MB of memory\n",
		f.Cells, f.ReplicaSteps, f.Seconds, workers, f.Judging, float64(f.Bytes)/1e6, max(f.Memory, f.JudgingMemory)/1e6)
	return err
}
