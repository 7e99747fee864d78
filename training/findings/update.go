package findings

import (
	"fmt"
	"math"
	"slices"

	"grposim/training/logs"
)

// numericalFailure finds updates that are not numbers.
//
// An update is lost if its gradient norm, its loss or its reward is NaN or infinite. Without
// gradient norm and loss KL and entropy speak for it, and what passes is no failure: missing values
// look so too. Beside a finite gradient norm or loss they do not: the NaN has not reached the
// update. Losses after the last number are a failure if they are more in a row than were lost
// before and passed.
//
// Tables of some tools have NaN where nothing was recorded. A file is such a table if a learning
// rate or a length is NaN, or a reward beside a finite gradient norm. Then none is believed.
func numericalFailure(l *logs.Log) []Finding {
	var broken []logs.Column // columns of the update with values that are not finite
	for _, c := range l.Columns {
		switch c.Quantity {
		case logs.LR, logs.LenMean:
			if len(c.NotFinite) > 0 {
				return nil
			}
		case logs.GradNorm, logs.Loss, logs.Reward, logs.KLRef, logs.KLOld, logs.Entropy:
			if len(c.NotFinite) > 0 {
				broken = append(broken, c)
			}
		}
	}
	_, norm := l.Column(logs.GradNorm)
	_, loss := l.Column(logs.Loss)
	recorded := norm || loss
	var rows, steps []int // in which it is known whether the update is a number
	var lost []bool       // by row of rows
	for row, step := range l.Steps {
		hasNumber := func(c logs.Column) bool { return !math.IsNaN(c.Values[row]) }
		update := !math.IsNaN(value(l, logs.GradNorm, row)) || !math.IsNaN(value(l, logs.Loss, row))
		bad := false
		for _, c := range broken {
			_, is := slices.BinarySearch(c.NotFinite, row)
			if is && c.Quantity == logs.Reward && !math.IsNaN(value(l, logs.GradNorm, row)) {
				return nil // NaN is this file's word for what is missing
			}
			bad = bad || is && (!update || c.Quantity == logs.GradNorm || c.Quantity == logs.Loss)
		}
		number := !recorded && slices.ContainsFunc(broken, hasNumber)
		if bad && slices.ContainsFunc(l.Columns, hasNumber) || update || number {
			rows, lost, steps = append(rows, row), append(lost, bad), append(steps, step)
		}
	}
	in := longest(steps, func(i int) bool { return lost[i] })
	if in.total == 0 {
		return nil
	}
	end, passed := 0, 0 // the first row of the lost end, and the most rows lost at a time before
	for i := range lost {
		if !lost[i] {
			passed, end = max(passed, i-end), i+1
		}
	}
	f := Finding{Level: Failure, Since: in.first, Text: brokenKeys(broken, rows, lost) + " " + in.text()}
	switch {
	case in.always():
		f.Stops, f.Text = true, f.Text+": every update is skipped or harms the weights, nothing is trained"
	case len(lost)-end > passed:
		f.Since, f.Stops = steps[end], true
		f.Text = fmt.Sprintf("%s since step %d to the end (%d of %d rows): the run is lost since then",
			brokenKeys(broken, rows[end:], lost[end:]), steps[end], len(lost)-end, len(lost))
	case !recorded:
		f.Level, f.Text = Remark, f.Text+": those updates are skipped, or their values are missing"
	case 2*in.total >= len(lost):
		f.Text += ": most updates are skipped"
	default:
		f.Level, f.Text = Remark, f.Text+": those updates are skipped"
	}
	return []Finding{f}
}

// brokenKeys says which columns are not finite in one of the rows that are lost.
func brokenKeys(broken []logs.Column, rows []int, lost []bool) string {
	var keys []string
	for _, c := range broken {
		if slices.ContainsFunc(c.NotFinite, func(row int) bool {
			i, found := slices.BinarySearch(rows, row)
			return found && lost[i]
		}) {
			keys = append(keys, c.Key)
		}
	}
	if len(keys) == 1 {
		return keys[0] + " is NaN or infinite"
	}
	return join(keys) + " are NaN or infinite"
}

