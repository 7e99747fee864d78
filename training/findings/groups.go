package findings

import (
	"fmt"
	"math"
	"slices"

	"grposim/training/change"
	"grposim/training/logs"
)

// ZeroVariance returns the share of groups whose rewards are all equal, as far as a log shows it.
// share.Key names what it is deduced from. exact says that every number is the share itself,
// recorded or from counts over the number of groups. Else it is known only where it is 1: all
// rewards of a row are equal, or all advantages are 0.
//
// Shares of groups with rewards of 0 and of 1 add up to it if there are no other equal rewards.
// NeMo-RL's are at least the share.
func ZeroVariance(l *logs.Log) (share logs.Column, exact bool) {
	share = logs.Column{Quantity: logs.FracZeroStd, Values: make([]float64, len(l.Steps))}
	for _, c := range []struct {
		sum  []logs.Quantity
		over []logs.Quantity
	}{
		{sum: []logs.Quantity{logs.FracZeroStd}},
		{sum: []logs.Quantity{logs.CountZeroStd}, over: []logs.Quantity{logs.Groups}},
		{sum: []logs.Quantity{logs.FracAll0, logs.FracAll1}},
		{sum: []logs.Quantity{logs.CountAll0, logs.CountAll1}, over: []logs.Quantity{logs.Groups}},
	} {
		if slices.ContainsFunc(slices.Concat(c.sum, c.over), func(q logs.Quantity) bool { _, has := l.Column(q); return !has }) {
			continue
		}
		for i, q := range c.sum {
			part, _ := l.Column(q)
			if share.Key += part.Key; i+1 < len(c.sum) {
				share.Key += " + "
			}
			for row := range share.Values {
				share.Values[row] += part.Values[row]
			}
		}
		for row, x := range share.Values {
			for _, q := range c.over {
				x /= value(l, q, row)
			}
			if share.Values[row] = x; !(x >= 0 && x <= 1) {
				share.Values[row] = math.NaN() // no share
			}
		}
		return share, true
	}
	var keys []string
	for _, c := range l.Columns {
		switch c.Quantity {
		case logs.RewardStdWithin, logs.RewardStdBatch, logs.RewardStdAmbiguous, logs.RewardMax, logs.AdvantageMax:
			keys = append(keys, c.Key)
		}
	}
	share.Key = join(keys)
	for row := range share.Values {
		if share.Values[row] = math.NaN(); allEqual(l, row) {
			share.Values[row] = 1
		}
	}
	return share, false
}

// allEqual reports whether a row shows that the rewards of every group are equal. Then their
// deviation is 0, within groups or over the batch; or the largest reward is the smallest; or every
// advantage is 0.
func allEqual(l *logs.Log, row int) bool {
	for _, q := range []logs.Quantity{logs.RewardStdWithin, logs.RewardStdBatch, logs.RewardStdAmbiguous} {
		if value(l, q, row) == 0 {
			return true
		}
	}
	return value(l, logs.RewardMax, row) == value(l, logs.RewardMin, row) ||
		value(l, logs.AdvantageMax, row) == 0 && value(l, logs.AdvantageMin, row) == 0
}

// negligible is the share of the deviation of the rewards at the start of a run below which it
// counts as none. Rewards then differ in at most one group of a hundred.
const negligible = 0.01

// NoDeviation returns the deviation of the rewards with 0 where it is negligible. It may be that
// within a group, or that of the batch, which is at least as large. Where neither is recorded it is
// the range of the rewards or of the advantages.
func NoDeviation(l *logs.Log) (key string, values []float64) {
	for _, q := range [][2]logs.Quantity{{logs.RewardStdWithin}, {logs.RewardStdBatch}, {logs.RewardStdAmbiguous},
		{logs.RewardMax, logs.RewardMin}, {logs.AdvantageMax, logs.AdvantageMin}} {
		high, has := l.Column(q[0])
		low, hasLow := l.Column(q[1])
		if !has || q[1] != "" && !hasLow {
			continue
		}
		var known []float64
		values = slices.Clone(high.Values)
		for row := range values {
			if hasLow {
				values[row] -= low.Values[row]
			}
			if values[row] >= 0 {
				known = append(known, values[row])
			}
		}
		if len(known) == 0 {
			continue
		}
		start := change.Median(known[:max(1, len(known)/4)])
		for row, x := range values {
			if x <= negligible*start {
				values[row] = 0
			}
		}
		return high.Key, values
	}
	return "", nil
}

