package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/theory"
)

// regimeMap shows the classes of simulated cells and the boundaries that theory predicts,
// over two parameters.
type regimeMap struct {
	panel
	kind    rom.Kind     // whether the linear dynamics is exact or to leading order
	points  []mapPoint   // one per cell
	counts  []classCount // the counts of the classes that occur, in the order of claim.Classes
	colours []float64    // values of the points; NaN: none
	valued  int          // number of points with a value
	curves  []theory.Boundary
	area    [][]theory.Spot // polygons in which the linear dynamics is unstable
	colour  *recordedNumber // that colours the cells; nil: their class does
}

// mapPoint is a simulated cell at its parameters x and y.
type mapPoint struct {
	x, y  float64
	cell  *plan.Cell
	class claim.Class
	value float64 // of the quantity that colours the cells; NaN: none
	needs float64 // replicas that would resolve its class; NaN: not known, or it is resolved
	theory.Regime
}

// classCount counts the cells of one class, at least 1, and those of them in each regime that the
// linear dynamics predicts; "": it predicts none.
type classCount struct {
	class claim.Class
	cells int
	in    map[string]int
}

// newRegimeMap returns the map of a panel, with cells coloured by a number; nil: by class.
func newRegimeMap(e *claim.Evidence, p panel, colour *recordedNumber) *regimeMap {
	m := &regimeMap{panel: p, colour: colour}
	m.points = make([]mapPoint, len(p.cells))
	kinds := make([]rom.Kind, len(p.cells))
	e.InParallel(len(p.cells), plan.Always, func(e *claim.Evidence, i int) {
		c := p.cells[i]
		prediction, class := e.Cache.PredictRegime(&c.Settings), e.Class(c)
		kinds[i] = theory.StationaryKind(&c.Settings, prediction)
		needs, value := math.NaN(), math.NaN()
		if o := e.Outcome(c); o != nil && colour != nil {
			recorded := e.Means(o, sim.ExpectedReward, colour.quantity, sim.SamplesDrawn)
			value = colour.of(c, recorded, class).Mean
		}
		if class == claim.Unresolved {
			needs = e.Resolving(c)
		}
		m.points[i] = mapPoint{needs: needs, x: p.x.Number(&c.Settings), y: p.y.Number(&c.Settings),
			cell: c, class: class, value: value, Regime: theory.NewRegime(&c.Settings, prediction)}
	})
	m.kind = cmp.Or(kinds...)
	for _, class := range claim.Classes {
		n := classCount{class: class, in: make(map[string]int)}
		for _, p := range m.points {
			if p.class == class {
				n.cells++
				n.in[p.Name()]++
			}
		}
		if n.cells > 0 {
			m.counts = append(m.counts, n)
		}
	}
	for _, p := range m.points {
		if m.colours = append(m.colours, p.value); !math.IsNaN(p.value) {
			m.valued++
		}
	}
	plane := e.Cache.NewPlane(p.cells[0].Settings, p.x, p.y, p.values(p.x), p.values(p.y), 1)
	m.curves, m.area = plane.Boundaries(kindWords[m.kind])
	return m
}

// words says how many cells have which class, and what would resolve the others.
func (m *regimeMap) words() string {
	classes := config.Each(m.counts,
		func(n classCount) string { return fmt.Sprintf("%d %s", n.cells, n.class) })
	says := fmt.Sprintf("%s%s: %s", strings.TrimPrefix(m.variant+": ", ": "),
		config.CountWords(len(m.points), "cell"), config.JoinWords(classes, "and"))
	if m.colour != nil {
		says += "; " + m.colour.over(m.cells, m.colours)
	}
	return strings.TrimSpace(says + ". " + m.resolving())
}

// resolving says how many replicas would resolve the cells whose error hides their class.
func (m *regimeMap) resolving() string {
	var needs []float64
	replicas := m.cells[0].Settings.Run.Replicas
	for _, p := range m.points {
		if p.needs > float64(replicas) {
			needs = append(needs, p.needs)
		}
	}
	if needs == nil {
		return ""
	}
	slices.Sort(needs)
	if math.IsInf(needs[0], 1) {
		return "Unresolved: one replica tells no error. Set `run.replicas`, such as 64."
	}
	return fmt.Sprintf("Unresolved: %s. For half of them about %.0f replicas would do, in the "+
		"place of %d.", claim.Meanings[claim.Unresolved], needs[len(needs)/2], replicas)
}

