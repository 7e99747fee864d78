package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
	"grposim/option"
	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// drawModes returns a picture of the share of replicas with each failure mode, two columns per
// cell: by this project's criteria and by the paper's.
func drawModes(j *claim.Question, d *figureSource) Figure {
	f := Figure{
		Title: "Failure modes named, replica by replica", YLabel: "share of replicas",
		Categories: []string{},
		Caption:    "Two columns for each cell: the share of its replicas in which each mode is named by the criteria of this project, and by those of the paper.",
	}
	for _, set := range d.sets {
		name := set.Label
		if name == "" {
			name = "all"
		}
		f.Categories = append(f.Categories, name, "… by the paper’s")
	}
	for _, mode := range diagnose.Modes {
		f.Series = append(f.Series, FigureSeries{Name: string(mode), Group: string(mode), Mark: Share})
	}
	for i, set := range d.sets {
		o := j.Outcome(set.Cells[0])
		for n, share := range []func(diagnose.Mode) string{plan.NamedShare, plan.PaperNamedShare} {
			top := 0.0
			for m, mode := range diagnose.Modes {
				e, found := o.Estimate(share(mode))
				if !found || e.Mean <= 0 {
					continue
				}
				f.Series[m].Points = append(f.Series[m].Points,
					FigurePoint{float64(2*i + n), math.NaN(), top, top + e.Mean})
				top += e.Mean
			}
		}
	}
	return f
}

// drawClasses returns a picture of the number of cells of each class, one column per set.
func drawClasses(j *claim.Question, d *figureSource) Figure {
	f := Figure{
		Title: "Class of the mean reward", YLabel: "number of cells", Categories: []string{},
		Caption: "Each column counts the cells of a set by the class of their mean-reward curve.",
	}
	for _, class := range claim.Classes {
		f.Series = append(f.Series, FigureSeries{Name: string(class), Group: string(class), Mark: Share})
	}
	for _, set := range d.sets {
		label := withoutOver(set, j.Check)
		if slices.Contains(f.Categories, label) {
			continue // another check of the same cells
		}
		x, top := float64(len(f.Categories)), 0.0
		f.Categories = append(f.Categories, label)
		for i, class := range claim.Classes {
			number := 0.0
			for _, c := range set.Cells {
				number += measure.Indicator(j.Class(c) == class)
			}
			if number > 0 {
				f.Series[i].Points = append(f.Series[i].Points, FigurePoint{x, math.NaN(), top, top + number})
			}
			top += number
		}
	}
	return f
}

// withoutOver returns the label of a set without the key that its cells are compared over.
func withoutOver(set plan.CellSet, check *config.Check) string {
	return strings.TrimSpace(strings.TrimSuffix(set.Label, "over "+config.ShortName(check.Over)))
}

// drawFrontiers returns a picture of frontier/line of every bandit, one series for each set, in
// ascending order. Bandits without a frontier up to the end of the search are left out.
func drawFrontiers(j *claim.Question, d *figureSource) Figure {
	f := Figure{
		Title: "Visible frontier of single bandits", XLabel: "bandit, in ascending order",
		YLabel:  "frontier / the paper’s line",
		Caption: "If the paper’s line were the frontier, every point would lie at 1. Bandits without a frontier up to the end of the search are not drawn; the legend counts the others.",
	}
	most := 0
	for _, set := range d.sets {
		var ratios [][3]float64
		for _, c := range set.Cells {
			g := j.InCell(config.VisibleFrontier, c)
			if p := g.Predicted.Value; !g.Predicted.Out() && !math.IsInf(g.Hi, 1) {
				ratios = append(ratios, [3]float64{g.Measured / p, g.Lo / p, g.Hi / p})
			}
		}
		slices.SortFunc(ratios, func(a, b [3]float64) int { return cmp.Compare(a[0], b[0]) })
		name := fmt.Sprintf("%s: %d of %d bandits", cmp.Or(withoutOver(set, j.Check), "frontier"),
			len(ratios), len(set.Cells))
		series := FigureSeries{Name: name, Group: name, Mark: Measured}
		for i, r := range ratios {
			series.Points = append(series.Points, FigurePoint{float64(i + 1), r[0], r[1], r[2]})
		}
		most = max(most, len(set.Cells))
		f.Series = append(f.Series, series)
	}
	line := FigureSeries{Name: "the paper’s line", Group: "line", Mark: Reference}
	for _, x := range []float64{1, float64(most)} {
		line.Points = append(line.Points, BarePoint(x, 1))
	}
	f.Series = append(f.Series, line)
	return f
}

