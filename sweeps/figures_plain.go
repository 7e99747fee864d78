package sweeps

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// plainFigures returns the figures of a sweep without checks, for each variant: the mean
// reward over steps, and the reward at the last step over every swept parameter over which
// the cells form lines, or if there is none with the cells side by side.
func (e *evidence) plainFigures(plan *Plan) []Figure {
	var all []*Cell
	for i := range plan.Cells {
		all = append(all, &plan.Cells[i])
	}
	j := newJudgement(&config.Check{}, plan.IntervalConfidence(), e)
	final := make(map[string]measure.Estimate)
	for _, c := range all {
		final[c.ID] = e.finalReward(c)
	}
	var figures []Figure
	add := func(variant, name string, f Figure) {
		f.Name = name
		if variant != "" {
			f.Name, f.Title = name+"-"+variant, variant+": "+f.Title
		}
		figures = append(figures, f)
	}
	for _, variant := range variantsOf(each(all)) {
		cells := slices.DeleteFunc(slices.Clone(all), func(c *Cell) bool { return c.Variant != variant })
		add(variant, "learning-curves", drawLearning(j, each(cells)))
		picture := overPicture{title: "Expected reward at the last step", label: "expected reward J at the last step",
			caption: "Points are means over the replicas with their confidence intervals: values differ where intervals are apart."}
		compare := func(j *judgement, c *Cell) finding {
			f := finding{measured: final[c.ID].Mean}
			f.lo, f.hi = final[c.ID].Interval(j.confidence)
			return f
		}
		params := abscissas(cells)
		for _, param := range params {
			picture.over = param
			k, _ := config.LookupKey(param)
			add(variant, "final-reward-"+strings.ReplaceAll(cmp.Or(k.Noun, k.Path), " ", "-"), figureOver(j, each(cells), picture, compare))
		}
		if params == nil && len(cells) > 1 {
			add(variant, "final-reward", figureOver(j, each(cells), picture, compare))
		}
	}
	return figures
}

// finalReward returns the mean of J over the replicas at the last recorded step; its Mean
// is NaN where nothing was recorded.
func (e *evidence) finalReward(c *Cell) measure.Estimate {
	recorded := e.trajectory(e.outcome(c), sim.ExpectedReward)
	if recorded == nil || len(recorded.Steps) == 0 {
		return measure.Estimate{Mean: math.NaN()}
	}
	return c.meanReward(recorded, len(recorded.Steps)-1)
}

// drawLearning returns a picture of the mean reward over steps, with the band between the
// 5 % and 95 % quantiles of the replicas.
func drawLearning(j *judgement, sets []CellSet) Figure {
	f := curvesOf("Mean reward, and the 5–95 % band of the replicas", sets)
	f.Caption = "Lines are means over the replicas; nine of ten replicas lie inside the band at each step."
	for _, set := range thinned(sets) {
		c := set.Cells[0]
		recorded := j.trajectory(j.outcome(c), sim.ExpectedReward)
		if recorded == nil {
			continue
		}
		name := withoutVariant(set.Label, c.Variant)
		mean := FigureSeries{Name: "mean of the replicas", Group: name, Mark: Predicted} // a line
		spread := FigureSeries{Name: "5–95 % of the replicas", Group: name, Mark: Spread}
		reward := recorded.Series(sim.ExpectedReward)
		for i, t := range recorded.Steps {
			if t == 0 && f.XScale == LogAxis {
				continue
			}
			x, q := float64(t), reward.Quantiles[i]
			mean.Points = append(mean.Points, BarePoint(x, float64(reward.Mean[i])))
			spread.Points = append(spread.Points, FigurePoint{x, float64(q[2]), float64(q[0]), float64(q[4])})
		}
		if c.Settings.Run.Replicas > 1 && !c.deterministic() {
			f.Series = append(f.Series, spread)
		}
		f.Series = append(f.Series, mean)
	}
	return f
}

// CellColumns are the columns of a table of cells for people: see Experiment.CellRows.
var CellColumns = []string{"cell", "status", "expected reward at the last step", "mean after the burn-in", "variance after the burn-in"}

// CellRows yields a row of CellColumns for each cell, the values with their intervals.
// "–" stands for what is not known. failure returns the first error in reading a trajectory so
// far.
func (e *Experiment) CellRows() (rows iter.Seq[[]string], failure func() error) {
	measured := newEvidence(e.Outcomes)
	confidence := e.Plan.IntervalConfidence()
	show := func(x measure.Estimate, known bool) string {
		if !known || math.IsNaN(x.Mean) {
			return "–"
		}
		lo, hi := x.Interval(confidence)
		digits := significant(x.Mean, hi-lo)
		if !(hi > lo) || math.IsInf(hi, 0) {
			return format(store.Number(x.Mean), digits)
		}
		return fmt.Sprintf("%s [%s, %s]", format(store.Number(x.Mean), digits), format(store.Number(lo), digits), format(store.Number(hi), digits))
	}
	rows = func(yield func([]string) bool) {
		for i := range e.Plan.Cells {
			c := &e.Plan.Cells[i]
			o := e.Outcomes[c.ID]
			row := []string{cmp.Or(c.Label(), "–"), string(o.Status), show(measured.finalReward(c), true)}
			for _, name := range []string{sim.ExpectedRewardMean, sim.ExpectedRewardVariance} {
				row = append(row, show(o.Estimate(name)))
			}
			if !yield(row) {
				return
			}
		}
	}
	return rows, func() error { return measured.failure }
}
