package sweeps

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
	"grposim/rom"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
)

//go:embed pictures.yaml
var framesText []byte

// frames has what pictures say: the rows of pictures.yaml, which describes its columns.
var frames = config.LazyTable[map[string]frame]("pictures.yaml", framesText)

// frame holds the texts of a picture, and the theories that it draws over a swept parameter.
type frame struct {
	Title, Caption, X, Label string
	Ratio                    string // of the y axis if values are divided; "": they are not
	// the first is drawn as the prediction, the others for comparison; nil: what is measured alone
	Theories []theoryLine
	Deep     []theoryLine // in their place where the policy is a network; nil: the same
	variants bool         // whether the cells are of several variants, which their groups name
	// the parameter on the x axis, over which the cells form lines; "": the one that abscissa finds
	over string
}

// framed returns an empty figure with the words of a frame.
func framed(name string) Figure {
	p := frames()[name]
	return Figure{Title: p.Title, Caption: p.Caption, XLabel: p.X, YLabel: p.Label}
}

// inCell returns a function that compares a claim's number with a prediction.
func inCell(of string) func(*claim.Question, *plan.Cell) claim.Finding {
	return func(j *claim.Question, c *plan.Cell) claim.Finding { return j.InCell(of, c) }
}

// theoryLine is a theory and its name in the legend.
type theoryLine struct {
	Kind rom.Kind // "" is the claim's default prediction
	Name string
}

// drawOver returns a function that draws the number of a claim per cell over the parameter that
// abscissa finds, with a group for each setting of the other swept parameters. If there
// is no such parameter the cells are categories side by side.
func drawOver(of string) func(*claim.Question, *figureSource) Figure {
	return func(j *claim.Question, d *figureSource) Figure {
		return figureOver(j, d.sets, frames()[of], inCell(of))
	}
}

func figureOver(j *claim.Question, sets []plan.CellSet, picture frame,
	compare func(*claim.Question, *plan.Cell) claim.Finding) Figure {
	var cells []*plan.Cell
	for _, set := range sets {
		// those of a set across cells are judged singly too, or drawn like them
		cells = config.AddNew(cells, set.Cells...)
	}
	if cells[0].Settings.Deep() && picture.Deep != nil {
		picture.Theories = picture.Deep
	}
	var values []overValue
	for _, c := range cells {
		var v overValue
		if picture.Theories == nil {
			f := compare(j, c)
			v.measured, v.lo, v.hi = f.Measured, f.Lo, f.Hi
		}
		for i, theory := range picture.Theories {
			f := compare(j.By(theory.Kind), c)
			if i == 0 {
				v.measured, v.lo, v.hi = f.Measured, f.Lo, f.Hi
			}
			if f.Predicted.Out() || math.IsInf(f.Predicted.Value, 0) {
				f.Predicted.Value = math.NaN()
			}
			v.predicted = append(v.predicted, f.Predicted.Value)
		}
		values = append(values, v)
	}
	if picture.Ratio != "" && divide(values) {
		picture.Label = picture.Ratio
	}
	return drawValues(j.Check, cells, values, cmp.Or(picture.over, abscissa(cells)), picture)
}

