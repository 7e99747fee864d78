package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
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
	sweeps.Marker: "cells", sweeps.Boundary: "boundary", sweeps.Region: "region", sweeps.Share: "share", sweeps.Claimed: "claimed",
}

// byGroup reports whether several groups have series of the same mark. Then colours
// stand for groups, and the legend names groups and marks separately.
func (p *picture) byGroup() bool {
	first := make(map[sweeps.Mark]string)
	for _, s := range p.f.Series {
		if s.Mark == sweeps.Reference || s.Mark == sweeps.Marker || s.Mark >= sweeps.Share {
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
	if !p.x.empty() {
		for _, note := range p.notes() {
			entries = append(entries, entry{name: note})
		}
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
		rows = append(rows, []entry{{name: p.f.Colour, shades: true, width: width}}, nil) // nil: room for the ticks
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
	for _, mark := range []sweeps.Mark{sweeps.Measured, sweeps.Predicted, sweeps.Reference, sweeps.Spread, sweeps.Claimed} {
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

// notes says in the legend what the marks do not: how many measured points are not
// drawn, how many are bounds, which intervals extend beyond the axis, and which lines lie
// on others.
func (p *picture) notes() []string {
	hidden, bounds, beyond := 0, 0, 0
	for _, s := range p.f.Series {
		for _, pt := range s.Points {
			switch {
			case s.Mark != sweeps.Measured:
			case !p.drawable(s.Mark, pt):
				hidden++
			case math.IsInf(pt.Hi, 1) && !math.IsNaN(pt.Lo):
				bounds++
			case !math.IsNaN(pt.Lo+pt.Hi) && !(drawable(pt.Lo, p.y.scale) && drawable(pt.Hi, p.y.scale)):
				beyond++
			}
		}
	}
	var notes []string
	for _, note := range []struct {
		format string
		number int
	}{
		{"not shown: %d measured without a place on the axes", hidden},
		{"arrow up: a lower bound without an upper end, %d measured", bounds},
		{"arrow: the interval extends beyond the axis, %d measured", beyond},
	} {
		if note.number > 0 {
			notes = append(notes, fmt.Sprintf(note.format, note.number))
		}
	}
	return append(notes, p.coincidences()...)
}

// coincidences names the lines that lie on lines drawn before them, so that fewer lines
// are seen than the legend lists. The lines of another theory have one note, whatever
// their groups.
func (p *picture) coincidences() []string {
	if p.f.Categories != nil {
		return nil
	}
	var lines []sweeps.FigureSeries
	for _, mark := range []sweeps.Mark{sweeps.Predicted, sweeps.Reference} { // in the order of painting
		for _, s := range p.f.Series {
			if s.Mark == mark && p.shown(s) {
				lines = append(lines, s)
			}
		}
	}
	all, hidden := make(map[string]int), make(map[string]int) // lines of a theory
	above := make([][]string, len(lines))                     // names of the lines that lie on each
	name := func(s sweeps.FigureSeries) string {
		if p.byGroup() {
			return cmp.Or(printable(s.Group), "(all)")
		}
		return cmp.Or(printable(s.Name), markNames[s.Mark])
	}
	for i, line := range lines {
		on := slices.IndexFunc(lines[:i], func(other sweeps.FigureSeries) bool { return p.liesOn(line, other) })
		if p.byGroup() && line.Mark == sweeps.Reference {
			all[line.Name]++
			if on >= 0 {
				hidden[line.Name]++
			}
		} else if on >= 0 {
			above[on] = append(above[on], name(line))
		}
	}
	var notes []string
	for i, names := range above {
		switch len(names) {
		case 0:
		case 1:
			notes = append(notes, names[0]+" lies on "+name(lines[i]))
		default:
			notes = append(notes, strings.Join(names, ", ")+" lie on "+name(lines[i]))
		}
	}
	for _, theory := range slices.Sorted(maps.Keys(hidden)) {
		notes = append(notes, fmt.Sprintf("%s: %d of %d lines lie on others", theory, hidden[theory], all[theory]))
	}
	return notes
}

// liesOn reports whether each drawn point of a line is within a point of length, about
// the width of a line, of another line.
func (p *picture) liesOn(line, other sweeps.FigureSeries) bool {
	place := func(s sweeps.FigureSeries) []vg.Point {
		var places []vg.Point
		for _, pt := range p.line(s) {
			if p.drawable(s.Mark, pt) {
				share := func(s span, x float64) float64 {
					return (s.coordinate(x) - s.coordinate(s.min)) / (s.coordinate(s.max) - s.coordinate(s.min))
				}
				places = append(places, vg.Point{X: 400 * vg.Length(share(p.x, pt.X)), Y: 220 * vg.Length(share(p.y, pt.Y))}) // the size of the axes, about
			}
		}
		return places
	}
	corners := place(other)
	near := func(at vg.Point) bool {
		for i := 1; i < len(corners); i++ {
			from, along := at.Sub(corners[i-1]), corners[i].Sub(corners[i-1])
			share := min(max(from.Dot(along)/along.Dot(along), 0), 1) // NaN if the corners are one point
			if away := from.Sub(along.Scale(share)); away.Dot(away) <= 1 {
				return true
			}
		}
		return false
	}
	points := place(line)
	return len(points) > 1 && !slices.ContainsFunc(points, func(at vg.Point) bool { return !near(at) })
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
		if e.plain && s.Mark != sweeps.Claimed {
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
