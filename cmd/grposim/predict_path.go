package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sim"
	"grposim/sweeps/advice"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

type pathFlags struct {
	path     bool
	csv      bool
	level    float64
	quantity sim.Quantity
	figures  string
	simulate bool
	ways     map[string]*theory.Way // of simulated runs, by the id of a cell
}

func (f *pathFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.path, "path", false, "")
	c.Flags().Float64Var(&f.level, "level", math.NaN(), "")
	c.Flags().StringVar((*string)(&f.quantity), "quantity", string(sim.ExpectedReward), "")
	c.Flags().BoolVar(&f.csv, "csv", false, "")
	c.Flags().StringVar(&f.figures, "figures", "", "")
	c.Flags().BoolVar(&f.simulate, "simulate", false, "")
	c.Flags().Lookup("level").DefValue = "95 % of the way"
}

// check returns an error where flags do not go together.
func (f *pathFlags) check(c *cobra.Command) error {
	if !f.path {
		for _, name := range []string{"level", "quantity", "csv", "figures", "simulate"} {
			if c.Flags().Changed(name) {
				return misuse("--%s is about the path: use it with --path", name)
			}
		}
	}
	if c.Flags().Changed("level") && (math.IsNaN(f.level) || math.IsInf(f.level, 0)) {
		return misuse("--level: want a finite number")
	}
	_, ofStratum := f.quantity.Stratum()
	_, ofArm := f.quantity.Arm()
	_, passes := f.quantity.Samples()
	names := sim.Quantities(2)
	named := slices.Contains(append(names, sim.EffectiveSampleSize), f.quantity)
	if !named && !passes && !ofStratum && !ofArm {
		return misuse("--quantity: got %q, want one of %v, effective_sample_size, pass_at_K, "+
			"probability_of_arm_K or reward_of_stratum_K", f.quantity, names)
	}
	return nil
}

// simulateVague simulates the cells whose path of the quantity the theory does not have, or has
// with a large size.
func (f *pathFlags) simulateVague(ctx context.Context, of *plan.Plan) error {
	f.ways = make(map[string]*theory.Way)
	in, cells := []sim.Cell(nil), []*plan.Cell(nil)
	for _, c := range of.Cells {
		way := f.way(of, c)
		if f.ways[c.ID] = way; c.Status != store.CellOK || !way.Vague(f.quantity) {
			continue
		}
		one := c.Sim().Cell
		one.Run.Replicas, one.Run.Record = theory.SimulatedRuns(&c.Settings), slices.Clone(one.Run.Record)
		add := func(q sim.Quantity) {
			if !slices.Contains(one.Quantities(), q) {
				one.Run.Record = append(one.Run.Record, q)
			}
		}
		asked := f.quantity
		if _, ofStratum := asked.Stratum(); ofStratum {
			asked = sim.Strata
		}
		if add(asked); !one.Deterministic() {
			add(sim.SamplesDrawn)
		}
		in, cells = append(in, one), append(cells, c)
	}
	return sim.Simulate(ctx, in, runtime.GOMAXPROCS(0), func(i int, r sim.Result) error {
		c := cells[i]
		f.ways[c.ID] = of.Cache.Simulated(f.ways[c.ID], &c.Settings, &r, f.level)
		return nil
	})
}

// way returns the path of a cell.
func (f *pathFlags) way(of *plan.Plan, c *plan.Cell) *theory.Way {
	if way := f.ways[c.ID]; way != nil {
		return way
	}
	return new(of.Cache.Way(&c.Settings, f.level, f.quantity))
}

// maxPathSteps bounds the steps of a path, each of which is computed: minutes, at 10 to 40 µs with
// two arms.
const maxPathSteps = 10_000_000