// silent is the share of groups with equal rewards from which a step counts as one without signal.
const silent = 0.95

// noSignal finds steps whose groups have equal rewards, so that no sample has an advantage. It is a
// failure if that holds to the end and the reward has not been learnt. A share of a quarter or more
// is a remark.
func noSignal(l *logs.Log) []Finding {
	share, exact := ZeroVariance(l)
	s := numbers(l, share, 0, 1)
	if !exact { // rows that do not show equality show difference, but for the range
		key, deviation := NoDeviation(l)
		s = series{key: key}
		for row, x := range deviation {
			equal := x == 0 || share.Values[row] == 1
			if equal || x > 0 {
				s.steps, s.values = append(s.steps, l.Steps[row]), append(s.values, 0)
			}
			if equal {
				s.values[len(s.values)-1] = 1
			}
		}
	}
	if len(s.values) == 0 {
		return nil
	}
	if at := s.past(silent); at.certain() {
		which, why := groupsAre(l, at)
		most := "all"
		if exact && change.Median(s.values[at.begin:at.end]) < 1 {
			most = "nearly all"
		}
		f := Finding{Level: Failure, Since: at.from, Text: fmt.Sprintf("%s groups %s %s (%s): no sample has an advantage", most, which, at.text(), why)}
		switch which {
		case succeed:
			f.Text, f.Next = f.Text+"; the task is solved", "take harder prompts, or stop: nothing is left to learn from these"
			if !at.always() {
				f.Level = Remark // learnt
			}
		case fail:
			f.Next = "read some completions beside their rewards: a parser that finds no answer, truncation, or prompts that are too hard; take easier prompts or a warm start"
		}
		if !at.atEnd {
			f.Level, f.Next = Remark, "" // it has passed
		}
		return []Finding{f}
	}
	mean := change.Mean(s.values)
	if mean < aQuarter {
		return nil
	}
	f := Finding{Level: Remark, Since: s.steps[0], Next: "filter or resample such prompts (dynamic sampling), or take more samples a prompt"}
	switch at := s.past(1); {
	case at.total == int(math.Round(mean*float64(at.read))): // of every step all groups or none
		f.Text = fmt.Sprintf("%s of the steps (%d of %d) have no signal: their rewards are equal (%s)", percent(mean), at.total, at.read, s.key)
	default:
		f.Text = fmt.Sprintf("%s of the groups, on average, have equal rewards and teach nothing (%s %s in %s)", percent(mean), s.key, span(s.values, plain), logs.CountWords(len(s.values), "row"))
	}
	return []Finding{f}
}

// oneGroup reports whether every row of a log is one group, or none is partly equal: its reward and
// entropy are then those of its prompt.
func oneGroup(l *logs.Log) bool {
	share, exact := ZeroVariance(l)
	count := [2]int{}
	for _, x := range share.Values {
		switch {
		case x == 0 || x == 1:
			count[int(x)]++
		case !math.IsNaN(x):
			return false
		}
	}
	return exact && min(count[0], count[1]) >= leastExcess
}

// How the groups of a step are equal.
const (
	fail    = "fail"
	succeed = "succeed"
	equal   = "have equal rewards"
)