// values returns the distinct values of a parameter among the cells, in order.
func (p *panel) values(k config.Key) []float64 {
	values := config.Each(p.cells, func(c *plan.Cell) float64 { return k.Number(&c.Settings) })
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// figure returns the figure of the map: the cells by class, the predicted unstable area
// and the predicted boundaries.
func (m *regimeMap) figure() Figure {
	settings := &m.cells[0].Settings
	of, f := "Regimes", Figure{Caption: m.caption(), Name: "map-" + m.x.Path + "-" + m.y.Path,
		XLabel: m.x.AxisLabel(settings), YLabel: m.y.AxisLabel(settings), XScale: spacing(m.values(m.x)),
		YScale: spacing(m.values(m.y))}
	if m.colour != nil {
		of, f.Colour = m.colour.name, m.colour.words(true)
		f.Name += "-" + of
	}
	f.Title = fmt.Sprintf("%s over %s and %s", of, m.x.Title(settings), m.y.Title(settings))
	if m.variant != "" {
		f.Name += "-" + m.variant
		f.Title = m.variant + ": " + f.Title
	}
	add := func(s FigureSeries, lines [][]theory.Spot) {
		for _, line := range lines {
			for _, p := range line {
				s.point(p[0], p[1])
			}
			s.point(math.NaN(), math.NaN())
		}
		f.Series = append(f.Series, s)
	}
	for _, class := range claim.Classes {
		s := FigureSeries{Name: string(class), Group: string(class), Mark: Marker}
		for _, p := range m.points {
			if p.class == class {
				s.point(p.x, p.y)
				s.Values = append(s.Values, p.value)
			}
		}
		f.Series = append(f.Series, s)
	}
	add(FigureSeries{Name: "unstable (" + kindWords[m.kind] + ")", Mark: Region}, m.area)
	for _, c := range m.curves {
		add(FigureSeries{Name: c.Label, Mark: Boundary}, c.Lines)
	}
	return f
}

// caption explains the map in sentences: the fixed parameters, the classes that occur,
// what colours the cells, and the curves that are drawn.
func (m *regimeMap) caption() string {
	settings := &m.cells[0].Settings
	var fixed, classes, curves []string
	varied := m.varied()
	for _, k := range config.Keys {
		path := func(other config.Key) bool { return other.Path == k.Path }
		if !k.OfRun() && !slices.ContainsFunc(varied, path) && !k.AtDefault(settings) {
			fixed = append(fixed, k.Path+" = "+config.Format(k.Get(settings)))
		}
	}
	for _, n := range m.counts {
		classes = append(classes, fmt.Sprintf("%s (%d): %s", n.class, n.cells, claim.Meanings[n.class]))
	}
	for _, c := range m.curves {
		if len(c.Lines) > 0 {
			curves = append(curves, c.Label+": "+c.Meaning)
		}
	}
	sentences := []string{
		fmt.Sprintf("Each marker is one of %d simulated cells.", len(m.points)),
		"Fixed: " + strings.Join(fixed, ", ") + "; all other keys have their defaults.",
		"The marker shows the class of the mean reward J over steps. " +
			strings.Join(classes, "; ") + ".",
	}
	if m.colour != nil {
		sentences = append(sentences, "Its colour is "+m.colour.name+". "+m.colour.column().Doc)
		if all := len(m.points); m.valued < all {
			sentences = append(sentences,
				fmt.Sprintf("%d of %d cells have no value and are grey.", all-m.valued, all))
		}
	}
	if len(m.area) > 0 {
		sentences = append(sentences, "The linear dynamics is unstable in the shaded area.")
	}
	if len(curves) > 0 {
		sentences = append(sentences, "Lines are predicted, not fitted. "+strings.Join(curves, "; ")+".")
	}
	return strings.TrimSpace(strings.Join(append(sentences, m.resolving()), " "))
}

// drawRegimes returns the regime maps of the panels. A row of the table of kind cell is a simulated
// cell with its class and the predictions there; one of kind boundary is a point of a predicted
// boundary, line by line. Predictions that do not apply are empty. has says whether a cell has the
// number that colours them.
func (m *Map) drawRegimes(e *Experiment) (d *Drawing, has bool) {
	d = &Drawing{Name: "map-" + m.X + "-" + m.Y, Table: [][]string{names(columnDocs().Map)},
		Rows: [][]string{{"VARIANT", "CLASS", "CELLS", "OVERDAMPED", "OSCILLATORY", "UNSTABLE"}}}
	d.Table[0][2], d.Table[0][3] = m.X, m.Y
	var colour *recordedNumber
	if m.numbers != nil {
		colour = &m.numbers[0]
		d.Name += "-" + colour.name
	}
	for _, panel := range m.panels {
		r := newRegimeMap(e.evidence, panel, colour)
		d.Figures, has = append(d.Figures, r.figure()), has || r.valued > 0
		d.Words = append(d.Words, r.words())
		for _, n := range r.counts {
			row := []string{r.variant, string(n.class), strconv.Itoa(n.cells)}
			for _, regime := range []string{theory.Overdamped, theory.Oscillatory, theory.Unstable} {
				row = append(row, strconv.Itoa(n.in[regime]))
			}
			d.Rows = append(d.Rows, row)
		}
		for _, p := range r.points {
			d.Table = append(d.Table, []string{"cell", r.variant, number(&p.x), number(&p.y), p.cell.ID,
				string(p.class), p.Name(), number(&p.Radius), number(&p.Rule), number(&p.Damping),
				number(&p.Onset), number(&p.value), "", ""})
		}
		for _, c := range r.curves {
			for n, line := range c.Lines {
				for _, p := range line {
					d.Table = append(d.Table, []string{"boundary", r.variant, number(&p[0]), number(&p[1]),
						"", "", "", "", "", "", "", "", c.Name, strconv.Itoa(n + 1)})
				}
			}
		}
	}
	if !slices.ContainsFunc(m.panels, func(p panel) bool { return p.variant != "" }) {
		for i := range d.Rows {
			d.Rows[i] = d.Rows[i][1:] // without the variants
		}
	}
	return d, has
}

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
	d = &Drawing{Name: "map-" + cmp.Or(m.X, "cells"), Table: [][]string{names(columnDocs().KeysMap)},
		Rows: [][]string{{"CELL"}}, Words: []string{m.ranges(values)}}
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

// ranges says from where to where each number goes over the cells, given by cell and number.
func (m *Map) ranges(values [][]measure.Estimate) string {
	var all []string
	for i := range m.numbers {
		of := config.Each(values, func(cell []measure.Estimate) float64 { return cell[i].Mean })
		all = append(all, m.numbers[i].over(m.cells, of))
	}
	return config.CountWords(len(m.cells), "cell") + ": " + strings.Join(all, "; ") + "."
}

// over says between which cells a number goes from where to where, NaN where there is none.
func (n *recordedNumber) over(cells []*plan.Cell, values []float64) string {
	var known []int
	for i, x := range values {
		if !math.IsNaN(x) {
			known = append(known, i)
		}
	}
	if known == nil {
		return n.words(false) + " in none"
	}
	by := func(i, j int) int { return cmp.Compare(values[i], values[j]) }
	at := func(i int) string {
		x := withInterval(measure.Certain(values[i]), 0)
		return strings.TrimSuffix(x+" ("+cells[i].Label()+")", " ()")
	}
	says := n.words(false) + " from " + at(slices.MinFunc(known, by)) + " to " + at(slices.MaxFunc(known, by))
	if lacking := len(values) - len(known); lacking > 0 {
		says += fmt.Sprintf(", none in %d", lacking)
	}
	return says
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
	f = drawValues(new(config.Check), m.cells, over, param, frame{
		Title: title, Caption: caption, Label: n.words(true), variants: true})
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
