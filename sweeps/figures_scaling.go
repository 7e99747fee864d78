package sweeps

import (
	"math"
	"slices"
	"strings"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
)

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
func drawScaling(picture scalingPicture) func(*judgement, *drawing) Figure {
	return func(j *judgement, d *drawing) Figure { return j.drawScaling(d, picture) }
}

func (j *judgement) drawScaling(d *drawing, picture scalingPicture) Figure {
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
