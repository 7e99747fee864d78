package report

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bar is a point with its interval, in canvas coordinates. An end beyond the axis is
// at the frame and has an arrow.
type bar struct {
	at           vg.Point
	lo, hi       vg.Length // ends of the interval along y
	capLo, capHi bool      // whether the ends have caps, not arrows
	known        bool      // whether there is an interval
}

// pen draws the marks of one series.
type pen struct {
	colour color.NRGBA
	glyph  glyph
	line   draw.LineStyle
	along  bool // glyphs along the line, because no measured points identify its group
}

const (
	glyphRadius = 2.3 // points
	capWidth    = 2.5 // half the width of a cap, points
	dense       = 60  // number of points from which a series has small glyphs and no caps
)

// points draws the intervals and, on top, the glyphs. The glyphs of a dense series are
// small, so that they do not overlap.
func (pn pen) points(c draw.Canvas, runs [][]bar, shift vg.Length) {
	var bars, glyphs vg.Path
	n := 0
	for _, run := range runs {
		n += len(run)
	}
	radius, half := vg.Length(glyphRadius), vg.Length(capWidth)
	if n >= dense {
		radius, half = 1.3, 0
	}
	for _, run := range runs {
		for _, b := range run {
			b.at.X += shift
			pn.glyph.add(&glyphs, b.at, radius)
			if !b.known {
				continue
			}
			addLine(&bars, b.at.X, b.lo, b.at.X, b.hi)
			if half > 0 {
				addEnd(&bars, b.at.X, b.lo, half, b.capLo, 1)
				addEnd(&bars, b.at.X, b.hi, half, b.capHi, -1)
			}
		}
	}
	stroke(c, draw.LineStyle{Color: pn.colour, Width: 0.9}, bars)
	stroke(c, draw.LineStyle{Color: color.White, Width: 0.8}, glyphs) // separates a glyph from a line of the same colour
	fill(c, pn.colour, glyphs)
}

// addEnd adds the end of an interval to a path: a cap, or an arrow if the interval extends
// beyond the axis; inwards is the sign of the direction to its middle.
func addEnd(path *vg.Path, x, y, half vg.Length, capped bool, inwards vg.Length) {
	if capped {
		addLine(path, x-half, y, x+half, y)
		return
	}
	addLine(path, x-half, y+2*half*inwards, x, y)
	path.Line(vg.Point{X: x + half, Y: y + 2*half*inwards})
}

// markers draws the cells of a map.
func (pn pen) markers(c draw.Canvas, runs [][]bar, radius vg.Length) {
	var glyphs vg.Path
	for _, run := range runs {
		for _, b := range run {
			pn.glyph.add(&glyphs, b.at, radius)
		}
	}
	stroke(c, draw.LineStyle{Color: color.White, Width: 0.8}, glyphs)
	fill(c, pn.colour, glyphs)
}

// join adds the line through the points of a run to a path.
func join(p *vg.Path, run []bar) {
	for i, b := range run {
		if i == 0 {
			p.Move(b.at)
		} else {
			p.Line(b.at)
		}
	}
}

// boundary draws each run as a line with a white outline.
func (pn pen) boundary(c draw.Canvas, runs [][]bar) {
	var line vg.Path
	for _, run := range runs {
		join(&line, run)
	}
	halo := pn.line // with the dashes of the line: what is below shows in the gaps
	halo.Color, halo.Width = color.White, halo.Width+1.4
	stroke(c, halo, line)
	stroke(c, pn.line, line)
}

// columns fills a piece of a column at each point, from lo to hi and of the given half
// width, with the glyph of the series in it if there is room.
func (pn pen) columns(c draw.Canvas, runs [][]bar, half vg.Length) {
	var pieces, glyphs vg.Path
	for _, run := range runs {
		for _, b := range run {
			addBox(&pieces, b.at.X-half, b.lo, b.at.X+half, b.hi)
			if b.hi-b.lo > 3*glyphRadius {
				pn.glyph.add(&glyphs, vg.Point{X: b.at.X, Y: (b.lo + b.hi) / 2}, glyphRadius)
			}
		}
	}
	fill(c, pn.colour, pieces)
	stroke(c, draw.LineStyle{Color: color.White, Width: 0.6}, pieces)
	fill(c, color.White, glyphs)
}

// areas fills each run as a polygon.
func (pn pen) areas(c draw.Canvas, runs [][]bar) {
	var area vg.Path
	for _, run := range runs {
		join(&area, run)
		area.Close()
	}
	fill(c, pn.colour, area)
}

// draw draws each run as a line; a run of one point is a short horizontal tick.
func (pn pen) draw(c draw.Canvas, runs [][]bar) {
	const glyphsAlong = 8
	var line, glyphs vg.Path
	for _, run := range runs {
		if len(run) == 1 {
			addLine(&line, run[0].at.X-6, run[0].at.Y, run[0].at.X+6, run[0].at.Y)
		}
		join(&line, run)
		for i, b := range run {
			if every := max(1, len(run)/glyphsAlong); pn.along && i%every == every/2 {
				pn.glyph.add(&glyphs, b.at, glyphRadius)
			}
		}
	}
	stroke(c, pn.line, line)
	fill(c, pn.colour, glyphs)
}

// band fills the area between lo and hi of each run; points without an interval
// interrupt it.
func (pn pen) band(c draw.Canvas, runs [][]bar, alpha uint8) {
	var area vg.Path
	for _, run := range runs {
		for start := 0; start < len(run); {
			end := start
			for end < len(run) && run[end].known {
				end++
			}
			if end > start+1 {
				area.Move(vg.Point{X: run[start].at.X, Y: run[start].lo})
				for _, b := range run[start+1 : end] {
					area.Line(vg.Point{X: b.at.X, Y: b.lo})
				}
				for i := end - 1; i >= start; i-- {
					area.Line(vg.Point{X: run[i].at.X, Y: run[i].hi})
				}
				area.Close()
			}
			start = end + 1
		}
	}
	fill(c, faded(pn.colour, alpha), area)
}

// steps draws each point as a horizontal tick of the given half width, and its interval
// as a band behind it.
func (pn pen) steps(c draw.Canvas, runs [][]bar, shift, half vg.Length) {
	var area, line vg.Path
	for _, run := range runs {
		for _, b := range run {
			left, right := b.at.X+shift-half, b.at.X+shift+half
			addLine(&line, left, b.at.Y, right, b.at.Y)
			if b.known {
				addBox(&area, left, b.lo, right, b.hi)
			}
		}
	}
	fill(c, faded(pn.colour, 0x2C), area)
	stroke(c, pn.line, line)
}

// addLine adds a line to a path.
func addLine(path *vg.Path, x0, y0, x1, y1 vg.Length) {
	path.Move(vg.Point{X: x0, Y: y0})
	path.Line(vg.Point{X: x1, Y: y1})
}

// addBox adds a rectangle to a path.
func addBox(path *vg.Path, x0, y0, x1, y1 vg.Length) {
	addLine(path, x0, y0, x1, y0)
	path.Line(vg.Point{X: x1, Y: y1})
	path.Line(vg.Point{X: x0, Y: y1})
	path.Close()
}

// stroke draws the lines of a path.
func stroke(c draw.Canvas, style draw.LineStyle, path vg.Path) {
	if len(path) > 0 {
		c.SetLineStyle(style)
		c.Stroke(path)
	}
}

// fill fills the areas of a path.
func fill(c draw.Canvas, colour color.Color, path vg.Path) {
	if len(path) > 0 {
		c.SetColor(colour)
		c.Fill(path)
	}
}
