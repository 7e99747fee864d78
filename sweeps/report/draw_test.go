package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grposim/sweeps"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// Each kind of figure is drawn as in testdata. Look at the picture before -update.
func TestDrawGolden(t *testing.T) {
	bound, value := bounds()
	for _, f := range []sweeps.Figure{curves(4, 64), curves(16), scaling(), deviations(18), regimes(), shares(), thresholds(), bound, value} {
		name := fmt.Sprintf("%s-%d.svg", f.Name, len(f.Series))
		t.Run(name, func(t *testing.T) {
			svg, raster, err := Draw(f)
			if err != nil {
				t.Fatal(err)
			}
			again, rasterAgain, err := Draw(f)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(svg, again) || !bytes.Equal(raster, rasterAgain) {
				t.Error("drawing the figure twice gives different pictures")
			}
			if config, err := png.DecodeConfig(bytes.NewReader(raster)); err != nil || config.Width != int(math.Round(16/2.54*pngDPI)) {
				t.Errorf("the PNG is %d pixels wide, want 16 cm (%v)", config.Width, err)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, svg, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(svg, want) {
				t.Errorf("%s differs: look at the picture, then run with -update", path)
			}
		})
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

// Any numbers and texts give a well-formed SVG whose coordinates are all finite.
func TestDrawAnything(t *testing.T) {
	numbers := rapid.OneOf(
		rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1), 1, -1, 2, 1024, 1e-300, 1e300, -1e300, math.MaxFloat64,
			math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1 + 1e-15, 1e100, 1e-100,
		}),
		rapid.Float64(),
	)
	point := rapid.Custom(func(t *rapid.T) sweeps.FigurePoint {
		return sweeps.FigurePoint{X: numbers.Draw(t, "x"), Y: numbers.Draw(t, "y"), Lo: numbers.Draw(t, "lo"), Hi: numbers.Draw(t, "hi")}
	})
	words := rapid.OneOf(rapid.SampledFrom([]string{"", " ", "G=4", "<&\"'>", "\x00\xff\n", strings.Repeat("long ", 60), "群"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		f := sweeps.Figure{
			Title: words.Draw(t, "title"), XLabel: words.Draw(t, "x label"), YLabel: words.Draw(t, "y label"),
			XScale:     rapid.SampledFrom([]sweeps.AxisScale{sweeps.LinearAxis, sweeps.LogAxis}).Draw(t, "x scale"),
			YScale:     rapid.SampledFrom([]sweeps.AxisScale{sweeps.LinearAxis, sweeps.LogAxis}).Draw(t, "y scale"),
			Categories: rapid.SliceOfN(words, 0, 40).Draw(t, "categories"),
		}
		if len(f.Categories) == 0 {
			f.Categories = rapid.SampledFrom([][]string{nil, {}}).Draw(t, "no categories")
		}
		for range rapid.IntRange(0, 12).Draw(t, "series") {
			f.Series = append(f.Series, sweeps.FigureSeries{
				Name: words.Draw(t, "name"), Group: words.Draw(t, "group"),
				Mark: rapid.SampledFrom([]sweeps.Mark{
					sweeps.Measured, sweeps.Predicted, sweeps.Reference, sweeps.Spread, sweeps.Marker, sweeps.Boundary, sweeps.Region, sweeps.Claimed,
				}).Draw(t, "mark"),
				Points: rapid.SliceOfN(point, 0, 5).Draw(t, "points"),
			})
		}
		// The PNG is not drawn: encoding it takes most of the time.
		p := newPicture(f)
		svg := p.svg()
		wellFormed(t, svg)
		for _, attribute := range regexp.MustCompile(` (d|x|y|viewBox|transform)="[^"]*"`).FindAll(svg, -1) {
			if notNumbers.Match(attribute) {
				t.Fatalf("a coordinate is not finite: %s", attribute)
			}
		}
	})
}

// Labelled ticks increase, have different labels and lie on the axis; there are 2 to 9.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]sweeps.AxisScale{sweeps.LinearAxis, sweeps.LogAxis}).Draw(t, "scale")
		s := newAxis(scale)
		a, width := rapid.Float64Range(-30, 30).Draw(t, "a"), rapid.Float64Range(1e-3, 30).Draw(t, "width")
		s.add(a, a+width)
		s = s.padded()
		seen := make(map[string]bool)
		last := math.Inf(-1)
		for _, tick := range s.ticks(6, nil) {
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

// Labels have the digits that their axis needs.
func TestTickLabels(t *testing.T) {
	log := func(low, high float64) axis { return axis{math.Log10(low), math.Log10(high), sweeps.LogAxis} }
	for _, c := range []struct {
		name   string
		axis   axis
		values []float64 // of x, nil if they are not powers of two
		want   string
	}{
		{"linear", axis{0, 1, sweeps.LinearAxis}, nil, "0 0.2 0.4 0.6 0.8 1.0"},
		{"linear, a narrow range", axis{0.751, 0.7522, sweeps.LinearAxis}, nil, "0.7510 0.7512 0.7514 0.7516 0.7518 0.7520 0.7522"},
		{"linear, small", axis{1e-5, 3e-5, sweeps.LinearAxis}, nil, "1.0e−5 1.5e−5 2.0e−5 2.5e−5 3.0e−5"},
		{"1-2-5", log(0.9, 110), nil, "1 2 5 10 20 50 100"},
		{"decades", log(1e-7, 1e-3), nil, "1e−7 1e−6 1e−5 0.0001 0.001"},
		{"group sizes", log(3, 140), []float64{4, 8, 128}, "4 8 16 32 64 128"},
		{"not all powers of two", log(3, 140), []float64{4, 8, 100}, "5 10 20 50 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var labels []string
			for _, tick := range c.axis.ticks(6, c.values) {
				if tick.Label != "" {
					labels = append(labels, tick.Label)
				}
			}
			if got := strings.Join(labels, " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
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

// No two groups within the palette share a colour or a glyph.
func TestGroupsDiffer(t *testing.T) {
	seen := make(map[string]int)
	for i := range groupColours {
		for _, look := range []string{fmt.Sprint(groupColours[i]), fmt.Sprint("glyph ", groupGlyphs[i])} {
			if j, known := seen[look]; known {
				t.Errorf("groups %d and %d both have %s", j, i, look)
			}
			seen[look] = i
		}
	}
}

// A figure without a finite value says so. The legend says how many points are bounds or not drawn, which intervals go on beyond
// the axis, and which lines lie on others: within half a percent of the axis.
func TestNotes(t *testing.T) {
	inf := math.Inf(1)
	nothing := sweeps.FigureSeries{Mark: sweeps.Measured, Points: []sweeps.FigurePoint{{X: 1, Y: nan}, {X: 2, Y: inf}, {X: 3, Y: -1}}}
	for _, empty := range []sweeps.Figure{{}, {YScale: sweeps.LogAxis, Series: []sweeps.FigureSeries{nothing}}} {
		if text := wellFormed(t, newPicture(empty).svg()); !strings.Contains(text, "nothing to show") {
			t.Errorf("an empty figure says %q", text)
		}
	}
	measured := sweeps.FigureSeries{Name: "located", Mark: sweeps.Measured, Points: []sweeps.FigurePoint{
		{X: 0, Y: 1, Lo: 1, Hi: inf}, {X: 1, Y: 2, Lo: 1, Hi: inf}, {X: 2, Y: 3, Lo: -inf, Hi: 3}, {X: 3, Y: nan, Lo: nan, Hi: nan}, {X: 4, Y: 100, Lo: 99, Hi: 100},
	}}
	line := func(name string, mark sweeps.Mark, rise float64) sweeps.FigureSeries {
		s := sweeps.FigureSeries{Name: name, Mark: mark}
		for x := range 5 {
			s.Points = append(s.Points, sweeps.FigurePoint{X: float64(x), Y: 20*float64(x) + rise, Lo: nan, Hi: nan})
		}
		return s
	}
	f := sweeps.Figure{Series: []sweeps.FigureSeries{
		line("near", sweeps.Reference, 1.3), line("far", sweeps.Reference, 3), line("theory", sweeps.Predicted, 1), measured,
	}}
	want := []string{
		"not shown: 1 measured without a place on the axes", "arrow up: a lower bound without an upper end, 2 measured",
		"arrow: the interval extends beyond the axis, 1 measured", "near lies on theory",
	}
	if got := newPicture(f).notes(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	theory, other := line("theory", sweeps.Predicted, 1), line("theory", sweeps.Predicted, 1)
	theory.Group, other.Group = "a", "b"
	near := line("near", sweeps.Reference, 1.3)
	near.Group = "a"
	far := line("near", sweeps.Reference, 9)
	far.Group = "b"
	f.Series = []sweeps.FigureSeries{theory, other, near, far, measured}
	if got, want := newPicture(f).notes()[3:], []string{"b lies on a", "near: 1 of 2 lines lie on others"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
