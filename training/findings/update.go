package findings

import (
	"fmt"
	"math"
	"slices"

	"grposim/training/change"
	"grposim/training/logs"
)

// numericalFailure finds updates that are not numbers.
//
// An update is lost if its gradient norm, its loss or its reward is NaN or infinite. Where
// neither gradient norm nor loss is recorded, KL and entropy speak for it, and what passes is
// no failure: values that are missing look so too. Beside a finite
// gradient norm or loss they do not: what is NaN has not reached the update, and a
// column that is NaN throughout is not computed, as the KL of a run without a penalty.
// Losses after the last number are a failure if they are more in a row than were lost
// before and passed.
//
// Tables of some tools have NaN where nothing was recorded. A file does if a learning rate or
// a length is NaN, which no failure makes so, or a reward beside a finite gradient norm: none
// of its NaN is believed.
func numericalFailure(l *logs.Log) []Finding {
	var broken []logs.Column // columns of the update with values that are not finite
	isBroken := func(c logs.Column, row int) bool {
		_, found := slices.BinarySearch(c.NotFinite, row)
		return found
	}
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
	if len(broken) == 0 {
		return leftOut(l)
	}
	var rows []int  // those in which it is known whether the update is a number
	var lost []bool // by row of rows
	var steps []int // of rows
	_, norm := l.Column(logs.GradNorm)
	_, loss := l.Column(logs.Loss)
	recorded := norm || loss
	for row, step := range l.Steps {
		finite := slices.ContainsFunc(l.Columns, func(c logs.Column) bool { return !math.IsNaN(c.Values[row]) })
		update := !math.IsNaN(value(l, logs.GradNorm, row)) || !math.IsNaN(value(l, logs.Loss, row))
		bad := slices.ContainsFunc(broken, func(c logs.Column) bool {
			if c.Quantity == logs.Reward && isBroken(c, row) && update {
				return false
			}
			return isBroken(c, row) && (!update || c.Quantity == logs.GradNorm || c.Quantity == logs.Loss)
		})
		if c, has := l.Column(logs.Reward); has && isBroken(c, row) && !math.IsNaN(value(l, logs.GradNorm, row)) {
			return nil // NaN is this file's word for what is missing
		}
		number := !recorded && slices.ContainsFunc(broken, func(c logs.Column) bool { return !math.IsNaN(c.Values[row]) })
		if bad && finite || update || number {
			rows, lost, steps = append(rows, row), append(lost, bad), append(steps, step)
		}
	}
	in := longest(steps, func(i int) bool { return lost[i] })
	if in.total == 0 {
		return notReached(l, broken)
	}
	end, passed := 0, 0 // the first row from which every update is lost, and the largest number of rows that were lost at a time before
	for i := range lost {
		if !lost[i] {
			passed, end = max(passed, i-end), i+1
		}
	}
	name := func(from int) string {
		var keys []string
		for _, c := range broken {
			if slices.ContainsFunc(c.NotFinite, func(row int) bool {
				i, found := slices.BinarySearch(rows, row)
				return found && i >= from && lost[i]
			}) {
				keys = append(keys, c.Key)
			}
		}
		if len(keys) == 1 {
			return keys[0] + " is NaN or infinite"
		}
		return join(keys) + " are NaN or infinite"
	}
	before := func() string {
		if earlier := in.total - (len(lost) - end); earlier > 0 {
			return fmt.Sprintf("; so it was in %s before that, first at step %d", logs.CountWords(earlier, "row"), in.first)
		}
		return ""
	}
	f := Finding{Level: Failure, Since: in.first}
	switch {
	case in.always():
		f.Stops = true
		f.Text = fmt.Sprintf("%s %s: every update is skipped or destroys the weights, nothing is trained", name(0), in.text())
	case len(lost)-end > passed:
		f.Since, f.Stops = steps[end], true
		f.Text = fmt.Sprintf("%s since step %d to the end (%d of %d rows): the run is lost since then%s", name(end), steps[end], len(lost)-end, len(lost), before())
	case !recorded:
		f.Level = Remark
		f.Text = fmt.Sprintf("%s %s: those updates are skipped, or their values are missing", name(0), in.text())
	case 2*in.total >= len(lost):
		f.Text = fmt.Sprintf("%s %s: most updates are skipped", name(0), in.text())
	default:
		f.Level = Remark
		f.Text = fmt.Sprintf("%s %s: those updates are skipped", name(0), in.text())
	}
	return []Finding{f}
}

