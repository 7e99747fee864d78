package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// plainFigures returns the figures of a sweep without checks, for each variant: the mean
// reward over steps, and over samples drawn where a step takes more of them in one cell than in
// another, and the reward at the last step over every swept parameter over which the cells form
// lines, or if there is none with the cells side by side. Then, of all variants, the other recorded
// quantities that move (movingQuantities).
func plainFigures(e *claim.Evidence, p *plan.Plan) []Figure {
	all := p.Cells
	j := claim.NewQuestion(&config.Check{}, e)
	final, costs := make(map[string]measure.Estimate), make(map[string]float64)
	for _, c := range all {
		final[c.ID], costs[c.ID] = atEnd(e, c)
	}
	var figures []Figure
	add := func(variant, name string, f Figure) {
		f.Name = name
		if variant != "" {
			f.Name, f.Title = name+"-"+variant, variant+": "+f.Title
		}
		figures = append(figures, f)
	}
	for _, variant := range variantsOf(plan.Each(all)) {
		cells := ofVariant(all, variant)
		sets := plan.Each(cells)
		add(variant, "learning-curves", drawCourses(j, sets, sim.ExpectedReward, overSteps))
		cost := func(c *plan.Cell) float64 { return costs[c.ID] }
		if known := slices.DeleteFunc(config.Each(cells, cost), math.IsNaN); measure.Spread(known) > 0 {
			add(variant, "learning-curves-samples", drawCourses(j, sets, sim.ExpectedReward, overSamples))
		}
		picture := frames()["final-reward"]
		compare := func(j *claim.Question, c *plan.Cell) claim.Finding {
			f := claim.Finding{Measured: final[c.ID].Mean}
			f.Lo, f.Hi = final[c.ID].Interval(j.Confidence)
			return f
		}
		params := abscissas(cells)
		for _, param := range params {
			picture.over = param
			k, _ := config.LookupKey(param)
			name := "final-reward-" + strings.ReplaceAll(cmp.Or(k.Noun, k.Path), " ", "-")
			add(variant, name, figureOver(j, sets, picture, compare))
		}
		if params == nil && len(cells) > 1 {
			add(variant, "final-reward", figureOver(j, sets, picture, compare))
		}
	}
	for _, q := range movingQuantities(e, p, all) {
		add("", strings.ReplaceAll(string(q), "_", "-"), drawCourses(j, plan.Each(all), q, overSteps))
	}
	return figures
}

func ofVariant(cells []*plan.Cell, variant string) []*plan.Cell {
	return slices.DeleteFunc(slices.Clone(cells),
		func(c *plan.Cell) bool { return c.Variant != variant })
}

// movingQuantities lists the recorded quantities, J apart, that move by more than their noise in
// some cell and say something that no other figure does: Σπ² and the logit gap follow the entropy,
// the divergence from a uniform reference is log A less the entropy, and the true reward is J
// unless the file gives another. Samples drawn are an axis.
func movingQuantities(e *claim.Evidence, p *plan.Plan, cells []*plan.Cell) (moving []sim.Quantity) {
	own := func(says func(s *config.Settings) bool) bool {
		return slices.ContainsFunc(cells, func(c *plan.Cell) bool { return says(&c.Settings) })
	}
	for _, q := range recordedQuantities(p) {
		switch q {
		case sim.ExpectedReward, sim.Collision, sim.LogitGap, sim.SamplesDrawn:
			continue
		case sim.TrueReward:
			k, _ := config.LookupKey(config.TrueMeansKey)
			if !own(func(s *config.Settings) bool { return !k.AtDefault(s) }) {
				continue
			}
		case sim.KLReference:
			if !own(func(s *config.Settings) bool {
				return s.Policy.ReferenceUpdate.Interval != 0 || s.Prompts.Start.Drawn() ||
					measure.Spread(s.Policy.Reference) != 0
			}) {
				continue
			}
		}
		if moves(e, cells, q) {
			moving = append(moving, q)
		}
	}
	return moving
}

// atEnd returns the mean of J over the replicas at the last recorded step, and the samples that a
// step takes; NaN where nothing was recorded.
func atEnd(e *claim.Evidence, c *plan.Cell) (final measure.Estimate, cost float64) {
	recorded := e.Means(e.Outcome(c), sim.ExpectedReward, sim.SamplesDrawn)
	if recorded == nil || len(recorded.Steps) == 0 {
		return measure.Estimate{Mean: math.NaN()}, math.NaN()
	}
	last := len(recorded.Steps) - 1
	samples := (&recordedRun{Cell: c, t: recorded}).samples()
	return c.MeanReward(recorded, last), samples[last] / float64(recorded.Steps[last])
}

// axis is what a picture of a quantity along a run has on its x axis.
type axis int

const (
	overSteps axis = iota
	overSamples
)

// ofSamples are the quantities of the groups of a step, whose bands would show the noise of single
// steps.
var ofSamples = []sim.Quantity{sim.ZeroVarianceFraction, sim.ClipFraction, sim.GradientNorm}

