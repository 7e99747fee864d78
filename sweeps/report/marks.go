package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"grposim/sweeps"
)

// layer draws one series: areas, lines on top, and points on top of both. It is a
// plot.Plotter, and a plot.Thumbnailer for the legend.
type layer struct {
	area  plotter.Polygon
	lines []plotter.XYs
	line  draw.LineStyle
	halo  vg.Length // white on either side of a line

	points   []sweeps.FigurePoint
	colour   color.NRGBA // of the points
	glyph    glyph
	radius   vg.Length
	cap      vg.Length // half the width of the caps of intervals
	interval bool      // whether the points have intervals
}

// Plot implements plot.Plotter.
func (m *layer) Plot(c draw.Canvas, plt *plot.Plot) {
	m.area.Plot(c, plt)
	stroke := func(style draw.LineStyle) {
		for _, line := range m.lines {
			(&plotter.Line{XYs: line, LineStyle: style}).Plot(c, plt)
		}
	}
	if m.halo > 0 {
		outline := m.line // with the dashes of the line: what is below shows in the gaps
		outline.Color, outline.Width = color.White, m.line.Width+2*m.halo
		stroke(outline)
	}
	stroke(m.line)
	x, y := plt.Transforms(&c)
	for piece := range slices.Chunk(m.points, pointsTogether) {
		var bars, glyphs vg.Path
		for _, pt := range piece {
			m.add(&bars, &glyphs, x(pt.X), [3]vg.Length{y(pt.Lo), y(pt.Y), y(pt.Hi)}, c.Rectangle)
		}
		m.paint(c, bars, glyphs)
	}
}

// pointsTogether is the number of points that are one path: the time in which one is made an image grows like its square. 3000
// points side by side in one path took 17 s.
const pointsTogether = 250

// Thumbnail implements plot.Thumbnailer.
func (m *layer) Thumbnail(c *draw.Canvas) {
	if m.area.Color != nil {
		m.area.Thumbnail(c)
	}
	(&plotter.Line{LineStyle: m.line}).Thumbnail(c)
	if m.radius == 0 {
		return
	}
	var bars, glyphs vg.Path
	at := c.Center()
	ends := [3]vg.Length{at.Y - 4, at.Y, at.Y + 4}
	if !m.interval {
		ends[0], ends[2] = vg.Length(math.NaN()), vg.Length(math.NaN())
	}
	m.add(&bars, &glyphs, at.X, ends, vg.Rectangle{Min: at.Sub(vg.Point{Y: 9}), Max: at.Add(vg.Point{Y: 9})})
	m.paint(*c, bars, glyphs)
}

// add adds a point to the paths of intervals and of glyphs: at y[1], with an interval from
// y[0] to y[2] unless one is NaN. An end outside the frame is drawn at the frame, with an
// arrow in the place of the cap.
//
// Points are not a plotter.Scatter with plotter.YErrorBars, because these have no arrows, and
// write four paths for each point, which makes an SVG several times as large.
func (m *layer) add(bars, glyphs *vg.Path, x vg.Length, y [3]vg.Length, frame vg.Rectangle) {
	m.glyph.add(glyphs, vg.Point{X: x, Y: y[1]}, m.radius)
	if math.IsNaN(float64(y[0]+y[2]-y[1])) && (math.IsNaN(float64(y[0])) || math.IsNaN(float64(y[2]))) {
		return
	}
	within := func(y vg.Length) vg.Length { return min(max(y, frame.Min.Y), frame.Max.Y) }
	bars.Move(vg.Point{X: x, Y: within(y[0])})
	bars.Line(vg.Point{X: x, Y: within(y[2])})
	if m.cap == 0 {
		return
	}
	for _, end := range []vg.Length{y[0], y[2]} {
		tip := within(end)
		base := tip
		switch {
		case end < tip:
			base += 2 * m.cap
		case end > tip:
			base -= 2 * m.cap
		}
		bars.Move(vg.Point{X: x - m.cap, Y: base})
		bars.Line(vg.Point{X: x, Y: tip})
		bars.Line(vg.Point{X: x + m.cap, Y: base})
	}
}

// paint strokes intervals and fills glyphs, with a white outline that separates a glyph from a
// line of the same colour.
func (m *layer) paint(c draw.Canvas, bars, glyphs vg.Path) {
	if len(bars) > 0 {
		c.SetLineStyle(draw.LineStyle{Color: m.colour, Width: 0.9})
		c.Stroke(bars)
	}
	if len(glyphs) > 0 {
		c.SetLineStyle(draw.LineStyle{Color: color.White, Width: 0.8})
		c.Stroke(glyphs)
		c.SetColor(m.colour)
		c.Fill(glyphs)
	}
}
