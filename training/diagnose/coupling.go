package diagnose

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/training/change"
)

// rewardCoupling measures whether the true reward T rises with the proxy R (the
// reward that the run is trained on): the slope ΔT/ΔR of their increments over the
// later part of the proxy's rise, from the middle third of the rise to the last half
// of the run. As long as the increments are proportional the slope equals that over
// the earlier part; once they are decoupled it is 0, or negative if the true reward
// falls. The threshold is the midpoint: half of the earlier slope, or 0 if that was
// not positive.
//
// The error is the scatter of the true reward, of Samples with that of the threshold.
// The value is Undefined if the proxy has not
// risen by more than its own scatter.
//
// Of Samples, whose true reward is an evaluation now and then, both are means over the
// steps from one evaluation to the next (betweenEvaluations).
func rewardCoupling(t *Trace) Evidence {
	const name = "true reward per proxy reward"
	if t.Origin == Samples {
		return sampledCoupling(t, name)
	}
	r, o := t.rows(t.Reward, t.TrueReward)
	if o != Observed {
		return unobserved(name, RewardHacking, o)
	}
	start, end := r.start(), r.end()
	rise := end[0] - start[0]
	if !(rise > max(r.scatter(0), roundOff*math.Abs(end[0]))) {
		return unobserved(name, RewardHacking, Undefined)
	}
	threshold := 0.0
	if middle, found := r.middle(start[0]+rise/3, start[0]+2*rise/3); found {
		threshold = max(0, (middle[1]-start[1])/(middle[0]-start[0])/2)
		start = middle
	}
	rise = end[0] - start[0]
	return measured(name, RewardHacking, (end[1]-start[1])/rise, r.scatter(1)/rise, AtMost, threshold, r.decoupled(threshold))
}

// firstShare: the start of a run with evaluations are its first evaluations, one of twenty.
// A tenth of the run may hold much of the rise.
const firstShare = 20

// sampledCoupling is rewardCoupling for Samples. The middle of the rise are the rows from
// the first at which the mean of three neighbouring rows reaches a third of the rise to
// the first at which it reaches two thirds: single rows are not chosen by their noise. The
// error is that of both slopes, of which the threshold is half the earlier one, with the
// noise of both rewards. It is Undefined too if either part of the rise is within the noise.
func sampledCoupling(t *Trace, name string) Evidence {
	r, o := t.rows(t.betweenEvaluations())
	if o != Observed {
		return unobserved(name, RewardHacking, o)
	}
	first, last := max(1, len(r.at)/firstShare), len(r.at)-r.late
	start, end := r.means(0, first), r.end()
	rise := end[0] - start[0]
	if _, _, found := r.slope(start, end, first, last); !found {
		return unobserved(name, RewardHacking, Undefined)
	}
	from := r.reaches(start[0] + rise/3)
	to := max(from+1, r.reaches(start[0]+2*rise/3))
	middle := r.means(from, to)
	inner := to - from
	earlier, earlierError, foundEarlier := r.slope(start, middle, first, inner)
	later, laterError, foundLater := r.slope(middle, end, inner, last)
	if !foundEarlier || !foundLater {
		return unobserved(name, RewardHacking, Undefined)
	}
	threshold := max(0, earlier/2)
	return measured(name, RewardHacking, later, math.Hypot(laterError, earlierError/2), AtMost, threshold, r.decoupled(threshold))
}

// reaches returns the first row at which the mean of the first column over three
// neighbouring rows is at least x, at most the last row but one.
func (r *run) reaches(x float64) int {
	for i := range r.at[:len(r.at)-1] {
		if r.means(max(i-1, 0), i+2)[0] >= x {
			return i
		}
	}
	return len(r.at) - 2
}

// slope returns the increment of the second column over that of the first between two
// means, over the given numbers of rows, with its error by the deviations of the late
// values from their line, since a reward that goes on moving is no noise; found is false if the increment of the first is within its noise. Columns are
// those of betweenEvaluations: neighbours of the second share an evaluation, so the error
// of its mean is √2 times that of independent values.
func (r *run) slope(from, to []float64, rowsFrom, rowsTo int) (slope, wide float64, found bool) {
	late := float64(len(r.at) - r.late)
	noise := func(column int) float64 {
		rest := change.Detrended(r.at[r.late:], r.columns[column][r.late:])
		errors := distuv.StudentsT{Sigma: 1, Nu: late - 2}.Quantile(1 - change.FalseAlarm)
		return errors * math.Sqrt(change.Dot(rest, rest)/(late-2)*(1/float64(rowsFrom)+1/float64(rowsTo)))
	}
	run := to[0] - from[0]
	slope = (to[1] - from[1]) / run
	return slope, math.Hypot(math.Sqrt2*noise(1), slope*noise(0)) / run, run > max(noise(0), roundOff*math.Abs(to[0]))
}

