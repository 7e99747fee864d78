package report

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"grposim/sweeps"
)

// legend is what stands below a figure: names of marks in columns, each a legend of
// gonum/plot, which has one alone, and notes.
type legend struct {
	columns []plot.Legend
	widths  []vg.Length // of the columns
	notes   []string
	height  vg.Length
}

// entry is one entry of a legend.
type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

// markNames are the legend's names of marks: for series without a name, and for marks
// whose series have different names.
var markNames = [...]string{
	sweeps.Measured: "measured", sweeps.Predicted: "predicted",
	sweeps.Reference: "for comparison", sweeps.Spread: "5–95 % of replicas",
	sweeps.Marker: "cells", sweeps.Boundary: "boundary", sweeps.Region: "region", sweeps.Share: "share", sweeps.Claimed: "claimed",
}

const noteHeight = vg.Length(13)

// newLegend lays out the legend of a figure, with as many columns as fit into a width.
func (p *picture) newLegend(width vg.Length) legend {
	l := legend{notes: p.notes()}
	entries := p.entries()
	const gap = 8
	for n := min(6, len(entries)); n > 0; n-- {
		l.columns, l.widths, l.height = slices.Repeat([]plot.Legend{plot.NewLegend()}, n), nil, 0
		for i, e := range entries {
			column := &l.columns[i%n]
			column.TextStyle, column.Left, column.Top, column.Padding = legendStyle, true, true, 3
			column.ThumbnailWidth = 17
			column.Add(" "+fit(e.name, legendStyle, width/widestFont-40), e.thumbs...)
		}
		total := vg.Length(0)
		for i := range l.columns {
			thumb, size := l.columns[i].ThumbnailWidth, l.columns[i].Rectangle(draw.Canvas{}).Size()
			l.widths = append(l.widths, thumb+(size.X-thumb)*widestFont+gap)
			total, l.height = total+l.widths[i], max(l.height, size.Y+10)
		}
		if total <= width {
			for i := range l.widths {
				l.widths[i] *= min(width/total, 1.5) // spread over the width
			}
			break
		}
	}
	l.height += vg.Length(len(l.notes)) * noteHeight
	for i := range l.notes {
		l.notes[i] = fit(l.notes[i], legendStyle, width/widestFont)
	}
	return l
}