// drawCourses returns a picture of the mean of a quantity over steps, or over the samples drawn up
// to them, with the band between the 5 % and 95 % quantiles of the replicas except ofSamples.
func drawCourses(j *claim.Question, sets []plan.CellSet, quantity sim.Quantity, over axis) Figure {
	noun, banded := claim.Noun(quantity), !slices.Contains(ofSamples, quantity)
	title, caption := "Mean "+noun, "Lines are means over the replicas"
	if over == overSamples {
		title += " over samples drawn"
	}
	if banded {
		title += ", and the 5–95 % band of the replicas"
		caption += "; nine of ten replicas lie inside the band at each step"
	}
	f := coursesOf(sim.ExpectedReward, title, sets)
	f.Caption = caption + "."
	if over == overSamples {
		f.XLabel, f.XScale = "samples drawn", LogAxis // redrawn groups take ever more of them
	}
	if column, _ := recordedColumn(quantity); quantity != sim.ExpectedReward {
		if f.YLabel = noun; column.Unit != pureRatio {
			f.YLabel += ", " + column.Unit
		}
	}
	missing := 0
	for _, set := range evenly(sets, maxCurves) {
		c := set.Cells[0]
		recorded := j.Trajectory(j.Outcome(c), sim.ExpectedReward, quantity, sim.SamplesDrawn)
		if recorded == nil || recorded.Series(quantity) == nil {
			continue
		}
		name := set.Label
		if len(variantsOf(sets)) == 1 {
			name = withoutVariant(set.Label, c.Variant)
		}
		mean := FigureSeries{Name: "mean of the replicas", Group: name, Mark: Predicted} // a line
		spread := FigureSeries{Name: "5–95 % of the replicas", Group: name, Mark: Spread}
		run := recordedRun{Cell: c, t: recorded, s: recorded.Series(quantity)}
		places := run.steps()
		if over == overSamples {
			places = run.samples()
		}
		if math.IsNaN(places[0]) {
			missing++
			continue
		}
		for i, x := range places {
			if x == 0 && f.XScale == LogAxis {
				continue
			}
			q := run.s.Quantiles[i]
			mean.point(x, float64(run.s.Mean[i]))
			spread.within(x, float64(q[2]), float64(q[0]), float64(q[4]))
		}
		if banded && c.Settings.Run.Replicas > 1 && !c.Deterministic() {
			f.Series = append(f.Series, spread)
		}
		f.Series = append(f.Series, mean)
	}
	if missing > 0 {
		f.Caption += fmt.Sprintf(" %d of the cells redraw groups and have no line: how many samples "+
			"they draw is known only with `run.record: [samples]`.", missing)
	}
	return f
}

// CellColumns are the columns of a table of cells for people: see Experiment.CellRows.
var CellColumns = []string{"cell", "status", "expected reward at the last step",
	"mean after the burn-in", "variance after the burn-in", "steps to 95 %", "samples to 95 %",
	"entropy at the last step"}

// CellRows returns a row of CellColumns for each of the cells with these indices, the values with
// their intervals. "–" stands for what is not known. The error is the first in reading a run.
func (e *Experiment) CellRows(cells []int) (rows [][]string, err error) {
	measured := claim.NewEvidence(e.Plan, e.Outcomes)
	show := func(x measure.Estimate, known bool) string {
		if !known {
			return "–"
		}
		return withInterval(x, measured.Confidence)
	}
	for _, i := range cells {
		c := e.Plan.Cells[i]
		o := e.Outcomes[c.ID]
		final, _ := atEnd(measured, c)
		row := []string{cmp.Or(c.Label(), "–"), string(o.Status), show(final, true)}
		for _, name := range []string{sim.ExpectedRewardMean, sim.ExpectedRewardVariance} {
			row = append(row, show(o.Estimate(name)))
		}
		t := measured.Means(o, sim.ExpectedReward, sim.Collision, sim.Entropy, sim.SamplesDrawn)
		for _, name := range []string{timeTo95, samplesTo95, string(sim.Entropy)} {
			n, _ := parseNumber(name)
			row = append(row, show(n.of(c, t, claim.ClassOf(c, t)), true))
		}
		rows = append(rows, row)
	}
	return rows, measured.Failure
}

// withInterval returns a number with its interval, if it has one, for people; "–" if it is not
// known.
func withInterval(x measure.Estimate, confidence float64) string {
	if math.IsNaN(x.Mean) {
		return "–"
	}
	lo, hi := x.Interval(confidence)
	digits := judge.Significant(x.Mean, hi-lo)
	mean := judge.Format(store.Number(x.Mean), digits)
	switch {
	case hi > lo && !math.IsInf(hi, 0):
		return fmt.Sprintf("%s [%s, %s]", mean, judge.Format(store.Number(lo), digits),
			judge.Format(store.Number(hi), digits))
	case x.Mean >= 1000 && x.Mean < 1e12: // a time
		return strconv.FormatFloat(x.Mean, 'f', 0, 64)
	}
	return mean
}
