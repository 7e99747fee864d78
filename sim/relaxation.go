package sim

import (
	"context"
	"math"
	"slices"

	"grposim/sim/measure"
)

// RelaxationProbe is a measurement of how a small deviation from Point dies
// out: pairs of replicas start at Point ± Offset·Direction and see the same
// random numbers, and half their difference along the direction,
//
//	x_t = Direction·(θ₊ − θ₋)/(2 Direction·Direction),
//
// is what moves linearly about Point (even orders of the deviation cancel).
// A pair is a replica: Run.Replicas pairs (one at G = ∞) are run for Run.Steps
// steps, and a Recurrence is fitted to what they do from Run.BurnIn on at the
// refresh instants (of a delay, at every step). A pair is followed no further
// than it moves linearly, so that growth is measured as growth.
//
// The recurrence has one multiplier or two. Two arms under block lag have no
// more; other modes must have died out by BurnIn. At finite G they never do, and
// the fit is consistent only where there are none: up to a delay of 1. What is
// left is of the order of the square of the deviation: at G = ∞ an offset of
// 1e-6 leaves less than the relative 1e-7 (and round-off 1e-9), at finite G the
// offset has to be well above the noise of a replica.
type RelaxationProbe struct {
	Point     []float64
	Direction []float64
	Offset    float64
}

// Names of what a relaxation probe estimates.
const (
	RelaxationRate = "relaxation_rate" // −ln|dominant multiplier| per optimizer step; negative: growth
	DampingRatio   = "damping_ratio"   // ζ of the two dominant multipliers
)

// relaxationBins is the number of bins of pairs whose scatter gives the
// intervals.
const relaxationBins = 64

// bin fits the pairs of one of the probe's bins.
func (p *RelaxationProbe) bin(ctx context.Context, c *Cell, bin, bins int) measure.Recurrence {
	fit := measure.Recurrence{Order: recurrenceOrder(c), Floor: roundOff}
	pair := newPair(c, p.Point, p.Direction, p.Offset)
	replicas := c.replicas()
	for i := binStart(bin, bins, replicas); i < binStart(bin+1, bins, replicas); i++ {
		pair.begin(ForReplica, i)
		pair.relax(ctx, &fit, span{from: c.Run.BurnIn, growth: fittedGrowth})
		if ctx.Err() != nil {
			break // the cell will not be finished
		}
	}
	return fit
}

// binStart returns the first of n items that belongs to a bin; the bins
// are contiguous and of equal size but for one item.
func binStart(bin, bins, n int) int { return bin * n / bins }

// fittedGrowth is how far beyond its norm at BurnIn a deviation that grows is
// followed: far enough for a fit, near enough to be linear where it began so.
const fittedGrowth = 10

// span says which part of a pair's motion a fit takes.
type span struct {
	from   int     // steps before that are left out
	growth float64 // until the norm is that many times the largest before from
	decay  float64 // until the state is that share of the largest it was
}

// relax runs the pair for Run.Steps steps or until the span ends, and adds its
// motion along the direction to fit. It reports whether the pair stayed in the
// range of floating point.
func (p *pair) relax(ctx context.Context, fit *measure.Recurrence, over span) (ok bool) {
	refresh := refreshPeriod(p.cell.Lag)
	var x, v, start, farthest, fastest float64
	return p.follow(ctx, func(period int, d deviation) bool {
		nextX, nextV := p.along(d)
		norm := d.norm()
		if period > 0 && (period-1)*refresh >= over.from {
			fit.Add(x, v, nextX, nextV)
		} else {
			start = max(start, norm)
		}
		x, v = nextX, nextV
		farthest, fastest = max(farthest, math.Abs(x)), max(fastest, math.Abs(v))
		grown := norm > linearRange(start, over.growth)
		gone := math.Abs(x) < over.decay*farthest && math.Abs(v) < over.decay*fastest
		return !grown && !gone
	}, between)
}

// relaxationEstimates are what the fits of all bins say together. What they
// do not determine is left out.
func relaxationEstimates(c *Cell, fits []measure.Recurrence) []measure.Named {
	period := float64(refreshPeriod(c.Lag))
	return determined(
		c.jackknife(RelaxationRate, len(fits), func(without int) float64 { return -pooled(c, fits, without).LogModulus() / period }),
		c.jackknife(DampingRatio, len(fits), func(without int) float64 { return pooled(c, fits, without).DampingRatio() }),
	)
}

// pooled returns the multipliers of all bins but one.
func pooled(c *Cell, fits []measure.Recurrence, without int) measure.Multipliers {
	all := measure.Recurrence{Order: recurrenceOrder(c), Floor: roundOff}
	for i := range fits {
		if i != without {
			all.Merge(&fits[i])
		}
	}
	return all.Multipliers()
}

// jackknife estimates a statistic of bins; at G = ∞ nothing is random.
func (c *Cell) jackknife(name string, bins int, statistic func(without int) float64) measure.Named {
	if c.Deterministic() {
		return measure.Named{Name: name, Estimate: measure.Certain(statistic(measure.All))}
	}
	return measure.Named{Name: name, Estimate: measure.Jackknife(bins, statistic)}
}

// determined leaves out the estimates that are not finite numbers: what the
// data do not determine.
func determined(estimates ...measure.Named) []measure.Named {
	return slices.DeleteFunc(estimates, func(e measure.Named) bool {
		return !finite([]float64{e.Mean, e.StdErr})
	})
}
