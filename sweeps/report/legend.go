package report

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"grposim/sweeps"
)

// entry is one entry of the legend: samples of marks, and a name.
type entry struct {
	name   string
	series []sweeps.FigureSeries // whose marks are the samples; none for a note
	shades bool                  // a bar of the colours of the values
	plain  bool                  // samples are grey, because the mark occurs in every group
	width  vg.Length
}

// markNames are the legend's names of marks: for series without a name, and for marks
// whose series have different names.
var markNames = [...]string{
	sweeps.Measured: "measured", sweeps.Predicted: "predicted",
	sweeps.Reference: "for comparison", sweeps.Spread: "5–95 % of replicas",
	sweeps.Marker: "cells", sweeps.Boundary: "boundary", sweeps.Region: "region", sweeps.Share: "share",
}

// byGroup reports whether several groups have series of the same mark. Then colours
// stand for groups, and the legend names groups and marks separately.
func (p *picture) byGroup() bool {
	first := make(map[sweeps.Mark]string)
	for _, s := range p.f.Series {
		if s.Mark == sweeps.Reference || s.Mark == sweeps.Marker || s.Mark == sweeps.Share {
			continue
		}
		if group, known := first[s.Mark]; known && group != s.Group {
			return true
		}
		first[s.Mark] = s.Group
	}
	return false
}

