package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claims about the class of the mean reward, and about the smallest learning rate or
// refresh interval at which it visibly oscillates.
var (
	visibleFrontier = logic{
		quantities: locatedQuantity("visible oscillation"),
		find:       perCell(findFrontier),
		picture:    picture{family: byParam("frontier"), draw: drawOver(frontierPicture)},
		noiseless:  noiselessLocation((*judgement).line),
	}
	frontierAboveOnset = logic{
		quantities: locatedQuantity("visible oscillation against ζ = 1"),
		find:       perCell(findFrontierAboveOnset),
		picture:    visibleFrontier.picture,
		noiseless:  visibleFrontier.noiseless,
	}
	medianFrontier = logic{
		quantities: only("median of |visible frontier / the paper's line − 1|"),
		find:       findMedianFrontier,
		picture:    picture{family: byOver, draw: (*judgement).drawFrontiers},
		noiseless:  visibleFrontier.noiseless,
	}
	frontierGap = logic{
		quantities: only("gap between visible oscillation and ζ = 1 in η, at the largest η over at the smallest"),
		find:       findFrontierGap,
		noiseless:  visibleFrontier.noiseless,
	}
	classOccurs = logic{
		quantities: func(check *config.Check, _ []*Cell) []string {
			return []string{"number of K at which the mean reward is " + check.Class}
		},
		find:    findClassOccurs,
		picture: picture{family: byClaim, spans: allVariants, draw: (*judgement).drawClasses},
	}
)

// frontierPicture shows frontiers with the paper's line.
var frontierPicture = overPicture{
	title:   "Visible oscillation",
	label:   "%s of the visible frontier",
	caption: "Each point is the smallest value at which the run oscillates visibly. Where the paper’s rule gives the frontier, the points lie on its line.",
	find:    findFrontier,
	theories: []theoryLine{
		{rom.PaperRule, "paper’s rule"}, {rom.RuleAtStiffness, "paper’s rule at λ of the stiffest mode"},
	},
}

// paper returns the same judgement of the paper's formulas, at the paper's stiffness
// unless the check names another.
func (j *judgement) paper() *judgement { return j.by(cmp.Or(j.kind, rom.PaperRule)) }

// line returns the paper's line in the located parameter.
func (j *judgement) line(c *Cell, stiffness *rom.Measured) located {
	return j.paper().threshold(c, stiffness)
}

// findFrontier compares the frontier with the paper's line.
func findFrontier(j *judgement, c *Cell, o *store.Outcome) finding {
	return j.paper().locatedAgainst(c, o, (*judgement).threshold)
}

// findFrontierAboveOnset compares the frontier with the paper's ζ = 1, from below.
func findFrontierAboveOnset(j *judgement, c *Cell, o *store.Outcome) finding {
	f := j.paper().locatedAgainst(c, o, (*judgement).onset)
	f.side = FromBelow
	return f
}

// findMedianFrontier compares the median over bandits of |frontier/line − 1| with 0. Its
// interval is from the median of the least to that of the largest deviations that the
// intervals of the frontiers allow.
func findMedianFrontier(j *judgement, set CellSet) []finding {
	f := newFinding(j.paper().kind)
	var low, high []float64
	within, below, beyond := 0, 0, 0
	for _, c := range set.Cells {
		g := findFrontier(j, c, j.outcome(c))
		if g.predicted.outOfScope != "" {
			f.predicted.outOfScope = c.Label() + ": " + g.predicted.outOfScope
			return []finding{f}
		}
		lo, hi := g.lo/g.predicted.value, g.hi/g.predicted.value
		if j.exactInstead {
			lo, hi = 1, 1
		}
		low, high = append(low, max(0, lo-1, 1-hi)), append(high, max(hi-1, 1-lo))
		switch margin := j.margin(0); {
		case math.IsInf(hi, 1):
			beyond++
		case lo >= 1-margin && hi <= 1+margin:
			within++
		case hi < 1:
			below++
		}
	}
	if j.exactInstead {
		f.fault = "every frontier on its line"
	}
	f.lo, f.hi = median(low), median(high)
	f.measured = f.lo
	if !math.IsInf(f.hi, 1) {
		f.measured = (f.lo + f.hi) / 2
	}
	f.quantity = fmt.Sprintf("median of |visible frontier / the paper's line − 1| (%d of %d bandits within the margin, %d below, %d without a frontier up to the end of the search)", within, len(low), below, beyond)
	return []finding{f}
}

