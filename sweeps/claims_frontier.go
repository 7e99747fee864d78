package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// The claims about the class of the mean reward, and about the smallest learning rate or
// refresh interval at which it visibly oscillates.
var (
	frontier           = event{quantity: "visible oscillation", kind: rom.PaperRule, predict: (*model).threshold, over: &frontierPicture}
	frontierAboveOnset = event{
		quantity: "visible oscillation against ζ = 1", kind: rom.PaperRule, predict: (*model).onset, side: FromBelow, over: &frontierPicture,
		shown: frontier.compare,
	}
	classPicture = picture{family: byClaim, spans: allVariants, draw: drawClasses}
)

// ofFrontiers is a summary of the visible frontiers of a set.
type ofFrontiers struct{ summary }

func (ofFrontiers) noiseless(m *model, c *Cell, o *store.Outcome) { frontier.noiseless(m, c, o) }

// frontierPicture shows frontiers with the paper's line.
var frontierPicture = overPicture{
	title:   "Visible oscillation",
	label:   "%s of the visible frontier",
	caption: "Each point is the smallest value at which the run oscillates visibly. Where the paper’s rule gives the frontier, the points lie on its line.",
	theories: []theoryLine{
		{rom.PaperRule, "paper’s rule"}, {rom.RuleAtStiffness, "paper’s rule at λ of the stiffest mode"},
	},
}

// paper returns the same judgement of the paper's formulas, at the paper's stiffness
// unless the check names another.
func (j *judgement) paper() *judgement { return j.by(cmp.Or(j.kind, rom.PaperRule)) }

