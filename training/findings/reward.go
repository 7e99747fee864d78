package findings

import (
	"fmt"
	"math"
	"slices"

	"grposim/training/change"
	"grposim/training/logs"
)

// RewardCollapse: the training reward is lower at the end than it has been.
const RewardCollapse Kind = "reward-collapse"

// rewardFalseAlarm is the probability with which noise alone, of a reward that does not
// fall in the mean, passes as a fall.
const (
	rewardFalseAlarm = 1e-3
	rewardTests      = 3 // among which it is divided
)

// lostReward is the share of its rise from which a lost reward is a failure: a stable
// linear mode that starts at rest overshoots its fixed point by less than its distance
// from it, and so loses less than half of its largest rise when it settles.
const lostReward = 0.5

// rewardCollapse finds that the reward has fallen and not recovered, at once or slowly.
// It is a failure if at least half of the rise is lost and the fall is at least two
// deviations of single rows, so that rows before and after hardly overlap; else a remark.
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
	since, from, to, text := sudden.Index, sudden.Before.Mean, sudden.After.Mean, "%s falls from %.3g to %.3g at step %d"
	if slow.Chance <= rewardFalseAlarm/rewardTests && (sudden.Chance > rewardFalseAlarm/rewardTests || slow.Closer(x, sudden)) {
		since, from, to, text = slow.From, slow.Start, slow.End, "%s falls slowly from %.3g to %.3g, from step %d on"
	} else if sudden.Chance > rewardFalseAlarm/rewardTests {
		return nil
	}
	tenth, start, squares := max(1, len(x)/10), 0.0, 0.0
	for i, v := range x {
		if i < tenth {
			start += v / float64(tenth)
		}
		if i > 0 {
			squares += (v - x[i-1]) * (v - x[i-1])
		}
	}
	noise := math.Sqrt(squares / 2 / float64(len(x)-1))
	found := Finding{Level: Remark, Since: steps[since], Text: fmt.Sprintf(text, c.Key, from, to, steps[since])}
	// Half of this fall, and four standard errors of a difference of two levels, is no noise.
	switch {
	case recovered(x[:since], max(lostReward*(from-to), 4*noise*math.Sqrt(2*levels/float64(since+1)))):
		found.Text += "; it has fallen as far before and come back, so it may oscillate"
	case from-to >= max(lostReward*(from-min(start, to)), 2*noise):
		found.Level = Failure
	}
	return []Finding{found}
}

// levels is the number of means by which recovered sees the course of a series.
const levels = 16

// recovered reports whether the level of x has fallen by at least a distance and risen
// again as far.
func recovered(x []float64, distance float64) bool {
	top, bottom := math.Inf(-1), math.Inf(1) // bottom: the least since the top
	for i := range levels {
		values := x[i*len(x)/levels : (i+1)*len(x)/levels]
		if len(values) == 0 {
			continue
		}
		level := 0.0
		for _, v := range values {
			level += v / float64(len(values))
		}
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
