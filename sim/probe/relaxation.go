package probe

import (
	"context"
	"iter"
	"math"

	"grposim/sim"
	"grposim/sim/measure"
)

// Names of the estimates of a relaxation probe.
const (
	RelaxationRate = "relaxation_rate" // −ln|dominant multiplier| per optimizer step; negative: growth
	DampingRatio   = "damping_ratio"   // ζ of the two dominant multipliers, without unit
)

// relaxationBins is the number of bins: contiguous sets of pairs, over which a jackknife
// gives the error of a fit.
const relaxationBins = 64

// relax measures one of the bins.
func (p *Relaxation) relax(ctx context.Context, c *Cell, bins []measure.Recurrence, bin int) {
	newPair(&c.Cell, p.Point, p.Direction, p.Offset).relax(ctx, sim.ForReplica, bins, bin, p.span(c))
}

// relax fits a recurrence to the deviations along the direction over the runs of a bin. The pairs of
// all bins are Run.Replicas (one at G = ∞). It reports whether all logits stayed finite.
func (p *pair) relax(
	ctx context.Context, purpose sim.Purpose, bins []measure.Recurrence, bin int, over span,
) (ok bool) {
	ok = true
	p.informed = 0
	fit := &bins[bin]
	*fit = newFit(p.cell, p.offset)
	pairs := p.cell.Replicas()
	n, end := measure.BinStart(bin, len(bins), pairs), measure.BinStart(bin+1, len(bins), pairs)
	for ; n < end && ctx.Err() == nil; n++ {
		f := fitting{cell: p.cell, direction: p.direction, fit: fit, over: over}
		ok = p.follow(ctx, purpose, n, f.at, between) && ok
	}
	fit.Innovations = p.informed
	return ok
}

// newFit returns a fit without data to the deviations of a cell's pairs with the given offset.
func newFit(c *sim.Cell, offset float64) measure.Recurrence {
	return measure.Recurrence{Order: RecurrenceOrder(c), Floor: roundOff, Start: offset}
}

// span returns the part of a run that the probe uses.
func (p *Relaxation) span(c *Cell) span { return span{from: c.Run.BurnIn, growth: FittedGrowth} }

// FittedGrowth is the growth up to which a relaxation probe follows a deviation, relative to the
// largest norm up to BurnIn. It is enough for a fit, and leaves a small start in the linear range.
const FittedGrowth = 10

// span is the part of a pair's run that a fit uses.
type span struct {
	from   int     // the first step used
	growth float64 // the span ends when the norm exceeds this many times its largest value up to from
	decay  float64 // the span ends when x and v are below this share of their largest
}

// fitting adds the deviations of one run along a direction to a fit.
type fitting struct {
	cell      *sim.Cell
	direction []float64
	fit       *measure.Recurrence
	over      span

	x, v              float64 // at the last refresh instant
	start             float64 // the largest norm up to the beginning of the span
	farthest, fastest float64 // the largest |x| and |v|
}

// at adds the deviation at a refresh instant. It returns false at the end of the span.
func (f *fitting) at(period int, d deviation) (more bool) {
	nextX, nextV := d.along(f.direction)
	norm := d.norm()
	if period > 0 && (period-1)*f.cell.Lag.StepsPerSnapshot() >= f.over.from {
		f.fit.Add(f.x, f.v, nextX, nextV)
	} else {
		f.start = max(f.start, norm)
	}
	f.x, f.v = nextX, nextV
	f.farthest, f.fastest = max(f.farthest, math.Abs(f.x)), max(f.fastest, math.Abs(f.v))
	grown := norm > linearRange(f.start, f.over.growth)
	gone := math.Abs(f.x) < f.over.decay*f.farthest && math.Abs(f.v) < f.over.decay*f.fastest
	return !grown && !gone
}

// FitRelaxation returns what the cell's relaxation probe estimates from one series of deviations
// (x, v). They are of logits and velocity from the fixed point, the first at step 0, then one after
// each step. Estimates that the series does not determine are NaN.
func FitRelaxation(
	c *Cell, deviations iter.Seq2[[]float64, []float64],
) (rate, dampingRatio float64) {
	p := c.Relaxation
	fit := newFit(&c.Cell, p.Offset)
	f := fitting{cell: &c.Cell, direction: p.Direction, fit: &fit, over: p.span(c)}
	period, step := c.Lag.StepsPerSnapshot(), 0
	for logits, velocity := range deviations {
		d := deviation{logits, velocity}
		if step%period == 0 && !f.at(step/period, d) || step == c.Run.Steps {
			break
		}
		step++
	}
	m := fit.Multipliers()
	return c.relaxationRate(m), m.DampingRatio()
}

// relaxationRate returns −ln|dominant multiplier| per step.
func (c *Cell) relaxationRate(m measure.Multipliers) float64 {
	return -m.LogModulus() / float64(c.Lag.StepsPerSnapshot())
}

// pooled returns the fits of all bins except one, merged.
func pooled(c *sim.Cell, fits []measure.Recurrence, without int) *measure.Recurrence {
	all := measure.Recurrence{Order: RecurrenceOrder(c), Floor: roundOff}
	for i := range fits {
		if i != without {
			all.Merge(&fits[i])
		}
	}
	return &all
}

// fitted returns the estimate of a function of the multipliers that are fitted to all
// bins, with its systematic error.
func (c *Cell) fitted(
	name string, fits []measure.Recurrence, of func(measure.Multipliers) float64,
) measure.Named {
	all := pooled(&c.Cell, fits, measure.All)
	e := c.Jackknife(len(fits), func(without int) float64 {
		return of(pooled(&c.Cell, fits, without).Multipliers())
	})
	e.Systematic = all.Multipliers().Bias(of)
	if c.uninformed(all.Innovations) {
		e.StdErr, e.DF = 0, 0
	}
	return measure.Named{Name: name, Estimate: e}
}
