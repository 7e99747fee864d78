package report

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"grposim/sweeps"
)

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

// addLegend lays out the legend and the notes of a figure below its axes, in as many columns as
// fit into a width.
func (p *picture) addLegend(width vg.Length) {
	const thumb, gap = 17, 16
	entries, widest := p.entries(), vg.Length(thumb)
	for i := range entries {
		entries[i].name = " " + fit(entries[i].name, legendStyle, width/widestFont-40)
		widest = max(widest, thumb+gap+widestFont*legendStyle.Width(entries[i].name))
	}
	p.columns = slices.Repeat([]plot.Legend{plot.NewLegend()}, max(1, min(int(width/widest), 6, len(entries))))
	for i, e := range entries {
		l := &p.columns[i%len(p.columns)]
		l.TextStyle, l.Left, l.Top, l.Padding, l.ThumbnailWidth = legendStyle, true, true, 3, thumb
		l.Add(e.name, e.thumbs...)
	}
	for _, note := range p.remarks() {
		p.notes = append(p.notes, fit(note, legendStyle, width/widestFont))
	}
	p.below = p.columns[0].Rectangle(draw.Canvas{}).Size().Y + 10 + vg.Length(len(p.notes))*noteHeight
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

func (p *picture) entries() (entries []entry) {
	if p.byGroup() {
		return append(p.groupEntries(), p.markEntries()...)
	}
	for _, s := range p.f.Series {
		if (s.Mark == sweeps.Reference || s.Mark >= sweeps.Marker) && len(p.drawn(s)) == 0 {
			continue // a theory without a prediction, or an empty class or boundary
		}
		name := cmp.Or(printable(s.Name), markNames[s.Mark])
		entries = append(entries, entry{name, []plot.Thumbnailer{p.style(s)}})
	}
	if p.f.Colour != "" && !p.shades.empty() {
		samples := plotter.PaletteThumbnailers(shades.Palette(5))
		entries = append(entries, entry{name: p.f.Colour + ":"})
		for i, sample := range samples {
			share := (p.shades.max - p.shades.min) * float64(i) / float64(len(samples)-1)
			name := fmt.Sprintf("%.4g", p.shades.value(p.shades.min+share))
			entries = append(entries, entry{name, []plot.Thumbnailer{sample}})
		}
	}
	return entries
}

// groupEntries returns an entry for each group that has a colour of its own, and one for
// all other groups.
func (p *picture) groupEntries() (entries []entry) {
	for i, group := range p.groups {
		e := entry{name: cmp.Or(printable(group), "(all)")}
		last := i == len(groupColours)-1
		if rest := len(p.groups) - i; last && rest > 1 {
			e.name = fmt.Sprintf("%d more", rest)
		}
		for _, s := range p.f.Series {
			if s.Group == group && (s.Mark == sweeps.Predicted || s.Mark == sweeps.Measured) {
				m := p.style(s)
				m.area.Color = nil
				e.thumbs = append(e.thumbs, m)
			}
		}
		if entries = append(entries, e); last {
			break
		}
	}
	return entries
}

// markEntries returns an entry for each mark, in grey because it occurs in every group: with the
// name of its series if all have the same, otherwise with the name of the mark. Up to three
// other theories have an entry each.
func (p *picture) markEntries() (entries []entry) {
	listed := make(map[string]bool)
	for _, mark := range []sweeps.Mark{sweeps.Measured, sweeps.Predicted, sweeps.Reference, sweeps.Spread, sweeps.Claimed} {
		names := p.names(mark)
		for _, s := range p.f.Series {
			name := cmp.Or(printable(s.Name), markNames[mark])
			if len(names) > 1 && (mark != sweeps.Reference || len(names) > len(referenceDashes)) {
				name = markNames[mark]
			}
			if s.Mark != mark || listed[name] || mark == sweeps.Reference && len(p.drawn(s)) == 0 {
				continue
			}
			listed[name] = true
			m := p.style(s)
			if mark != sweeps.Claimed {
				m.line.Color, m.points.Color = grey, grey
				if m.area.Color != nil {
					m.area.Color = color.NRGBA{grey.R, grey.G, grey.B, 0x33}
				}
			}
			entries = append(entries, entry{name, []plot.Thumbnailer{m}})
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

// remarks say below the legend what the marks do not: how many measured points are not
// drawn, how many are bounds, and which intervals extend beyond the axis.
func (p *picture) remarks() []string {
	if p.x.empty() {
		return []string{"nothing to show: no finite value"}
	}
	const (
		hidden = "not shown: %d measured without a place on the axes"
		bounds = "a lower bound without an upper end: %d measured"
		beyond = "the interval extends beyond the axis: %d measured"
	)
	count := make(map[string]int)
	for _, s := range p.f.Series {
		for _, pt := range s.Points {
			switch {
			case s.Mark != sweeps.Measured:
			case !p.drawable(s.Mark, pt):
				count[hidden]++
			case math.IsInf(pt.Hi, 1) && !math.IsNaN(pt.Lo):
				count[bounds]++
			case bounded(pt) && (math.IsInf(pt.Lo, 0) || math.IsInf(pt.Hi, 0)):
				count[beyond]++
			}
		}
	}
	var notes []string
	for _, note := range []string{hidden, bounds, beyond} {
		if count[note] > 0 {
			notes = append(notes, fmt.Sprintf(note, count[note]))
		}
	}
	return notes
}