// compareMedian compares the median over bandits of |frontier/line − 1| with 0. Its
// interval is from the median of the least to that of the largest deviations that the
// intervals of the frontiers allow.
func compareMedian(j *judgement, set CellSet) finding {
	f := newFinding(j.paper().kind)
	var low, high []float64
	within, below, beyond := 0, 0, 0
	for _, c := range set.Cells {
		g := frontier.compare(j, c)
		if g.predicted.Out() {
			f.predicted.Because = scope.OfPart.Because(c.Label(), g.predicted.Because)
			return f
		}
		lo, hi := g.lo/g.predicted.Value, g.hi/g.predicted.Value
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
	f.bandits = &Tally{within, len(low)}
	f.measured = f.lo
	if !math.IsInf(f.hi, 1) {
		f.measured = (f.lo + f.hi) / 2
	}
	f.quantity = fmt.Sprintf("median of |visible frontier / the paper's line − 1| (%d of %d bandits within the margin, %d below, %d without a frontier up to the end of the search)", within, len(low), below, beyond)
	return f
}

// compareGap compares with 0, from below, the least of the first gap and its rises over η, divided
// by the largest gap. between is the gap of the η of the visible frontier and the η at which ζ = 1
// at its K_ref.
func compareGap(between func(frontier, onset float64) float64) func(j *judgement, set CellSet) finding {
	return func(j *judgement, set CellSet) finding {
		p := j.paper()
		f := newFinding(p.kind)
		f.predicted.Value, f.side = 0, FromBelow
		gap := func(c *Cell) float64 {
			g := frontierAboveOnset.compare(j, c)
			if g.predicted.Out() || g.lo != g.hi || g.lo <= 1 { // 1: already at the smallest K_ref
				f.predicted.Because = cmp.Or(f.predicted.Because, g.predicted.Because)
				return math.NaN()
			}
			s := j.settings(c)
			s.Lag.Interval = int(g.measured)
			stiffness, _ := measuredStiffness(j.outcome(c), c)
			onset := p.onsetRate(&s, stiffness)
			f.predicted.Because = cmp.Or(f.predicted.Because, onset.Because)
			return between(c.Settings.Optimizer.LearningRate, onset.Value)
		}
		least, largest, before := math.Inf(1), 0.0, 0.0
		for _, c := range slices.SortedFunc(slices.Values(set.Cells), func(a, b *Cell) int {
			return cmp.Compare(a.Settings.Optimizer.LearningRate, b.Settings.Optimizer.LearningRate)
		}) {
			at := gap(c)
			least, largest, before = min(least, at-before), max(largest, math.Abs(at)), at
		}
		return f.exactly(least / largest)
	}
}

// compareConstant compares with 0 the largest deviation of frontier/line from its
// geometric mean over the learning rates.
func compareConstant(j *judgement, set CellSet) finding {
	f := newFinding(j.paper().kind)
	shape := *j // of the line, which no factor of a constant changes
	shape.fault.Scale = rom.Unit
	mean := 0.0 // of the logarithms
	var ratios []finding
	for _, c := range set.Cells {
		g := frontier.compare(&shape, c)
		if f.predicted.Because = g.predicted.Because; f.predicted.Out() {
			return f
		}
		line := g.predicted.Value
		g.measured, g.lo, g.hi = g.measured/line, g.lo/line, g.hi/line
		mean += math.Log(g.measured) / float64(len(set.Cells))
		ratios = append(ratios, g)
	}
	if f = f.exactly(0); j.exactInstead {
		f.fault = "every frontier at the same multiple of its line"
		return f
	}
	for _, g := range ratios {
		center := fp.MathExp(mean)
		f.measured = max(f.measured, math.Abs(g.measured/center-1))
		f.lo = max(f.lo, g.lo/center-1, 1-g.hi/center)
		f.hi = max(f.hi, g.hi/center-1, 1-g.lo/center)
	}
	return f
}

// compareClassOccurs compares the number of cells of the check's class with 1, from below.
func compareClassOccurs(j *judgement, set CellSet) finding {
	f := newFinding(rom.PaperRule)
	f.predicted.Value, f.side = 1, FromBelow
	if number, known := j.ofClass(set.Cells); known {
		return f.exactly(float64(number))
	}
	return f
}

// compareClassThroughout compares the number of cells of the check's class with that of all, from
// below. Over bandits it counts bandits with such a cell.
func compareClassThroughout(j *judgement, set CellSet) finding {
	f := newFinding(rom.PaperRule)
	f.side = FromBelow
	groups := make(map[string][]*Cell)
	for _, c := range set.Cells {
		key := c.ID
		if j.check.Over == config.ArmsKey {
			key = fmt.Sprint(c.Settings.Bandit.Arms)
		}
		groups[key] = append(groups[key], c)
	}
	f.predicted.Value = float64(len(groups))
	number := 0
	for _, cells := range groups {
		n, known := j.ofClass(cells)
		if !known {
			return f
		}
		number += min(n, 1)
	}
	if j.exactInstead {
		number, f.fault = len(groups), "all of the class"
	}
	if j.check.Over == config.ArmsKey {
		f.bandits = &Tally{number, len(groups)}
	}
	return f.exactly(float64(number))
}

// ofClass returns the number of cells of the class that is counted. It is not known where a
// cell has no curve or its curve tells no class.
func (j *judgement) ofClass(cells []*Cell) (number int, known bool) {
	for _, c := range cells {
		switch j.class(c) {
		case "", Unresolved:
			return 0, false
		case Class(cmp.Or(j.fault.Class, j.check.Class)):
			number++
		}
	}
	return number, true
}

// withoutOver returns the label of a set without the key that its cells are compared over.
func withoutOver(set CellSet, check *config.Check) string {
	return strings.TrimSpace(strings.TrimSuffix(set.Label, "over "+config.ShortName(check.Over)))
}

// drawClasses returns a picture of the number of cells of each class, one column per set.
func drawClasses(j *judgement, d *figureSource) Figure {
	f := Figure{
		Title: "Class of the mean reward", YLabel: "number of cells", Categories: []string{},
		Caption: "Each column counts the cells of a set by the class of their mean-reward curve.",
	}
	for _, class := range Classes {
		f.Series = append(f.Series, FigureSeries{Name: string(class), Group: string(class), Mark: Share})
	}
	for _, set := range d.sets {
		label := withoutOver(set, j.check)
		if slices.Contains(f.Categories, label) {
			continue // another check of the same cells
		}
		x, top := float64(len(f.Categories)), 0.0
		f.Categories = append(f.Categories, label)
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

// drawFrontiers returns a picture of frontier/line of every bandit, one series for each set, in
// ascending order. Bandits without a frontier up to the end of the search are left out.
func drawFrontiers(j *judgement, d *figureSource) Figure {
	f := Figure{
		Title: "Visible frontier of single bandits", XLabel: "bandit, in ascending order", YLabel: "frontier / the paper’s line",
		Caption: "If the paper’s line were the frontier, every point would lie at 1. Bandits without a frontier up to the end of the search are not drawn; the legend counts the others.",
	}
	most := 0
	for _, set := range d.sets {
		var ratios [][3]float64
		for _, c := range set.Cells {
			g := frontier.compare(j, c)
			if p := g.predicted.Value; !g.predicted.Out() && !math.IsInf(g.hi, 1) {
				ratios = append(ratios, [3]float64{g.measured / p, g.lo / p, g.hi / p})
			}
		}
		slices.SortFunc(ratios, func(a, b [3]float64) int { return cmp.Compare(a[0], b[0]) })
		name := fmt.Sprintf("%s: %d of %d bandits", cmp.Or(withoutOver(set, j.check), "frontier"), len(ratios), len(set.Cells))
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
