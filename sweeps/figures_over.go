package sweeps

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// overPicture is a number of each cell, with what the theories say of it: the
// full theory first.
type overPicture struct {
	title    string
	label    string // %s: the located parameter
	ratio    string // the same as a multiple of the second theory, "" where it is drawn as it is
	find     func(j *judgement, c *Cell, o *store.Outcome) finding
	theories []theoryLine
}

type theoryLine struct {
	kind rom.Kind // "" the full theory
	name string
}

// Onsets span decades in 1 − μ, over which nobody sees the few per cent by which
// ζ = 1 misses them: they are drawn in multiples of it.
var (
	thresholdPicture = overPicture{"Stability threshold", "%s at the threshold", "", findThreshold, []theoryLine{
		{"", "exact, at the measured stiffness"}, {rom.PaperRule, "paper’s rule ηλK = 1 − μ"}, {rom.LeadingOrder, "reduced-order model, γ = 0"},
	}}
	onsetPicture = overPicture{"Onset of oscillation", "%s at the onset", "onset in %s / that of ζ = 1", findOnset, []theoryLine{
		{"", "exact, at the measured stiffness"}, {rom.LeadingOrder, "reduced-order model, ζ = 1"}, {rom.PaperRule, "paper’s model, ζ = 1"},
	}}
	relaxationPicture = overPicture{"Relaxation rate, negative where a deviation grows", "relaxation rate per step", "", findRelaxation, []theoryLine{
		{"", "linear dynamics"}, {rom.LeadingOrder, "reduced-order model"},
	}}
	dampingPicture = overPicture{"Damping ratio", "damping ratio ζ", "", findDamping, []theoryLine{
		{"", "linear dynamics"}, {rom.LeadingOrder, "reduced-order model"}, {rom.PaperRule, "paper’s model"},
	}}
)

// drawOver shows a number of the cells over the first parameter that they vary
// while all others stay, one group for each setting of those; where there is no
// such parameter the cells stand side by side.
func drawOver(picture overPicture) func(*judgement, *drawing) Figure {
	return func(j *judgement, d *drawing) Figure { return j.drawOver(d.sets, picture) }
}

func (j *judgement) drawOver(sets []CellSet, picture overPicture) Figure {
	var cells []*Cell
	for _, set := range sets {
		cells = append(cells, set.Cells[0])
	}
	settings := &cells[0].Settings
	f := Figure{Title: picture.title, YLabel: picture.label}
	values := j.valuesOf(cells, picture)
	if picture.ratio != "" && values.divide() {
		f.YLabel = picture.ratio
	}
	found := "measured"
	if l := j.check.Locate; l != nil {
		found = "located"
		f.YScale = LogAxis
		param, _ := config.LookupKey(l.Param)
		f.Title += ", located in " + param.Title(settings)
		f.YLabel = strings.Replace(f.YLabel, "%s", param.Title(settings), 1)
	}
	param, inLine := abscissa(cells)
	if inLine {
		var places []float64
		for _, c := range cells {
			places = append(places, abscissaValue(param, c))
		}
		slices.Sort(places)
		f.XScale = spacing(slices.Compact(places))
		k, _ := config.LookupKey(param)
		f.XLabel = k.AxisLabel(settings)
		if param == config.MomentumKey {
			f.XLabel = "1 − μ"
		}
	} else {
		f.Categories = []string{}
	}
	var groups []string
	members := make(map[string][]int)
	for i, c := range cells {
		group := ""
		if inLine {
			group = withoutVariant(label("", c.Axes, param), "")
		}
		if members[group] == nil {
			groups = append(groups, group)
		}
		members[group] = append(members[group], i)
	}
	nan := math.NaN()
	for _, group := range groups {
		series := []FigureSeries{{Name: found, Group: group, Mark: Measured}}
		for i, theory := range picture.theories {
			mark := Reference
			if i == 0 {
				mark = Predicted
			}
			series = append(series, FigureSeries{Name: theory.name, Group: group, Mark: mark})
		}
		for _, i := range members[group] {
			x := abscissaValue(param, cells[i])
			if !inLine {
				x = float64(len(f.Categories))
				f.Categories = append(f.Categories, cmp.Or(withoutVariant(cells[i].Label(), cells[i].Variant), "the one cell"))
			}
			v := values[i]
			series[0].Points = append(series[0].Points, FigurePoint{x, v.measured, v.lo, v.hi})
			for n, p := range v.predicted {
				series[1+n].Points = append(series[1+n].Points, FigurePoint{x, p, nan, nan})
			}
		}
		for _, s := range series {
			slices.SortStableFunc(s.Points, func(a, b FigurePoint) int { return cmp.Compare(a.X, b.X) })
		}
		f.Series = append(f.Series, series...)
	}
	return f
}

// overValue is a cell's number and what each theory says, NaN where it says
// nothing.
type overValue struct {
	measured, lo, hi float64
	predicted        []float64
}

type overValues []overValue

func (j *judgement) valuesOf(cells []*Cell, picture overPicture) overValues {
	var values overValues
	for _, c := range cells {
		var v overValue
		for i, theory := range picture.theories {
			f := picture.find(j.by(theory.kind), c, j.outcome(c))
			if i == 0 {
				v.measured, v.lo, v.hi = f.measured, f.lo, f.hi
			}
			if f.predicted.outOfScope != "" || math.IsInf(f.predicted.value, 0) {
				f.predicted.value = math.NaN()
			}
			v.predicted = append(v.predicted, f.predicted.value)
		}
		values = append(values, v)
	}
	return values
}

// divide makes multiples of what the second theory says out of the values,
// unless it says nothing of some of them.
func (values overValues) divide() bool {
	if slices.ContainsFunc(values, func(v overValue) bool { return !(v.predicted[1] > 0) }) {
		return false
	}
	for i := range values {
		v := &values[i]
		unit := v.predicted[1]
		v.measured, v.lo, v.hi = v.measured/unit, v.lo/unit, v.hi/unit
		for n := range v.predicted {
			v.predicted[n] /= unit
		}
	}
	return true
}

// abscissa finds the first numeric parameter of the axes over which cells that
// are alike in all others make a line.
func abscissa(cells []*Cell) (param string, found bool) {
	for _, a := range cells[0].Axes {
		k, _ := config.LookupKey(a.Param)
		if !k.Numeric() || k.OfRun() {
			continue
		}
		seen := make(map[string][]float64)
		longest, unique := 0, true
		for _, c := range cells {
			if !slices.ContainsFunc(c.Axes, func(b config.Assignment) bool { return b.Param == a.Param }) {
				unique = false
				break
			}
			group, x := label("", c.Axes, a.Param), k.Number(&c.Settings)
			unique = unique && !slices.Contains(seen[group], x) && !math.IsInf(x, 0)
			seen[group] = append(seen[group], x)
			longest = max(longest, len(seen[group]))
		}
		if unique && longest > 1 {
			return a.Param, true
		}
	}
	return "", false
}

// abscissaValue is where a cell stands: at its value, with momentum at 1 − μ,
// which rates and thresholds go with.
func abscissaValue(param string, c *Cell) float64 {
	k, known := config.LookupKey(param)
	switch {
	case !known:
		return math.NaN()
	case param == config.MomentumKey:
		return 1 - k.Number(&c.Settings)
	}
	return k.Number(&c.Settings)
}
