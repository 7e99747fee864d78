// Package probe measures a point of a cell of package sim beside its run: the stiffness there, how
// fast a deviation decays, and the value of a parameter where an event sets in. It uses no
// prediction of the theory that it tests.
//
//  1. A Cell is one of package sim with its probes. A Stiffness is a central difference of forces,
//     a Relaxation a fit to deviations of pairs of replicas. A Location searches for an Event.
//  2. Simulate checks the cells, and simulates them as sim.Simulate does. Its workers measure the
//     bins of the probes beside the chunks of replicas. A search begins after the last bin.
//  3. The Estimates of a sim.Result have those of the probes, after those of the run.
package probe

import (
	"context"

	"grposim/sim"
	"grposim/sim/measure"
)

// Simulate is sim.Simulate of cells with probes. It panics with all mistakes of the first cell that
// has any, a line each.
func Simulate(
	ctx context.Context, cells []Cell, workers int, done func(index int, result sim.Result) error,
) error {
	in := make([]sim.Cell, len(cells))
	for i := range cells {
		in[i] = cells[i].checked()
	}
	return sim.Simulate(ctx, in, workers, done)
}

// work is what is measured of a cell. Its units are the bins of each stiffness probe, then those of
// the relaxation probe.
type work struct {
	*Cell
	slopes     [][]slopes // [stiffness probe][bin]
	relaxation []measure.Recurrence
}

// begin returns the work of a cell, of which package sim gives the complete numbers.
func (c Cell) begin(complete *sim.Cell) *work {
	c.Cell = *complete
	w := &work{Cell: &c}
	for i := range c.Stiffness {
		w.slopes = append(w.slopes, make([]slopes, c.Stiffness[i].bins(&c)))
	}
	if c.Relaxation != nil && c.Location == nil {
		w.relaxation = make([]measure.Recurrence, min(c.Replicas(), relaxationBins))
	}
	return w
}

// Alone reports whether the cell is not run.
func (w *work) Alone() bool { return w.Location != nil }

// Units returns the number of bins.
func (w *work) Units() (bins int) {
	for _, of := range w.slopes {
		bins += len(of)
	}
	return bins + len(w.relaxation)
}

// Do measures a bin.
func (w *work) Do(ctx context.Context, bin int) {
	for probe, bins := range w.slopes {
		if bin < len(bins) {
			bins[bin] = w.Stiffness[probe].slopes(ctx, w.Cell, probe, bin)
			return
		}
		bin -= len(bins)
	}
	w.Relaxation.relax(ctx, w.Cell, w.relaxation, bin)
}

// Estimates returns what is measured. A search takes its scale from the measured stiffness.
func (w *work) Estimates(ctx context.Context) (all []measure.Named) {
	var scale measure.Estimate
	for i, bins := range w.slopes {
		e := measure.Named{Name: w.Stiffness[i].Name, Estimate: w.Stiffness[i].estimate(w.Cell, bins)}
		if all = append(all, e); e.Name == StiffnessTotal {
			scale = e.Estimate
		}
	}
	if len(w.relaxation) > 0 {
		all = append(all, measure.Determined(
			w.fitted(RelaxationRate, w.relaxation, w.relaxationRate),
			w.fitted(DampingRatio, w.relaxation, measure.Multipliers.DampingRatio))...)
	}
	if w.Location != nil {
		all = append(all, w.Location.locate(ctx, w.Cell, scale)...)
	}
	return all
}