// groupsAre says how the groups of a stretch are equal, and by which keys of its last row that is
// known.
func groupsAre(l *logs.Log, in stretch) (which, why string) {
	first, _ := slices.BinarySearch(l.Steps, in.from)
	row, _ := slices.BinarySearch(l.Steps, in.to)
	var keys []string
	for _, q := range []logs.Quantity{logs.FracAll0, logs.FracAll1, logs.CountAll0, logs.CountAll1, logs.FracZeroStd, logs.CountZeroStd,
		logs.RewardStdWithin, logs.RewardStdBatch, logs.RewardStdAmbiguous, logs.RewardMin, logs.RewardMax, logs.AdvantageMin, logs.AdvantageMax, logs.Reward} {
		if c, has := l.Column(q); has && !math.IsNaN(c.Values[row]) {
			keys = append(keys, c.Key+" "+plain(c.Values[row]))
		}
	}
	level := func(quantities ...logs.Quantity) float64 { // the median of those rows, 0 if there is none
		for _, q := range quantities {
			if c, has := l.Column(q); has {
				s := numbers(&logs.Log{Table: logs.Table{Steps: l.Steps[first : row+1]}}, logs.Column{Values: c.Values[first : row+1]}, math.Inf(-1), math.Inf(1))
				if len(s.values) > 0 {
					return change.Median(s.values)
				}
			}
		}
		return 0
	}
	none, all := level(logs.FracAll0, logs.CountAll0), level(logs.FracAll1, logs.CountAll1)
	reward, has := level(logs.Reward), false
	_, has = l.Column(logs.Reward)
	smallest, largest := extremes(l)
	switch most := solved / (1 - solved); {
	case none > most*all, has && !(all > 0) && reward <= 0 && reward == smallest:
		which = fail
	case all > most*none, has && !(none > 0) && smallest < largest && reward > 0 && (reward >= largest*(1-negligible) || reward-smallest >= solved*(largest-smallest) && Learnt(l) != ""):
		which = succeed
	default:
		which = equal
	}
	return which, join(keys)
}

// extremes returns the smallest and the largest reward that a log knows of.
func extremes(l *logs.Log) (smallest, largest float64) {
	smallest, largest = math.Inf(1), math.Inf(-1)
	for _, q := range []logs.Quantity{logs.Reward, logs.RewardMin, logs.RewardMax} {
		s, _ := read(l, math.Inf(-1), math.Inf(1), q)
		for _, x := range s.values {
			smallest, largest = min(smallest, x), max(largest, x)
		}
	}
	return smallest, largest
}

// constantReward finds a mean reward that is exactly the same in every row. Of few rows that may be
// chance where rewards are 0 or 1, hence a remark.
func constantReward(l *logs.Log) []Finding {
	reward, _ := read(l, math.Inf(-1), math.Inf(1), logs.Reward)
	if n := len(reward.values); n < 2 || slices.Min(reward.values) != slices.Max(reward.values) {
		return nothingSolved(l)
	}
	f := Finding{Level: Remark, Since: reward.steps[0], Text: fmt.Sprintf("%s is exactly %s %s", reward.key, plain(reward.values[0]), inAll(len(reward.values)))}
	if len(reward.values) >= leastExcess {
		f.Level = Failure
	}
	return []Finding{f}
}

// nothingSolved finds, where groups do not tell, that most rows have a reward and a loss of
// 0, the smallest reward of the log. Single rows show it too.
func nothingSolved(l *logs.Log) []Finding {
	reward, _ := read(l, 0, math.Inf(1), logs.Reward)
	key := reward.key
	if loss, has := l.Column(logs.Loss); has {
		key += " and " + loss.Key
	}
	at := longest(reward.steps, func(i int) bool {
		row, _ := slices.BinarySearch(l.Steps, reward.steps[i])
		loss := value(l, logs.Loss, row)
		return reward.values[i] == 0 && (math.Abs(loss) <= printed || math.IsNaN(loss))
	})
	smallest, _ := extremes(l)
	if smallest < 0 || at.total == 0 || 2*at.total < at.read || len(noSignal(l)) > 0 {
		return nil
	}
	rows := at.text()
	if !at.always() {
		rows = fmt.Sprintf("in %d of %d rows", at.total, at.read)
	}
	return []Finding{{Level: Remark, Since: at.first, Text: fmt.Sprintf("no sample was solved %s (%s 0): nothing is learned from them", rows, key),
		Next: "read some completions beside their rewards; take easier prompts, more samples a prompt, or a warm start"}}
}
