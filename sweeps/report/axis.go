package report

import (
	"image/color"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"grposim/fp"
	"grposim/sweeps"
)

// axis is the range of coordinates on an axis, which are linear in the distance along it: values on
// a linear axis, their decimal logarithms on a logarithmic one. It is empty if min > max. The
// logarithmic scale of gonum/plot leaves up to a fifth of a picture empty beside a long label, and
// its ticks begin at the wrong decade below 1.
type axis struct {
	min, max float64
	scale    sweeps.AxisScale
}

func newAxis(scale sweeps.AxisScale) axis { return axis{math.Inf(1), math.Inf(-1), scale} }

// coordinate returns the coordinate of a value. Beyond a magnitude of 1e100 it is infinite, so
// that squares and ratios of others do not overflow; values ≤ 0 are at −∞ on a logarithmic axis.
func (a axis) coordinate(x float64) float64 {
	limit := 1e100
	if a.scale == sweeps.LogAxis {
		x, limit = math.Log10(max(x, 0)), 100
	}
	if math.Abs(x) > limit {
		return math.Inf(int(math.Copysign(1, x)))
	}
	return x
}

func (a axis) value(coordinate float64) float64 {
	if a.scale == sweeps.LogAxis {
		return fp.Pow(10, coordinate)
	}
	return coordinate
}

// add extends the axis to the finite ones of some coordinates.
func (a *axis) add(coordinates ...float64) {
	for _, x := range coordinates {
		if finite(x) {
			a.min, a.max = min(a.min, x), max(a.max, x)
		}
	}
}

// empty reports whether nothing is on the axis.
func (a axis) empty() bool { return a.min > a.max }

// clamp returns the coordinate on the axis that is nearest to x.
func (a axis) clamp(x float64) float64 { return min(max(x, a.min), a.max) }

// padded returns the axis with 5 % of its length added at both ends. Its length is positive
// even if it holds one coordinate or none.
func (a axis) padded() axis {
	if a.empty() {
		return axis{0, 1, a.scale}
	}
	pad, size := 0.05*(a.max-a.min), max(math.Abs(a.min), math.Abs(a.max))
	switch {
	case a.scale == sweeps.LogAxis && pad < 4e-4:
		pad = 0.08 // a factor of 1.2
	case a.scale == sweeps.LinearAxis && pad <= 1e-9*size:
		pad = 0.1 * size
	}
	if pad == 0 {
		pad = 1
	}
	return axis{a.min - pad, a.max + pad, a.scale}
}

// widened returns the axis with its own length added at both ends: at least three decades on
// a logarithmic axis, at least a tenth of the largest magnitude on a linear one.
func (a axis) widened() axis {
	least := 3.0
	if a.scale == sweeps.LinearAxis {
		least = 0.1 * max(math.Abs(a.min), math.Abs(a.max))
	}
	room := max(a.max-a.min, least)
	return axis{a.min - room, a.max + room, a.scale}
}

