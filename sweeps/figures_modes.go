package sweeps

import (
	"math"

	"grposim/rom/diagnose"
)

// drawModes shows the share of replicas that each failure mode is named in,
// cell by cell, by the project's diagnostics and by the paper's.
func (j *judgement) drawModes(d *drawing) Figure {
	sets := d.sets
	f := Figure{Title: "Failure modes named, replica by replica", YLabel: "share of replicas", Categories: []string{}}
	for _, set := range sets {
		name := set.Label
		if name == "" {
			name = "all"
		}
		f.Categories = append(f.Categories, name, "… by the paper’s")
	}
	for _, mode := range diagnose.Modes {
		f.Series = append(f.Series, FigureSeries{Name: string(mode), Group: string(mode), Mark: Share})
	}
	for i, set := range sets {
		o := j.outcome(set.Cells[0])
		for n, share := range []func(diagnose.Mode) string{namedShare, paperNamedShare} {
			top := 0.0
			for m, mode := range diagnose.Modes {
				e, found := o.Estimate(share(mode))
				if !found || e.Mean <= 0 {
					continue
				}
				f.Series[m].Points = append(f.Series[m].Points, FigurePoint{float64(2*i + n), math.NaN(), top, top + e.Mean})
				top += e.Mean
			}
		}
	}
	return f
}
