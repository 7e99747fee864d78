package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"grposim/training/change"
	"grposim/training/logs"
)

// lostReward is the share of its rise from which a lost reward is a failure. A stable linear mode
// that starts at rest overshoots its fixed point by less than its distance from it. So it loses
// less than half of its largest rise when it settles.
const lostReward = 0.5

// rewardCollapse finds that the level of the reward has fallen and not recovered, at once or slowly
// (slowFall), but for chance of change.FalseAlarm. It is a failure if half of the rise and two
// deviations of single rows are lost, unless the data may have become harder (harder). Else it is
// a remark. Of a reward that has fallen as far before and come back nothing is said.
func rewardCollapse(l *logs.Log) []Finding {
	reward := read(l, anything, logs.Reward)
	steps, x := reward.steps, reward.values
	c, slow := change.Late(x, change.Falls), slowFall(reward)
	d := fall{reward: reward, how: "falls", from: c.Before, to: c.After, begin: c.Index, since: c.Index}
	if c.Chance > change.FalseAlarm {
		d = slow
	}
	if d.since == 0 {
		return nil
	}
	start, noise := change.Mean(x[:max(1, len(x)/10)]), change.Noise(x)
	level := func(row int) float64 { return change.Median(x[max(0, row-leastExcess):max(1, row)]) }
	// Half of this fall, and four standard errors of a difference of two levels, is no noise. Means of
	// a quarter of the rows since the fall, at least four, see one as short as it.
	levels := max(16, min(4*d.since/(len(x)-d.since), d.since/4))
	errors := 4 * noise * math.Sqrt(2*float64(levels)/float64(d.since+1))
	earlier := change.Batches(x[:d.since], min(levels, d.since))
	if change.Swings(earlier, max(lostReward*(d.from-d.to), errors)) > 0 {
		return nil
	}
	said, f := d, Finding{Level: Remark}
	sign, first := earliestSign(l, steps[d.since])
	why := d.harder(l, sign)
	if why == "" && d.from-d.to >= max(lostReward*(d.from-min(start, d.to)), 2*noise) {
		f.Level = Failure
	}
	if f.Level == Failure && slow.since > 0 && 2*(slow.from-slow.to) > 3*(d.from-d.to) { // a part of it
		said = slow
		sign, first = earliestSign(l, steps[said.since])
	}
	for said.how != slow.how && level(said.begin-leastExcess) > level(said.begin)+noise { // it was under way
		said.begin -= leastExcess / 2
		said.from, said.to = level(said.begin), min(d.to, level(len(x)))
		said.since = said.begin + said.half(x[said.begin:])
	}
	f.Since, f.begins = steps[said.since], steps[said.begin]
	f.order = f.Since + (l.Steps[len(l.Steps)-1]-l.Steps[0])/10
	f.Text = fmt.Sprintf("%s %s from %.3g to %.3g, half of it at step %d", reward.key, said.how,
		level(said.begin), said.to, f.Since)
	if sign != "" {
		f.Text, f.order = sign+", then "+f.Text, first
	}
	if slices.Contains(l.Resumes, steps[d.since]) {
		f.Text += ", where the run was resumed"
	}
	if why != "" {
		f.Text += "; " + why + ": the data may have become harder"
	}
	return []Finding{f}
}

type fall struct {
	reward       series
	how          string
	from, to     float64 // levels
	begin, since int     // rows at which it begins, and of half of it; 0: there is none
}

// half returns the row of half of the way between the levels.
func (f fall) half(x []float64) int {
	return change.Onset(len(x), func(i int) float64 { return (f.from+f.to)/2 - x[i] })
}

// leastLeft is the share of a reward of which less is a collapse whatever the data are. It is ours:
// a step of a curriculum that costs more leaves little to learn from.
const leastLeft = 0.3

// Patience is the number of rows in which a reward that has fallen may begin to rise again, and a
// run without signal or with a constant reward may find its first success.
const Patience = 100