// ticks returns the ticks of gonum/plot on a linear axis and on one shorter than 0.8 decades,
// else a tick for each digit of each decade, of which about eight have labels.
func (a axis) ticks() (ticks []plot.Tick) {
	label := func(value float64) string { return strconv.FormatFloat(value, 'g', 10, 64) }
	decades := a.max - a.min
	if a.scale == sweeps.LinearAxis || decades < 0.8 {
		for _, tick := range (plot.DefaultTicks{}).Ticks(a.value(a.min), a.value(a.max)) {
			if tick.Label != "" {
				tick.Label = label(tick.Value)
			}
			tick.Value = a.clamp(a.coordinate(tick.Value))
			ticks = append(ticks, tick)
		}
		return ticks
	}
	every := max(1, int(math.Ceil(decades/8)))
	for e := int(math.Floor(a.min)); e <= int(math.Ceil(a.max)); e++ {
		for digit := 1; digit < 10; digit++ {
			value := float64(digit) * math.Pow10(e)
			tick := plot.Tick{Value: math.Log10(value)}
			if digit == 1 && e%every == 0 || decades < 2.2 && (digit == 2 || digit == 5) {
				tick.Label = label(value)
			}
			if tick.Value >= a.min && tick.Value <= a.max {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// Sizes of a figure. dataHeight is the height of a figure without title, legend and the
// slanted labels of categories, so that the plotting area of all figures is about the same.
const (
	figureWidth = 16 * vg.Centimeter
	dataHeight  = 9.2 * vg.Centimeter
	margin      = vg.Length(8)
	pngDPI      = 150
)

var (
	titleStyle  = textStyle(11)
	labelStyle  = textStyle(9.5)
	legendStyle = textStyle(8.5) // of the ticks too
)

// textStyle returns the sans-serif font that gonum/plot includes, in a size in points.
func textStyle(size vg.Length) text.Style {
	return text.Style{Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, Handler: plot.DefaultTextHandler}
}

// groupColours is the palette of Okabe and Ito, whose colours people with colour
// blindness can distinguish. Its yellow is left out: it is too light on white. Groups beyond
// the palette are grey.
var groupColours = [...]color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermillion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x00, 0x00, 0x00, 0xFF}, // black
	grey,
}

var (
	white   = color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
	ink     = color.NRGBA{0x22, 0x22, 0x22, 0xFF}
	grey    = color.NRGBA{0x66, 0x66, 0x66, 0xFF}
	gridInk = color.NRGBA{0xE6, 0xE6, 0xE6, 0xFF}

	// a darker bluish green, because lines are thin
	boundaryGreen = color.NRGBA{0x00, 0x7A, 0x59, 0xFF}
	regionInk     = color.NRGBA{0xF6, 0xE3, 0xD3, 0xFF}
)

// shades are the colours of values between 0 and 1: those of the scale viridis, whose
// lightness grows evenly, without its lightest yellow.
var shades = func() palette.ColorMap {
	colours, err := moreland.NewLuminance([]color.Color{
		color.NRGBA{0x44, 0x01, 0x54, 0xFF}, color.NRGBA{0x3B, 0x52, 0x8B, 0xFF}, color.NRGBA{0x21, 0x91, 0x8C, 0xFF},
		color.NRGBA{0x5E, 0xC9, 0x62, 0xFF}, color.NRGBA{0xD8, 0xDF, 0x30, 0xFF},
	})
	if err != nil {
		panic(err) // their lightness increases
	}
	colours.SetMax(1)
	return colours
}()

// referenceDashes are the dashes of the lines of other theories.
var referenceDashes = [...][]vg.Length{{4, 3}, {1.2, 2.4}, {8, 3, 1.5, 3}}

// markerColours are the colours of the classes of cells in a map, in the order of
// claim.Classes: from convergence to divergence, then cells at rest and unresolved ones.
var markerColours = [...]color.NRGBA{
	groupColours[0], groupColours[5], groupColours[4], groupColours[1], groupColours[3], groupColours[6], grey, {0xAA, 0xAA, 0xAA, 0xFF},
}

// boundaryLines are the line styles of the boundaries of a map. The exact theory is black, the
// paper and its model are green, each with dashes of its own. Then comes what runs do.
var boundaryLines = [...]draw.LineStyle{
	{Color: groupColours[6], Width: 1.6},
	{Color: groupColours[6], Width: 1.2, Dashes: []vg.Length{1.4, 2.2}},
	{Color: boundaryGreen, Width: 1.5, Dashes: []vg.Length{6, 3}},
	{Color: boundaryGreen, Width: 1.3, Dashes: []vg.Length{6, 2.2, 1.4, 2.2}},
	{Color: groupColours[0], Width: 2},
}

// groupGlyphs are the glyphs of the groups, one per colour, so that groups can be
// distinguished without colours.
var groupGlyphs = [...]draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{},
	draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}

// printable returns s on one line, without the characters that a font or XML cannot represent.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s)
}

// fit returns s, shortened with an ellipsis if it is wider than width.
func fit(s string, style text.Style, width vg.Length) string {
	runes := []rune(printable(s))
	if style.Width(string(runes)) <= width {
		return string(runes)
	}
	keep := sort.Search(len(runes), func(n int) bool { return style.Width(string(runes[:n+1])+"…") > width })
	return strings.TrimSpace(string(runes[:keep])) + "…"
}

// widestFont is the width of a text in DejaVu Sans, in which a browser shows it that has
// neither Liberation Sans nor Arial, over that in Liberation Sans.
const widestFont = 1.17

// wrap breaks s into at most three lines no wider than width; it shortens what does not fit.
func wrap(s string, style text.Style, width vg.Length) []string {
	const most = 3
	var lines []string
	for _, word := range strings.Fields(printable(s)) {
		if last := len(lines) - 1; last >= 0 && (len(lines) == most || style.Width(lines[last]+" "+word) <= width) {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	for i := range lines {
		lines[i] = fit(lines[i], style, width)
	}
	return lines
}
