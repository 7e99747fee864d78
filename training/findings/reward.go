package findings

import (
	"fmt"
	"math"
	"slices"

	"grposim/training/change"
	"grposim/training/logs"
)

// Probabilities with which noise alone, of a reward that does not fall in the mean, passes
// as a fall, and as one that may be chance; each is divided among the tests.
const (
	rewardFalseAlarm = 1e-3
	rewardPerhaps    = 0.05
	rewardTests      = 3
)

// lostReward is the share of its rise from which a lost reward is a failure: a stable
// linear mode that starts at rest overshoots its fixed point by less than its distance
// from it, and so loses less than half of its largest rise when it settles.
const lostReward = 0.5

// rewardCollapse finds that the reward has fallen and not recovered, at once or slowly.
// It is a failure if at least half of the rise is lost and the fall is at least two
// deviations of single rows, so that rows before and after hardly overlap, and no score of
// evaluation contradicts it; else a remark. So is a fall of that size which chance may have
// made (rewardPerhaps), as of the few rows that people paste.
func rewardCollapse(l *logs.Log) []Finding {
	c, has := l.Column(logs.Reward)
	if !has {
		return nil
	}
	var steps []int
	var x []float64
	for i, v := range c.Values {
		if !math.IsNaN(v) {
			steps, x = append(steps, l.Steps[i]), append(x, v)
		}
	}
	if len(x) < change.MinValues {
		return rewardDrop(c.Key, steps, x)
	}
	sudden, _ := change.Late(x, change.Falls)
	if jump, _ := change.LateJump(x, change.Falls); jump.Chance < sudden.Chance {
		sudden = jump
	}
	slow, _ := change.LateTrend(x, change.Falls)
	if slow.To < len(x) && rewardTests*slow.Chance > rewardFalseAlarm {
		slow.Chance = 1 // a fall in the middle of the run that chance may have made is nothing to remark
	}
	limit, chance := rewardFalseAlarm, rewardTests*min(sudden.Chance, slow.Chance)
	if chance > limit {
		limit = rewardPerhaps
	}
	if chance > limit {
		return nil
	}
	since, from, to, text := sudden.Index, sudden.Before.Mean, sudden.After.Mean, "%s falls from %.3g to %.3g at step %d"
	if rewardTests*slow.Chance <= limit && (rewardTests*sudden.Chance > limit || slow.Closer(x, sudden)) {
		// A line through a fall that has ended leaves the range of the values, as below 0.
		fallen := x[slow.From:slow.To]
		since, text = slow.From+bend(fallen), "%s falls slowly from %.3g to %.3g, from step %d on"
		from, to = min(slow.Start, slices.Max(fallen)), max(slow.End, slices.Min(fallen))
		// The fall may have begun before the clearest line, if the values there lie along it.
		first := max(0, slow.From-len(fallen))
		if earlier := first + bend(x[first:slow.To]); since == slow.From && earlier < since {
			top := slow.Start + float64(since-earlier)/float64(len(fallen)-1)*(slow.Start-slow.End)
			if mean := change.Mean(x[earlier:since]); mean > slow.Start && mean < top {
				since, from = earlier, min(top, slices.Max(x[earlier:slow.To]))
			}
		}
		if slow.To < len(x) {
			to = change.Mean(x[slow.To:])
		}
	}
	start, noise := change.Mean(x[:max(1, len(x)/10)]), change.Noise(x)
	large := from-to >= max(lostReward*(from-min(start, to)), 2*noise)
	found := Finding{Level: Remark, Since: steps[since], Text: fmt.Sprintf(text, c.Key, from, to, steps[since])}
	if slices.Contains(l.Resumes, steps[since]) {
		found.Text += ", where the run was resumed"
	}
	// Half of this fall, and four standard errors of a difference of two levels, is no noise.
	// Means of a quarter of the rows since the fall, at least four, see one as short as it.
	levels := max(16, min(4*since/(len(x)-since), since/4))
	back := recovered(x[:since], levels, max(lostReward*(from-to), 4*noise*math.Sqrt(2*float64(levels)/float64(since+1))))
	switch {
	case chance > rewardFalseAlarm && (back || !large):
		return nil
	case chance > rewardFalseAlarm:
		found.Text += fmt.Sprintf("; chance alone shows one as clear in at most 1 of %.0f logs of %d rows", 1/chance, len(x))
	case back:
		found.Text += "; it has fallen as far before and come back, so it may oscillate"
	case large:
		found.Level = Failure
	}
	if kept := scoreKept(l, steps[since]); kept != "" {
		found.Level = Remark
		found.Text += fmt.Sprintf("; %s does not fall, so that the data may have become harder", kept)
	}
	return []Finding{found}
}

// bend returns the index from which a falling series falls: of the least-squares fits of
// y = a − b·max(0, i − k), the k of the best, where the covariance of y with that regressor
// explains most.
func bend(y []float64) int {
	n, mean, best, at := float64(len(y)), change.Mean(y), 0.0, 0
	var sum, products float64 // of the residuals after k, and of them with i − k
	for k := len(y) - 2; k >= 0; k-- {
		sum += y[k+1] - mean
		products += sum
		m := n - 1 - float64(k) // values after k
		ramp, squares := m*(m+1)/2, m*(m+1)*(2*m+1)/6
		if gain := products * products / (squares - ramp*ramp/n); products < 0 && gain > best {
			best, at = gain, k
		}
	}
	return at
}

// scoreKept returns the key of a score of evaluation that does not fall at a step, "" if
// there is none.
func scoreKept(l *logs.Log, step int) string {
	for _, t := range []*logs.Table{l.Evaluation, &l.Table} {
		if t == nil {
			continue
		}
		for _, c := range t.Columns {
			if of(c, logs.EvalScore) && change.Kept(t.Steps, c.Values, step) {
				return c.Key
			}
		}
	}
	return ""
}

// recovered reports whether the level of x, seen by a number of means, has fallen by at least
// a distance and risen again as far.
func recovered(x []float64, levels int, distance float64) bool {
	top, bottom := math.Inf(-1), math.Inf(1) // bottom: the least since the top
	for i := range levels {
		values := x[i*len(x)/levels : (i+1)*len(x)/levels]
		if len(values) == 0 {
			continue
		}
		level := change.Mean(values)
		if top-bottom >= distance && level-bottom >= distance {
			return true
		}
		if level > top {
			top, bottom = level, math.Inf(1)
		}
		bottom = min(bottom, level)
	}
	return false
}

// rewardDrop remarks that the last of a few rows, at least two, have at most half the
// reward of every row before, and differ less among themselves than from those: too few
// to exclude chance.
func rewardDrop(key string, steps []int, x []float64) []Finding {
	for k := 1; k+2 <= len(x); k++ {
		lowest, highest := slices.Min(x[:k]), slices.Max(x[k:])
		inner := max(slices.Max(x[:k])-lowest, highest-slices.Min(x[k:]))
		if slices.Min(x) >= 0 && highest <= (1-lostReward)*lowest && lowest > 0 && lowest-highest >= 2*inner {
			return []Finding{{Level: Remark, Since: steps[k],
				Text: fmt.Sprintf("%s falls from %.3g to %.3g at step %d, of %d rows, which are too few to exclude chance", key, lowest, highest, steps[k], len(x))}}
		}
	}
	return nil
}