// checkPlan returns an error where a cell does not have the quantity, has a path of too many
// steps, or a network.
func (f *pathFlags) checkPlan(plan *plan.Plan) error {
	for i := range plan.Cells {
		arms := plan.Cells[i].Settings.Bandit.Arms
		arm, ofArm := f.quantity.Arm()
		_, passes := f.quantity.Samples()
		switch steps := plan.Cells[i].Settings.Run.Steps; {
		case f.path && steps > maxPathSteps:
			return misuse("--path: got run.steps %d, want at most %d: each is computed", steps, maxPathSteps)
		case passes && !sim.Binary(arms):
			return misuse("--quantity: got %s, want rewards of 0 or 1 with it", f.quantity)
		case ofArm && arm >= len(arms):
			return misuse("--quantity: got %s, want one of arms 0 to %d with it", f.quantity, len(arms)-1)
		case f.quantity == sim.LogitGap && len(arms) != 2:
			return misuse("--quantity: got %s, want two arms with it", f.quantity)
		}
	}
	if f.path {
		return withoutNetworks(plan, "predict --path")
	}
	return nil
}

// printedSteps is the number of steps of a path that a table has.
const printedSteps = 12

// beside are the quantities that a table of J has too, with the names of their columns.
var beside = []struct {
	quantity sim.Quantity
	column   string
}{{sim.Entropy, "ENTROPY"}, {sim.KLReference, "KL"}, {sim.ZeroVarianceFraction, "EQUAL GROUPS"}}

// printPaths prints the predicted path of every cell: the first and the last step, and some between
// them, evenly spaced on a logarithmic scale; below, when J reaches a level, and why a cell has no
// path.
func printPaths(p *page, plan *plan.Plan, f *pathFlags) {
	title := strings.ToUpper(strings.ReplaceAll(string(f.quantity), "_", " "))
	rows := [][]string{{"CELL", "STEP", "SAMPLES", title, "OVER RUNS", "NEGLECTED"}}
	if f.simulate {
		rows[0][5] = "NEGLECTED OR ±"
	}
	ofReward, besides := f.quantity == sim.ExpectedReward, beside
	if !ofReward {
		besides = nil
	}
	for _, b := range besides {
		rows[0] = append(rows[0], b.column)
	}
	var times []string
	tries := make(map[string]string) // what to do, by the name of a reason
	strata := [][]string{{"CELL", "PROMPTS", "INITIAL J", "J AT END", "NEGLECTED", "TIME TO 95 %"}}
	for _, c := range plan.Cells {
		w, name := f.way(plan, c), nameOfCell(plan, c)
		course := w.Of(f.quantity)
		if w.Runs > 0 {
			times = append(times, fmt.Sprintf("%s: simulated, %d runs; ± is half of the 95 %% interval", name, w.Runs))
		}
		if because := course.Because; because.Out() {
			times = append(times, fmt.Sprintf("%s: no path: %s (%s)", name, because, because.Name()))
			tries[because.Name()] = because.Try()
			continue
		}
		for _, n := range shownSteps(w.Steps) {
			row := []string{name, strconv.Itoa(w.Steps[n]), atStep(w.Samples, n),
				atStep(course.Mean, n), atStep(course.Deviation, n), atStep(course.Neglected, n)}
			for _, b := range besides {
				row = append(row, atStep(w.Quantities[b.quantity].Mean, n))
			}
			rows = append(rows, row)
		}
		if w.Runs == 0 && f.quantity.SinceRecord(c.Settings.Lag) {
			times = append(times, name+": of single steps; runs record the mean since the last record")
		}
		if ofReward {
			if t := w.TimeTo; t != nil {
				way := fmt.Sprintf("J = %s, %.3g %% of its way,", digits(t.Level), 100*t.Share)
				times = append(times, name+": "+timeInWords(&w.Path, t, way))
			}
			for _, says := range dangersInWords(w) {
				times = append(times, name+": "+says)
			}
			strata = append(strata, strataRows(name, w)...)
		} else if !math.IsNaN(f.level) {
			t, path := w.TimeOf(f.quantity, f.level)
			level := strings.ReplaceAll(string(f.quantity), "_", " ") + " = " + digits(t.Level)
			times = append(times, name+": "+timeInWords(path, t, level))
		}
	}
	for _, says := range times {
		p.paragraph("  ", says)
	}
	if len(times) > 0 && len(rows) > 1 {
		p.printf("\n")
	}
	p.table(rows)
	if len(strata) > 1 {
		p.printf("\nprompts by the reward with which they start:\n")
		p.table(strata)
	}
	for _, name := range slices.Sorted(maps.Keys(tries)) {
		p.printf("\n")
		p.paragraph("  ", "what to do ("+name+"): "+tries[name]+".")
	}
}