// harder says by what a fall is one of the training reward alone, as where the data become harder
// at a step; "" if the policy has become worse, or if it does not learn.
//
// A score of evaluation decides if it is recorded after the fall. The policy is as good as it was if
// the score has lost less than half of the share of its level that the reward has lost. Without one
// it is worse if nearly nothing is left of the reward, or something has leapt before (sign). Else
// gradient, divergence and entropy go on as before. Where none is recorded, it is worse if the
// reward has not risen after Patience.
func (f fall) harder(l *logs.Log, sign string) string {
	level := func(x, all []float64) float64 { return change.Mean(x) - min(0, slices.Min(all)) }
	x, step, worse := f.reward.values, f.reward.steps[f.since], false
	share := (f.from - f.to) / (f.from - min(0, slices.Min(x)))
	for _, t := range []*logs.Table{l.Evaluation, &l.Table} {
		if t == nil {
			continue
		}
		for _, c := range t.Columns {
			score := numbers(&logs.Log{Table: *t}, c, anything)
			n, _ := slices.BinarySearch(score.steps, step)
			if c.Quantity.Family() != logs.EvalScore || n == 0 || n == len(score.steps) {
				continue
			}
			before, after := score.values[max(0, n-2):n], score.values[n:]
			lost := 1 - level(after, score.values)/level(before, score.values)
			if !(lost >= share/2) {
				return c.Key + " does not fall"
			}
			worse = worse || len(after) > 1
		}
	}
	floor, start := leastLeft*f.from, change.Mean(x[:max(1, len(x)/10)])
	if rise := f.from - start; slices.Min(x) < 0 && rise < 4*change.Noise(x) {
		floor = math.Inf(-1)
	} else if slices.Min(x) < 0 { // worse than at the start
		floor = start - lostReward*rise
	}
	gone := below(x[f.since:], floor) || below(x[max(f.since, len(x)-leastExcess):], floor)
	// At a step half of the fall lies between eight rows before and after.
	near := change.Mean(x[max(0, f.since-leastExcess):f.since]) -
		change.Mean(x[f.since:min(f.since+leastExcess, len(x))])
	again := len(x)-f.since >= batches && climbs(x[f.since:], f.from-f.to)
	if worse || sign != "" || gone || near < (f.from-f.to)/2 && !again {
		return ""
	}
	for _, q := range policy {
		if s := read(l, positive, q); len(s.values) >= 2*leastExcess {
			return "nothing leaps before it, and no score of evaluation falls"
		}
	}
	if again {
		return "it rises again"
	} else if len(x)-f.since >= Patience {
		slope, error := change.Line(change.Rows(batches), change.Batches(x[f.since:], batches))
		if slope < error {
			return ""
		}
	}
	return "no other column says more, and it may rise again"
}

// below reports whether the mean of values is below a threshold, but for chance of
// change.FalseAlarm by Student's law.
func below(x []float64, threshold float64) bool {
	n := float64(len(x))
	mean, deviation := stat.MeanStdDev(x, nil)
	return n > 1 && mean+deviation/math.Sqrt(n)*
		distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1-change.FalseAlarm) < threshold
}

// policy are the quantities that leap where the policy breaks.
var policy = []logs.Quantity{logs.GradNorm, logs.KLRef, logs.KLOld, logs.Entropy}

// climbs reports whether values rise somewhere by a quarter of a distance and by more than the range
// of their noise, seen by eight means.
func climbs(x []float64, distance float64) bool {
	noise := 5 * change.Noise(x) / math.Sqrt(float64(len(x)/batches)) // range of 8 means, in 99 %
	fallen := append([]float64{math.Inf(1)}, change.Batches(x, batches)...)
	return change.Swings(fallen, max(distance/4, noise)) > 0
}

// leap is the factor by which a quantity leaves the range that it had before a fall.
const leap = math.E

// earliestSign says which quantity was the first to leap before the reward fell, at which step and
// from which level; "" if none did. A leap is a median of three rows beyond the earlier range by the
// factor leap. That range is of the third quarter of the rows before the fall. since is the step
// before which nothing says that the run broke: other findings say it of KL, entropy and length.
func earliestSign(l *logs.Log, fall int) (text string, since int) {
	first := fall + 1
	for _, q := range append(slices.Clone(policy), logs.LenMean) {
		s := read(l, positive, q)
		end, _ := slices.BinarySearch(s.steps, fall)
		begin := max(0, min(end/2, end-end/4-leastExcess))
		calm := slices.Sorted(slices.Values(s.values[begin : end-end/4]))
		if len(calm) < leastExcess {
			continue
		}
		for i := end - end/4; i < end && s.steps[i] < first; i++ {
			from, to := change.Median(calm), change.Median(s.values[i:min(i+3, len(s.values))])
			verb := "grows"
			switch {
			case to < calm[0]/leap:
				verb = "falls"
			case !(to > calm[len(calm)-1]*leap):
				continue
			}
			first = s.steps[i]
			text = fmt.Sprintf("%s %s %s from %s at about step %d", s.key, verb, factor(from, to),
				plain(from), first)
			if since = fall; q == logs.GradNorm || q == logs.KLOld {
				since = first
			}
		}
	}
	return text, since
}

// parts is the number of batches of rows in which slowFall looks for the highest.
const parts = 16

