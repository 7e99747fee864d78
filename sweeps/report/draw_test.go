package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grposim/sweeps"
)

// Each kind of figure is drawn twice with the same bytes, and its legend names every series.
func TestDraw(t *testing.T) {
	for _, f := range []sweeps.Figure{curves(4, 64), curves(16), scaling(), deviations(18)} {
		svg, raster, err := Draw(f)
		again, rasterAgain, errAgain := Draw(f)
		if err != nil || errAgain != nil || !bytes.Equal(svg, again) || !bytes.Equal(raster, rasterAgain) {
			t.Errorf("%s: drawing the figure twice gives different pictures", f.Name)
		}
		text := wellFormed(t, svg)
		for _, s := range f.Series {
			name := cmp.Or(s.Group, s.Name)
			if len(s.Points) > 0 && s.Name != "never" && !strings.Contains(text, name) {
				t.Errorf("%s: the legend does not name %s", f.Name, name)
			}
		}
	}
}

// wellFormed parses a whole XML document and returns its text.
func wellFormed(t interface{ Fatalf(string, ...any) }, document []byte) string {
	var text strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(document)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if s, ok := token.(xml.CharData); ok {
			text.Write(s)
			text.WriteByte('\n')
		}
	}
}

var notNumbers = regexp.MustCompile(`NaN|Inf`)

var extremes = []float64{
	0, math.Copysign(0, -1), 1, -1, 2, 1024, 1e-300, 1e300, -1e300, math.MaxFloat64, -math.MaxFloat64,
	math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1 + 1e-15, 1e100, 1e-100,
}

// Any numbers and texts give a well-formed SVG whose coordinates are all finite.
func TestDrawAnything(t *testing.T) {
	numbers := rapid.OneOf(
		rapid.SampledFrom(extremes), rapid.Float64(),
	)
	point := rapid.Custom(func(t *rapid.T) sweeps.FigurePoint {
		return sweeps.FigurePoint{X: numbers.Draw(t, "x"), Y: numbers.Draw(t, "y"),
			Lo: numbers.Draw(t, "lo"), Hi: numbers.Draw(t, "hi")}
	})
	words := rapid.OneOf(rapid.SampledFrom([]string{"", " ", "G=4", "<&\"'>", "\x00\xff\n",
		strings.Repeat("long ", 60), "群"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		f := sweeps.Figure{
			Title: words.Draw(t, "title"), XLabel: words.Draw(t, "x label"), YLabel: words.Draw(t, "y label"),
			XScale: rapid.SampledFrom([]sweeps.AxisScale{sweeps.LinearAxis, sweeps.LogAxis}).Draw(t,
				"x scale"),
			YScale: rapid.SampledFrom([]sweeps.AxisScale{sweeps.LinearAxis, sweeps.LogAxis}).Draw(t,
				"y scale"),
			Categories: rapid.SliceOfN(words, 0, 40).Draw(t, "categories"),
		}
		if len(f.Categories) == 0 {
			f.Categories = rapid.SampledFrom([][]string{nil, {}}).Draw(t, "no categories")
		}
		for range rapid.IntRange(0, 12).Draw(t, "series") {
			f.Series = append(f.Series, sweeps.FigureSeries{
				Name: words.Draw(t, "name"), Group: words.Draw(t, "group"),
				Mark: rapid.SampledFrom([]sweeps.Mark{
					sweeps.Measured, sweeps.Predicted, sweeps.Reference, sweeps.Spread, sweeps.Marker,
					sweeps.Boundary, sweeps.Region, sweeps.Claimed,
				}).Draw(t, "mark"),
				Points: rapid.SliceOfN(point, 0, 5).Draw(t, "points"),
			})
		}
		// The PNG is not drawn: encoding it takes most of the time.
		p := newPicture(f)
		svg := p.svg()
		wellFormed(t, svg)
		for _, attribute := range regexp.MustCompile(` (d|x|y|viewBox|transform)="[^"]*"`).FindAll(svg,
			-1) {
			if notNumbers.Match(attribute) {
				t.Fatalf("a coordinate is not finite: %s", attribute)
			}
		}
	})
}

// Labelled ticks increase, have different labels and lie on the axis; there are 2 to 9.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newAxis(rapid.SampledFrom([]sweeps.AxisScale{sweeps.LinearAxis, sweeps.LogAxis}).Draw(t,
			"scale"))
		a, width := rapid.Float64Range(-30, 30).Draw(t, "a"), rapid.Float64Range(1e-3, 30).Draw(t, "width")
		s.add(a, a+width)
		s = s.padded()
		seen := make(map[string]bool)
		last := math.Inf(-1)
		for _, tick := range s.ticks() {
			if tick.Label == "" {
				continue
			}
			if !(tick.Value > last) || tick.Value < s.min || tick.Value > s.max || seen[tick.Label] {
				t.Fatalf("tick %q at %g in [%g, %g] after %g", tick.Label, tick.Value, s.min, s.max, last)
			}
			last, seen[tick.Label] = tick.Value, true
		}
		if n := len(seen); n < 2 || n > 9 {
			t.Fatalf("%d labels in [%g, %g]", n, s.min, s.max)
		}
	})
}

