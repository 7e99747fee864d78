package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// stillPath is the range of a predicted path, as a share of its largest size, below which it gets
// no figure.
const stillPath = 1e-3

// eitherSide ends the titles of pictures with a band.
const eitherSide = ", ± one standard deviation over runs"

// PathFigures returns a figure of the predicted paths of the plan's cells for J, and for each other
// quantity that moves in one of them, each with a standard deviation over runs on either side; of
// many cells they have some. Prompts with a policy each have one by how hard they are at the start.
// way returns the path of a cell, see Way.
func PathFigures(p *plan.Plan, way func(c *plan.Cell) *theory.Way) (all []Figure) {
	sets := plan.Each(p.All())
	var ways []*theory.Way
	for _, set := range thinned(sets) {
		ways = append(ways, way(set.Cells[0]))
	}
	for _, column := range QuantityColumns {
		q := sim.Quantity(column.Name)
		// J where it is predicted, and what the entropy shows
		if q == sim.TrueReward || q == sim.Collision {
			continue
		}
		f := coursesOf(q, "Predicted "+strings.ReplaceAll(column.Name, "_", " ")+" of "+p.Spec.Name+
			eitherSide, sets)
		f.Name = "path"
		if q != sim.ExpectedReward {
			f.Name = "path-" + strings.ReplaceAll(column.Name, "_", "-")
		}
		f.Caption = "Each line is the mean over runs, over optimizer steps; the band has one standard " +
			"deviation over runs on either side. A cell without line has no predicted path."
		inBlocks := func(c *plan.Cell) bool { return q.SinceRecord(c.Settings.Lag) }
		if slices.ContainsFunc(firstCells(sets), inBlocks) {
			f.Caption += " Its values are those of single steps; runs with blocks record the mean over " +
				"the steps since the last record."
		}
		moves := q == sim.ExpectedReward
		for i, set := range thinned(sets) {
			w := ways[i]
			course := w.Quantities[q]
			if q == sim.ExpectedReward {
				course = theory.Course{Mean: w.Reward, Deviation: w.Deviation}
			}
			line, low, high := bandOf(cmp.Or(set.Label, p.Spec.Name), w.Steps, course, f.XScale)
			if column.Range == atLeast0 || column.Range == zeroToOne {
				for i := range line.Points {
					line.Points[i].Lo = max(line.Points[i].Lo, 0)
				}
			}
			moves = moves || high-low > stillPath*max(math.Abs(low), math.Abs(high))
			f.Series = append(f.Series, line)
		}
		if moves {
			all = append(all, f)
		}
	}
	if f := difficultyFigure(p, sets, ways); len(f.Series) > 0 {
		all = append(all, f)
	}
	return all
}

// difficultyFigure returns the figure of J of the strata of prompts by J at the start, of the first
// cell that has them; without series if none has.
func difficultyFigure(p *plan.Plan, sets []plan.CellSet, ways []*theory.Way) (f Figure) {
	for i, w := range ways {
		if len(w.ByDifficulty) == 0 {
			continue
		}
		set := thinned(sets)[i : i+1]
		f = coursesOf(sim.ExpectedReward, "Predicted reward of "+cmp.Or(set[0].Label, p.Spec.Name)+
			" by the reward with which prompts start"+eitherSide, set)
		f.Name = "path-by-difficulty"
		f.Caption = "Each line is the mean over the prompts that start at a reward in the range named, " +
			"and over runs; the band has one standard deviation over runs on either side. Of several " +
			"cells the first is drawn."
		for _, s := range w.ByDifficulty {
			course := theory.Course{Mean: s.Reward, Deviation: s.Deviation}
			line, _, _ := bandOf(fmt.Sprintf("%.2g to %.2g", s.From, s.To), w.Steps, course, f.XScale)
			f.Series = append(f.Series, line)
		}
		return f
	}
	return f
}

// bandOf returns the line of a path with a standard deviation on either side, and the range of its
// means.
func bandOf(name string, steps []int, course theory.Course, scale AxisScale) (
	line FigureSeries, low, high float64) {
	line = FigureSeries{Name: name, Group: name, Mark: Predicted}
	low, high = math.Inf(1), math.Inf(-1)
	for n, x := range course.Mean {
		if steps[n] == 0 && scale == LogAxis || math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		low, high = min(low, x), max(high, x)
		lo, hi := math.NaN(), math.NaN()
		if n < len(course.Deviation) && course.Deviation[n] > 0 {
			lo, hi = x-course.Deviation[n], x+course.Deviation[n]
		}
		line.within(float64(steps[n]), x, lo, hi)
	}
	return line, low, high
}
