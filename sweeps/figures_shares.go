package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/training/diagnose"
)

// drawModes returns a picture of the share of replicas with each failure mode, two columns per
// cell: by this project's criteria and by the paper's.
func drawModes(j *claim.Question, d *figureSource) Figure {
	f := Figure{
		Title: "Failure modes named, replica by replica", YLabel: "share of replicas", Categories: []string{},
		Caption: "Two columns for each cell: the share of its replicas in which each mode is named by the criteria of this project, and by those of the paper.",
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
				f.Series[m].Points = append(f.Series[m].Points, FigurePoint{float64(2*i + n), math.NaN(), top, top + e.Mean})
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
		Title: "Visible frontier of single bandits", XLabel: "bandit, in ascending order", YLabel: "frontier / the paper’s line",
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
		name := fmt.Sprintf("%s: %d of %d bandits", cmp.Or(withoutOver(set, j.Check), "frontier"), len(ratios), len(set.Cells))
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
