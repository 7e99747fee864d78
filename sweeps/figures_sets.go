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
	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/training/diagnose"
)

// shares returns empty series of segments of columns, one for each name.
func shares[T ~string](names []T) []FigureSeries {
	return config.Each(names, func(name T) FigureSeries {
		return FigureSeries{Name: string(name), Group: string(name), Mark: Share}
	})
}

// column adds a category with a column of shares: a segment of each series with a positive size.
func (f *Figure) column(label string, size func(series int) float64) {
	x, top := float64(len(f.Categories)), 0.0
	f.Categories = append(f.Categories, label)
	for i := range f.Series {
		if height := size(i); height > 0 {
			f.Series[i].within(x, math.NaN(), top, top+height)
			top += height
		}
	}
}

// drawModes returns a picture of the share of replicas with each failure mode, two columns per
// cell: by this project's criteria and by the paper's.
func drawModes(j *claim.Question, d *figureSource) Figure {
	f := framed("failure-mode")
	f.Categories, f.Series = []string{}, shares(diagnose.Modes)
	for _, set := range d.sets {
		named := func(share func(diagnose.Mode) string) func(int) float64 {
			return func(i int) float64 {
				e, _ := j.Outcome(set.Cells[0]).Estimate(share(diagnose.Modes[i]))
				return e.Mean
			}
		}
		f.column(cmp.Or(set.Label, "all"), named(plan.NamedShare))
		f.column("… by the paper’s", named(plan.PaperNamedShare))
	}
	return f
}

// drawClasses returns a picture of the number of cells of each class, one column per set.
func drawClasses(j *claim.Question, d *figureSource) Figure {
	f := framed("class-occurs")
	f.Categories, f.Series = []string{}, shares(claim.Classes)
	for _, set := range d.sets {
		label := withoutOver(set, j.Check)
		if slices.Contains(f.Categories, label) {
			continue // another check of the same cells
		}
		f.column(label, func(i int) (number float64) {
			for _, c := range set.Cells {
				number += measure.Indicator(j.Class(c) == claim.Classes[i])
			}
			return number
		})
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
	f := framed("median-frontier")
	most := 0
	for _, set := range d.sets {
		series := FigureSeries{Mark: Measured}
		for _, c := range set.Cells {
			g := j.InCell("visible-frontier", c)
			if p := g.Predicted.Value; !g.Predicted.Out() && !math.IsInf(g.Hi, 1) {
				series.within(0, g.Measured/p, g.Lo/p, g.Hi/p)
			}
		}
		slices.SortFunc(series.Points, func(a, b FigurePoint) int { return cmp.Compare(a.Y, b.Y) })
		for i := range series.Points {
			series.Points[i].X = float64(i + 1)
		}
		series.Name = fmt.Sprintf("%s: %d of %d bandits", cmp.Or(withoutOver(set, j.Check), "frontier"),
			len(series.Points), len(set.Cells))
		series.Group = series.Name
		most = max(most, len(set.Cells))
		f.Series = append(f.Series, series)
	}
	f.Series = append(f.Series, FigureSeries{Name: "the paper’s line", Group: "line", Mark: Reference,
		Points: []FigurePoint{BarePoint(1, 1), BarePoint(float64(most), 1)}})
	return f
}

// slopePicture draws how a number changes with G, or with D/(GCK). The title and the label of the y
// axis name the number. It has a line of the asymptotic slope if a check judges the leading order.
func slopePicture(title, label string) picture {
	draw := func(j *claim.Question, d *figureSource) Figure {
		n := claim.SlopeOf(j.Check)
		overSize := j.Check.Over == config.GroupSizeKey
		asymptote := overSize && slices.ContainsFunc(d.checks,
			func(c *config.Check) bool { return c.Prediction == rom.LeadingOrder })
		f := framed("scaling")
		f.Title, f.YLabel, f.XScale, f.YScale = title+f.Title, label, LogAxis, LogAxis
		if !overSize {
			f.Title, f.XLabel = title+" against the paper’s formula", "D/(GCK)"
		}
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
				if e, ok := j.Outcome(c).Estimate(n.Estimate); ok {
					lo, hi := e.Interval(j.Confidence)
					measured.within(at.Value, e.Mean, lo, hi)
				}
				if p := n.InRun(j.Model.By(""), c); !p.Out() {
					predicted.point(at.Value, p.Value)
				}
			}
			for _, v := range d.verdicts {
				if v.Hypothesis != nil && v.Cell == set.Name && v.Variant == set.Cells[0].Variant {
					f.Series = append(f.Series, claimedSlope(v, measured.Points))
				}
			}
			f.Series = append(f.Series, predicted, measured)
			if count := len(predicted.Points); count > 0 && asymptote {
				last := predicted.Points[count-1]
				slope, why := n.AsymptoticSlope(&j.Model, set.Cells[len(set.Cells)-1])
				if why.Out() {
					continue
				}
				line := FigureSeries{Group: name, Mark: Reference,
					Name: "slope " + strings.Replace(config.Format(slope), "-", "−", 1)}
				for _, p := range predicted.Points {
					line.point(p.X, last.Y*fp.Pow(p.X/last.X, slope))
				}
				f.Series = append(f.Series, line)
			}
		}
		return f
	}
	return picture{family: byOver, claims: true, draw: draw}
}