func strataRows(name string, w *theory.Way) (rows [][]string) {
	for i := range w.ByDifficulty {
		s := &w.ByDifficulty[i]
		n := len(s.Reward) - 1
		from, time := digits(s.From), ""
		if s.To != s.From {
			from += " to " + digits(s.To)
		}
		switch t := s.TimeTo; {
		case t == nil:
			time = "starts there"
		case t.Steps.Out(), math.IsInf(t.Steps.Size(), 1):
			time = "not known"
		case math.IsInf(t.Steps.Value, 1):
			time = "not in the run"
		default:
			time = advice.About(t.Steps.Value, t.Steps.Size())
		}
		rows = append(rows, []string{name, strconv.Itoa(s.Prompts), from,
			atStep(s.Reward, n), atStep(s.Neglected, n), time})
	}
	return rows
}

// shownSteps returns the indices of the steps that a table shows.
func shownSteps(steps []int) (shown []int) {
	last := steps[len(steps)-1]
	for i := range printedSteps {
		step := 0
		if i > 0 {
			step = int(math.Pow(float64(last), float64(i)/(printedSteps-1)))
		}
		n, _ := slices.BinarySearch(steps, step)
		shown = append(shown, n)
	}
	return slices.Compact(shown)
}

// atStep writes entry n of a series for a table.
func atStep(s theory.Series, n int) string { return entry(s, n, 6, "–") }

// entry writes entry n of a series with so many digits (−1: all), or none where it has no number.
func entry(s theory.Series, n, digits int, none string) string {
	if n >= len(s) || math.IsNaN(s[n]) || math.IsInf(s[n], 0) {
		return none
	}
	return strconv.FormatFloat(s[n], 'g', digits, 64)
}

// timeInWords says when a path reaches the level of t, given in words.
func timeInWords(path *theory.Path, t *theory.TimeTo, level string) string {
	says := "it reaches " + level + " " + advice.When(path, &t.Steps, t.Level)
	known := t.Steps.Size() < t.Steps.Value
	if known && t.Deviation > 0 {
		says += fmt.Sprintf(", single runs about %.2g steps earlier or later", t.Deviation)
	}
	if known && t.Samples > 0 {
		says += fmt.Sprintf(", after %.0f samples", t.Samples)
	}
	return says
}

// dangersInWords says what keeps runs from following the mean path to where it should end, and
// whether the mean path itself overshoots.
func dangersInWords(w *theory.Way) []string {
	says, lost := advice.Dangers(w.Arrival)
	if lost > 0 && w.Runs == 0 {
		says = append(says, "the path is that of the other runs")
	}
	if past := w.Overshoot; past != nil && *past > 0.01 {
		says = append(says, fmt.Sprintf("the mean path overshoots its fixed point by %.2g %% of the way",
			100**past))
	}
	return says
}

func writePaths(w io.Writer, plan *plan.Plan, f *pathFlags) error {
	columns := "cell label step samples quantity mean deviation neglected out_of_scope"
	rows := [][]string{strings.Fields(columns)}
	for _, c := range plan.Cells {
		way := f.way(plan, c)
		others := slices.Sorted(maps.Keys(way.Quantities))
		for _, quantity := range append([]sim.Quantity{sim.ExpectedReward}, others...) {
			course := way.Of(quantity)
			add := func(step, samples, mean, deviation, neglected string) {
				rows = append(rows, []string{c.ID, c.Label(), step, samples, string(quantity),
					mean, deviation, neglected, course.Because.String()})
			}
			if course.Because.Out() {
				add("", "", "", "", "")
				continue
			}
			for n, step := range way.Steps[:len(course.Mean)] {
				all := func(s theory.Series) string { return entry(s, n, -1, "") }
				add(strconv.Itoa(step), all(way.Samples), all(course.Mean), all(course.Deviation), all(course.Neglected))
			}
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}