// trueRewardFall measures the slope of the true reward against the proxy over the whole
// rise of the proxy, from the first of the evaluations to the last half of the run. The
// threshold is 0: where the true reward falls, no unit of it would make the two one. It
// is for Samples, whose noise may hide what rewardCoupling looks for. It is Undefined as
// that is.
func trueRewardFall(t *Trace) Evidence {
	const name = "true reward over the whole rise"
	r, o := t.rows(t.betweenEvaluations())
	if o != Observed {
		return unobserved(name, RewardHacking, o)
	}
	first, last := max(1, len(r.at)/firstShare), len(r.at)-r.late
	slope, wide, found := r.slope(r.means(0, first), r.end(), first, last)
	if !found {
		return unobserved(name, RewardHacking, Undefined)
	}
	return measured(name, RewardHacking, slope, wide, AtMost, 0, r.decoupled(0))
}

// scatter returns the half-width of the interval of the difference between the late mean
// of a column and its start, by the deviation of its late values.
func (r *run) scatter(column int) float64 {
	first, last := float64(max(1, len(r.at)/10)), float64(len(r.at)-r.late)
	return standardErrors * deviation(r.columns[column][r.late:]) * math.Sqrt(1/first+1/last)
}

// decoupled returns the step at which the true reward, the second column, has gained
// most beyond the slope times the gain of the proxy, the first.
func (r *run) decoupled(slope float64) int {
	most, first := math.Inf(-1), 0
	for i := range r.at {
		if gained := r.columns[1][i] - slope*r.columns[0][i]; gained > most {
			most, first = gained, i
		}
	}
	return int(r.at[first])
}

// betweenEvaluations returns, at every row with a true reward, the mean reward of the
// rows since the last such row, and the mean of the true reward at both: two averages over
// the same steps. It is NaN elsewhere, and where there is no reward in between.
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
		switch {
		case math.IsNaN(last):
			last, since = t.TrueReward[i], nil
		case len(since) > 0:
			reward[i], truth[i] = change.Mean(since), (last+t.TrueReward[i])/2
			last, since = t.TrueReward[i], nil
		}
	}
	return reward, truth
}

// fewEvaluations says of a log with too few evaluations for a verdict what they show, from the
// mean over the first quarter of the values to that over the last, and how often to evaluate:
// twenty evaluations have minLate and one more in the last half of the steps. It is "" if there
// are not two evaluations and two rewards.
func (t *Trace) fewEvaluations() string {
	course := func(series []float64) (text string, n int) {
		var x []float64
		for _, v := range series {
			if isNumber(v) {
				x = append(x, v)
			}
		}
		if len(x) < 2 {
			return "", len(x)
		}
		quarter := max(1, len(x)/4)
		return fmt.Sprintf("from %.3g to %.3g", change.Mean(x[:quarter]), change.Mean(x[len(x)-quarter:])), len(x)
	}
	truth, n := course(t.TrueReward)
	reward, rewards := course(t.Reward)
	r, _ := t.rows(t.betweenEvaluations())
	if t.Origin != Samples || n < 2 || rewards < 2 {
		return ""
	}
	text := fmt.Sprintf("%d evaluations, in which the true reward goes %s while the reward goes %s, are too few: %d with rewards since the one before are needed in their last half, which has %d", n, truth, reward, minLate, len(r.at)-r.late)
	switch every := (slices.Max(t.Steps) - t.Steps[0]) / firstShare; {
	case rewards < firstShare: // no evaluation would have a reward before it
		return text
	case every > 1:
		return text + fmt.Sprintf(", so evaluate every %d steps", every)
	}
	return text + ", so evaluate at every step"
}

// middle returns the column means over those rows of the first half of the run
// whose first column lies in [lo, hi]; found is false if there are no such rows.
func (r *run) middle(lo, hi float64) (means []float64, found bool) {
	inside := run{columns: make([][]float64, len(r.columns))}
	for i := range r.late {
		if x := r.columns[0][i]; x >= lo && x <= hi {
			inside.at = append(inside.at, r.at[i])
			for n := range r.columns {
				inside.columns[n] = append(inside.columns[n], r.columns[n][i])
			}
		}
	}
	if len(inside.at) == 0 {
		return nil, false
	}
	return inside.means(0, len(inside.at)), true
}