// drawValues draws one value per cell, in the order of the cells, over a parameter or, if it
// is "", side by side.
func drawValues(check *config.Check, cells []*plan.Cell, values []overValue, param string,
	picture frame) Figure {
	settings := &cells[0].Settings
	f := Figure{Title: picture.Title, Caption: picture.Caption, YLabel: picture.Label}
	found := "measured"
	if l := check.Locate; l != nil {
		found = "located"
		f.YScale = LogAxis
		param, _ := config.LookupKey(l.Param)
		f.Title += ", located in " + param.Title(settings)
		f.YLabel = strings.Replace(f.YLabel, "%s", param.Title(settings), 1)
	}
	inLine := param != ""
	if inLine {
		places := config.Each(cells, func(c *plan.Cell) float64 { return abscissaValue(param, c) })
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
	shared := cells[0].Variant // which their names need not repeat
	if picture.variants {
		shared = ""
	}
	var groups []string
	lines := make(map[string][]FigureSeries) // by group
	for i, c := range cells {
		x, group, variant := abscissaValue(param, c), "", ""
		if picture.variants {
			variant = c.Variant
		}
		if inLine {
			group = withoutVariant(plan.Label(variant, c.Axes, param), "")
		} else {
			x = float64(len(f.Categories))
			f.Categories = append(f.Categories, cmp.Or(withoutVariant(c.Label(), shared), "the one cell"))
		}
		if lines[group] == nil {
			groups = append(groups, group)
			lines[group] = []FigureSeries{{Name: found, Group: group, Mark: Measured}}
			mark := Predicted
			for _, theory := range picture.Theories {
				lines[group] = append(lines[group], FigureSeries{Name: theory.Name, Group: group, Mark: mark})
				mark = Reference
			}
		}
		series, v := lines[group], values[i]
		series[0].within(x, v.measured, v.lo, v.hi)
		for n, p := range v.predicted {
			series[1+n].point(x, p)
		}
	}
	for _, group := range groups {
		for _, s := range lines[group] {
			slices.SortStableFunc(s.Points, func(a, b FigurePoint) int { return cmp.Compare(a.X, b.X) })
		}
		f.Series = append(f.Series, lines[group]...)
	}
	return f
}

// overValue holds a cell's measured number, its interval, and the prediction of each
// theory: NaN where the theory does not apply or predicts no event.
type overValue struct {
	measured, lo, hi float64
	predicted        []float64
}

// divide divides the values of each cell by the second theory's prediction and returns true. It
// changes nothing if one of these is NaN or not positive.
func divide(values []overValue) bool {
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

// abscissa returns the first of the abscissas of cells; "" if there is none.
func abscissa(cells []*plan.Cell) string { return cmp.Or(append(abscissas(cells), "")...) }

// abscissas returns the swept numeric parameters over which the cells form lines. Each is finite,
// cells with equal other parameters differ in it, and two cells are on one line.
func abscissas(cells []*plan.Cell) (params []string) {
	for _, a := range cells[0].Axes {
		k, _ := config.LookupKey(a.Param)
		if !k.Numeric() || k.OfRun() {
			continue
		}
		seen := make(map[string][]float64)
		longest := 0
		form := !slices.ContainsFunc(cells, func(c *plan.Cell) bool {
			group, x := plan.Label("", c.Axes, a.Param), k.Number(&c.Settings)
			varies := slices.ContainsFunc(c.Axes,
				func(b config.Assignment) bool { return b.Param == a.Param })
			again := slices.Contains(seen[group], x)
			seen[group] = append(seen[group], x)
			longest = max(longest, len(seen[group]))
			return !varies || again || math.IsInf(x, 0)
		})
		if form && longest > 1 {
			params = append(params, a.Param)
		}
	}
	return params
}

// abscissaValue returns the x coordinate of a cell: the parameter, or 1 − μ for momentum μ, with
// which rates scale; NaN if param is "".
func abscissaValue(param string, c *plan.Cell) float64 {
	k, known := config.LookupKey(param)
	if !known {
		return math.NaN()
	}
	if param == config.MomentumKey {
		return 1 - k.Number(&c.Settings)
	}
	return k.Number(&c.Settings)
}

// drawHypothesis returns a picture of the measured values and the theory's against what the file
// claims. Single cells on a line are drawn over their parameter, others side by side.
func drawHypothesis(j *claim.Question, d *figureSource) Figure {
	h := j.Check.Hypothesis
	cells, param := firstCells(d.sets), ""
	several := slices.ContainsFunc(d.sets, func(set plan.CellSet) bool { return len(set.Cells) > 1 })
	if !several {
		param = abscissa(cells)
	}
	values := config.Each(d.verdicts, func(v *judge.Verdict) overValue { // one a set
		return overValue{float64(v.Measured), float64(v.Lo), float64(v.Hi),
			[]float64{float64(v.Hypothesis.Predicted)}}
	})
	picture := frames()["hypothesis"]
	picture.Title = j.Check.Claim.Name + ", and what the file claims"
	picture.Label = d.verdicts[0].Quantity
	f := drawValues(j.Check, cells, values, param, picture)
	if h.Value <= 0 {
		f.YScale = LinearAxis
	}
	if several {
		f.Categories = config.Each(d.sets,
			func(set plan.CellSet) string { return withoutVariant(set.Label, d.variant) })
	}
	margin := float64(d.verdicts[0].Margin) // that of each
	claimed := claimedSeries("", h, margin)
	lo, hi := h.Allowed(margin)
	var places []float64
	for _, s := range f.Series {
		places = append(places, config.Each(s.Points, func(p FigurePoint) float64 { return p.X })...)
	}
	slices.Sort(places)
	for _, x := range slices.Compact(places) {
		claimed.within(x, h.Value, lo, hi)
	}
	f.Series = append([]FigureSeries{claimed}, f.Series...)
	return f
}

// claimedSeries returns the series of a hypothesis about a quantity, "" for that of the axis,
// with a margin, without points.
func claimedSeries(quantity string, h *config.Hypothesis, margin float64) FigureSeries {
	name := "claimed: " + quantity + strings.ReplaceAll(h.String(), "-", "−")
	if margin > 0 {
		name += fmt.Sprintf(" ± %.2g", margin)
	}
	return FigureSeries{Name: name, Mark: Claimed}
}

// claimedSlope returns the line that a hypothesis about a slope claims on logarithmic axes, with
// the slopes that it allows. It passes the mean of the measured points, and has no points without
// any.
func claimedSlope(v *judge.Verdict, measured []FigurePoint) FigureSeries {
	margin := float64(v.Margin)
	claimed := claimedSeries("slope ", &v.Hypothesis.Hypothesis, margin)
	if measured == nil {
		return claimed
	}
	var x, y float64
	var places []float64
	for _, p := range measured {
		x, y = x+math.Log(p.X)/float64(len(measured)), y+math.Log(p.Y)/float64(len(measured))
		places = append(places, p.X)
	}
	const near = 1e-9 // the allowed slopes change sides at the mean
	places = append(places, fp.MathExp(x-near), fp.MathExp(x+near))
	slices.Sort(places)
	least, most := v.Hypothesis.Allowed(margin)
	for _, place := range places {
		at := func(slope float64) float64 { return fp.MathExp(y + slope*(math.Log(place)-x)) }
		low, high := at(least), at(most)
		claimed.within(place, at(v.Hypothesis.Value), min(low, high), max(low, high))
	}
	return claimed
}
