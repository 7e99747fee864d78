package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// evenly returns at most so many of a list, evenly spaced, with the first and the last.
func evenly[T any](list []T, most int) (some []T) {
	if len(list) <= most {
		return list
	}
	for i := range most {
		some = append(some, list[i*(len(list)-1)/(most-1)])
	}
	return some
}

// drawnOf returns the part of a title that says how many of the cells are drawn; "" for all.
func drawnOf(sets []plan.CellSet) string {
	if len(sets) <= maxCurves {
		return ""
	}
	return fmt.Sprintf(" (%d of %d cells)", maxCurves, len(sets))
}

// maxCurves is the largest number of cells whose curves a picture shows.
const maxCurves = 7

// shortRun is the largest number of steps drawn on a linear axis; longer runs are drawn
// on a logarithmic one.
const shortRun = 1000

// coursesOf returns an empty picture of means of a recorded quantity over steps.
func coursesOf(quantity sim.Quantity, title string, sets []plan.CellSet) Figure {
	f := Figure{Title: title + drawnOf(sets), XLabel: "optimizer step", YLabel: labelOf(quantity)}
	long := func(set plan.CellSet) bool { return set.Cells[0].Settings.Run.Steps > shortRun }
	if slices.ContainsFunc(sets, long) {
		f.XScale = LogAxis
	}
	return f
}

// labelOf returns the label of an axis of a recorded quantity.
func labelOf(quantity sim.Quantity) string {
	column, known := recordedColumn(quantity)
	switch label := claim.Noun(quantity); {
	case quantity == sim.ExpectedReward:
		return "expected reward J"
	case !known || column.Unit == pureRatio:
		return label
	default:
		return label + " [" + column.Unit + "]"
	}
}

