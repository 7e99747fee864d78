package sweeps

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
)

// drawHypothesis returns a picture of the measured values and the theory's against what the file
// claims. Single cells on a line are drawn over their parameter, others side by side.
func drawHypothesis(j *claim.Question, d *figureSource) Figure {
	h := j.Check.Hypothesis
	cells, param := firstCells(d.sets), ""
	several := slices.ContainsFunc(d.sets, func(set plan.CellSet) bool { return len(set.Cells) > 1 })
	if !several {
		param = abscissa(cells)
	}
	var values []overValue
	for _, v := range d.verdicts { // one a set
		values = append(values, overValue{float64(v.Measured), float64(v.Lo), float64(v.Hi),
			[]float64{float64(v.Hypothesis.Predicted)}})
	}
	f := drawValues(j.Check, cells, values, param, overPicture{
		title: j.Check.Claim.Name + ", and what the file claims", label: d.verdicts[0].Quantity,
		caption: "The band holds the values that the file claims. The claim holds where the whole " +
			"interval lies inside, and is refuted where it lies wholly outside.",
		theories: []theoryLine{{"", "predicted by the theory"}},
	})
	if h.Value <= 0 {
		f.YScale = LinearAxis
	}
	if several {
		f.Categories = nil
		for _, set := range d.sets {
			f.Categories = append(f.Categories, withoutVariant(set.Label, d.variant))
		}
	}
	margin := float64(d.verdicts[0].Margin) // that of each
	claimed := claimedSeries("", h, margin)
	lo, hi := h.Allowed(margin)
	var places []float64
	for _, s := range f.Series {
		for _, p := range s.Points {
			places = append(places, p.X)
		}
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