// notReached remarks that KL or entropy is NaN from a step on, beside updates that are
// numbers, after rows in which it was one.
func notReached(l *logs.Log, broken []logs.Column) (found []Finding) {
	for _, c := range broken {
		begin := len(l.Steps) - len(c.NotFinite)
		if c.Quantity != logs.Reward && begin > 0 && c.NotFinite[0] == begin {
			found = append(found, Finding{Level: Remark, Since: l.Steps[begin],
				Text: fmt.Sprintf("%s is NaN or infinite since step %d to the end (%d of %d rows), beside updates that are numbers: it has not reached them", c.Key, l.Steps[begin], len(c.NotFinite), len(l.Steps))})
		}
	}
	return found
}

// leftOut remarks that gradient norm or loss, in every row until then, has no number in the
// rows of the reward that follow, at least enough: writers of JSON put null for a NaN.
func leftOut(l *logs.Log) []Finding {
	reward, _ := l.Column(logs.Reward)
	var keys []string
	f := Finding{Level: Remark, Since: math.MaxInt}
	for _, q := range []logs.Quantity{logs.GradNorm, logs.Loss} {
		c, has := l.Column(q)
		if !has || reward.Values == nil {
			continue
		}
		end := len(c.Values)
		for end > 0 && math.IsNaN(c.Values[end-1]) {
			end--
		}
		rest := 0
		for _, x := range reward.Values[end:] {
			if !math.IsNaN(x) {
				rest++
			}
		}
		if end > 0 && rest >= enough && !slices.ContainsFunc(c.Values[:end], math.IsNaN) {
			keys, f.Since = append(keys, c.Key), min(f.Since, l.Steps[end])
		}
	}
	if len(keys) == 0 {
		return nil
	}
	f.Text = fmt.Sprintf("no number of %s since step %d, though the reward goes on: it may be NaN, for which some writers put nothing", join(keys), f.Since)
	return []Finding{f}
}

// noUpdate finds updates that do not move the weights: a gradient of exactly 0 though rewards
// within groups differ, or a learning rate of 0.
//
// Without a signal in any group a gradient of 0 is right, and noSignal says so; where only
// the mean reward is recorded, it may be right at its extremes (extremeRewards). A gradient
// of 0 in single rows of many may come from a step without signal, of which the row has the
// gradient but not the rewards (logging_steps of TRL): a remark, as one that has passed is.
func noUpdate(l *logs.Log) (found []Finding) {
	if rounded(l) {
		return nil
	}
	if norm, has := read(l, 0, math.Inf(1), logs.GradNorm); has {
		differ, known := rewardsDiffer(l)
		at := longest(norm.steps, func(i int) bool {
			row, _ := slices.BinarySearch(l.Steps, norm.steps[i])
			return norm.values[i] == 0 && differ[row] >= 0
		})
		because, alike := "though rewards within groups differ ("+known+")", false
		if known == "" {
			because, alike = "and no column says whether rewards within groups differ", extremeRewards(l, norm)
			if alike {
				because = "in rows of the smallest or the largest mean reward, where all rewards may be equal"
			}
			if std, has := read(l, math.SmallestNonzeroFloat64, math.Inf(1), logs.RewardStdAmbiguous, logs.RewardStdBatch); has {
				because, alike = fmt.Sprintf("though rewards differ (%s %s)", std.key, plain(std.values[0])), false
			}
		}
		f := Finding{Level: Remark, Since: at.since(), Text: fmt.Sprintf("%s is exactly 0 %s, %s", norm.key, at.text(), because)}
		if kl, has := read(l, math.Inf(-1), math.Inf(1), logs.KLRef); has && at.certain() && slices.Max(kl.values) == 0 && slices.Min(kl.values) == 0 {
			f.Text += "; " + kl.key + " stays exactly 0 too"
		}
		switch {
		case at.total == 0:
		case at.certain() && at.atEnd && (known != "" || at.read > 1) && !alike:
			f.Level, f.Stops = Failure, at.end == at.read
			f.Text += ": the weights do not move"
			found = append(found, f)
		default:
			found = append(found, f)
		}
	}
	rate, has := read(l, 0, math.Inf(1), logs.LR)
	if !has {
		return found
	}
	// The first row of a warm-up and the last of a decay have a rate of 0 rightly.
	at := longest(rate.steps, func(i int) bool { return rate.values[i] == 0 })
	if at.certain() && at.atEnd && at.total > 1 {
		found = append(found, Finding{Level: Failure, Since: at.since(), Stops: at.end == at.read,
			Text: fmt.Sprintf("%s is 0 %s: the weights do not move", rate.key, at.text()),
			Next: "check the schedule: its total number of steps, the warm-up, and the state that a resumed run loads"})
	}
	return found
}

// extremeRewards reports whether the mean reward is the smallest or the largest of the log in
// every row with a gradient of 0, as where all samples fail or all succeed. Mean rewards of
// groups that differ lie between in some row.
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

