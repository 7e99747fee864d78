package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/training/change"
	"grposim/training/logs"
)

// ZeroVariance returns the share of groups whose rewards are all equal, as far as a log shows it.
// exact says that every number is the share itself, recorded or from counts over the number of
// groups; share.Key names these. Else it is 1 where all rewards of a row are equal, or all
// advantages. By the first deviation that is recorded it is 1 where that is negligible, else 0.
//
// Shares of groups with rewards of 0 and of 1 add up to it if there are no other equal rewards.
// NeMo-RL's are at least the share.
func ZeroVariance(l *logs.Log) (share logs.Column, exact bool) {
	share = logs.Column{Quantity: logs.FracZeroStd, Values: slices.Repeat([]float64{math.NaN()}, len(l.Steps))}
	groups, counted := l.Column(logs.Groups)
	for _, parts := range [][]logs.Quantity{{logs.FracZeroStd}, {logs.CountZeroStd},
		{logs.FracAll0, logs.FracAll1}, {logs.CountAll0, logs.CountAll1}} {
		var keys []string
		for _, q := range parts {
			if c, has := l.Column(q); has {
				keys = append(keys, c.Key)
			}
		}
		counts := strings.HasPrefix(string(parts[0]), "count")
		if len(keys) < len(parts) || counts && !counted {
			continue
		}
		share.Key = strings.Join(keys, " + ")
		for row := range share.Values {
			x := 0.0
			for _, q := range parts {
				x += value(l, q, row)
			}
			if counts {
				x /= groups.Values[row]
			}
			if x >= 0 && x <= 1 {
				share.Values[row] = x
			}
		}
		return share, true
	}
	for _, of := range deviations {
		high, _ := l.Column(of[0])
		low, both := l.Column(of[len(of)-1])
		deviation := slices.Clone(high.Values)
		for row := range deviation {
			if len(of) > 1 && both {
				deviation[row] -= low.Values[row]
			}
		}
		known := numbers(l, logs.Column{Values: deviation}, notBelow0).values
		if len(known) == 0 || !both {
			continue
		}
		least, first := 0.0, share.Key == ""
		if first {
			share.Key, least = high.Key, negligible*change.Median(known[:max(1, len(known)/4)])
		}
		for row, x := range deviation {
			switch {
			case x >= 0 && x <= least:
				share.Values[row] = 1
			case x > 0 && first:
				share.Values[row] = 0
			}
		}
	}
	return share, false
}

// deviations are 0 where all rewards of a row are equal: deviations, within groups or over the
// batch, and the ranges of rewards and of advantages, given by both ends.
var deviations = [][]logs.Quantity{
	{logs.RewardStdWithin}, {logs.RewardStdBatch}, {logs.RewardStdAmbiguous},
	{logs.RewardMax, logs.RewardMin}, {logs.AdvantageMax, logs.AdvantageMin}}

// negligible is the share of the deviation of the rewards at the start of a run below which it
// counts as none. Rewards then differ in at most one group of a hundred.
const negligible = 0.01

// silent is the share of groups with equal rewards from which a step counts as one without signal.
const silent = 0.95

// noSignal finds steps whose groups have equal rewards, so that no sample has an advantage. It is a
// failure if that holds to the end and the reward has not been learnt. A share of a quarter or more
// is a remark.
func noSignal(l *logs.Log) []Finding {
	share, exact := ZeroVariance(l)
	s := numbers(l, share, aShare)
	if len(s.values) == 0 {
		return nil
	}
	at, mean := s.past(silent), change.Mean(s.values)
	late := change.Mean(s.values[max(0, len(s.values)-leastExcess):])
	if !(at.certain() && at.atEnd) && len(s.values) >= leastExcess && min(mean, late) >= silent {
		at = longest(s.steps, func(int) bool { return true })
	}
	if at.certain() {
		which, why := groupsAre(l, at)
		most := "all"
		if exact && change.Mean(s.values[at.begin:at.end]) < 1 {
			most = "nearly all"
		}
		f := Finding{Level: Failure, Since: at.from,
			Text: fmt.Sprintf("%s groups %s %s (%s): no sample has an advantage", most, which, at.text(), why)}
		switch which {
		case succeed:
			f.Text += "; the task is solved"
			f.Next = "take harder prompts, or stop: nothing is left to learn from these"
			if !at.always() {
				f.Level = Remark // learnt
			}
		case fail:
			f.Next = "read some completions beside their rewards: a parser that finds no answer, " +
				"truncation, or prompts that are too hard; take easier prompts or a warm start"
		}
		if !at.atEnd {
			f.Level, f.Next = Remark, "" // it has passed
		}
		return []Finding{f}
	}
	if mean < aQuarter {
		return nil
	}
	f := Finding{Level: Remark, Since: s.steps[0],
		Text: fmt.Sprintf("%s of the groups, on average, have equal rewards and teach nothing "+
			"(%s %s in %s)", percent(mean), s.key, span(s.values, plain), logs.CountWords(len(s.values), "row")),
		Next: "filter or resample such prompts (dynamic sampling), or take more samples a prompt"}
	if !slices.ContainsFunc(s.values, func(x float64) bool { return x > 0 && x < 1 }) {
		at := s.past(1)
		f.Text = fmt.Sprintf("%s of the steps (%d of %d) have no signal: their rewards are equal (%s)",
			percent(mean), at.total, at.read, s.key)
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
	row, _ := slices.BinarySearch(l.Steps, in.to)
	var keys []string
	for _, q := range []logs.Quantity{logs.FracAll0, logs.FracAll1, logs.CountAll0, logs.CountAll1,
		logs.FracZeroStd, logs.CountZeroStd, logs.RewardStdWithin, logs.RewardStdBatch,
		logs.RewardStdAmbiguous,
		logs.RewardMin, logs.RewardMax, logs.AdvantageMin, logs.AdvantageMax, logs.Reward} {
		if c, has := l.Column(q); has && !math.IsNaN(c.Values[row]) {
			keys = append(keys, c.Key+" "+plain(c.Values[row]))
		}
	}
	level := func(quantities ...logs.Quantity) float64 { // the median of those rows, 0 if there is none
		s := read(l.Prefix(row+1), anything, quantities...)
		if n, _ := slices.BinarySearch(s.steps, in.from); n < len(s.values) {
			return change.Median(s.values[n:])
		}
		return 0
	}
	none, all := level(logs.FracAll0, logs.CountAll0), level(logs.FracAll1, logs.CountAll1)
	reward := level(logs.Reward)
	_, has := l.Column(logs.Reward)
	smallest, largest := extremes(l)
	high := reward >= largest*(1-negligible) || reward-smallest >= solved*(largest-smallest) && Learnt(l) != ""
	switch most := solved / (1 - solved); {
	case none > most*all, has && !(all > 0) && reward <= 0 && reward == smallest:
		which = fail
	case all > most*none, has && !(none > 0) && smallest < largest && reward > 0 && high:
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
		for _, x := range read(l, anything, q).values {
			smallest, largest = min(smallest, x), max(largest, x)
		}
	}
	return smallest, largest
}
