package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// drawNumbers returns the recorded numbers of the cells of a map over one key, or none: their
// table, and a figure of each number that some cell has. has says whether there is one.
func (m *Map) drawNumbers(e *Experiment) (d *Drawing, has bool) {
	values, classes := make([][]measure.Estimate, len(m.cells)), make([]claim.Class, len(m.cells))
	e.evidence.InParallel(len(m.cells), plan.Always, func(evidence *claim.Evidence, i int) {
		c := m.cells[i]
		classes[i] = evidence.Class(c)
		recorded := evidence.Means(evidence.Outcome(c))
		for _, n := range m.numbers {
			values[i] = append(values[i], n.of(c, recorded, classes[i]))
		}
	})
	if e.evidence.Failure != nil {
		return nil, false
	}
	confidence := e.evidence.Confidence
	k, given := config.LookupKey(m.X)
	d = &Drawing{Name: "map-" + cmp.Or(m.X, "cells"), Table: [][]string{names(keyMapDocs)},
		Rows: [][]string{{"CELL"}}}
	if given {
		d.Table[0] = append(d.Table[0], m.X)
	}
	for i := range m.numbers {
		n := &m.numbers[i]
		d.Table[0] = append(d.Table[0], n.name, n.name+"_lo", n.name+"_hi")
		d.Rows[0] = append(d.Rows[0], strings.ToUpper(n.words(true)))
		if f, drawn := m.figureOf(i, values, confidence); drawn {
			f.Name = d.Name + "-" + n.name
			d.Figures = append(d.Figures, f)
		}
	}
	for i, c := range m.cells {
		fields := []string{c.Variant, c.Label(), c.ID, string(classes[i])}
		row := []string{cmp.Or(c.Label(), e.Plan.Spec.Name)}
		if given {
			fields = append(fields, config.Format(k.Get(&c.Settings)))
		}
		for _, x := range values[i] {
			fields = append(append(fields, number(&x.Mean)), ends(x.Interval(confidence))...)
			row = append(row, withInterval(x, confidence))
		}
		d.Table, d.Rows = append(d.Table, fields), append(d.Rows, row)
	}
	return d, d.Figures != nil
}

// figureOf returns the figure of the i-th number, whose values are given by cell and number;
// false if no cell has it.
func (m *Map) figureOf(i int, values [][]measure.Estimate, confidence float64) (
	f Figure, drawn bool) {
	lacking, over := 0, make([]overValue, len(m.cells))
	for row := range m.cells {
		x := values[row][i]
		v := overValue{measured: x.Mean, lo: math.NaN(), hi: math.NaN()}
		if lo, hi := x.Interval(confidence); !math.IsInf(hi, 0) {
			v.lo, v.hi = lo, hi
		}
		if over[row] = v; math.IsNaN(x.Mean) {
			lacking++
		}
	}
	if lacking == len(m.cells) {
		return f, false
	}
	n := &m.numbers[i]
	param, title, caption := "", n.words(false), n.column().Doc
	if m.line {
		k, _ := config.LookupKey(m.X)
		param, title = m.X, title+" over "+k.Title(&m.cells[0].Settings)
	}
	if lacking > 0 {
		caption += fmt.Sprintf(" %d of %d cells have none.", lacking, len(m.cells))
	}
	f = drawValues(new(config.Check), m.cells, over, param, overPicture{
		title: title, caption: caption, label: n.words(true), variants: true})
	if !m.line {
		return f, true
	}
	// a line joins the measured points of each group; values that span a factor of ten have a
	// logarithmic axis
	least, most := math.Inf(1), math.Inf(-1)
	var lines []FigureSeries
	for _, s := range f.Series {
		line := FigureSeries{Name: "joins the cells", Group: s.Group, Mark: Predicted}
		for _, p := range s.Points {
			if !math.IsNaN(p.Y) {
				least, most = min(least, p.Y), max(most, p.Y)
				line.point(p.X, p.Y)
			}
		}
		lines = append(lines, line)
	}
	f.Series = append(lines, f.Series...)
	if least > 0 && most >= 10*least {
		f.YScale = LogAxis
	}
	return f, true
}
