package report

import (
	"image/color"
	"math"
	"strings"
	"testing"

	"grposim/sweeps"
)

// Values are coloured on the scale of their range, logarithmic from two decades on; an
// unknown value is grey. The legend names the quantity and samples its range.
func TestShades(t *testing.T) {
	draw := func(values ...float64) (*picture, string) {
		s := sweeps.FigureSeries{Name: "monotone", Group: "monotone", Mark: sweeps.Marker, Values: values}
		for i := range values {
			s.Points = append(s.Points, point(float64(i), 1, nan))
		}
		f := sweeps.Figure{Name: "map", Title: "map", Colour: "entropy", Series: []sweeps.FigureSeries{s}}
		svg, _, err := Draw(f)
		if err != nil {
			t.Fatal(err)
		}
		return newPicture(f), string(svg)
	}
	first, middle := color.NRGBA{0x44, 0x01, 0x54, 0xFF}, color.NRGBA{0x21, 0x91, 0x8C, 0xFF}
	last := color.NRGBA{0xD8, 0xDF, 0x30, 0xFF}
	// viridis is nearly even in lightness
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 0x10 }
	for _, c := range []struct {
		values []float64
		at     float64
		want   color.NRGBA
	}{
		{[]float64{1, 3, 2}, 1, first}, {[]float64{1, 3, 2}, 2, middle}, {[]float64{1, 3, 2}, 3, last},
		{[]float64{1, 100}, 10, middle}, {[]float64{0, 100}, 50, middle},
		{[]float64{1, 3}, math.NaN(), gridInk}, {[]float64{2, 2}, 2, first},
	} {
		p, svg := draw(c.values...)
		got := p.shade(c.at)
		if !near(got.R, c.want.R) || !near(got.G, c.want.G) || !near(got.B, c.want.B) {
			t.Errorf("%v of %v: got %v, want %v", c.at, c.values, got, c.want)
		}
		contains(t, svg, "entropy:<")
	}
	_, svg := draw(0.25, 0.75, math.NaN())
	// the ends of the scale and the colour of the smallest value
	contains(t, svg, " 0.25<", " 0.75<", "fill:#440154")
	_, svg = draw(8, 1556)
	contains(t, svg, " 1556<", " 111.6<") // the largest step, the geometric mean
	if _, svg := draw(math.NaN()); strings.Contains(svg, "entropy:<") {
		t.Error("a scale without values")
	}
}
