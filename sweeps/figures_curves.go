package sweeps

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/store"
)

// mostCurves is how many curves a picture can tell apart.
const mostCurves = 7

// thinned returns at most mostCurves of the sets, evenly spaced, with the first
// and the last.
func thinned(sets []CellSet) []CellSet {
	if len(sets) <= mostCurves {
		return sets
	}
	var some []CellSet
	for i := range mostCurves {
		some = append(some, sets[i*(len(sets)-1)/(mostCurves-1)])
	}
	return some
}

// ofHowMany says in a title that not all cells are drawn.
func ofHowMany(sets []CellSet) string {
	if len(sets) <= mostCurves {
		return ""
	}
	return fmt.Sprintf(" (%d of %d cells)", mostCurves, len(sets))
}

// shortRun is the length up to which a run is drawn over its steps, not over
// their logarithm.
const shortRun = 1000

// curvesOf begins a picture of mean rewards over steps.
func curvesOf(title string, sets []CellSet) Figure {
	f := Figure{Title: title + ofHowMany(sets), XLabel: "optimizer step", YLabel: "expected reward J"}
	for _, set := range sets {
		if set.Cells[0].Settings.Run.Steps > shortRun {
			f.XScale = LogAxis
		}
	}
	return f
}

// drawCurves shows the mean reward over steps against the predicted curve.
// Without noise, and against another theory than the exact, what was simulated
// is a curve itself.
func (j *judgement) drawCurves(d *drawing) Figure {
	sets := d.sets
	against := map[rom.Kind]string{rom.LeadingOrder: "reduced-order model", rom.PaperRule: "paper’s curve"}[j.kind]
	f := curvesOf("Mean reward against the predicted curve", sets)
	if against != "" {
		f.Title = "Mean reward against the " + against + ofHowMany(sets)
	}
	for _, set := range thinned(sets) {
		c := set.Cells[0]
		name := withoutVariant(set.Label, c.Variant)
		recorded := j.trajectory(j.outcome(c), sim.ExpectedReward)
		if recorded == nil {
			continue
		}
		reward := recorded.Series(sim.ExpectedReward)
		measured := FigureSeries{Name: name, Group: name, Mark: Measured}
		predicted := FigureSeries{Name: name + " predicted", Group: name, Mark: Predicted}
		spread := FigureSeries{Name: name + " 5–95 %", Group: name, Mark: Spread}
		every := 8
		if c.Sim.Deterministic() && against != "" {
			measured.Name, measured.Mark, every = "simulated", Predicted, 1
			predicted.Name, predicted.Mark = against, Reference
		}
		curve, of := j.curve(c)
		for i, t := range recorded.Steps {
			if t == 0 && f.XScale == LogAxis {
				continue
			}
			x, q := float64(t), reward.Quantiles[i]
			if i%every == 0 {
				e := c.meanReward(recorded, i)
				lo, hi := e.Interval(j.confidence)
				if measured.Mark == Predicted {
					lo, hi = math.NaN(), math.NaN()
				}
				measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
			}
			spread.Points = append(spread.Points, FigurePoint{x, float64(q[2]), float64(q[0]), float64(q[4])})
			if of.outOfScope == "" {
				predicted.Points = append(predicted.Points, FigurePoint{x, curve.at(t), math.NaN(), math.NaN()})
			}
		}
		if len(sets) == 1 && !c.Sim.Deterministic() {
			f.Series = append(f.Series, spread)
		}
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}

// drawFits shows the mean reward, the mean-field curve, the free exponential
// that was fitted to it, and the curve of the reduced-order model.
func (j *judgement) drawFits(d *drawing) Figure {
	sets := d.sets
	const points = 30
	f := curvesOf("A free exponential fitted to the mean reward", sets)
	f.XScale = LinearAxis // as it was fitted
	nan := math.NaN()
	for _, set := range thinned(sets) {
		c := set.Cells[0]
		o := j.outcome(c)
		rate, fitted := o.Estimate(sim.SaturationRate)
		r2, _ := o.Estimate(sim.SaturationR2)
		recorded := j.trajectory(o, sim.ExpectedReward)
		if recorded == nil || !fitted {
			continue
		}
		group, fit := withoutVariant(set.Label, c.Variant), "free exponential, fitted"
		if quality := fmt.Sprintf(", R² = %.4f", r2.Mean); len(sets) == 1 {
			fit += quality
		} else {
			group += quality
		}
		curve, exact := j.by("").curve(c)
		closed, leading := j.by(rom.LeadingOrder).curve(c)
		measured := FigureSeries{Name: "simulated", Group: group, Mark: Measured}
		predicted := FigureSeries{Name: "mean field", Group: group, Mark: Predicted}
		exponential := FigureSeries{Name: fit, Group: group, Mark: Reference}
		oscillator := FigureSeries{Name: "reduced-order model", Group: group, Mark: Reference}
		steps := recorded.Steps
		end, amplitude := exponentialAt(rate.Mean, steps, c.rewards(recorded))
		last := math.Inf(-1)
		for i, t := range steps {
			x := float64(t)
			if gap := float64(steps[len(steps)-1]) / points; x >= last+gap {
				last = x
				e := c.meanReward(recorded, i)
				lo, hi := e.Interval(j.confidence)
				measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
			}
			exponential.Points = append(exponential.Points, FigurePoint{x, end - amplitude*math.Exp(-rate.Mean*x), nan, nan})
			if exact.outOfScope == "" {
				predicted.Points = append(predicted.Points, FigurePoint{x, curve.at(t), nan, nan})
			}
			if leading.outOfScope == "" {
				oscillator.Points = append(oscillator.Points, FigurePoint{x, closed.at(t), nan, nan})
			}
		}
		f.Series = append(f.Series, predicted, exponential, oscillator, measured)
	}
	return f
}

// rewards are the recorded means of J.
func (c *Cell) rewards(t *store.Trajectory) []float64 {
	reward := make([]float64, len(t.Steps))
	for i := range reward {
		reward[i] = c.meanReward(t, i).Mean
	}
	return reward
}

// exponentialAt returns the a and b of J(t) = a − b e^{−rate·t} that come
// nearest to a curve, each step of the run counted alike: a recorded one stands
// for those up to halfway to its neighbours.
func exponentialAt(rate float64, steps []int, reward []float64) (a, b float64) {
	var weight, x, y, xx, xy float64
	for i, t := range steps {
		before, after := steps[max(i-1, 0)], steps[min(i+1, len(steps)-1)]
		w, e := float64(after-before)/2, math.Exp(-rate*float64(t))
		weight += w
		x += w * e
		y += w * reward[i]
		xx += w * e * e
		xy += w * e * reward[i]
	}
	slope := (weight*xy - x*y) / (weight*xx - x*x)
	return (y - slope*x) / weight, -slope
}

// drawOrbits shows the logit gap from refresh to refresh against the orbit of
// the published map.
func (j *judgement) drawOrbits(d *drawing) Figure {
	sets := d.sets
	f := Figure{Title: "Logit gap from refresh to refresh" + ofHowMany(sets), XLabel: "refresh", YLabel: "logit gap z"}
	nan := math.NaN()
	for _, set := range thinned(sets) {
		c := set.Cells[0]
		o := j.outcome(c)
		recorded := j.trajectory(o, sim.LogitGap)
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
				measured.Points = append(measured.Points, FigurePoint{float64(last), float64(gaps.Mean[i]), nan, nan})
			}
		}
		params := j.params(c)
		for z := float64(gaps.Mean[0]); n <= last && !math.IsNaN(z); n++ {
			predicted.Points = append(predicted.Points, FigurePoint{float64(n), z, nan, nan})
			next, scope := refreshedGap(params, z)
			if !scope.In {
				break
			}
			z = next
		}
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}