// Labels of categories do not overlap: horizontal ones are narrower than their slots,
// slanted ones are further apart than a line of text is high.
func TestCategoryLabelsDoNotOverlap(t *testing.T) {
	for n := 1; n <= 300; n = n*3/2 + 1 {
		p := newPicture(deviations(n))
		slot := float64(figureWidth-70) / float64(n)
		last, slant := math.Inf(-1), p.plot.X.Tick.Label.Rotation
		for _, tick := range p.plot.X.Tick.Marker.Ticks(0, 0) {
			if tick.Label == "" {
				continue
			}
			need := float64(legendStyle.Width(tick.Label))
			if slant != 0 {
				need = float64(legendStyle.Font.Size) / math.Abs(math.Sin(slant))
			}
			if at := slot * tick.Value; at-last < need {
				t.Errorf("%d categories: %q is %.1f from the last, needs %.1f", n, tick.Label, at-last, need)
			} else {
				last = at
			}
		}
		if math.IsInf(last, -1) {
			t.Errorf("%d categories: no label", n)
		}
	}
}

// A figure without a finite value says so. Notes say how many points are bounds or not drawn, and
// which intervals go on beyond the axis.
func TestNotes(t *testing.T) {
	inf := math.Inf(1)
	nothing := sweeps.FigureSeries{Mark: sweeps.Measured,
		Points: []sweeps.FigurePoint{{X: 1, Y: nan}, {X: 2, Y: inf}, {X: 3, Y: -1}}}
	for _, empty := range []sweeps.Figure{{},
		{YScale: sweeps.LogAxis, Series: []sweeps.FigureSeries{nothing}}} {
		if text := wellFormed(t, newPicture(empty).svg()); !strings.Contains(text, "nothing to show") {
			t.Errorf("an empty figure says %q", text)
		}
	}
	measured := sweeps.FigureSeries{Name: "located", Mark: sweeps.Measured, Points: []sweeps.FigurePoint{
		{X: 0, Y: 1, Lo: 1, Hi: inf}, {X: 1, Y: 2, Lo: 1, Hi: inf}, {X: 2, Y: 3, Lo: -inf, Hi: 3},
		{X: 3, Y: nan, Lo: nan, Hi: nan}, {X: 4, Y: 100, Lo: 99, Hi: 100},
	}}
	want := []string{
		"not shown: 1 measured without a place on the axes",
		"a lower bound without an upper end: 2 measured",
		"the interval extends beyond the axis: 1 measured",
	}
	got := newPicture(sweeps.Figure{Series: []sweeps.FigureSeries{measured}}).notes
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
