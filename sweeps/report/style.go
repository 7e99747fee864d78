package report

import (
	"image/color"
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a figure. figureHeight is the height of a figure with a title of one line, one
// row of legend and upright labels. Other figures are taller, so that the plotting area
// stays the same.
const (
	figureWidth  = 16 * vg.Centimeter
	figureHeight = 10 * vg.Centimeter
	margin       = vg.Length(8)
	pngDPI       = 150

	thumbWidth = vg.Length(20)
	rowHeight  = vg.Length(13)
	labelRoom  = vg.Length(15) // for an axis' label
)

// groupColours is the palette of Okabe and Ito, whose colours people with colour
// blindness can distinguish. Its yellow is left out: it is too light on white.
var groupColours = [...]color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermillion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x00, 0x00, 0x00, 0xFF}, // black
}

var (
	ink     = color.NRGBA{0x22, 0x22, 0x22, 0xFF}
	grey    = color.NRGBA{0x66, 0x66, 0x66, 0xFF}
	gridInk = color.NRGBA{0xE6, 0xE6, 0xE6, 0xFF}

	boundaryGreen = color.NRGBA{0x00, 0x7A, 0x59, 0xFF} // a darker bluish green, because lines are thin
	regionInk     = color.NRGBA{0xF6, 0xE3, 0xD3, 0xFF}
)

// referenceDashes are the dashes of the lines of other theories.
var referenceDashes = [...][]vg.Length{{4, 3}, {1.2, 2.4}, {8, 3, 1.5, 3}}

// claimedDashes are the dashes of the lines that the file claims.
var claimedDashes = []vg.Length{5, 2}

// markerColours are the colours of the classes of cells in a map, in the order of
// sweeps.Classes: from convergence to divergence, then cells at rest and unresolved ones.
var markerColours = [...]color.NRGBA{
	groupColours[0], groupColours[5], groupColours[4], groupColours[1], groupColours[3], groupColours[6], grey, {0xAA, 0xAA, 0xAA, 0xFF},
}

// boundaryLines are the line styles of the boundaries of a map, in their order: the exact
// theory in black, the paper and its model in green, each with dashes of its own.
var boundaryLines = [...]draw.LineStyle{
	{Color: groupColours[6], Width: 1.6},
	{Color: groupColours[6], Width: 1.2, Dashes: []vg.Length{1.4, 2.2}},
	{Color: boundaryGreen, Width: 1.5, Dashes: []vg.Length{6, 3}},
	{Color: boundaryGreen, Width: 1.3, Dashes: []vg.Length{6, 2.2, 1.4, 2.2}},
}

// colourOf returns the colour of the i-th group; groups beyond the palette are grey.
func colourOf(i int) color.NRGBA {
	if i < len(groupColours) {
		return groupColours[i]
	}
	return grey
}

// faded returns a colour with the given opacity, 0 to 255.
func faded(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}

// glyph is the outline of a mark, as the corners of a polygon about the origin; nil is a
// disc of radius 1.
type glyph []vg.Point

// groupGlyphs are the glyphs of the groups, one per colour, so that groups can be
// distinguished without colours. All have about the same area.
var groupGlyphs = [...]glyph{
	nil,
	polygon(4, math.Pi/4, 1.2),
	polygon(3, math.Pi/2, 1.4),
	polygon(4, 0, 1.3),
	polygon(3, -math.Pi/2, 1.4),
	star(4, 0, 1.6, 0.55),
	star(4, math.Pi/4, 1.6, 0.55),
	star(5, math.Pi/2, 1.6, 0.65),
}

// glyphOf returns the glyph of the i-th group; groups beyond the palette share the last.
func glyphOf(i int) glyph { return groupGlyphs[min(i, len(groupGlyphs)-1)] }

// polygon returns a regular polygon; turn is the angle of its first corner, radians.
func polygon(corners int, turn, radius float64) glyph {
	g := make(glyph, corners)
	for i := range g {
		sin, cos := math.Sincos(turn + 2*math.Pi*float64(i)/float64(corners))
		g[i] = vg.Point{X: vg.Length(radius * cos), Y: vg.Length(radius * sin)}
	}
	return g
}

// star returns a star; turn is the angle of its first ray, radians.
func star(rays int, turn, outer, inner float64) glyph {
	tips, notches := polygon(rays, turn, outer), polygon(rays, turn+math.Pi/float64(rays), inner)
	g := make(glyph, 0, 2*rays)
	for i := range tips {
		g = append(g, tips[i], notches[i])
	}
	return g
}

// add appends the glyph to a path, centred at a point and scaled by a radius.
func (g glyph) add(path *vg.Path, at vg.Point, radius vg.Length) {
	if g == nil {
		path.Move(vg.Point{X: at.X + radius, Y: at.Y})
		path.Arc(at, radius, 0, 2*math.Pi)
	}
	for i, corner := range g {
		p := vg.Point{X: at.X + radius*corner.X, Y: at.Y + radius*corner.Y}
		if i == 0 {
			path.Move(p)
		} else {
			path.Line(p)
		}
	}
	path.Close()
}

// textStyle returns the sans-serif font that gonum/plot includes, in a size in points.
func textStyle(size vg.Length) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign:  draw.XLeft,
		YAlign:  draw.YCenter,
		Handler: plot.DefaultTextHandler,
	}
}

// printable returns s on one line, without the characters that a font or XML cannot
// represent.
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
	s = printable(s)
	if style.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	keep := 0
	for low, high := 0, len(runes); low < high; {
		keep = (low + high + 1) / 2
		if style.Width(string(runes[:keep])+"…") <= width {
			low = keep
		} else {
			high = keep - 1
		}
		keep = low
	}
	return strings.TrimSpace(string(runes[:keep])) + "…"
}

// widestFont is the width of a text in DejaVu Sans, in which a browser shows it that has
// neither Liberation Sans nor Arial, over that in Liberation Sans.
const widestFont = 1.17

// wrap breaks s into at most three lines no wider than width; it shortens what does not
// fit.
func wrap(s string, style text.Style, width vg.Length) []string {
	const most = 3
	var lines []string
	for _, word := range strings.Fields(printable(s)) {
		last := len(lines) - 1
		switch {
		case last < 0:
			lines = append(lines, word)
		case len(lines) == most || style.Width(lines[last]+" "+word) <= width:
			lines[last] += " " + word
		default:
			lines = append(lines, word)
		}
	}
	for i := range lines {
		lines[i] = fit(lines[i], style, width)
	}
	return lines
}