// legend returns the entries of the legend, in rows no wider than width.
func (p *picture) legend(width vg.Length) [][]entry {
	var entries []entry
	if p.byGroup() {
		entries = append(p.groupEntries(), p.markEntries()...)
	} else {
		for _, s := range p.f.Series {
			if (s.Mark == sweeps.Reference || s.Mark >= sweeps.Marker) && !p.shown(s) {
				continue // a theory without a prediction, or an empty class or boundary
			}
			name := s.Name
			if printable(name) == "" {
				name = markNames[s.Mark]
			}
			entries = append(entries, entry{name: name, series: []sweeps.FigureSeries{s}})
		}
	}
	if n := p.hidden(); n > 0 && !p.x.empty() {
		entries = append(entries, entry{name: fmt.Sprintf("not shown: %d measured without a place on the axes", n)})
	}
	// Equal columns, as many as the widest entry allows.
	widest := vg.Length(0)
	for i := range entries {
		e := &entries[i]
		e.name = fit(e.name, legendStyle, width-thumbWidth-12)
		e.width = legendStyle.Width(e.name) + 16
		if len(e.series) > 0 {
			e.width += thumbWidth
		}
		widest = max(widest, e.width)
	}
	var rows [][]entry
	columns := max(1, int(width/max(widest, 1)))
	used := vg.Length(0)
	for _, e := range entries {
		if columns > 2 {
			e.width = width / vg.Length(columns)
		}
		if len(rows) == 0 || used+e.width > width*1.001 {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += e.width
	}
	if p.f.Colour != "" && !p.shades.empty() {
		rows = append(rows, []entry{{name: p.f.Colour, shades: true, width: width}})
	}
	return rows
}

// groupEntries returns an entry for each group that has a colour of its own, and one for
// all other groups.
func (p *picture) groupEntries() []entry {
	var entries []entry
	for i, group := range p.groups {
		if rest := len(p.groups) - i; i == len(groupColours) && rest > 1 {
			group = fmt.Sprintf("%d more", rest)
		}
		e := entry{name: group}
		if printable(group) == "" {
			e.name = "(all)"
		}
		for _, s := range p.f.Series {
			if s.Group == p.groups[i] && (s.Mark == sweeps.Predicted || s.Mark == sweeps.Measured) {
				e.series = append(e.series, s)
			}
		}
		entries = append(entries, e)
		if i == len(groupColours) {
			break
		}
	}
	return entries
}

// markEntries returns an entry for each mark: with the name of its series if all have
// the same, otherwise with the name of the mark. The lines of up to three other theories
// have an entry each.
func (p *picture) markEntries() []entry {
	var entries []entry
	for _, mark := range []sweeps.Mark{sweeps.Measured, sweeps.Predicted, sweeps.Reference, sweeps.Spread} {
		var names []string
		seen := make(map[string]bool)
		firsts := make(map[string]sweeps.FigureSeries)
		for _, s := range p.f.Series {
			if s.Mark == mark && !seen[s.Name] && (mark != sweeps.Reference || p.shown(s)) {
				seen[s.Name] = true
				names = append(names, s.Name)
				firsts[s.Name] = s
			}
		}
		if len(names) == 0 {
			continue
		}
		if len(names) > 1 && (mark != sweeps.Reference || len(names) > len(referenceDashes)) || printable(names[0]) == "" {
			entries = append(entries, entry{name: markNames[mark], series: []sweeps.FigureSeries{firsts[names[0]]}, plain: true})
			continue
		}
		for _, name := range names {
			entries = append(entries, entry{name: name, series: []sweeps.FigureSeries{firsts[name]}, plain: true})
		}
	}
	return entries
}

// shown reports whether any point of a series is drawn.
func (p *picture) shown(s sweeps.FigureSeries) bool {
	return slices.ContainsFunc(s.Points, func(pt sweeps.FigurePoint) bool { return p.drawable(s.Mark, pt) })
}

// hidden returns the number of measured points that are not drawn.
func (p *picture) hidden() int {
	n := 0
	for _, s := range p.f.Series {
		for _, pt := range s.Points {
			if s.Mark == sweeps.Measured && !p.drawable(s.Mark, pt) {
				n++
			}
		}
	}
	return n
}

// paintEntry draws an entry: its samples as the figure draws these marks, and its name.
func (p *picture) paintEntry(c draw.Canvas, e entry, at vg.Point) {
	if e.shades {
		p.paintShades(c, e.name, at)
		return
	}
	left, right := bar{at: vg.Point{X: at.X + 1, Y: at.Y}}, bar{at: vg.Point{X: at.X + thumbWidth - 3, Y: at.Y}}
	for _, s := range e.series {
		pn := p.penOf(s)
		if e.plain {
			pn.colour, pn.glyph, pn.line.Color = grey, nil, grey
		}
		b := bar{at: vg.Point{X: (left.at.X + right.at.X) / 2, Y: at.Y}, lo: at.Y - 4, hi: at.Y + 4, capLo: true, capHi: true, known: p.interval(s)}
		switch s.Mark {
		case sweeps.Measured:
			b.known = b.known && len(e.series) == 1
			pn.points(c, [][]bar{{b}}, 0)
		case sweeps.Spread:
			pn.band(c, [][]bar{{with(left, 4), with(right, 4)}}, 0x22)
		case sweeps.Share:
			at := b
			at.lo, at.hi = at.at.Y-5, at.at.Y+5
			pn.columns(c, [][]bar{{at}}, 6)
		case sweeps.Marker:
			pn.markers(c, [][]bar{{b}}, 2.6)
		case sweeps.Boundary:
			pn.boundary(c, [][]bar{{left, right}})
		case sweeps.Region:
			var box vg.Path
			addBox(&box, left.at.X, at.Y-4, right.at.X, at.Y+4)
			fill(c, pn.colour, box)
		default:
			if b.known && len(e.series) == 1 {
				pn.band(c, [][]bar{{with(left, 4), with(right, 4)}}, 0x38)
			}
			along := pn.along
			pn.along = false
			pn.draw(c, [][]bar{{left, right}})
			if along && !e.plain {
				pn.points(c, [][]bar{{bar{at: b.at}}}, 0)
			}
		}
	}
	x := at.X
	if len(e.series) > 0 {
		x += thumbWidth + 2
	}
	c.FillText(legendStyle, vg.Point{X: x, Y: at.Y + 1}, strings.TrimSpace(e.name))
}

// with returns b with an interval of the given half-width.
func with(b bar, half vg.Length) bar {
	b.lo, b.hi, b.known = b.at.Y-half, b.at.Y+half, true
	return b
}

// interval reports whether any drawn point of a series has an interval.
func (p *picture) interval(s sweeps.FigureSeries) bool {
	for _, pt := range s.Points {
		if p.drawable(s.Mark, pt) && pt.Lo <= pt.Hi {
			return true
		}
	}
	return false
}