// paint draws the legend at the lower edge of a canvas.
func (l *legend) paint(c draw.Canvas) {
	c.Max.Y = c.Min.Y + l.height - 6
	for i, note := range l.notes {
		c.FillText(legendStyle, vg.Point{X: c.Min.X, Y: c.Min.Y + vg.Length(len(l.notes)-1-i)*noteHeight + 3}, note)
	}
	for i := range l.columns {
		l.columns[i].Draw(c)
		c.Min.X += l.widths[i]
	}
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

// entries returns the entries of the legend.
func (p *picture) entries() []entry {
	if p.byGroup() {
		return append(p.groupEntries(), p.markEntries()...)
	}
	var entries []entry
	for _, s := range p.f.Series {
		if (s.Mark == sweeps.Reference || s.Mark >= sweeps.Marker) && len(p.drawn(s)) == 0 {
			continue // a theory without a prediction, or an empty class or boundary
		}
		entries = append(entries, entry{cmp.Or(printable(s.Name), markNames[s.Mark]), []plot.Thumbnailer{p.style(s)}})
	}
	if p.f.Colour != "" && !p.shades.empty() {
		samples := plotter.PaletteThumbnailers(shades.Palette(5))
		entries = append(entries, entry{name: p.f.Colour + ":"})
		for i, sample := range samples {
			value := p.shades.value(p.shades.min + (p.shades.max-p.shades.min)*float64(i)/float64(len(samples)-1))
			entries = append(entries, entry{strings.ReplaceAll(fmt.Sprintf("%.4g", value), "-", "−"), []plot.Thumbnailer{sample}})
		}
	}
	return entries
}

// groupEntries returns an entry for each group that has a colour of its own, and one for
// all other groups.
func (p *picture) groupEntries() []entry {
	var entries []entry
	for i, group := range p.groups {
		e := entry{name: cmp.Or(printable(group), "(all)")}
		last := i == len(groupColours)-1
		if rest := len(p.groups) - i; last && rest > 1 {
			e.name = fmt.Sprintf("%d more", rest)
		}
		for _, s := range p.f.Series {
			if s.Group == group && (s.Mark == sweeps.Predicted || s.Mark == sweeps.Measured) {
				m := p.style(s)
				m.interval, m.area.Color = false, nil
				e.thumbs = append(e.thumbs, m)
			}
		}
		entries = append(entries, e)
		if last {
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
		var named []sweeps.FigureSeries
		for _, name := range p.names(mark) {
			i := slices.IndexFunc(p.f.Series, func(s sweeps.FigureSeries) bool {
				return s.Mark == mark && s.Name == name && (mark != sweeps.Reference || len(p.drawn(s)) > 0)
			})
			if i >= 0 {
				named = append(named, p.f.Series[i])
			}
		}
		if len(named) > 1 && (mark != sweeps.Reference || len(named) > len(referenceDashes)) {
			named = named[:1]
			named[0].Name = ""
		}
		for _, s := range named {
			m := p.style(s)
			if mark != sweeps.Claimed { // grey, because the mark occurs in every group
				m.colour, m.glyph, m.line.Color = grey, nil, grey
				if mark == sweeps.Predicted {
					m.radius = 0
				}
				if m.area.Color != nil {
					m.area.Color = color.NRGBA{grey.R, grey.G, grey.B, 0x33}
				}
			}
			entries = append(entries, entry{cmp.Or(printable(s.Name), markNames[mark]), []plot.Thumbnailer{m}})
		}
	}
	return entries
}

// shade returns the colour of a value; pale grey if it is unknown.
func (p *picture) shade(value float64) color.NRGBA {
	at := p.shades.coordinate(value) - p.shades.min
	if at > 0 {
		at /= p.shades.max - p.shades.min
	}
	shade, err := shades.At(at)
	if err != nil {
		return gridInk
	}
	return color.NRGBAModel.Convert(shade).(color.NRGBA)
}

// notes says below the legend what the marks do not: how many measured points are not
// drawn, how many are bounds, which intervals extend beyond the axis, and which lines lie
// on others.
func (p *picture) notes() []string {
	if p.x.empty() {
		return []string{"nothing to show: no finite value"}
	}
	hidden, bounds, beyond := 0, 0, 0
	for _, s := range p.f.Series {
		for _, pt := range s.Points {
			switch {
			case s.Mark != sweeps.Measured:
			case !p.drawable(s.Mark, pt):
				hidden++
			case math.IsInf(pt.Hi, 1) && !math.IsNaN(pt.Lo):
				bounds++
			case math.IsInf(pt.Lo, 0) && !math.IsNaN(pt.Hi) || math.IsInf(pt.Hi, 0) && !math.IsNaN(pt.Lo):
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

// coincidences names the lines that lie on lines drawn before them, so that fewer lines are
// seen than the legend lists. Where colours stand for groups, a theory for comparison has one
// note for all its lines.
func (p *picture) coincidences() []string {
	if p.f.Categories != nil {
		return nil
	}
	var lines []sweeps.FigureSeries
	above := make(map[int][]string) // names of the lines that lie on each
	hidden, all := make(map[string]int), make(map[string]int)
	name := func(s sweeps.FigureSeries) string {
		if p.byGroup() {
			return cmp.Or(printable(s.Group), "(all)")
		}
		return cmp.Or(printable(s.Name), markNames[s.Mark])
	}
	for _, mark := range []sweeps.Mark{sweeps.Predicted, sweeps.Reference} { // in the order of painting
		for _, line := range p.f.Series {
			if line.Mark != mark || len(p.drawn(line)) == 0 {
				continue
			}
			on := slices.IndexFunc(lines, func(other sweeps.FigureSeries) bool { return p.liesOn(line, other) })
			lines, all[line.Name] = append(lines, line), all[line.Name]+1
			switch {
			case on < 0:
			case mark == sweeps.Reference && p.byGroup():
				hidden[line.Name]++
			default:
				above[on] = append(above[on], name(line))
			}
		}
	}
	var notes []string
	for _, on := range slices.Sorted(maps.Keys(above)) {
		verb := "lies"
		if len(above[on]) > 1 {
			verb = "lie"
		}
		notes = append(notes, fmt.Sprintf("%s %s on %s", strings.Join(above[on], ", "), verb, name(lines[on])))
	}
	for _, theory := range slices.Sorted(maps.Keys(hidden)) {
		notes = append(notes, fmt.Sprintf("%s: %d of %d lines lie on others", theory, hidden[theory], all[theory]))
	}
	return notes
}

// liesOn reports whether each drawn point of a line is nearer to another line than 0.5 % of
// the height of the axes, about the width of a line.
func (p *picture) liesOn(line, other sweeps.FigureSeries) bool {
	points, corners := p.drawn(line), p.drawn(other)
	near := func(pt sweeps.FigurePoint) bool {
		for i := 1; i < len(corners); i++ {
			a, b := corners[i-1], corners[i]
			share := (pt.X - a.X) / (b.X - a.X) // NaN if the corners are one above the other
			if share >= 0 && share <= 1 && math.Abs(a.Y+share*(b.Y-a.Y)-pt.Y) <= 0.005*(p.y.max-p.y.min) {
				return true
			}
		}
		return false
	}
	return len(points) > 1 && !slices.ContainsFunc(points, func(pt sweeps.FigurePoint) bool { return !near(pt) })
}
