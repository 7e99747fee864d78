package diagnose

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/training/change"
)

// firstShare: the start of a run is the first of so many parts of its rows.
const firstShare = 20

// rewardCoupling measures whether the true reward T rises with the proxy R, on which the run is
// trained. The value is the slope ΔT/ΔR over the later part of the proxy's rise, from its middle
// third to the last half of the run. As long as both rise in proportion it is the slope over the
// earlier part. The threshold is half of that, or 0 if that was not positive.
//
// The middle of the rise begins where the mean of three neighbours first reaches a third of the
// rise. It ends where that reaches two thirds. The error is that of both slopes by the scatter of
// both rewards. It is Undefined if either part of the rise is within its noise.
//
// The true reward of Samples is an evaluation now and then. Both are then means over the steps from
// one evaluation to the next (betweenEvaluations).
func rewardCoupling(t *Trace) Evidence {
	reward, truth := t.Reward, t.TrueReward
	if t.Origin == Samples {
		reward, truth = t.betweenEvaluations()
	}
	return t.evidence("true reward per proxy reward", RewardHacking, func(r *run) reading {
		first, last := max(1, len(r.at)/firstShare), len(r.at)-r.late
		start, end := r.means(0, first), r.end()
		rise := end[0] - start[0]
		if _, _, found := r.slope(start, end, first, last); !found {
			return undefined
		}
		from := r.reaches(start[0] + rise/3)
		to := max(from+1, r.reaches(start[0]+2*rise/3))
		middle := r.means(from, to)
		earlier, earlierError, foundEarlier := r.slope(start, middle, first, to-from)
		later, laterError, foundLater := r.slope(middle, end, to-from, last)
		if !foundEarlier || !foundLater {
			return undefined
		}
		threshold := max(0, earlier/2)
		wide := math.Hypot(laterError, earlierError/2)
		return reading{later, wide, AtMost, threshold, r.decoupled(threshold)}
	}, reward, truth)
}

// trueRewardFall measures the slope of the true reward against the proxy over the proxy's whole
// rise. It is for Samples, whose noise may hide what rewardCoupling looks for. The threshold is 0:
// where the true reward falls, no unit of it would make the two one.
func trueRewardFall(t *Trace) Evidence {
	reward, truth := t.betweenEvaluations()
	return t.evidence("true reward over the whole rise", RewardHacking, func(r *run) reading {
		first := max(1, len(r.at)/firstShare)
		slope, wide, found := r.slope(r.means(0, first), r.end(), first, len(r.at)-r.late)
		if !found {
			return undefined
		}
		return reading{slope, wide, AtMost, 0, r.decoupled(0)}
	}, reward, truth)
}

// reaches returns the first row at which the mean of the first column over three neighbours is at
// least x. It is at most the last row but one.
func (r *run) reaches(x float64) int {
	for i := range r.at[:len(r.at)-1] {
		if r.means(max(i-1, 0), i+2)[0] >= x {
			return i
		}
	}
	return len(r.at) - 2
}

// slope returns the increment of the second column over that of the first between two means, over
// the given numbers of rows. Its error is by the deviations of the late values from their line.
// found is false if the increment of the first is within its noise. Neighbours of the second share
// an evaluation, so the error of its mean is √2 times that of independent values.
func (r *run) slope(from, to []float64, rowsFrom, rowsTo int) (slope, wide float64, found bool) {
	late := float64(len(r.at) - r.late)
	errors := distuv.StudentsT{Sigma: 1, Nu: late - 2}.Quantile(1 - change.FalseAlarm)
	noise := func(column int) float64 {
		rest := change.Detrended(r.at[r.late:], r.columns[column][r.late:])
		variance := change.Dot(rest, rest) / (late - 2)
		return errors * math.Sqrt(variance*(1/float64(rowsFrom)+1/float64(rowsTo)))
	}
	run := to[0] - from[0]
	slope = (to[1] - from[1]) / run
	return slope, math.Hypot(math.Sqrt2*noise(1), slope*noise(0)) / run,
		run > max(noise(0), roundOff*math.Abs(to[0]))
}

// decoupled returns the step at which the true reward, the second column, has gained most beyond
// slope times the gain of the proxy, the first.
func (r *run) decoupled(slope float64) int {
	most, first := math.Inf(-1), 0
	for i := range r.at {
		if gained := r.columns[1][i] - slope*r.columns[0][i]; gained > most {
			most, first = gained, i
		}
	}
	return int(r.at[first])
}

// betweenEvaluations returns two averages over the same steps at every row with a true reward. One
// is the mean reward since the last such row, the other the mean of the true reward at both. They
// are NaN elsewhere, and where there is no reward in between.
func (t *Trace) betweenEvaluations() (reward, truth []float64) {
	reward, truth = make([]float64, len(t.Steps)), make([]float64, len(t.Steps))
	last := math.NaN() // true reward at the beginning of the interval
	var since []float64
	for i := range t.Steps {
		reward[i], truth[i] = math.NaN(), math.NaN()
		if i < len(t.Reward) && isNumber(t.Reward[i]) {
			since = append(since, t.Reward[i])
		}
		if i >= len(t.TrueReward) || !isNumber(t.TrueReward[i]) {
			continue
		}
		if !math.IsNaN(last) {
			if len(since) == 0 {
				continue
			}
			reward[i], truth[i] = change.Mean(since), (last+t.TrueReward[i])/2
		}
		last, since = t.TrueReward[i], nil
	}
	return reward, truth
}

// fewEvaluations says how often to evaluate if a log has too few evaluations for a verdict. Twenty
// have minLate and one more in the last half of the steps. It is "" if there are not two.
func (t *Trace) fewEvaluations() string {
	n := 0
	for _, x := range t.TrueReward {
		if isNumber(x) {
			n++
		}
	}
	if t.Origin != Samples || n < 2 {
		return ""
	}
	every := max(1, (slices.Max(t.Steps)-t.Steps[0])/firstShare)
	return fmt.Sprintf("%d evaluations are too few: evaluate every %d steps", n, every)
}
