package sweeps

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sim"
)

// Figure is the data of one picture: what a check measured against what the
// theory predicts. It is drawn by sweeps/report.
type Figure struct {
	Name   string // file name without extension, unique in its experiment
	Title  string
	XLabel string
	YLabel string
	XScale AxisScale
	YScale AxisScale
	// Categories names the integer positions 0, 1, … of the x axis; nil where
	// x is a number.
	Categories []string
	Series     []FigureSeries
}

// AxisScale is the scale of a figure's axis.
type AxisScale int

const (
	LinearAxis AxisScale = iota
	LogAxis
)

// Mark is what a series is, and so how it is drawn.
type Mark int

const (
	Measured  Mark = iota // points with intervals
	Predicted             // a line, or a tick at each category; Lo, Hi the margin
	Reference             // another theory's line, for comparison, without margin
	Spread                // a band between the 5 and 95 % quantiles of the replicas
	Marker                // points without intervals: cells of a map, one series a class
	Boundary              // lines of a map, a point that is not finite between two
	Region                // closed areas of a map, a point that is not finite between two
)

// FigureSeries is one set of marks. Measured and predicted series with the
// same Group belong together and share a colour.
type FigureSeries struct {
	Name   string
	Group  string
	Mark   Mark
	Points []FigurePoint
}

// FigurePoint is one mark; Lo and Hi are NaN where there is no interval.
type FigurePoint struct {
	X, Y, Lo, Hi float64
}

// Experiment is a finished sweep and what was made of it.
type Experiment struct {
	Plan     *Plan
	Outcomes map[string]*Outcome // by cell id
	Verdicts []Verdict
	Figures  []Figure
	Command  string // how to run it again

	predictions predictionCache
}

// Show puts a figure before those of the checks, in the place of one of the
// same name.
func (e *Experiment) Show(f Figure) {
	for i := range e.Figures {
		if e.Figures[i].Name == f.Name {
			e.Figures[i] = f
			return
		}
	}
	e.Figures = slices.Insert(e.Figures, 0, f)
}

// figures returns the pictures of an experiment: the regime map of each sweep
// that is one, then one a check, or one a variant where a check spans several.
func figures(plan *Plan, outcomes map[string]*Outcome, verdicts []Verdict, cache predictionCache) []Figure {
	var figures []Figure
	for _, p := range automaticMaps(plan) {
		if m := newRegimeMap(p, outcomes, cache); m.moves() {
			figures = append(figures, m.Figure())
		}
	}
	for _, planned := range plan.Checks {
		j := newJudgement(planned.Check, plan.Spec.Confidence, outcomes, cache)
		variants := variantsOf(planned.Sets)
		for _, variant := range variants {
			var sets []CellSet
			for _, set := range planned.Sets {
				if set.Cells[0].Variant == variant {
					sets = append(sets, set)
				}
			}
			var own []Verdict
			for _, v := range verdicts {
				if v.Check == planned.Index && v.Variant == variant {
					own = append(own, v)
				}
			}
			var figure Figure
			switch planned.Check.Claim {
			case claimTrajectory:
				figure = j.drawCurves(sets)
			case claimScaling:
				figure = j.drawScaling(sets)
			default:
				figure = drawDeviations(planned.Check, own)
			}
			figure.Name = fmt.Sprintf("%d-%s", planned.Index+1, planned.Check.Claim)
			if variant != "" {
				figure.Title = variant + ": " + figure.Title
			}
			if len(variants) > 1 {
				figure.Name += "-" + variant
			}
			figures = append(figures, figure)
		}
	}
	return figures
}

// variantsOf lists the variants of the sets, in the order of the file.
func variantsOf(sets []CellSet) []string {
	var variants []string
	for _, set := range sets {
		if v := set.Cells[0].Variant; !slices.Contains(variants, v) {
			variants = append(variants, v)
		}
	}
	return variants
}

// withoutVariant names a cell inside a picture of its own variant.
func withoutVariant(label, variant string) string {
	return strings.TrimSpace(strings.TrimPrefix(label, variant))
}

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

