package sweeps

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
)

// The claims about how a number changes with the group size.
var (
	fluctuationScaling = logic{
		quantities: only("slope of log variance of expected reward"),
		find:       findSlope(sim.ExpectedRewardVariance, (*judgement).rewardVariance),
		picture:    picture{family: byClaim, draw: drawScaling(varianceScaling)},
	}
	relaxationScaling = logic{
		quantities: only("slope of log relaxation rate"),
		find:       findSlope(sim.RelaxationRate, (*judgement).relaxationRate),
		picture:    picture{family: byClaim, draw: drawScaling(rateScaling)},
	}
)

// findSlope fits log y = a + slope·log G to an estimate of the cells, and in the
// same way to its predictions: the exact slope is that of the exact predictions
// on the same G. The leading order is the slope as G → ∞.
func findSlope(estimate string, predict predictor) func(j *judgement, set CellSet) []finding {
	return func(j *judgement, set CellSet) []finding { return []finding{j.slope(set, estimate, predict)} }
}

// predictor is a prediction of one number for settings, with what it is and why
// it does not hold there.
type predictor func(j *judgement, s *config.Settings) predicted

func (j *judgement) slope(set CellSet, estimate string, predict predictor) finding {
	f := unmeasured(j.kind)
	var sized []*Cell // at least three: the loader sees to it
	for _, c := range set.Cells {
		size := c.Settings.Estimator.GroupSize
		if size == grpo.Infinite || j.kind == rom.LeadingOrder && size < j.check.SmallestJudged() {
			continue
		}
		sized = append(sized, c)
	}
	var logG, logY, logP []float64
	var terms []measure.Estimate // the errors of log y
	for _, c := range sized {
		o := j.outcome(c)
		if failure := o.Failure(); failure != "" {
			f.failed = failure
			return f
		}
		e, _ := o.Estimate(estimate)
		s := j.settings(c)
		p := predict(j, &s)
		if p.outOfScope != "" {
			f.predicted.outOfScope = c.Label() + ": " + p.outOfScope
			return f
		}
		f.predicted.kind = cmp.Or(j.kind, p.kind)
		f.replicas = c.Settings.Run.Replicas
		logG = append(logG, math.Log(float64(c.Settings.Estimator.GroupSize)))
		logY = append(logY, math.Log(e.Mean))
		logP = append(logP, math.Log(p.value))
		terms = append(terms, measure.Estimate{StdErr: e.StdErr / e.Mean, DF: e.DF})
	}
	var slope measure.Estimate
	for i, w := range slopeWeights(logG) {
		slope.Mean += w * logY[i]
		f.predicted.value += w * logP[i]
		terms[i].StdErr *= w
	}
	slope.StdErr, slope.DF = measure.Combine(terms)
	if j.kind == rom.LeadingOrder {
		f.predicted.value, f.predicted.outOfScope = j.asymptoticSlope(sized[len(sized)-1], predict)
	}
	f.measured = slope.Mean
	f.lo, f.hi = slope.Interval(j.confidence)
	return f
}

// slopeWeights returns w with Σ w_i y_i the least-squares slope of y on x.
func slopeWeights(x []float64) []float64 {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	square := 0.0
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = (v - mean) / square
	}
	return w
}

// asymptoticSlope is the exponent of a prediction in G as G → ∞, a multiple of
// ½. (Var J: −1, −2 where the leading noise vanishes, −½ for Adam; Adam's
// relaxation: ½.) It is read off the full theory at two very large groups, and
// at so small a learning rate that no motion there is fast.
func (j *judgement) asymptoticSlope(c *Cell, predict predictor) (slope float64, outOfScope string) {
	const small, large = 1 << 14, 1 << 15
	full := j.by("")
	var log [2]float64
	for i, size := range []int{small, large} {
		s := j.settings(c)
		s.Estimator.GroupSize = size
		s.Optimizer.LearningRate *= 1e-3
		y := predict(full, &s)
		if y.outOfScope != "" || y.value <= 0 {
			return 0, "no slope at large G: " + y.outOfScope
		}
		log[i] = math.Log2(y.value)
	}
	return math.Round(2*(log[1]-log[0])) / 2, ""
}

// scalingPicture is a number over the group size.
type scalingPicture struct {
	title, label string
	estimate     string
	predict      predictor
}

var (
	varianceScaling = scalingPicture{
		"Stationary variance of the expected reward against group size", "Var J",
		sim.ExpectedRewardVariance, (*judgement).rewardVariance,
	}
	rateScaling = scalingPicture{
		"Relaxation rate against group size", "relaxation rate per step",
		sim.RelaxationRate, (*judgement).relaxationRate,
	}
)

// drawScaling shows a number against G, and if asked for the slope of its
// asymptote.
func drawScaling(picture scalingPicture) func(*judgement, *figureSource) Figure {
	return func(j *judgement, d *figureSource) Figure { return j.drawScaling(d, picture) }
}

func (j *judgement) drawScaling(d *figureSource, picture scalingPicture) Figure {
	asymptote := slices.ContainsFunc(d.checks, func(c *config.Check) bool { return c.Prediction == rom.LeadingOrder })
	f := Figure{
		Title: picture.title, XLabel: "group size G", YLabel: picture.label,
		XScale: LogAxis, YScale: LogAxis,
	}
	nan := math.NaN()
	for _, set := range d.sets {
		name := withoutVariant(set.Label, set.Cells[0].Variant)
		name = strings.TrimSuffix(name, "over "+config.ShortName(j.check.Over))
		measured := FigureSeries{Name: name + "measured", Group: name, Mark: Measured}
		predicted := FigureSeries{Name: name + "predicted", Group: name, Mark: Predicted}
		for _, c := range set.Cells {
			size := c.Settings.Estimator.GroupSize
			if size == grpo.Infinite {
				continue
			}
			x := float64(size)
			if e, ok := j.outcome(c).Estimate(picture.estimate); ok {
				lo, hi := e.Interval(j.confidence)
				measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
			}
			if p := picture.predict(j.by(""), &c.Settings); p.outOfScope == "" {
				predicted.Points = append(predicted.Points, FigurePoint{x, p.value, nan, nan})
			}
		}
		f.Series = append(f.Series, predicted, measured)
		if n := len(predicted.Points); n > 0 && asymptote {
			last := predicted.Points[n-1]
			slope, why := j.asymptoticSlope(set.Cells[len(set.Cells)-1], picture.predict)
			if why == "" {
				line := FigureSeries{Name: "slope " + strings.Replace(config.Format(slope), "-", "−", 1), Group: name, Mark: Reference}
				for _, p := range predicted.Points {
					line.Points = append(line.Points, FigurePoint{p.X, last.Y * math.Pow(p.X/last.X, slope), nan, nan})
				}
				f.Series = append(f.Series, line)
			}
		}
	}
	return f
}
