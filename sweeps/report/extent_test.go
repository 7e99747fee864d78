package report

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"grposim/sweeps"
	"grposim/sweeps/judge"
)

// points returns so many points of a series.
func points(n int) []sweeps.FigurePoint {
	all := make([]sweeps.FigurePoint, n)
	for i := range all {
		all[i] = sweeps.FigurePoint{X: float64(i), Y: float64(i), Lo: float64(i) - 1, Hi: float64(i) + 1}
	}
	return all
}

// A figure of few points is drawn as it is; one of many has about mostPoints of each mark that
// consists of points, all of its lines, says so, and leaves the original as it was. Values stay
// with their points. Of many categories it has the first.
func TestSampleOfAFigure(t *testing.T) {
	few := sweeps.Figure{Title: "few",
		Series: []sweeps.FigureSeries{{Mark: sweeps.Measured, Points: points(mostPoints)}}}
	if got := Sample.Figure(few); !reflect.DeepEqual(got, few) {
		t.Errorf("a figure of %d points was changed", mostPoints)
	}
	values := make([]float64, 30*mostPoints)
	for i := range values {
		values[i] = float64(i)
	}
	many := sweeps.Figure{Title: "many", Series: []sweeps.FigureSeries{
		{Mark: sweeps.Marker, Points: points(30 * mostPoints), Values: values},
		{Mark: sweeps.Measured, Points: points(10)}, {Mark: sweeps.Boundary, Points: points(70)},
	}}
	got := Sample.Figure(many)
	n := pointsOf(&got)
	if n < mostPoints || n > mostPoints+2 || len(got.Series[1].Points) != 1 ||
		len(got.Series[2].Points) != 70 {
		t.Errorf("%d points, want %d, and %d of a boundary", n, mostPoints, len(got.Series[2].Points))
	}
	want := fmt.Sprintf("many (%d of %d points)", pointsOf(&got), pointsOf(&many))
	equal(t, "title", got.Title, want)
	for i, p := range got.Series[0].Points {
		if p.X != got.Series[0].Values[i] || math.Abs(p.X-30*float64(i)) > 30 {
			t.Fatalf("point %d is %v with value %v", i, p, got.Series[0].Values[i])
		}
	}
	all := Everything.Figure(many)
	if !reflect.DeepEqual(all, many) || len(many.Series[0].Points) != 30*mostPoints {
		t.Error("a whole figure was changed")
	}

	beside := sweeps.Figure{Series: []sweeps.FigureSeries{{Mark: sweeps.Measured,
		Points: points(2 * mostPoints)}, {Mark: sweeps.Predicted, Points: points(2 * mostPoints)}}}
	for i := range 2 * mostPoints {
		beside.Categories = append(beside.Categories, fmt.Sprint(i))
	}
	got = Sample.Figure(beside)
	equal(t, "title", got.Title, fmt.Sprintf(" (the first %d of %d columns)", mostPlaces, 2*mostPoints))
	equal(t, "columns", len(got.Categories), mostPlaces)
}

// A page about an experiment of any size has less than 5 MB: with 5000 verdicts whose labels and
// reasons are long, a hundred figures of a hundred thousand points, and a long configuration. Its
// table has verdicts that do not agree, and a sample of the others, and the page says so. As a
// whole it has every row.
func TestPageIsBounded(t *testing.T) {
	examples := must(examples())
	e, plan, spec := *examples[0].Experiment, *examples[0].Experiment.Plan,
		*examples[0].Experiment.Plan.Spec
	e.Plan, plan.Spec = &plan, &spec
	checks := spec.Checks
	for range 2000 { // a configuration of more than configBytes
		spec.Checks = append(spec.Checks, checks...)
	}
	verdict := e.Verdicts[0]
	e.Verdicts = nil
	const verdicts, disagreeing = 5000, 500
	for i := range verdicts {
		v := verdict
		v.Verdict, v.Label = judge.Agree, strings.Repeat("η=0.1 ", i%30)
		if v.Because = strings.Repeat("because ", i%20); i%(verdicts/disagreeing) == 7 {
			v.Verdict = judge.Disagree
		}
		e.Verdicts = append(e.Verdicts, v)
	}
	e.Figures = nil
	many := sweeps.FigureSeries{Name: "measured", Group: "measured", Mark: sweeps.Measured}
	many.Points = points(100_000)
	drawn := sweeps.Figure{Title: "many", Series: []sweeps.FigureSeries{many}}
	svg, _, err := Draw(Sample.Figure(drawn))
	if err != nil {
		t.Fatal(err)
	}
	part, size := Part{Experiment: &e, SVGs: make(map[string][]byte)}, 0
	for i := range 100 {
		f := drawn
		f.Name = fmt.Sprint(i)
		if e.Figures = append(e.Figures, f); Sample.Fits(len(svg), size) {
			part.SVGs[f.Name] = svg
			size += len(svg)
		}
	}
	page := must(pageText("bounded", []Part{part}))
	if len(page) > 5_000_000 || len(page) < 1_500_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	equal(t, "disagreeing", bytes.Count(page, []byte(`<tr data-verdict="disagree"`)), disagreeing)
	shown := bytes.Count(page, []byte("<tr data-verdict="))
	contains(t, string(page),
		fmt.Sprintf("The table shows %d of %d verdicts: first those that do not agree", shown, verdicts),
		fmt.Sprintf("The folder figures has %d pictures more.", 100-len(part.SVGs)),
		"grposim report DIR --all")
	part.Extent = Everything
	page, err = pageText("whole", []Part{part})
	if err != nil || bytes.Count(page, []byte("<tr data-verdict=")) != verdicts {
		t.Errorf("%d rows on the whole page: %v", bytes.Count(page, []byte("<tr data-verdict=")), err)
	}
}
