package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"grposim/option"
	"grposim/rom/scope"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

func newPredict(stdout, stderr io.Writer) *cobra.Command {
	var (
		out *printer
		f   pathFlags
		set []string
	)
	c := newCommand("predict", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if err := f.check(c); err != nil {
			return err
		}
		planned, err := readPlan(stderr, config.ToPredict, args[0], set)
		if err == nil {
			err = f.checkPlan(planned)
		}
		if err != nil {
			return err
		}
		if f.simulate {
			if err := f.simulateVague(c.Context(), planned); err != nil {
				return err
			}
		}
		if f.figures != "" {
			way := func(c *plan.Cell) *theory.Way { return f.way(planned, c) }
			err = drawFigures(stderr, f.figures, sweeps.PathFigures(planned, way)...)
		}
		switch {
		case err != nil:
			return err
		case f.csv:
			return writePaths(stdout, planned, &f)
		case f.path && !out.json:
			return out.text(func(p *page) { printPaths(p, planned, &f) })
		case !out.json:
			return out.text(func(p *page) { printPredictions(p, planned) })
		}
		for c, line := range sweeps.Predictions(planned) {
			if f.path {
				line.Path = f.way(planned, c)
			}
			if err := out.print(line, nil); err != nil {
				return err
			}
		}
		return nil
	})
	out = addJSON(c, stdout, "", "print a JSON object for every cell, one on a line")
	f.add(c)
	addConfiguration(c, &set)
	return c
}

// outside is a cell without a prediction.
type outside struct {
	cell    *plan.Cell
	because scope.Reason
	margin  theory.Margin // of its Var J
}

// remedies prints what to do about the reasons of cells, each remedy once, and for the first cell
// with a variance of which the theory neglects too much, or whose run is too short for it, which
// change would do.
func (p *page) remedies(cells []outside) {
	var said []string
	for _, out := range cells {
		try := out.because.Try()
		if try == "" || slices.Contains(said, try) {
			continue
		}
		said = append(said, try)
		if out.because.Is(scope.TooMuchNeglected, scope.UnknownSize, scope.NoiseTooLarge, scope.BoundWithinNoise) {
			cache, s := theory.NewCache(), &out.cell.Settings
			try += cmp.Or(cache.VarianceCures(s, out.margin), cache.ArrivalCures(s, out.margin))
		}
		p.printf("\nout of scope (%s): %s\n", out.because.Name(), try)
	}
}

func nameOfCell(plan *plan.Plan, c *plan.Cell) string { return cmp.Or(c.Label(), plan.Spec.Name) }

// adamNote is about columns of a table of predictions.
const adamNote = "Under Adam with a finite group size CRITICAL η and CRITICAL K are no limits of " +
	"stability: from there on the spread of runs exceeds that of smaller steps."

// printPredictions prints a row of predictions for every cell: those of the exact
// dynamics or, outside its scope, of the leading order.
func printPredictions(p *page, plan *plan.Plan) {
	rows := [][]string{{"CELL", "J*", "STIFFNESS", "FRESH", "STALE", "ζ", "REGIME",
		"CRITICAL η", "CRITICAL K", "VAR J", "NEGLECTED", "SCOPE"}}
	adam := false // a cell's thresholds are those of held second moments
	var out []outside
	for c, line := range sweeps.Predictions(plan) {
		name := nameOfCell(plan, c)
		out = append(out, outside{c, outOfScope(line), line.Margin})
		if line.FixedPoint == nil {
			row := append([]string{name}, slices.Repeat([]string{"–"}, len(rows[0])-2)...)
			rows = append(rows, append(row, line.Scope.Because.String()))
			continue
		}
		rows = append(rows, append([]string{name}, predictionRow(line)...))
		s := &c.Settings
		adam = adam || s.Optimizer.Kind == option.Adam && s.Estimator.GroupSize != option.Infinite
	}
	p.table(rows)
	if units := plan.Units(); units != "" {
		p.printf("\n%s\n", units)
	}
	if adam {
		p.printf("\n%s\n", adamNote)
	}
	p.remedies(out)
}

// outOfScope returns why the theory has no stationary state, no dynamics or no Var J of a cell, or
// why its run does not reach that state: the first of these, Var J last.
func outOfScope(p *theory.Prediction) scope.Reason {
	dynamics, _ := p.Linear()
	because := cmp.Or(p.Scope.Because, dynamics.Scope.Because, p.Run.Because)
	if !because.Out() && p.Variance != nil {
		because = p.Margin.Judge(&p.AtRest.Variance)
	}
	return because
}

// predictionRow returns the predictions for a cell with a fixed point, without its name.
func predictionRow(p *theory.Prediction) []string {
	dynamics, _ := p.Linear()
	says, variance, because := "in", p.Variance, outOfScope(p)
	switch {
	case !p.Scope.In:
		says = because.String()
	case !dynamics.Scope.In:
		says = "in, except for the dynamics: " + because.String()
	case !p.Run.In:
		says = "in, except for the run: " + because.String()
	case because.Out():
		says = "in, except for VAR J: " + because.String()
	case dynamics.MeanSquareLearningRate != nil:
		says = "in; Var J of random ages is finite below η = " + optional(dynamics.MeanSquareLearningRate)
	}
	regime := cmp.Or(p.Regime, "–")
	if dynamics.Neutral > 0 {
		regime += fmt.Sprintf(", %d neutral", dynamics.Neutral)
	}
	if variance != nil && *variance < 0 {
		variance = nil // its second order is larger than its first
	}
	total, fresh, stale, neglected := "–", "–", "–", "–"
	if s := p.Stiffness; p.Scope.In || dynamics.Scope.In {
		total, fresh, stale = digits(s.Total), digits(s.Fresh), digits(s.Stale)
		if neglected = "unknown"; !math.IsInf(p.Neglected.RewardVariance, 1) {
			neglected = digits(p.Neglected.RewardVariance)
		}
	}
	return []string{digits(p.FixedPoint.Reward), total, fresh, stale,
		optional(dynamics.DampingRatio), regime, optional(dynamics.CriticalLearningRate),
		optional(dynamics.CriticalRefreshInterval), optional(variance), neglected, says}
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func optional(x *float64) string {
	if x == nil {
		return "–"
	}
	return digits(*x)
}
