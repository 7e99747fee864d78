package sweeps

import (
	"cmp"
	"math"
	"strings"

	"grposim/sim"
	"grposim/sweeps/theory"
)

// Way returns what the runs of a cell of the plan are predicted to do from their start, with the time at which J reaches the
// level, NaN: 95 % of its way, and with more quantities than those that it records.
func (p *Plan) Way(c *Cell, level float64, more ...sim.Quantity) *theory.Way {
	way := p.cache.Way(&c.Settings, level, more...)
	return &way
}

// stillPath is the range of a predicted path, as a share of its largest size, below which it gets no figure.
const stillPath = 1e-3

// PathFigures returns a figure of the predicted paths of the plan's cells for J, and for each other quantity that moves in
// one of them, each with a standard deviation over runs on either side; of many cells they have some.
func (p *Plan) PathFigures() (all []Figure) {
	var cells []*Cell
	for i := range p.Cells {
		cells = append(cells, &p.Cells[i])
	}
	sets := each(cells)
	var ways []*theory.Way
	for _, set := range thinned(sets) {
		ways = append(ways, p.Way(set.Cells[0], math.NaN()))
	}
	for _, column := range QuantityColumns {
		q := sim.Quantity(column.Name)
		f := coursesOf(q, "Predicted "+strings.ReplaceAll(column.Name, "_", " ")+" of "+p.Spec.Name+", ± one standard deviation over runs", sets)
		f.Name = "path"
		if q != sim.ExpectedReward {
			f.Name = "path-" + strings.ReplaceAll(column.Name, "_", "-")
		}
		f.Caption = "Each line is the mean over runs, over optimizer steps; the band has one standard deviation over runs on either side. A cell without line has no predicted path."
		moves := q == sim.ExpectedReward
		for i, set := range thinned(sets) {
			w := ways[i]
			course := w.Quantities[q]
			if q == sim.ExpectedReward {
				course = theory.Course{Mean: w.Reward, Deviation: w.Deviation}
			}
			name := cmp.Or(set.Label, p.Spec.Name)
			line := FigureSeries{Name: name, Group: name, Mark: Predicted}
			low, high := math.Inf(1), math.Inf(-1)
			for n, x := range course.Mean {
				if w.Steps[n] == 0 && f.XScale == LogAxis || math.IsNaN(x) || math.IsInf(x, 0) {
					continue
				}
				low, high = min(low, x), max(high, x)
				point := BarePoint(float64(w.Steps[n]), x)
				if n < len(course.Deviation) && course.Deviation[n] > 0 {
					point.Lo, point.Hi = x-course.Deviation[n], x+course.Deviation[n]
				}
				line.Points = append(line.Points, point)
			}
			moves = moves || high-low > stillPath*max(math.Abs(low), math.Abs(high))
			f.Series = append(f.Series, line)
		}
		if moves {
			all = append(all, f)
		}
	}
	return all
}