// zeroLoss finds a loss of 0, which is no failure by itself: the advantages of a group add up to
// 0, so that at the policy that drew the samples the loss is the penalty β·KL, whatever the
// gradient is. It is not said where nothing shows a gradient.
func zeroLoss(l *logs.Log) []Finding {
	loss, has := read(l, math.Inf(-1), math.Inf(1), logs.Loss)
	if !has || slices.Max(loss.values) > printed || slices.Min(loss.values) < -printed {
		return nil
	}
	// Something must show that there is a gradient: its norm, or rewards that differ.
	shown := ""
	if column, has := l.Column(logs.GradNorm); has {
		norm := numbers(l, column, math.SmallestNonzeroFloat64, math.Inf(1))
		if len(norm.values) == 0 || len(column.NotFinite) > 0 {
			return nil
		}
		shown = fmt.Sprintf("the gradient is not 0 (%s %s)", norm.key, span(norm.values, plain))
	} else if _, known := rewardsDiffer(l); known != "" {
		shown = fmt.Sprintf("rewards differ (%s)", known)
	} else if std, has := read(l, math.SmallestNonzeroFloat64, math.Inf(1), logs.RewardStdAmbiguous, logs.RewardStdBatch); has {
		shown = fmt.Sprintf("rewards differ (%s %s)", std.key, span(std.values, plain))
	} else {
		return nil
	}
	if slices.ContainsFunc(noSignal(l), func(f Finding) bool { return f.Level == Failure }) {
		return nil
	}
	at := longest(loss.steps, func(int) bool { return true })
	return []Finding{{Level: Remark, Since: at.from,
		Text: fmt.Sprintf("%s is 0 to four digits %s, which is normal, and %s: the advantages of a group add up to 0, and what is left is the KL penalty", loss.key, at.text(), shown)}}
}

// spike is the factor by which a gradient has to exceed the usual one to change the step size of
// Adam by itself: (1−β₂)·spike² = 1 with β₂ = 0.999, so that one row doubles the second
// moment, for about 1/(1−β₂) steps. Clipping the norm prevents it.
var spike = math.Sqrt(1000)

// gradientSpike finds gradient norms that exceed the median of those above 0 by that factor.
func gradientSpike(l *logs.Log) []Finding {
	norm, has := read(l, math.SmallestNonzeroFloat64, math.Inf(1), logs.GradNorm)
	if !has || len(norm.values) < enough {
		return nil
	}
	usual := change.Median(norm.values)
	at := norm.past(spike * usual)
	if at.total == 0 {
		return nil
	}
	return []Finding{{Level: Remark, Since: at.since(),
		Text: fmt.Sprintf("%s reaches %s, the median being %s: it is %.0f times as large or more %s", norm.key, plain(slices.Max(norm.values)), plain(usual), spike, at.text())}}
}

// rewardsDiffer says of every row whether rewards within some group differ: 1 yes, 0 not
// known, −1 no. known names a column that says yes in some row.
func rewardsDiffer(l *logs.Log) (differ []int, known string) {
	differ = make([]int, len(l.Steps))
	say := func(row int, yes bool, c logs.Column) {
		switch {
		case yes && differ[row] == 0:
			differ[row] = 1
			if known == "" {
				known = fmt.Sprintf("%s %s", c.Key, plain(c.Values[row]))
			}
		case !yes:
			differ[row] = -1
		}
	}
	silent, exact := ZeroVariance(l)
	for row := range l.Steps {
		if share := silent.Values[row]; share >= 0 && share <= 1 && (exact || share == 1) {
			say(row, share < 1, silent)
		}
		for _, q := range []logs.Quantity{logs.RewardStdWithin, logs.AdvantageMax} {
			if c, has := l.Column(q); has && (c.Values[row] > 0 || c.Values[row] == 0) {
				say(row, c.Values[row] > 0, c)
			}
		}
		for _, q := range []logs.Quantity{logs.RewardStdAmbiguous, logs.RewardStdBatch} {
			if c, has := l.Column(q); has && c.Values[row] == 0 {
				say(row, false, c)
			}
		}
	}
	return differ, known
}

// rounded reports whether the numbers of a log are printed with at most four digits after
// the point, as consoles do: a 0 may be any small number there.
func rounded(l *logs.Log) bool {
	if l.Format.Container == logs.JSONLines || l.Format.Container == logs.TrainerState {
		return false
	}
	return !slices.ContainsFunc(l.Columns, func(c logs.Column) bool {
		return slices.ContainsFunc(c.Values, func(x float64) bool {
			return !math.IsNaN(x) && math.Abs(x*1e4-math.Round(x*1e4)) > 1e-6*max(1, math.Abs(x*1e4))
		})
	})
}