// drawCurves shows the mean reward over steps against the predicted curve.
func (j *judgement) drawCurves(sets []CellSet) Figure {
	f := Figure{
		Title: "Mean reward against the predicted curve", XLabel: "step", YLabel: "expected reward J",
		XScale: LogAxis,
	}
	if len(sets) > mostCurves {
		f.Title += fmt.Sprintf(" (%d of %d cells)", mostCurves, len(sets))
	}
	for _, set := range thinned(sets) {
		c := set.Cells[0]
		name := withoutVariant(set.Label, c.Variant)
		o := j.outcome(c)
		if o == nil || o.Trajectory == nil {
			continue
		}
		reward := o.Trajectory.Series(sim.ExpectedReward)
		measured := FigureSeries{Name: name, Group: name, Mark: Measured}
		predicted := FigureSeries{Name: name + " predicted", Group: name, Mark: Predicted}
		spread := FigureSeries{Name: name + " 5–95 %", Group: name, Mark: Spread}
		curve, _, why := j.curve(c)
		for i, t := range o.Trajectory.Steps {
			if t == 0 {
				continue // has no place on a logarithmic axis
			}
			x, q := float64(t), reward.Quantiles[i]
			if i%8 == 0 {
				e := c.meanReward(o.Trajectory, i)
				lo, hi := e.Interval(j.confidence)
				measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
			}
			spread.Points = append(spread.Points, FigurePoint{x, float64(q[2]), float64(q[0]), float64(q[4])})
			if why == "" {
				predicted.Points = append(predicted.Points, FigurePoint{x, curve.at(t), math.NaN(), math.NaN()})
			}
		}
		if len(sets) == 1 {
			f.Series = append(f.Series, spread)
		}
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}

// drawScaling shows the variance of the expected reward against G.
func (j *judgement) drawScaling(sets []CellSet) Figure {
	f := Figure{
		Title: "Stationary variance of the expected reward against group size", XLabel: "group size G", YLabel: "Var J",
		XScale: LogAxis, YScale: LogAxis,
	}
	nan := math.NaN()
	for _, set := range sets {
		name := withoutVariant(set.Label, set.Cells[0].Variant)
		name = strings.TrimSuffix(name, "over "+shortName(j.check.Over))
		measured := FigureSeries{Name: name + "measured", Group: name, Mark: Measured}
		predicted := FigureSeries{Name: name + "predicted", Group: name, Mark: Predicted}
		exact := *j
		exact.kind = ""
		for _, c := range set.Cells {
			size := c.Settings.Estimator.GroupSize
			if size == grpo.Infinite {
				continue
			}
			x := float64(size)
			if e, ok := j.outcome(c).estimate(sim.ExpectedRewardVariance); ok {
				lo, hi := e.Interval(j.confidence)
				measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
			}
			if v, _, why := exact.rewardVariance(&c.Settings); why == "" {
				predicted.Points = append(predicted.Points, FigurePoint{x, v, nan, nan})
			}
		}
		f.Series = append(f.Series, predicted, measured)
		if n := len(predicted.Points); n > 0 && j.kind == rom.LeadingOrder {
			last := predicted.Points[n-1]
			slope, why := j.asymptoticSlope(set.Cells[len(set.Cells)-1], (*judgement).rewardVariance)
			if why == "" {
				line := FigureSeries{Name: "slope " + strings.Replace(Format(slope), "-", "−", 1), Group: name, Mark: Reference}
				for _, p := range predicted.Points {
					line.Points = append(line.Points, FigurePoint{p.X, last.Y * math.Pow(p.X/last.X, slope), nan, nan})
				}
				f.Series = append(f.Series, line)
			}
		}
	}
	return f
}

// drawDeviations shows each verdict's measured value in units its margin can
// be seen in: as a ratio to the prediction where the margin is relative, else
// as a difference in margins.
func drawDeviations(check *Check, verdicts []Verdict) Figure {
	f := Figure{Title: check.Claim + ": measured / predicted", YLabel: "measured / predicted"}
	relative := check.Margin > 0
	if !relative {
		f.Title = check.Claim + ": (measured − predicted) / margin"
		f.YLabel = "(measured − predicted) / margin"
	}
	measured := FigureSeries{Name: "measured", Group: "measured", Mark: Measured}
	predicted := FigureSeries{Name: "predicted ± margin", Group: "predicted", Mark: Predicted}
	for _, v := range verdicts {
		if v.Verdict == OutOfScope {
			continue
		}
		x := float64(len(f.Categories))
		name := withoutVariant(v.Label, v.Variant)
		if check.Claim == claimStiffness {
			name = strings.TrimSpace(name + " " + strings.TrimPrefix(v.Quantity, "stiffness_"))
		}
		f.Categories = append(f.Categories, name)
		m, lo, hi, p, margin := float64(v.Measured), float64(v.Lo), float64(v.Hi), float64(v.Predicted), float64(v.Margin)
		if relative {
			measured.Points = append(measured.Points, FigurePoint{x, m / p, min(lo/p, hi/p), max(lo/p, hi/p)})
			predicted.Points = append(predicted.Points, FigurePoint{x, 1, 1 - check.Margin, 1 + check.Margin})
		} else {
			measured.Points = append(measured.Points, FigurePoint{x, (m - p) / margin, (lo - p) / margin, (hi - p) / margin})
			predicted.Points = append(predicted.Points, FigurePoint{x, 0, -1, 1})
		}
	}
	f.Series = []FigureSeries{predicted, measured}
	return f
}
