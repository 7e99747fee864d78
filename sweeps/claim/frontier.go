package claim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grposim/fp"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// The claims about the class of the mean reward, and about the smallest learning rate or
// refresh interval at which it visibly oscillates.
var (
	frontier = event{quantity: "visible oscillation", kind: rom.PaperRule,
		predict: (*Model).threshold}
	frontierAboveOnset = event{quantity: "visible oscillation against ζ = 1", kind: rom.PaperRule,
		predict: (*Model).onset, side: FromBelow}
)

// ofFrontiers is a claim about a number of the visible frontiers of a set.
func ofFrontiers(quantity string, compare func(*Question, plan.CellSet) Finding) number {
	return number{only(quantity), compare}
}

// leastRise says of a number over η what of it is compared.
const leastRise = ": the least of the first and of its rises over η"

// paper returns the same question about the paper's formulas, at the paper's stiffness
// unless the check names another.
func (j *Question) paper() *Question { return j.By(cmp.Or(j.Kind, rom.PaperRule)) }

// compareMedian compares the median over bandits of |frontier/line − 1| with 0. Its
// interval is from the median of the least to that of the largest deviations that the
// intervals of the frontiers allow.
func compareMedian(j *Question, set plan.CellSet) Finding {
	f := newFinding(j.paper().Kind)
	var low, high []float64
	within, below, beyond := 0, 0, 0
	for _, c := range set.Cells {
		g := frontier.compare(j, c)
		if g.Predicted.Out() {
			f.Predicted.Because = scope.OfPart.Because(c.Label(), g.Predicted.Because)
			return f
		}
		lo, hi := g.Lo/g.Predicted.Value, g.Hi/g.Predicted.Value
		if j.ExactInstead {
			lo, hi = 1, 1
		}
		low, high = append(low, max(0, lo-1, 1-hi)), append(high, max(hi-1, 1-lo))
		switch margin := j.Margin(0); {
		case math.IsInf(hi, 1):
			beyond++
		case lo >= 1-margin && hi <= 1+margin:
			within++
		case hi < 1:
			below++
		}
	}
	if j.ExactInstead {
		f.Fault = "every frontier on its line"
	}
	f.Lo, f.Hi = measure.Median(low), measure.Median(high)
	f.Bandits = &Tally{within, len(low)}
	f.Measured = f.Lo
	if !math.IsInf(f.Hi, 1) {
		f.Measured = (f.Lo + f.Hi) / 2
	}
	f.Quantity = fmt.Sprintf("median of |visible frontier / the paper's line − 1| (%d of %d bandits "+
		"within the margin, %d below, %d without a frontier up to the end of the search)",
		within, len(low), below, beyond)
	return f
}

// compareGap compares with 0, from below, the least of the first gap and its rises over η, divided
// by the largest gap. between is the gap of the η of the visible frontier and the η at which ζ = 1
// at its K_ref.
func compareGap(
	between func(frontier, onset float64) float64,
) func(j *Question, set plan.CellSet) Finding {
	return func(j *Question, set plan.CellSet) Finding {
		p := j.paper()
		f := newFinding(p.Kind)
		f.Predicted.Value, f.Side = 0, FromBelow
		gap := func(c *plan.Cell) float64 {
			g := frontierAboveOnset.compare(j, c)
			if g.Predicted.Out() || g.Lo != g.Hi || g.Lo <= 1 { // 1: already at the smallest K_ref
				f.Predicted.Because = cmp.Or(f.Predicted.Because, g.Predicted.Because)
				return math.NaN()
			}
			s := j.Settings(c)
			s.Lag.Interval = int(g.Measured)
			stiffness, _ := measuredStiffness(j.Outcome(c), c)
			onset := p.onsetRate(s, stiffness)
			f.Predicted.Because = cmp.Or(f.Predicted.Because, onset.Because)
			return between(c.Settings.Optimizer.LearningRate, onset.Value)
		}
		least, largest, before := math.Inf(1), 0.0, 0.0
		for _, c := range slices.SortedFunc(slices.Values(set.Cells), func(a, b *plan.Cell) int {
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
func compareConstant(j *Question, set plan.CellSet) Finding {
	f := newFinding(j.paper().Kind)
	shape := *j // of the line, which no factor of a constant changes
	shape.Fault.Scale = rom.Unit
	mean := 0.0 // of the logarithms
	var ratios []Finding
	for _, c := range set.Cells {
		g := frontier.compare(&shape, c)
		if f.Predicted.Because = g.Predicted.Because; f.Predicted.Out() {
			return f
		}
		line := g.Predicted.Value
		g.Measured, g.Lo, g.Hi = g.Measured/line, g.Lo/line, g.Hi/line
		mean += math.Log(g.Measured) / float64(len(set.Cells))
		ratios = append(ratios, g)
	}
	if f = f.exactly(0); j.ExactInstead {
		f.Fault = "every frontier at the same multiple of its line"
		return f
	}
	for _, g := range ratios {
		center := fp.MathExp(mean)
		f.Measured = max(f.Measured, math.Abs(g.Measured/center-1))
		f.Lo = max(f.Lo, g.Lo/center-1, 1-g.Hi/center)
		f.Hi = max(f.Hi, g.Hi/center-1, 1-g.Lo/center)
	}
	return f
}

// compareClassOccurs compares the number of cells of the check's class with 1, from below.
func compareClassOccurs(j *Question, set plan.CellSet) Finding {
	f := newFinding(rom.PaperRule)
	f.Predicted.Value, f.Side = 1, FromBelow
	if number, known := j.ofClass(set.Cells); known {
		return f.exactly(float64(number))
	}
	return f
}

// compareClassThroughout compares the number of cells of the check's class with that of all, from
// below. Over bandits it counts bandits with such a cell.
func compareClassThroughout(j *Question, set plan.CellSet) Finding {
	f := newFinding(rom.PaperRule)
	f.Side = FromBelow
	groups := make(map[string][]*plan.Cell)
	for _, c := range set.Cells {
		key := c.ID
		if j.Check.Over == config.ArmsKey {
			key = fmt.Sprint(c.Settings.Bandit.Arms)
		}
		groups[key] = append(groups[key], c)
	}
	f.Predicted.Value = float64(len(groups))
	number := 0
	for _, cells := range groups {
		n, known := j.ofClass(cells)
		if !known {
			return f
		}
		number += min(n, 1)
	}
	if j.ExactInstead {
		number, f.Fault = len(groups), "all of the class"
	}
	if j.Check.Over == config.ArmsKey {
		f.Bandits = &Tally{number, len(groups)}
	}
	return f.exactly(float64(number))
}

// ofClass returns the number of cells of the class that is counted. It is not known where a
// cell has no curve or its curve tells no class.
func (j *Question) ofClass(cells []*plan.Cell) (number int, known bool) {
	for _, c := range cells {
		switch j.Class(c) {
		case "", Unresolved:
			return 0, false
		case Class(cmp.Or(j.Fault.Class, j.Check.Class)):
			number++
		}
	}
	return number, true
}
