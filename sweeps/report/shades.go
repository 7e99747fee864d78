package report

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"grposim/sweeps"
)

// shadeColours are evenly spaced colours of the scale viridis, whose lightness grows
// evenly; its lightest yellow is left out.
var shadeColours = [...]color.NRGBA{
	{0x44, 0x01, 0x54, 0xFF}, {0x3B, 0x52, 0x8B, 0xFF}, {0x21, 0x91, 0x8C, 0xFF}, {0x5E, 0xC9, 0x62, 0xFF}, {0xD8, 0xDF, 0x30, 0xFF},
}

// manyDecades is the ratio of the largest to the smallest value from which the colours
// have a logarithmic scale.
const manyDecades = 100

// measureShades sets the range of the values that colour the markers. The scale is
// logarithmic where all are positive and differ by a factor of manyDecades or more.
func (p *picture) measureShades() {
	for _, scale := range []sweeps.AxisScale{sweeps.LinearAxis, sweeps.LogAxis} {
		shades := newSpan(scale)
		for _, s := range p.f.Series {
			shades.add(s.Values...)
		}
		if scale == sweeps.LinearAxis || p.shades.min > 0 && shades.max >= manyDecades*shades.min {
			p.shades = shades
		}
	}
}

// shade returns the colour of a value; grey if it is unknown.
func (p *picture) shade(value float64) color.NRGBA {
	if !drawable(value, p.shades.scale) {
		return gridInk
	}
	from, to := p.shades.coordinate(p.shades.min), p.shades.coordinate(p.shades.max)
	if from == to {
		return shadeColours[0]
	}
	place := (p.shades.coordinate(value) - from) / (to - from) * float64(len(shadeColours)-1)
	i := min(int(place), len(shadeColours)-2)
	share := place - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + share*(float64(b)-float64(a)))) }
	a, b := shadeColours[i], shadeColours[i+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xFF}
}

// paintShades draws the bar of the colours between its smallest and largest value, with
// ticks in the row below, and the name of the quantity.
func (p *picture) paintShades(c draw.Canvas, name string, at vg.Point) {
	const pieces, length = 48, vg.Length(200)
	label := func(x vg.Length, text string) vg.Length {
		c.FillText(legendStyle, vg.Point{X: x, Y: at.Y + 1}, text)
		return x + legendStyle.Width(text) + 5
	}
	from, to := p.shades.coordinate(p.shades.min), p.shades.coordinate(p.shades.max)
	x := label(label(at.X, name)+5, shadeLabel(p.shades.min))
	for n := range pieces {
		i := vg.Length(n)
		var piece vg.Path
		addBox(&piece, x+i*length/pieces, at.Y-4, x+(i+1)*length/pieces+0.3, at.Y+4)
		fill(c, p.shade(p.shades.value(from+(to-from)*(float64(i)+0.5)/pieces)), piece)
	}
	style := tickStyle
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	for _, tick := range p.shadeTicks() {
		place := x + length*vg.Length((p.shades.coordinate(tick.Value)-from)/(to-from))
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.6}, place, at.Y-7, place, at.Y-4)
		c.FillText(style, vg.Point{X: place, Y: at.Y - 8}, tick.Label)
	}
	x = label(x+length+5, shadeLabel(p.shades.max))
	if p.shades.scale == sweeps.LogAxis {
		label(x+5, "(logarithmic)")
	}
}

// shadeTicks returns the ticks of the bar of the colours; none if all values are equal.
func (p *picture) shadeTicks() []plot.Tick {
	if p.shades.min == p.shades.max {
		return nil
	}
	return p.shades.ticks(5)
}

// shadeLabel formats an end of the bar with four digits.
func shadeLabel(v float64) string {
	text := strconv.FormatFloat(v, 'g', 4, 64)
	if size := math.Abs(v); size >= 1e-4 && size < 1e6 {
		rounded, _ := strconv.ParseFloat(text, 64) // just formatted
		text = strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return strings.ReplaceAll(text, "-", "−")
}