// slowFall finds that the mean of the last quarter of the rows has lost half of the rise to the
// highest of sixteen batches. The quarter is of what follows that batch. The fall begins at the end
// of the last batch as high but for the error. It is since the row of half of the loss, 0 if there
// is none.
//
// The error is that of batch means, since chance chooses the highest with probability
// change.FalseAlarm. It is by the noise of rows or of three neighbouring batches about their line,
// whichever is larger.
func slowFall(reward series) fall {
	x, f := reward.values, fall{reward: reward, how: "falls slowly"}
	if len(x) < parts {
		return f
	}
	batches, bends := change.Batches(x, parts), make([]float64, parts-2)
	for i := range bends {
		bends[i] = math.Abs(batches[i] - 2*batches[i+1] + batches[i+2])
	}
	top := slices.Index(batches, slices.Max(batches))
	after := batches[min(max(parts*3/4, top+1), parts-1):] // a rise within the last quarter is no loss
	f.from, f.to = batches[top], change.Mean(after)
	between := change.Median(bends) / distuv.UnitNormal.Quantile(0.75) / math.Sqrt(6)
	noise := max(between, change.Noise(x)/math.Sqrt(float64(len(x)/parts)))
	error := distuv.UnitNormal.Quantile(1-change.FalseAlarm/parts) * noise * math.Sqrt(1+1/float64(len(after)))
	lost := f.from - f.to
	if lost > error && lost-error >= lostReward*(f.from-min(batches[0], f.to)) && lost >= 2*change.Noise(x) {
		height := top * len(x) / parts
		f.since = height + f.half(x[height:])
		for i := top; i*len(x)/parts < f.since; i++ {
			if batches[i] >= f.from-error {
				f.begin = min((i+1)*len(x)/parts, f.since)
			}
		}
	}
	return f
}

// constantReward finds a mean reward that is exactly the same in every row. Of few rows that may be
// chance where rewards are 0 or 1, hence a remark.
func constantReward(l *logs.Log) []Finding {
	reward := read(l, anything, logs.Reward)
	if n := len(reward.values); n < 2 || slices.Min(reward.values) != slices.Max(reward.values) {
		return append(nothingSolved(l), formatAlone(l)...)
	}
	all := longest(reward.steps, func(int) bool { return true })
	f := Finding{Level: Remark, Since: reward.steps[0],
		Text: fmt.Sprintf("%s is exactly %s %s", reward.key, plain(reward.values[0]), all.text())}
	if x := reward.values[0]; x >= solved && x <= 1 {
		f.Text += ": solved or nearly so, if 1 is the largest"
	}
	if len(reward.values) >= leastExcess {
		f.Level = Failure
	}
	return []Finding{f}
}

// nothingSolved finds, where groups do not tell, that most rows have a reward and a loss of
// 0, the smallest reward of the log. Single rows show it too.
func nothingSolved(l *logs.Log) []Finding {
	reward := read(l, notBelow0, logs.Reward)
	key := reward.key
	if loss, has := l.Column(logs.Loss); has {
		key += " and " + loss.Key
	}
	at := longest(reward.steps, func(i int) bool {
		row, _ := slices.BinarySearch(l.Steps, reward.steps[i])
		return reward.values[i] == 0 && !(math.Abs(value(l, logs.Loss, row)) > printed)
	})
	smallest, _ := extremes(l)
	if smallest < 0 || at.total == 0 || 2*at.total < at.read || len(noSignal(l)) > 0 {
		return nil
	}
	rows, zero := at.text(), key+" 0"
	if !at.always() {
		rows = fmt.Sprintf("in %d of %d rows", at.total, at.read)
		zero += "; the mean of all is " + plain(change.Mean(reward.values))
	}
	return []Finding{{Level: Remark, Since: at.first, Next: takeEasier,
		Text: fmt.Sprintf("no sample was solved %s (%s): nothing is learned from them", rows, zero)}}
}

const takeEasier = "read completions beside their rewards; " +
	"take easier prompts, more samples, or a warm start"

// formatAlone finds rewards for the format that are won while hardly an answer is right. It looks
// at the second half of the rows of reward components with these names.
func formatAlone(l *logs.Log) []Finding {
	late := func(names ...string) series {
		for _, c := range l.Columns {
			_, name, is := strings.Cut(strings.ToLower(string(c.Quantity)), string(logs.RewardComponent)+"/")
			named := func(word string) bool { return strings.Contains(name, word) }
			if s := numbers(l, c, aShare); is && slices.ContainsFunc(names, named) {
				return series{key: s.key, values: s.values[len(s.values)/2:]}
			}
		}
		return series{}
	}
	format, right := late("format"), late("correct", "accuracy")
	if min(len(format.values), len(right.values)) < leastExcess ||
		change.Mean(format.values) < silent || change.Mean(right.values) > 1-silent {
		return nil
	}
	return []Finding{{Level: Remark, Since: l.Steps[0],
		Text: fmt.Sprintf("the format is won and hardly an answer is right: "+
			"%s %s and %s %s on average in the second half of the rows", format.key,
			plain(change.Mean(format.values)), right.key, plain(change.Mean(right.values))),
		Next: takeEasier}}
}
