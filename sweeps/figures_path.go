package sweeps

import (
	"cmp"
	"math"

	"grposim/sweeps/theory"
)

// Path returns the predicted path of a cell of the plan: the expected reward over optimizer steps.
func (p *Plan) Path(c *Cell) *theory.Path {
	path := p.cache.Path(&c.Settings)
	return &path
}

// PathFigure returns the figure of the predicted paths of the plan's cells, each with a standard
// deviation over runs on either side; of many cells it has some.
func (p *Plan) PathFigure() Figure {
	var cells []*Cell
	for i := range p.Cells {
		cells = append(cells, &p.Cells[i])
	}
	sets := each(cells)
	f := curvesOf("Predicted expected reward of "+p.Spec.Name+", ± one standard deviation over runs", sets)
	f.Name = "path"
	f.Caption = "Each line is the expected reward over optimizer steps; the band has one standard deviation over runs on either side. A cell without line has no predicted path."
	for _, set := range thinned(sets) {
		path := p.Path(set.Cells[0])
		name := cmp.Or(set.Label, p.Spec.Name)
		line := FigureSeries{Name: name, Group: name, Mark: Predicted}
		for i, step := range path.Steps {
			if step == 0 && f.XScale == LogAxis {
				continue
			}
			point := BarePoint(float64(step), path.Reward[i])
			if i < len(path.Deviation) && path.Deviation[i] > 0 {
				point.Lo, point.Hi = point.Y-path.Deviation[i], point.Y+path.Deviation[i]
			}
			if !math.IsNaN(point.Y) {
				line.Points = append(line.Points, point)
			}
		}
		f.Series = append(f.Series, line)
	}
	return f
}