// noUpdate finds updates that do not move the weights: a learning rate of 0, or a gradient of
// exactly 0 though rewards within groups differ.
//
// Without a signal in any group a gradient of 0 is right, and noSignal says so. Where only the mean
// reward is recorded, it may be right at its extremes (extremeRewards). A gradient of 0 in single
// rows of many is a remark, as one that has passed is. It may come from a step without signal whose
// rewards the row has not (logging_steps of TRL).
func noUpdate(l *logs.Log) (found []Finding) {
	if norm := read(l, notBelow0, logs.GradNorm); len(norm.values) > 0 && norm.below == 0 {
		differ, within, shown := rewardsDiffer(l)
		at := longest(norm.steps, func(i int) bool {
			row, _ := slices.BinarySearch(l.Steps, norm.steps[i])
			return norm.values[i] == 0 && differ[row] >= 0
		})
		because, alike := "though "+shown, false
		if shown == "" {
			because, alike = "and no column says whether rewards within groups differ", extremeRewards(l, norm)
		}
		what := norm.key + " is"
		if loss := read(l, anything, logs.Loss); len(loss.values) > 0 && loss.below == 0 &&
			slices.Max(loss.values) == 0 && slices.Min(loss.values) == 0 {
			what = loss.key + " and " + norm.key + " are"
		}
		f := Finding{Level: Remark, Since: at.since(),
			Text: fmt.Sprintf("%s exactly 0 %s, %s", what, at.text(), because)}
		if at.certain() && at.atEnd && (within || at.read > 1) && !alike {
			f.Level, f.Stops = Failure, at.end == at.read
			f.Text += ": the weights do not move"
		}
		if at.total > 0 {
			found = append(found, f)
		}
	}
	rate := read(l, notBelow0, logs.LR)
	// The first row of a warm-up and the last of a decay have a rate of 0 rightly.
	at := longest(rate.steps, func(i int) bool { return rate.values[i] == 0 && rate.below == 0 })
	if at.certain() && at.atEnd && at.total > 1 {
		found = append(found, Finding{Level: Failure, Since: at.since(), Stops: at.end == at.read,
			Text: fmt.Sprintf("%s is 0 %s: the weights do not move", rate.key, at.text()),
			Next: "check the schedule: its number of steps, the warm-up, the state that a resumed run loads"})
	}
	return found
}

// extremeRewards reports whether the mean reward is the smallest or the largest of the log in every
// row with a gradient of 0. It is so where all samples fail or all succeed. Mean rewards of groups
// that differ lie between in some row.
func extremeRewards(l *logs.Log, norm series) bool {
	smallest, largest := extremes(l)
	for i, step := range norm.steps {
		row, _ := slices.BinarySearch(l.Steps, step)
		if reward := value(l, logs.Reward, row); norm.values[i] == 0 && reward != smallest && reward != largest {
			return false
		}
	}
	return true
}

// printed is the last digit of a loss that TRL prints.
const printed = 1e-4

// zeroLoss finds a loss of 0, which is no failure by itself. The advantages of a group add up to 0:
// at the policy that drew the samples the loss is the penalty β·KL. It is not said where nothing
// shows a gradient.
func zeroLoss(l *logs.Log) []Finding {
	loss := read(l, anything, logs.Loss)
	if len(loss.values) == 0 || slices.Max(loss.values) > printed || slices.Min(loss.values) < -printed {
		return nil
	}
	// Something must show that there is a gradient: its norm, or rewards that differ.
	_, _, shown := rewardsDiffer(l)
	if column, has := l.Column(logs.GradNorm); has {
		norm := numbers(l, column, positive)
		if len(norm.values) == 0 || len(column.NotFinite) > 0 {
			return nil
		}
		shown = fmt.Sprintf("the gradient is not 0 (%s %s)", norm.key, span(norm.values, plain))
	}
	fails := func(f Finding) bool { return f.Level == Failure }
	if shown == "" || slices.ContainsFunc(noSignal(l), fails) {
		return nil
	}
	at := longest(loss.steps, func(int) bool { return true })
	return []Finding{{Level: Remark, Since: at.from,
		Text: fmt.Sprintf("%s is 0 to four digits %s, which is normal, and %s: "+
			"the advantages of a group add up to 0, and what is left is the KL penalty", loss.key, at.text(), shown)}}
}

// rewardsDiffer says of every row whether rewards within some group differ: 1 yes, 0 not known, −1
// no. shown names the column that says so, of groups where within is set, else of all rewards.
func rewardsDiffer(l *logs.Log) (differ []int, within bool, shown string) {
	differ = make([]int, len(l.Steps))
	share, exact := ZeroVariance(l)
	deviation, _ := l.Column(logs.RewardStdWithin)
	advantage, has := l.Column(logs.AdvantageMax)
	for row := range l.Steps {
		if share.Values[row] == 1 || has && advantage.Values[row] == 0 {
			differ[row] = -1
			continue
		}
		for i, c := range []logs.Column{share, deviation, advantage} {
			if c.Values == nil || i == 0 && !exact || !(c.Values[row] > 0 || c.Values[row] == 0 && i == 0) {
				continue
			}
			if differ[row] = 1; !within {
				within, shown = true, fmt.Sprintf("rewards within groups differ (%s %s)", c.Key, plain(c.Values[row]))
			}
		}
	}
	std := read(l, positive, logs.RewardStdAmbiguous, logs.RewardStdBatch)
	if !within && len(std.values) > 0 {
		shown = fmt.Sprintf("rewards differ (%s %s)", std.key, span(std.values, plain))
	}
	return differ, within, shown
}
