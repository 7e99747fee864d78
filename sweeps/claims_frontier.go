package sweeps

import (
	"cmp"
	"math"
	"slices"

	"grposim/rom"
	"grposim/sweeps/config"
)

// The claims about the smallest refresh interval at which the mean reward visibly
// oscillates.
var (
	visibleFrontier = logic{
		quantities: only("visible frontier / the paper's line"),
		find:       findFrontier,
	}
	frontierAboveOnset = logic{
		quantities: only("visible frontier in lag.interval, against ζ = 1"),
		find:       findFrontierAboveOnset,
	}
)

// frontier returns the interval of refresh intervals in which the first visible
// oscillation of the cells of one bandit lies: from the largest before the first cell that
// oscillates, 0 if there is none, to that of this cell, +Inf if no cell oscillates. Both
// are NaN if the class of a cell up to it is not known.
func (j *judgement) frontier(cells []*Cell) (low, high float64) {
	ordered := slices.Clone(cells)
	slices.SortStableFunc(ordered, func(a, b *Cell) int {
		return cmp.Compare(a.Settings.Lag.Interval, b.Settings.Lag.Interval)
	})
	for _, c := range ordered {
		age := float64(c.Settings.Lag.Interval)
		switch j.class(c) {
		case Oscillatory, Sustained:
			return low, age
		case "":
			return math.NaN(), math.NaN()
		}
		low = age
	}
	return low, math.Inf(1)
}

// middle returns the middle of an interval, or its lower end if it has no upper one.
func middle(low, high float64) float64 {
	if math.IsInf(high, 1) {
		return low
	}
	return (low + high) / 2
}

// findFrontier compares the frontier of each bandit with the paper's line, and of several
// bandits the median of both ends. (An end is a function of the bandit that is nowhere
// below the true ratio, or nowhere above it, and so are the medians.)
func findFrontier(j *judgement, set CellSet) []finding {
	f := newFinding(cmp.Or(j.kind, rom.PaperRule))
	f.predicted.value = 1
	var bandits [][]*Cell
	index := make(map[string]int)
	for _, c := range set.Cells {
		id := config.OverID(config.LagIntervalKey, c.Variant, &c.Settings)
		n, known := index[id]
		if !known {
			n = len(bandits)
			index[id] = n
			bandits = append(bandits, nil)
		}
		bandits[n] = append(bandits[n], c)
	}
	var low, high []float64
	for _, cells := range bandits {
		rule, outOfScope := j.paperInterval(cells[0], func(r *rom.Rule) *float64 { return r.CriticalRefreshInterval })
		if outOfScope != "" {
			f.predicted.outOfScope = outOfScope
			return []finding{f}
		}
		lo, hi := j.frontier(cells)
		low, high = append(low, lo/rule), append(high, hi/rule)
	}
	f.lo, f.hi = median(low), median(high)
	f.measured = middle(f.lo, f.hi)
	return []finding{f}
}

// findFrontierAboveOnset compares the frontier with the refresh interval at which the
// paper's ζ is 1, from below.
func findFrontierAboveOnset(j *judgement, set CellSet) []finding {
	f := newFinding(cmp.Or(j.kind, rom.PaperRule))
	f.side = FromBelow
	f.predicted.value, f.predicted.outOfScope = j.paperInterval(set.Cells[0], func(r *rom.Rule) *float64 { return r.OscillationInterval })
	f.lo, f.hi = j.frontier(set.Cells)
	f.measured = middle(f.lo, f.hi)
	return []finding{f}
}

// paperInterval returns a refresh interval by the paper's formulas, or why there is none.
func (j *judgement) paperInterval(c *Cell, interval func(*rom.Rule) *float64) (steps float64, outOfScope string) {
	p := j.prediction(c)
	rule := j.by(cmp.Or(j.kind, rom.PaperRule)).formulas(p)
	x := interval(rule)
	if x == nil {
		return 0, missingFormula(p, rule, x)
	}
	return *x, ""
}

// median returns the median of at least one value, NaN if one is NaN.
func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted) // NaN first
	n := len(sorted)
	if math.IsNaN(sorted[0]) {
		return sorted[0]
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