// findFrontierGap compares the ratio of two gaps with 1, from below: that of the cell with
// the largest learning rate η, whose frontier is at small K_ref, to that with the smallest.
// The gap is |η − η at which ζ = 1| at the K_ref of the frontier.
func findFrontierGap(j *judgement, set CellSet) []finding {
	p := j.paper()
	f := newFinding(p.kind)
	f.predicted.value, f.side = 1, FromBelow
	rate := func(a, b *Cell) int {
		return cmp.Compare(a.Settings.Optimizer.LearningRate, b.Settings.Optimizer.LearningRate)
	}
	gap := func(c *Cell) float64 {
		g := findFrontierAboveOnset(j, c, j.outcome(c))
		if g.predicted.outOfScope != "" || g.lo != g.hi || g.lo <= 1 { // 1: already at the smallest K_ref
			f.predicted.outOfScope = cmp.Or(f.predicted.outOfScope, g.predicted.outOfScope)
			return math.NaN()
		}
		s := j.settings(c)
		s.Lag.Interval = int(g.measured)
		onset := p.onsetRate(&s, measuredStiffness(j.outcome(c), len(c.Settings.Bandit.Arms)))
		f.predicted.outOfScope = cmp.Or(f.predicted.outOfScope, onset.outOfScope)
		return math.Abs(c.Settings.Optimizer.LearningRate - onset.value)
	}
	f.measured = gap(slices.MaxFunc(set.Cells, rate)) / gap(slices.MinFunc(set.Cells, rate))
	f.lo, f.hi = f.measured, f.measured
	return []finding{f}
}

// findClassOccurs compares the number of cells of the check's class with 1, from below.
func findClassOccurs(j *judgement, set CellSet) []finding {
	f := newFinding(rom.PaperRule)
	f.predicted.value, f.side = 1, FromBelow
	number := 0.0
	for _, c := range set.Cells {
		switch j.class(c) {
		case "", Unresolved:
			return []finding{f}
		case Class(cmp.Or(j.fault.Class, j.check.Class)):
			number++
		}
	}
	f.measured, f.lo, f.hi = number, number, number
	return []finding{f}
}

// drawClasses returns a picture of the number of cells of each class, one column per set.
func (j *judgement) drawClasses(d *figureSource) Figure {
	f := Figure{
		Title: "Class of the mean reward", YLabel: "number of cells", Categories: []string{},
		Caption: "Each column counts the cells of a set by the class of their mean-reward curve.",
	}
	for _, class := range Classes {
		f.Series = append(f.Series, FigureSeries{Name: string(class), Group: string(class), Mark: Share})
	}
	for _, set := range d.sets {
		if slices.Contains(f.Categories, set.Label) {
			continue // another check of the same cells
		}
		x, top := float64(len(f.Categories)), 0.0
		f.Categories = append(f.Categories, set.Label)
		for i, class := range Classes {
			number := 0.0
			for _, c := range set.Cells {
				number += indicator(j.class(c) == class)
			}
			if number > 0 {
				f.Series[i].Points = append(f.Series[i].Points, FigurePoint{x, math.NaN(), top, top + number})
			}
			top += number
		}
	}
	return f
}

// median returns the median of at least one value, NaN if one is NaN.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values)) // NaN first
	n := len(sorted)
	if math.IsNaN(sorted[0]) {
		return sorted[0]
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// drawFrontiers returns a picture of frontier/line of every bandit, one series for each
// set, in ascending order. Bandits without a frontier up to the end of the search are
// left out.
func (j *judgement) drawFrontiers(d *figureSource) Figure {
	f := Figure{
		Title: "Visible frontier of single bandits", XLabel: "bandit, in ascending order", YLabel: "frontier / the paper’s line",
		Caption: "If the paper’s line were the frontier, every point would lie at 1. Bandits without a frontier up to the end of the search are not drawn; the legend counts the others.",
	}
	most := 0
	for _, set := range d.sets {
		var ratios [][3]float64
		for _, c := range set.Cells {
			g := findFrontier(j, c, j.outcome(c))
			if p := g.predicted.value; g.predicted.outOfScope == "" && !math.IsInf(g.hi, 1) {
				ratios = append(ratios, [3]float64{g.measured / p, g.lo / p, g.hi / p})
			}
		}
		slices.SortFunc(ratios, func(a, b [3]float64) int { return cmp.Compare(a[0], b[0]) })
		name := fmt.Sprintf("%s: %d of %d bandits", cmp.Or(set.Cells[0].Variant, "frontier"), len(ratios), len(set.Cells))
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
