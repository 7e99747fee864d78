package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grposim/option"
	"grposim/rom/scope"
	"grposim/sweeps"
	"grposim/sweeps/advice"
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
		if err == nil && f.simulate {
			err = f.simulateVague(c.Context(), planned)
		}
		if err == nil && f.figures != "" {
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

// remedies prints each reason of cells once, with what to do about it. For the first cell with a
// variance of which the theory neglects too much, or whose run is too short for it, it says which
// change would do.
func (p *page) remedies(plan *plan.Plan, lines []*theory.Prediction) {
	var all []said
	cured := make(map[string]string)
	for i, line := range lines {
		because := outOfScope(line)
		name := because.Name()
		if _, known := cured[name]; !known {
			cured[name] = theory.NewCache().VarianceCures(&plan.Cells[i].Settings, line.Margin)
		}
		all = append(all, said{name, "out of scope (" + name + ")",
			because.String() + ". What to do: " + because.Try() + cured[name]})
	}
	p.once(all)
}

func nameOfCell(plan *plan.Plan, c *plan.Cell) string { return cmp.Or(c.Label(), plan.Spec.Name) }

// printPredictions prints the answer in words, and a row of predictions for every cell: those of the
// exact dynamics or, outside its scope, of the leading order.
func printPredictions(p *page, plan *plan.Plan) {
	rows := [][]string{{"CELL", "J*", "TRUE J*", "STIFFNESS", "ζ", "REGIME", "CRITICAL η",
		"CRITICAL K", "VAR J", "SCOPE"}}
	var lines []*theory.Prediction
	adam, decays := false, false
	for c, line := range sweeps.Predictions(plan) {
		o := &c.Settings.Optimizer
		adam = adam || o.Kind == option.Adam && c.Settings.Estimator.GroupSize != option.Infinite
		decays = decays || o.Schedule.Kind != option.ConstantRate
		lines = append(lines, line)
		rows = append(rows, append([]string{nameOfCell(plan, c)}, predictionRow(line)...))
	}
	p.paragraph("  ", predictionsInWords(plan, lines))
	p.printf("\n")
	rows = knownColumns(rows)
	p.table(rows)
	for _, note := range [...]struct {
		holds        bool
		column, says string
	}{{plan.Units() != "", "", plan.Units()},
		{adam, "CRITICAL", "Under Adam with a finite group size no CRITICAL value is a limit of " +
			"stability: beyond it the spread of runs exceeds that of smaller steps."},
		{decays, "VAR J", "Where the learning rate decays, VAR J is its mean over the steps after " +
			"burn-in, of runs from the fixed point."},
		{decays, "REGIME", "Where the learning rate decays, the regime and its limits are those of " +
			"the full rate."},
	} {
		if note.holds && strings.Contains(strings.Join(rows[0], " "), note.column) {
			p.printf("\n")
			p.paragraph("  ", note.says)
		}
	}
	p.remedies(plan, lines)
}

// predictionsInWords is the answer for a cell, or how many cells are in each regime.
func predictionsInWords(plan *plan.Plan, lines []*theory.Prediction) string {
	if first := lines[0]; len(lines) == 1 {
		rest := theory.NewRest(&plan.Cells[0].Settings, &first.Prediction, first.AtRest)
		if rest.Dynamics != nil {
			return rest.Says() + "."
		}
		for _, given := range advice.Advise(plan) {
			return strings.Join(given.Words[:2], " ") // the way, and where it ends
		}
	}
	count := make(map[string]int)
	for _, line := range lines {
		count[cmp.Or(line.Regime, "without a predicted state")]++
	}
	says := config.Each(slices.Sorted(maps.Keys(count)),
		func(regime string) string { return fmt.Sprintf("%d %s", count[regime], regime) })
	return fmt.Sprintf("%d cells at rest: %s.", len(lines), strings.Join(says, ", "))
}

// outOfScope returns why the theory has no stationary state, no dynamics or no Var J of a cell, or
// why its run does not reach that state: the first of these, Var J last.
func outOfScope(p *theory.Prediction) scope.Reason {
	dynamics, _ := p.Linear()
	because := cmp.Or(p.Scope.Because, dynamics.Scope.Because, p.Run.Because)
	if p.Scope.In && because.Is(scope.NoNumber) { // prompts with a policy each have a state at rest
		because = p.Run.Because
	}
	if !because.Out() && p.Variance != nil {
		because = p.Margin.Judge(&p.AtRest.Variance)
	}
	return because
}

// predictionRow returns the predictions for a cell, without its name.
func predictionRow(p *theory.Prediction) []string {
	dynamics, _ := p.Linear()
	because := outOfScope(p)
	says := cmp.Or(because.Name(), "in")
	if x := dynamics.MeanSquareLearningRate; x != nil && !because.Out() {
		says += "; VAR J finite below η = " + digits(*x)
	}
	if p.FixedPoint == nil {
		return append(slices.Repeat([]string{"–"}, 8), says)
	}
	regime, variance, total, truth := cmp.Or(p.Regime, "–"), p.Variance, "–", "–"
	if x := p.AtRest.TrueMean; x != nil {
		truth = digits(x.Value)
	}
	if dynamics.Neutral > 0 {
		regime += fmt.Sprintf(", %d neutral", dynamics.Neutral)
	}
	if p.AtRest.Variance.Out() || variance != nil && *variance < 0 {
		variance = nil // not known, or its second order is larger than its first
	}
	if dynamics.Scope.In {
		total = digits(p.Stiffness.Total)
	}
	return []string{digits(p.FixedPoint.Reward), truth, total, optional(dynamics.DampingRatio), regime,
		optional(dynamics.CriticalLearningRate), optional(dynamics.CriticalRefreshInterval),
		optional(variance), says}
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func optional(x *float64) string {
	if x == nil {
		return "–"
	}
	return digits(*x)
}
