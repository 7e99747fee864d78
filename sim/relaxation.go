package sim

import (
	"context"
	"math"
	"slices"

	"grposim/sim/measure"
)

// RelaxationProbe measures how a small deviation from Point decays or grows. Pairs of
// replicas start at Point ± Offset·Direction with the same random numbers, and half
// their difference along the direction,
//
//	x_t = Direction·(θ₊ − θ₋)/(2 Direction·Direction),
//
// obeys linear dynamics about Point, because even orders of the deviation cancel. A
// pair counts as a replica: Run.Replicas pairs (one at G = ∞) are run for Run.Steps
// steps, and a measure.Recurrence is fitted to their deviations at the refresh instants
// (under delay lag, at every step) from Run.BurnIn on. A pair is followed only while
// its deviation is in the linear range, so that growth is measured as growth.
//
// The recurrence has one multiplier or two. Two arms under block lag have no more;
// other modes must have decayed by BurnIn. At finite G noise excites them again and
// again, and the fit is consistent only if there are none: up to a delay of 1. The
// remaining relative error is of the order of the square of the deviation, and is the
// systematic error of the estimates. At finite G the offset must be well above the noise
// of a replica.
type RelaxationProbe struct {
	Point     []float64 // logits, usually of a fixed point, one an arm
	Direction []float64 // a direction in logits other than 0, one component an arm
	Offset    float64   // > 0, in multiples of Direction
}

// Names of the estimates of a relaxation probe.
const (
	RelaxationRate = "relaxation_rate" // −ln|dominant multiplier| per optimizer step; negative: growth
	DampingRatio   = "damping_ratio"   // ζ of the two dominant multipliers, without unit
)

// relaxationBins is the number of bins: contiguous sets of pairs, over which a jackknife
// gives the error of a fit.
const relaxationBins = 64

// bin returns the fit to the pairs of one of the probe's bins.
func (p *RelaxationProbe) bin(ctx context.Context, c *Cell, bin, bins int) measure.Recurrence {
	fit := measure.Recurrence{Order: RecurrenceOrder(c), Floor: roundOff, Start: p.Offset}
	pair := newPair(c, p.Point, p.Direction, p.Offset)
	replicas := c.replicas()
	for i := binStart(bin, bins, replicas); i < binStart(bin+1, bins, replicas); i++ {
		pair.begin(ForReplica, i)
		pair.relax(ctx, &fit, span{from: c.Run.BurnIn, growth: fittedGrowth})
		if ctx.Err() != nil {
			break // the results of an interrupted cell are discarded
		}
	}
	return fit
}

// binStart returns the first item of a bin, where n items are divided into contiguous
// bins whose sizes differ by at most 1.
func binStart(bin, bins, n int) int { return bin * n / bins }

// fittedGrowth is the growth, relative to the largest norm up to BurnIn, up to which a
// relaxation probe follows a deviation: enough for a fit, and not enough to leave the
// linear range from a small start.
const fittedGrowth = 10

// span is the part of a pair's run that a fit uses.
type span struct {
	from   int     // the first step used
	growth float64 // the span ends when the norm exceeds this many times its largest value up to from
	decay  float64 // the span ends when logits and velocity are below this share of their largest values
}

// relax runs the pair for Run.Steps steps or until the span ends, and adds its
// coordinates along the direction to fit. It reports whether all logits stayed finite.
func (p *pair) relax(ctx context.Context, fit *measure.Recurrence, over span) (ok bool) {
	refresh := RefreshPeriod(p.cell.Lag)
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

// relaxationEstimates returns the estimates of a relaxation probe from the fits of all
// its bins. Estimates that the data do not determine are left out.
func relaxationEstimates(c *Cell, fits []measure.Recurrence) []measure.Named {
	period := float64(RefreshPeriod(c.Lag))
	return determined(
		c.fitted(RelaxationRate, fits, func(m measure.Multipliers) float64 { return -m.LogModulus() / period }),
		c.fitted(DampingRatio, fits, measure.Multipliers.DampingRatio),
	)
}

// pooled returns the multipliers of the fits of all bins except one, merged.
func pooled(c *Cell, fits []measure.Recurrence, without int) measure.Multipliers {
	all := measure.Recurrence{Order: RecurrenceOrder(c), Floor: roundOff}
	for i := range fits {
		if i != without {
			all.Merge(&fits[i])
		}
	}
	return all.Multipliers()
}

// fitted returns the estimate of a function of the multipliers that are fitted to all
// bins, with its systematic error.
func (c *Cell) fitted(name string, fits []measure.Recurrence, of func(measure.Multipliers) float64) measure.Named {
	e := c.jackknife(name, len(fits), func(without int) float64 { return of(pooled(c, fits, without)) })
	e.Systematic = pooled(c, fits, measure.All).Bias(of)
	return e
}

// jackknife returns the estimate of a statistic of bins; at G = ∞, where nothing is
// random, as exact.
func (c *Cell) jackknife(name string, bins int, statistic func(without int) float64) measure.Named {
	if c.Deterministic() {
		return measure.Named{Name: name, Estimate: measure.Certain(statistic(measure.All))}
	}
	return measure.Named{Name: name, Estimate: measure.Jackknife(bins, statistic)}
}

// determined removes estimates that are not finite: the data do not determine them.
func determined(estimates ...measure.Named) []measure.Named {
	return slices.DeleteFunc(estimates, func(e measure.Named) bool {
		return !finite([]float64{e.Mean, e.StdErr, e.Systematic})
	})
}
