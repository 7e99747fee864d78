// Package fit fits growth laws to the reward curve of one training run and forecasts
// how it goes on (docs/theory-trainers.md §10).
//
// A Curve is the logged reward over time; LoggedTime makes the integral of a logged learning
// rate. Fit compares laws with inertia with rivals without, by least squares that allow for
// noise of any level, autocorrelated residuals and outliers. It says which parameters the
// curve identifies, and Result.Predict forecasts later rows. The simulator's laws of growth are in
// sim/measure, and fitted there to its own logs.
package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// MinRows is the number of rows that a fit or forecast needs.
const MinRows = 20

// Curve is the reward of one run over time.
type Curve struct {
	Time   []float64 // strictly increasing: optimizer steps, or LoggedTime
	Reward []float64 // finite, one per time, in any unit
}

func (c Curve) end() float64 { return c.Time[len(c.Time)-1] }

// known is the time from the first row to the last.
func (c Curve) known() float64 { return c.end() - c.Time[0] }

// unit is the power of two in the largest reward, 1 if all are 0. Rewards are fitted in this
// unit, so that squares of 1e300 and of 1e-300 are numbers; a division by it is exact.
func (c Curve) unit() float64 {
	largest := max(slices.Max(c.Reward), -slices.Min(c.Reward))
	if largest == 0 {
		return 1
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, exponent-1)
}

// in returns the curve with its rewards in a unit.
func (c Curve) in(unit float64) Curve {
	return Curve{c.Time, times(c.Reward, 1, unit)}
}

// times returns values by the quotient of two powers of two.
func times(values []float64, by, over float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / over * by
	}
	return out
}

// origin is where the times of laws begin: 0, or one row before the first of a curve that begins
// later than it is long. Such is the curve of a resumed run.
func (c Curve) origin() float64 {
	if c.Time[0] <= c.known() {
		return 0
	}
	return c.Time[0] - c.known()/float64(len(c.Time)-1)
}

// mean returns the mean of values, of which there is at least one.
func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// smooth returns centred moving averages of the values over a share of them, shorter at the ends.
func smooth(values []float64, share float64) []float64 {
	n := len(values)
	half, sums, out := int(share*float64(n)/2), make([]float64, n+1), make([]float64, n)
	floats.CumSum(sums[1:], values)
	for i := range values {
		first, end := max(0, i-half), min(n, i+half+1)
		out[i] = (sums[end] - sums[first]) / float64(end-first)
	}
	return out
}

// noise estimates the variance of the noise of each row. The squared distance of a row from the
// mean of its neighbours has the expectation 3/2 of it, whatever the slope. The estimate is half
// the average over a tenth of the rows and half that of all.
func noise(y []float64) []float64 {
	n := len(y)
	d := make([]float64, n)
	for i := 1; i < n-1; i++ {
		r := y[i] - (y[i-1]+y[i+1])/2
		d[i] = r * r / 1.5
	}
	d[0], d[n-1] = d[1], d[n-2]
	all := mean(d)
	local := smooth(d, max(0.1, 10/float64(n)))
	for i := range local {
		local[i] = (local[i] + all) / 2
	}
	return local
}

// NoiseDeviation estimates the standard deviation of the noise of a row, the root of the
// mean variance.
func NoiseDeviation(c Curve) float64 {
	return c.unit() * math.Sqrt(mean(noise(c.in(c.unit()).Reward)))
}

// maxBlocks bounds the rows of a fit. Longer curves are averaged over blocks of equal numbers of
// rows, whose noise has a variance smaller by that number.
const maxBlocks = 500

// rounding is the error of a logged reward, in the unit of the curve: differences of this
// size say nothing.
const rounding = 1e-14

// blocks are the rows of a curve, averaged where there are many.
type blocks struct {
	time, y  []float64
	variance []float64 // of the noise of y
}

// Thin averages successive rows of a curve of more than 500 and returns how many. The
// first rows are dropped if their number is no multiple of that: the newest count.
func (c Curve) Thin() (thin Curve, rows int) {
	rows = (len(c.Time) + maxBlocks - 1) / maxBlocks
	if rows == 1 {
		return c, 1
	}
	for i := len(c.Time) % rows; i < len(c.Time); i += rows {
		thin.Time = append(thin.Time, mean(c.Time[i:i+rows]))
		thin.Reward = append(thin.Reward, mean(c.Reward[i:i+rows]))
	}
	return thin, rows
}

// average divides c, in its unit, into at most maxBlocks blocks.
func (c Curve) average() blocks {
	thin, rows := c.Thin()
	v := noise(c.Reward)
	b := blocks{time: thin.Time, y: thin.Reward}
	least := max(mean(v), square(rounding)) / 2 // a curve without noise has at least rounding errors
	for i := len(c.Time) % rows; i < len(c.Time); i += rows {
		b.variance = append(b.variance, max(mean(v[i:i+rows]), least)/float64(rows))
	}
	return b
}

// length is the time from the first row to the last, at most ten times what the distances of nine
// tenths of the rows allow. A log whose steps jump far tells nothing of the time between. Most rows
// may be close, at a learning rate near 0.
func (b blocks) length() float64 {
	n := len(b.time) - 1
	gaps := make([]float64, n)
	for i := range gaps {
		gaps[i] = b.time[i+1] - b.time[i]
	}
	slices.Sort(gaps)
	return min(b.time[n]-b.time[0], 10*gaps[9*n/10]*float64(n))
}

func square(x float64) float64 { return x * x }

// LoggedTime returns the intrinsic time ∫η dt / max η of each step, in steps at the peak learning
// rate. rates has one per step. In this time a run under a schedule follows the law of a constant
// rate. Over steps a warm-up looks like inertia, and a decay like saturation. The rate is linear
// between rows, and before the first that of the first. A rate of 0 advances the time by 1e-9 of a
// step, so that it increases strictly. ok is false if no rate is positive, or one is negative or
// not finite.
func LoggedTime(steps, rates []float64) (time []float64, ok bool) {
	peak := 0.0
	for _, r := range rates {
		if !(r >= 0) || math.IsInf(r, 0) {
			return nil, false
		}
		peak = max(peak, r)
	}
	if peak == 0 {
		return nil, false
	}
	const least = 1e-9
	at, before, sum := min(0, steps[0]), rates[0], 0.0
	for i, step := range steps {
		width := step - at
		sum += width * max((before+rates[i])/2/peak, least)
		time = append(time, sum)
		at, before = step, rates[i]
	}
	return time, true
}
