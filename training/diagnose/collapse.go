package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/training/change"
)

// offPolicy measures in three ways, over the last half of the run, how far the policy
// is from the one that drew the samples. The bound is that of the clipped objective, 1 ± ε
// with ε = 0.2 (clipLimit).
//
// clipped is the share of samples or tokens beyond that bound. At the threshold ½ most of
// them are. It is Undefined if it is 0 throughout: with one update per batch the ratio is
// 1 and nothing can be clipped.
//
// moved is KL(π_old‖π). Its threshold is that of log ratios whose root mean square is
// log(1+ε), ½ log²(1+ε), since KL = ½E[(log ratio)²] for small ones.
//
// weights is the distance of the mean ratio from 1, its expectation; the threshold is ε.
func offPolicy(t *Trace) (clipped, moved, weights Evidence) {
	limit := math.Log(clipLimit)
	distance := slices.Clone(t.RatioMean)
	for i, x := range distance {
		distance[i] = math.Abs(x - 1)
		if x == 0 {
			distance[i] = math.NaN() // no ratio is 0: nothing was recorded
		}
	}
	clipped = t.lateLevel("clip fraction", t.ClipFraction, 0.5)
	moved = t.lateLevel("KL to the old policy", t.KLOld, limit*limit/2)
	weights = t.lateLevel("distance of the mean importance ratio from 1", distance, clipLimit-1)
	return clipped, moved, weights
}

// lateLevel measures the late mean of a series that is a sign of instability from a
// threshold on, or its minLate-th largest late value if that is smaller: a few outliers
// are not enough, and as many values past the threshold are, however they scatter: a run
// without the sign has none. A level below the threshold is the absence of the sign only
// if it is clear of the noise. It is Undefined if every value is 0.
func (t *Trace) lateLevel(name string, series []float64, threshold float64) Evidence {
	r, o := t.rows(series)
	if o != Observed {
		return unobserved(name, DynamicalInstability, o)
	}
	if onlyZeros(series) {
		return unobserved(name, DynamicalInstability, Undefined)
	}
	t.settle(&r, 0)
	level := min(r.end()[0], nthLargest(r.columns[0][r.late:], minLate))
	wide := 0.0
	if level < threshold {
		wide = t.lateError(&r, 0)
	}
	return measured(name, DynamicalInstability, level, wide, AtLeast, threshold, r.onset(0, AtLeast, threshold))
}

// movedAtOnce measures how far the policy went within one lag: the second largest
// KL(π_old‖π), for Samples, of which a row may hold more than one lag; a single outlier is
// not enough. The threshold is half of the entropy at the start: a policy
// that lost that much at once did not lose it step by step. In a concentrated policy it is
// a sign of instability, as the ratio reached is for Expectations.
func movedAtOnce(t *Trace) Evidence {
	const name = "KL to the old policy reached"
	r, o := t.rows(t.KLOld)
	if o != Observed {
		return unobserved(name, DynamicalInstability, o)
	}
	h, o := t.rows(t.Entropy)
	if o != Observed {
		return unobserved(name, DynamicalInstability, Undefined)
	}
	threshold := h.columns[0][0] / 2
	first := slices.IndexFunc(r.columns[0], func(x float64) bool { return x >= threshold })
	return observed(name, DynamicalInstability, nthLargest(r.columns[0], 2), AtLeast, threshold, int(r.at[max(first, 0)]))
}

// nthLargest returns the n-th largest of at least n values.
func nthLargest(x []float64, n int) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[len(sorted)-n]
}

// onlyZeros reports whether every number of a series is 0.
func onlyZeros(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return isNumber(v) && v != 0 })
}

// lostBatches is the number of batches of rows in which rewardLost looks for the highest.
const lostBatches = 2 * minLate