// drawCurves returns a picture of the mean of the checks' quantity over steps against the predicted
// curve. Runs without noise are drawn as lines where the prediction is not the exact one.
func drawCurves(j *claim.Question, d *figureSource) Figure {
	sets := d.sets
	against := map[rom.Kind]string{rom.LeadingOrder: "reduced-order model",
		rom.PaperRule: "paper’s curve"}[j.Kind]
	quantity := j.Check.Recorded()
	mean := "Mean " + claim.Noun(quantity)
	f := coursesOf(quantity, mean+" against the predicted curve", sets)
	f.Caption = frames()["trajectory"].Caption
	if against != "" {
		f.Title = mean + " against the " + against + drawnOf(sets)
		f.Caption = "Where the " + against +
			" holds, it follows the simulated mean reward at every step; the gap between them is its error."
	}
	for _, set := range evenly(sets, maxCurves) {
		c := set.Cells[0]
		name := withoutVariant(set.Label, c.Variant)
		recorded := j.Trajectory(j.Outcome(c), quantity)
		if recorded == nil {
			continue
		}
		series := recorded.Series(quantity)
		measured := FigureSeries{Name: name, Group: name, Mark: Measured}
		predicted := FigureSeries{Name: name + " predicted", Group: name, Mark: Predicted}
		spread := FigureSeries{Name: name + " 5–95 %", Group: name, Mark: Spread}
		every := 8
		if c.Deterministic() && against != "" {
			measured.Name, measured.Mark, every = "simulated", Predicted, 1
			predicted.Name, predicted.Mark = against, Reference
		}
		curve, theory := j.Course(c)
		for i, t := range recorded.Steps {
			if t == 0 && f.XScale == LogAxis {
				continue
			}
			x, q := float64(t), series.Quantiles[i]
			if i%every == 0 {
				e := c.MeanOf(recorded, quantity, i)
				lo, hi := e.Interval(j.Confidence)
				if measured.Mark == Predicted {
					lo, hi = math.NaN(), math.NaN()
				}
				measured.within(x, e.Mean, lo, hi)
			}
			spread.within(x, float64(q[2]), float64(q[0]), float64(q[4]))
			if !theory.Out() {
				predicted.point(x, curve.At(t))
			}
		}
		if len(sets) == 1 && !c.Deterministic() {
			f.Series = append(f.Series, spread)
		}
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}

// drawFits returns a picture of the mean reward, the exponential fitted to it, the
// mean-field curve, and the curve of the reduced-order model.
func drawFits(j *claim.Question, d *figureSource) Figure {
	sets := d.sets
	f := coursesOf(sim.ExpectedReward, frames()["saturation-fit"].Title, sets)
	f.Caption = frames()["saturation-fit"].Caption
	f.XScale = LinearAxis // the fit gives every step the same weight
	for _, set := range evenly(sets, maxCurves) {
		c := set.Cells[0]
		o := j.Outcome(c)
		rate, fitted := o.Estimate(sim.SaturationRate)
		r2, _ := o.Estimate(sim.SaturationR2)
		recorded := j.Trajectory(o, sim.ExpectedReward)
		if recorded == nil || !fitted {
			continue
		}
		group, fit := withoutVariant(set.Label, c.Variant), "free exponential, fitted"
		if quality := fmt.Sprintf(", R² = %.4f", r2.Mean); len(sets) == 1 {
			fit += quality
		} else {
			group += quality
		}
		curve, exact := j.By("").Curve(c)
		closed, leading := j.By(rom.LeadingOrder).Curve(c)
		measured := FigureSeries{Name: "simulated", Group: group, Mark: Measured,
			Points: meansOf(j, c, recorded, recorded.Steps[len(recorded.Steps)-1])}
		predicted := FigureSeries{Name: "mean field", Group: group, Mark: Predicted}
		exponential := FigureSeries{Name: fit, Group: group, Mark: Reference}
		oscillator := FigureSeries{Name: "reduced-order model", Group: group, Mark: Reference}
		steps := recorded.Steps
		end, amplitude := exponentialAt(rate.Mean, steps, c.Rewards(recorded))
		for _, t := range steps {
			x := float64(t)
			exponential.point(x, end-amplitude*fp.MathExp(-rate.Mean*x))
			if !exact.Out() {
				predicted.point(x, curve.At(t))
			}
			if !leading.Out() {
				oscillator.point(x, closed.At(t))
			}
		}
		f.Series = append(f.Series, predicted, exponential, oscillator, measured)
	}
	return f
}

// meansOf returns the mean reward of a run with its intervals, at recorded steps that are at least
// a thirtieth of a length apart.
func meansOf(j *claim.Question, c *plan.Cell, recorded *store.Trajectory,
	length int) (points []FigurePoint) {
	last := math.Inf(-1)
	for i, t := range recorded.Steps {
		if x := float64(t); x >= last+float64(length)/30 {
			last = x
			e := c.MeanReward(recorded, i)
			lo, hi := e.Interval(j.Confidence)
			points = append(points, FigurePoint{x, e.Mean, lo, hi})
		}
	}
	return points
}

// exponentialAt returns the a and b that fit J(t) = a − b e^{−rate·t} to a curve by least
// squares. A recorded step has the weight of the steps up to halfway to its neighbours.
func exponentialAt(rate float64, steps []int, reward []float64) (a, b float64) {
	var weight, x, y, xx, xy float64
	for i, t := range steps {
		before, after := steps[max(i-1, 0)], steps[min(i+1, len(steps)-1)]
		w, e := float64(after-before)/2, fp.MathExp(-rate*float64(t))
		weight += w
		x += w * e
		y += w * reward[i]
		xx += w * e * e
		xy += w * e * reward[i]
	}
	slope := (weight*xy - x*y) / (weight*xx - x*x)
	return (y - slope*x) / weight, -slope
}

// drawTimes returns a picture of the times over the swept parameter over which the cells form
// lines; without one of the curves and the level.
func drawTimes(j *claim.Question, d *figureSource) Figure {
	if abscissa(firstCells(d.sets)) != "" {
		picture := frames()["time-to-level"]
		picture.Title = "Optimizer " + claim.TimeToLevel(j.Check)
		f := figureOver(j, d.sets, picture, inCell("time-to-level"))
		f.YScale = LogAxis
		return f
	}
	f := drawCurves(j, d)
	for _, set := range evenly(d.sets, maxCurves) {
		c := set.Cells[0]
		at := j.Level(c)
		if math.IsNaN(at) {
			continue
		}
		f.Series = append(f.Series, FigureSeries{Name: "level", Mark: Reference,
			Group:  withoutVariant(set.Label, c.Variant),
			Points: []FigurePoint{BarePoint(1, at), BarePoint(float64(c.Settings.Run.Steps), at)}})
	}
	return f
}

// drawOrbits returns a picture of the logit gap at each refresh against the orbit of
// the published map.
func drawOrbits(j *claim.Question, d *figureSource) Figure {
	f := framed("recurrence")
	f.Title += drawnOf(d.sets)
	for _, set := range evenly(d.sets, maxCurves) {
		c := set.Cells[0]
		recorded := j.Trajectory(j.Outcome(c), sim.LogitGap)
		if recorded == nil {
			continue
		}
		name := withoutVariant(set.Label, c.Variant)
		measured := FigureSeries{Name: "simulated", Group: name, Mark: Measured}
		predicted := FigureSeries{Name: "published map", Group: name, Mark: Predicted}
		gaps := recorded.Series(sim.LogitGap)
		period := c.Settings.Lag.Interval
		n, last := 0, 0
		for i, t := range recorded.Steps {
			if t%period == 0 {
				last = t / period
				measured.point(float64(last), float64(gaps.Mean[i]))
			}
		}
		params := j.Params(c)
		for z := float64(gaps.Mean[0]); n <= last && !math.IsNaN(z); n++ {
			predicted.point(float64(n), z)
			next, within := claim.RefreshedGap(params, z)
			if !within.In {
				break
			}
			z = next
		}
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}

// drawOverThreshold returns a picture of these numbers over the run, with the edge.
func drawOverThreshold(j *claim.Question, d *figureSource) Figure {
	picture := frames()["rate-over-threshold"]
	f := coursesOf(sim.ExpectedReward, picture.Title, d.sets)
	f.YLabel, f.Caption = picture.Label, picture.Caption
	edge := FigureSeries{Name: "the edge", Mark: Reference}
	for _, set := range evenly(d.sets, maxCurves) {
		c := set.Cells[0]
		steps, shares := j.OverThreshold(c)
		line := FigureSeries{Name: "simulated", Group: withoutVariant(set.Label, c.Variant),
			Mark: Predicted} // a line
		for i, t := range steps {
			if t > 0 {
				line.point(float64(t), shares[i])
			}
		}
		f.Series = append(f.Series, line)
		edge.Points = []FigurePoint{BarePoint(1, 1), BarePoint(float64(c.Settings.Run.Steps), 1)}
	}
	f.Series = append(f.Series, edge)
	return f
}

// drawLaws returns a picture of the laws fitted to the mean-field curve of the last cell. It also
// has the simulated reward, the noise of the log, and the paper's law fitted to the first 30 %.
func drawLaws(j *claim.Question, d *figureSource) Figure {
	set := d.sets[len(d.sets)-1]
	c := set.Cells[0]
	f := framed("law-fit")
	f.Title += cmp.Or(withoutVariant(set.Label, c.Variant), "the only cell")
	curve, theory := j.By("").Curve(c)
	recorded := j.Trajectory(j.Outcome(c), sim.ExpectedReward)
	if recorded == nil || theory.Out() {
		return f
	}
	steps, reward := curve.Sample(sim.FitSteps(sim.LoggedFit, c.Settings.Run.Steps))
	line := func(name, group string, mark Mark, at func(i int) float64) {
		s := FigureSeries{Name: name, Group: group, Mark: mark}
		for i, t := range steps {
			s.point(float64(t), at(i))
		}
		f.Series = append(f.Series, s)
	}
	const quantile95 = 1.645 // of the standard normal law
	noise := FigureSeries{Name: "mean of two logs, 5–95 %", Group: "reward", Mark: Spread}
	for i, v := range j.LogNoise(c) {
		half := quantile95 * math.Sqrt(v)
		noise.within(float64(steps[i]), reward[i], reward[i]-half, reward[i]+half)
	}
	f.Series = append(f.Series, noise)
	line("mean field", "reward", Predicted, func(i int) float64 { return reward[i] })
	for _, l := range measure.Laws {
		if fit, ok := measure.FitLaw(l, steps, reward); ok {
			line(fmt.Sprintf("%s, R² = %.3f", l, fit.R2), string(l), Reference,
				func(i int) float64 { return fit.At(steps[i]) })
		}
	}
	known := measure.KnownPoints(len(steps))
	origin, highest := float64(steps[known-1]), 1.2*slices.Max(reward)
	if fit, ok := measure.FitLaw(measure.CriticallyDamped, steps[:known], reward[:known]); ok {
		forecast := FigureSeries{Name: fmt.Sprintf(
			"critically-damped, from the first 30 %%, plateau %.2g", fit.Plateau), Group: "forecast",
			Mark: Boundary}
		for _, t := range steps {
			if x := fit.At(t); x <= highest {
				forecast.point(float64(t), x)
			}
		}
		f.Series = append(f.Series, forecast)
	}
	f.Series = append(f.Series,
		FigureSeries{Name: "30 %", Group: "forecast", Mark: Boundary,
			Points: []FigurePoint{BarePoint(origin, 0), BarePoint(origin, highest)}},
		FigureSeries{Name: "simulated mean of J", Group: "reward", Mark: Measured,
			Points: meansOf(j, c, recorded, steps[len(steps)-1])})
	return f
}

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
	sets := plan.Each(p.Cells)
	ways := config.Each(firstCells(evenly(sets, maxCurves)), way)
	for _, column := range columnDocs().Quantities {
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
		f.Caption = frames()["path"].Caption
		inBlocks := func(c *plan.Cell) bool { return q.SinceRecord(c.Settings.Lag) }
		if slices.ContainsFunc(firstCells(sets), inBlocks) {
			f.Caption += frames()["path-in-blocks"].Caption
		}
		moves := q == sim.ExpectedReward
		for i, set := range evenly(sets, maxCurves) {
			w := ways[i]
			line, low, high := bandOf(cmp.Or(set.Label, p.Spec.Name), w.Steps, w.Of(q), f.XScale)
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
		set := evenly(sets, maxCurves)[i : i+1]
		f = coursesOf(sim.ExpectedReward, "Predicted reward of "+cmp.Or(set[0].Label, p.Spec.Name)+
			" by the reward with which prompts start"+eitherSide, set)
		f.Name = "path-by-difficulty"
		f.Caption = frames()[f.Name].Caption
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
