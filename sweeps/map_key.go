package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
)

// KeyMap is a map over one key, or over none: recorded numbers of the cells of a sweep, as a table
// and as figures.
type KeyMap struct {
	plan    *plan.Plan
	x       string // path of the key; "": the cells are side by side
	line    bool   // whether the cells form lines over it
	numbers []recordedNumber
	cells   []*plan.Cell
	// of the intervals
	confidence float64
	values     [][]measure.Estimate // by cell and number
	classes    []claim.Class        // by cell
}

// usualNumbers are those of a KeyMap for which no quantity is named.
var usualNumbers = []string{string(sim.ExpectedReward), timeTo95, samplesTo95, string(sim.Entropy)}

// NewKeyMap selects the cells of a plan that satisfy every condition `key=value` of where, and the
// numbers of them to show, recorded numbers by name; none: those of usualNumbers. A time to a level
// has the given one. x is a swept key, or "". The error is of type config.Problems and names the
// flags --x, --where, --quantity and --level.
func NewKeyMap(p *plan.Plan, x string, where, quantities []string, level *float64) (*KeyMap, error) {
	m := &KeyMap{plan: p, x: x}
	chosen, problems := conditionsOf(where)
	m.cells = slices.DeleteFunc(p.All(), func(c *plan.Cell) bool {
		return !chosen.Selects(&config.Point{Variant: c.Variant, Settings: c.Settings})
	})
	if len(quantities) == 0 {
		quantities = usualNumbers
	}
	for _, quantity := range quantities {
		n, bad := askedNumber(quantity, level)
		m.numbers, problems = append(m.numbers, n), append(problems, bad...)
	}
	var swept []string
	for _, c := range p.All() {
		for _, a := range c.Axes {
			if !slices.Contains(swept, a.Param) {
				swept = append(swept, a.Param)
			}
		}
	}
	switch {
	case x != "" && !slices.Contains(swept, x):
		problems = append(problems, config.Problem{Source: "--x", Text: fmt.Sprintf("got %s, which the sweep does not vary, want one of %s", x, cmp.Or(strings.Join(swept, ", "), "its keys, of which there are none"))})
	case len(problems) == 0 && len(m.cells) == 0:
		problems = append(problems, config.Problem{Source: "--where", Text: "got conditions that no cell satisfies, want values of the sweep"})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	m.line = x != ""
	for _, variant := range variantsOf(plan.Each(m.cells)) {
		cells := slices.DeleteFunc(slices.Clone(m.cells), func(c *plan.Cell) bool { return c.Variant != variant })
		m.line = m.line && slices.Contains(abscissas(cells), x)
	}
	return m, nil
}

// conditionsOf parses the conditions of --where.
func conditionsOf(where []string) (chosen config.Check, problems config.Problems) {
	for _, text := range where {
		condition, bad := config.ParseCondition(text)
		chosen.Where = append(chosen.Where, condition)
		problems = append(problems, bad...)
	}
	return chosen, problems
}

// Measure sets the numbers of a map to those that the experiment, which is of its plan, measured.
// Its error is of type config.Problems where no cell has a number that is asked for, else the first
// in reading a trajectory.
func (e *Experiment) Measure(m *KeyMap) error {
	m.confidence = e.evidence.Confidence
	m.values, m.classes = make([][]measure.Estimate, len(m.cells)), make([]claim.Class, len(m.cells))
	e.evidence.InParallel(len(m.cells), plan.Always, func(evidence *claim.Evidence, i int) {
		c := m.cells[i]
		m.classes[i] = evidence.Class(c)
		recorded := evidence.Means(evidence.Outcome(c))
		for _, n := range m.numbers {
			m.values[i] = append(m.values[i], n.of(c, recorded, m.classes[i]))
		}
	})
	if e.evidence.Failure != nil {
		return e.evidence.Failure
	}
	var problems config.Problems
	for i := range m.numbers {
		if n := &m.numbers[i]; m.missing(i) == len(m.cells) && len(m.numbers) == 1 {
			problems = append(problems, config.Problem{Source: quantityFlag, Text: fmt.Sprintf("got %s, which no cell of the map has. %s", n.name, n.column().Doc)})
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// missing returns the number of cells without the i-th number.
func (m *KeyMap) missing(i int) (cells int) {
	for _, values := range m.values {
		if math.IsNaN(values[i].Mean) {
			cells++
		}
	}
	return cells
}

// Name returns the file name, without extension, of the table; those of the figures begin with it.
func (m *KeyMap) Name() string { return "map-" + cmp.Or(m.x, "cells") }

// Rows returns the table for people, with its header: the cells with their numbers, and intervals
// where they have one.
func (m *KeyMap) Rows() [][]string {
	header := []string{"CELL"}
	for i := range m.numbers {
		header = append(header, strings.ToUpper(m.numbers[i].words(true)))
	}
	rows := [][]string{header}
	for i, c := range m.cells {
		row := []string{cmp.Or(c.Label(), m.plan.Spec.Name)}
		for _, x := range m.values[i] {
			row = append(row, withInterval(x, m.confidence))
		}
		rows = append(rows, row)
	}
	return rows
}

// Figures returns a figure for each number that some cell has.
func (m *KeyMap) Figures() (figures []Figure) {
	for i := range m.numbers {
		if m.missing(i) == len(m.cells) {
			continue
		}
		n := &m.numbers[i]
		values := make(overValues, len(m.cells))
		for row := range m.cells {
			x := m.values[row][i]
			v := overValue{measured: x.Mean, lo: math.NaN(), hi: math.NaN()}
			if lo, hi := x.Interval(m.confidence); !math.IsInf(hi, 0) {
				v.lo, v.hi = lo, hi
			}
			values[row] = v
		}
		param, title := "", n.words(false)
		if m.line {
			k, _ := config.LookupKey(m.x)
			param, title = m.x, title+" over "+k.Title(&m.cells[0].Settings)
		}
		caption := n.column().Doc
		if lacking := m.missing(i); lacking > 0 {
			caption += fmt.Sprintf(" %d of %d cells have none.", lacking, len(m.cells))
		}
		f := drawValues(new(config.Check), m.cells, values, param, overPicture{title: title, caption: caption, label: n.words(true), variants: true})
		f.Name = m.Name() + "-" + n.name
		if m.line {
			joinPoints(&f)
		}
		figures = append(figures, f)
	}
	return figures
}

// joinPoints joins the measured points of each group by a line, and gives values that span a factor
// of ten a logarithmic axis.
func joinPoints(f *Figure) {
	least, most := math.Inf(1), math.Inf(-1)
	var lines []FigureSeries
	for _, s := range f.Series {
		line := FigureSeries{Name: "joins the cells", Group: s.Group, Mark: Predicted}
		for _, p := range s.Points {
			if !math.IsNaN(p.Y) {
				least, most = min(least, p.Y), max(most, p.Y)
				line.Points = append(line.Points, BarePoint(p.X, p.Y))
			}
		}
		lines = append(lines, line)
	}
	f.Series = append(lines, f.Series...)
	if least > 0 && most >= 10*least {
		f.YScale = LogAxis
	}
}

// CSV returns the table of the map: a row per cell with the key, its class and the numbers.
func (m *KeyMap) CSV() ([]byte, error) {
	header := names(keyMapDocs)
	k, given := config.LookupKey(m.x)
	if given {
		header = append(header, m.x)
	}
	for _, n := range m.numbers {
		header = append(header, n.name, n.name+"_lo", n.name+"_hi")
	}
	return writeCSV(header, len(m.cells), func(i int) []string {
		c := m.cells[i]
		row := []string{c.Variant, c.Label(), c.ID, string(m.classes[i])}
		if given {
			row = append(row, config.Format(k.Get(&c.Settings)))
		}
		for _, x := range m.values[i] {
			lo, hi := x.Interval(m.confidence)
			row = append(row, number(&x.Mean), number(&lo), number(&hi))
		}
		return row
	})
}