// rewardLost measures the share of its rise that the reward has lost again: the highest
// mean of a sixteenth of the rows minus that of the last quarter, of what follows it
// there, over the highest minus the first sixteenth, or minus the last quarter if that is
// lower. The threshold is ½. A stable linear mode that starts at rest overshoots its
// fixed point by less than its distance from it, and so loses less than half of its
// largest rise when it settles.
//
// The error is that of batch means, by the noise of rows or of three neighbouring batches
// about their line, whichever is larger, so that the highest of all batches is chosen by chance with
// probability change.FalseAlarm. A loss within the error is none. It is Undefined for
// Expectations, which need no such sign, if the highest is the start, and if the true reward
// does not fall with it: then the data may have become harder.
func rewardLost(t *Trace) Evidence {
	const name = "lost share of the reward's rise"
	r, o := t.rows(t.Reward)
	if o != Observed {
		return unobserved(name, DynamicalInstability, o)
	}
	if t.Origin == Expectations || len(r.at) < lostBatches {
		return unobserved(name, DynamicalInstability, Undefined)
	}
	x := r.columns[0]
	batches, bends := change.Batches(x, lostBatches), make([]float64, lostBatches-2)
	for i := range bends {
		bends[i] = math.Abs(batches[i] - 2*batches[i+1] + batches[i+2])
	}
	top := slices.Index(batches, slices.Max(batches))
	after := batches[min(max(lostBatches*3/4, top+1), lostBatches-1):] // a rise within the last quarter is no loss
	end := change.Mean(after)
	bottom := min(batches[0], end)
	between := change.Median(bends) / distuv.UnitNormal.Quantile(0.75) / math.Sqrt(6)
	noise := max(between, change.Noise(x)/math.Sqrt(float64(len(x)/lostBatches)))
	error := distuv.UnitNormal.Quantile(1-change.FalseAlarm/lostBatches) * noise * math.Sqrt(1+1/float64(len(after)))
	rise, loss := batches[top]-bottom, batches[top]-end
	if !(rise > roundOff*math.Abs(batches[top])) {
		return unobserved(name, DynamicalInstability, Undefined)
	}
	if loss <= error {
		return measured(name, DynamicalInstability, 0, 0, AtLeast, 0.5, 0)
	}
	height := top * len(x) / lostBatches
	since := int(r.at[height+change.Onset(len(x)-height, func(i int) float64 { return batches[top] - loss/2 - x[height+i] })])
	if change.Kept(t.Steps, t.TrueReward, since) {
		return unobserved(name, DynamicalInstability, Undefined)
	}
	return measured(name, DynamicalInstability, loss/rise, error/rise, AtLeast, 0.5, since)
}

// gradientGrowth measures the mean gradient norm of the last half of the run over that of
// the first. The threshold is e, as for the amplitude of an oscillation: growth by less
// cannot be told from none.
//
// A gradient also grows in a healthy run that begins to learn, and then the reward rises
// faster, by ΔJ = η‖∇J‖². It is a sign only if the reward's rise over the last half
// (between its quarters) is less than the growth times that over the first half; the square
// of the growth is expected of a healthy run, and no growth of one whose gradient is not the
// reward's. It is Undefined otherwise, for Expectations, and if the reward did not
// rise over the first half by more than its scatter.
func gradientGrowth(t *Trace) Evidence {
	const name = "growth of the gradient norm"
	r, o := t.rows(t.GradientNorm, t.Reward)
	if o != Observed {
		return unobserved(name, DynamicalInstability, o)
	}
	if t.Origin == Expectations || r.late < minLate {
		return unobserved(name, DynamicalInstability, Undefined)
	}
	reward, norm := r.columns[1], r.columns[0]
	gain := func(rows []float64) float64 { return change.Mean(rows[len(rows)/2:]) - change.Mean(rows[:len(rows)/2]) }
	first, last := gain(reward[:r.late]), gain(reward[r.late:])
	scatter := standardErrors * change.Noise(reward[:r.late]) * 2 / math.Sqrt(float64(r.late))
	early := change.Mean(norm[:r.late])
	t.settle(&r, 0)
	growth := r.end()[0] / early
	if !(first > scatter) || growth >= 1 && last >= growth*first {
		return unobserved(name, DynamicalInstability, Undefined)
	}
	return measured(name, DynamicalInstability, growth, t.lateError(&r, 0)/early, AtLeast, math.E, r.onset(0, AtLeast, math.E*early))
}

// undefined says why a diagnostic of Samples has no value although its series is there.
func undefined(diagnostic string) string {
	switch diagnostic {
	case "true reward per proxy reward":
		return "the reward has not risen by more than its noise, so there is nothing for the true reward to follow"
	case "clip fraction":
		return "the clip fraction is 0 throughout: with one update per batch nothing can be clipped"
	}
	return diagnostic + " has no value in this run"
}