// drawSlope returns a picture of the number against G, or D/(GCK). It has a line of the asymptotic
// slope if a check judges the leading order.
func drawSlope(j *claim.Question, d *figureSource, title, label string) Figure {
	n := claim.SlopeOf(j.Check)
	overSize := j.Check.Over == config.GroupSizeKey
	asymptote := overSize && slices.ContainsFunc(d.checks,
		func(c *config.Check) bool { return c.Prediction == rom.LeadingOrder })
	f := Figure{
		Title: title + " against group size", XLabel: "group size G", YLabel: label,
		XScale: LogAxis, YScale: LogAxis,
		Caption: "On logarithmic axes a power law is a straight line, and its slope the exponent that is judged. Where the theory holds, the points lie on the line of their colour.",
	}
	if !overSize {
		f.Title, f.XLabel = title+" against the paper’s formula", "D/(GCK)"
	}
	var names []string
	for _, set := range d.sets {
		name := withoutVariant(set.Label, set.Cells[0].Variant)
		name = strings.TrimSuffix(name, "over "+config.ShortName(j.Check.Over))
		measured := FigureSeries{Name: name + "measured", Group: name, Mark: Measured}
		predicted := FigureSeries{Name: name + "predicted", Group: name, Mark: Predicted}
		for _, c := range set.Cells {
			at := n.Abscissa(&j.Model, &c.Settings)
			if c.Settings.Estimator.GroupSize == option.Infinite || at.Out() {
				continue
			}
			x := at.Value
			if e, ok := j.Outcome(c).Estimate(n.Estimate); ok {
				lo, hi := e.Interval(j.Confidence)
				measured.Points = append(measured.Points, FigurePoint{x, e.Mean, lo, hi})
			}
			if p := n.InRun(j.Model.By(""), c); !p.Out() {
				predicted.Points = append(predicted.Points, BarePoint(x, p.Value))
			}
		}
		for _, v := range d.verdicts {
			if v.Hypothesis != nil && v.Cell == set.Name && v.Variant == set.Cells[0].Variant {
				f.Series = append(f.Series, claimedSlope(v, measured.Points))
			}
		}
		f.Series = append(f.Series, predicted, measured)
		names = append(names, name)
		if count := len(predicted.Points); count > 0 && asymptote {
			last := predicted.Points[count-1]
			slope, why := n.AsymptoticSlope(&j.Model, set.Cells[len(set.Cells)-1])
			if !why.Out() {
				line := FigureSeries{Name: "slope " + strings.Replace(config.Format(slope), "-", "−", 1),
					Group: name, Mark: Reference}
				for _, p := range predicted.Points {
					line.Points = append(line.Points, BarePoint(p.X, last.Y*fp.Pow(p.X/last.X, slope)))
				}
				f.Series = append(f.Series, line)
			}
		}
	}
	if overSize && n.Estimate == sim.ExpectedRewardVariance {
		f.Caption += ratios(j, d.sets, names)
	}
	return f
}

// slopePicture is that of the claims about how a number changes; the title and the label of the y
// axis name the number.
func slopePicture(title, label string) picture {
	return picture{family: byOver, shows: predictionsAndHypotheses,
		draw: func(j *claim.Question, d *figureSource) Figure {
			return drawSlope(j, d, title, label)
		}}
}

// ratios returns sentences with the measured Var J of each group size over that of the size before,
// and what 1/G gives. A single set has intervals.
func ratios(j *claim.Question, sets []plan.CellSet, names []string) string {
	var headings []string
	bodies := make(map[string][]string)
	for i, set := range sets {
		var sizes, inverse, ratios []string
		var before *plan.Cell
		for _, c := range set.Cells {
			y, known := j.Outcome(c).Estimate(sim.ExpectedRewardVariance)
			if !known || !(y.Mean > 0) || c.Settings.Estimator.GroupSize == option.Infinite {
				continue
			}
			if before != nil {
				x, _ := j.Outcome(before).Estimate(sim.ExpectedRewardVariance)
				ratio := measure.Estimate{Mean: math.Log(y.Mean / x.Mean)} // its logarithm
				ratio.StdErr, ratio.DF = measure.Combine([]measure.Estimate{{StdErr: x.StdErr / x.Mean,
					DF: x.DF}, {StdErr: y.StdErr / y.Mean, DF: y.DF}})
				lo, hi := ratio.Interval(j.Confidence)
				v := judge.Verdict{Measured: store.Number(fp.MathExp(ratio.Mean)),
					Lo: store.Number(fp.MathExp(lo)), Hi: store.Number(fp.MathExp(hi))}
				from, to := before.Settings.Estimator.GroupSize, c.Settings.Estimator.GroupSize
				sizes, inverse = append(sizes, fmt.Sprint(to)),
					append(inverse, fmt.Sprintf("%.3g", float64(from)/float64(to)))
				if len(sets) == 1 {
					measured, interval, _, _ := v.Numbers()
					ratios = append(ratios, strings.TrimSpace(measured+" "+interval))
				} else {
					ratios = append(ratios, judge.Format(v.Measured,
						judge.Significant(float64(v.Measured), float64(v.Hi)-float64(v.Lo))))
				}
			}
			before = c
		}
		if ratios == nil {
			continue
		}
		heading := fmt.Sprintf(" Var J at G = %s over that at the size before, for which 1/G gives %s: ",
			strings.Join(sizes, ", "), strings.Join(inverse, ", "))
		if bodies[heading] == nil {
			headings = append(headings, heading)
		}
		bodies[heading] = append(bodies[heading], names[i]+strings.Join(ratios, ", "))
	}
	text := ""
	for _, heading := range headings {
		text += heading + strings.Join(bodies[heading], "; ") + "."
	}
	return text
}
