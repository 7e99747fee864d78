package findings

import (
	"fmt"
	"math"
	"slices"

	"grposim/training/change"
	"grposim/training/logs"
)

// ZeroVariance returns the share of groups whose rewards are all equal, as far as a log lets it
// be known, with the key or keys that it is deduced from. exact says that a number is the
// share in every row that has one: that which is recorded, or counts over the number of
// groups. Else it is known only where it is 1: all rewards of a row are equal, or all
// advantages are 0.
//
// Shares of groups with rewards of 0 and of 1 add up to it if there are no other equal
// rewards. NeMo-RL's are at least the share.
func ZeroVariance(l *logs.Log) (share logs.Column, exact bool) {
	per := func(key string, of func(row int) float64) logs.Column {
		c := logs.Column{Quantity: logs.FracZeroStd, Key: key, Values: make([]float64, len(l.Steps))}
		for row := range c.Values {
			x := of(row)
			if !(x >= 0 && x <= 1) {
				x = math.NaN() // no share
			}
			c.Values[row] = x
		}
		return c
	}
	column := func(q logs.Quantity) logs.Column { c, _ := l.Column(q); return c }
	has := func(quantities ...logs.Quantity) bool {
		return !slices.ContainsFunc(quantities, func(q logs.Quantity) bool { _, has := l.Column(q); return !has })
	}
	at := func(q logs.Quantity, row int) float64 { return value(l, q, row) }
	both := func(x, y logs.Quantity) string { return column(x).Key + " + " + column(y).Key }
	switch {
	case has(logs.FracZeroStd):
		return per(column(logs.FracZeroStd).Key, func(row int) float64 { return at(logs.FracZeroStd, row) }), true
	case has(logs.CountZeroStd, logs.Groups):
		return per(column(logs.CountZeroStd).Key, func(row int) float64 { return at(logs.CountZeroStd, row) / at(logs.Groups, row) }), true
	case has(logs.FracAll0, logs.FracAll1):
		return per(both(logs.FracAll0, logs.FracAll1), func(row int) float64 { return at(logs.FracAll0, row) + at(logs.FracAll1, row) }), true
	case has(logs.CountAll0, logs.CountAll1, logs.Groups):
		return per(both(logs.CountAll0, logs.CountAll1), func(row int) float64 {
			return (at(logs.CountAll0, row) + at(logs.CountAll1, row)) / at(logs.Groups, row)
		}), true
	}
	var keys []string
	for _, c := range l.Columns {
		switch c.Quantity {
		case logs.RewardStdWithin, logs.RewardStdBatch, logs.RewardStdAmbiguous, logs.RewardMax, logs.AdvantageMax:
			keys = append(keys, c.Key)
		}
	}
	return per(join(keys), func(row int) float64 {
		if allEqual(l, row) {
			return 1
		}
		return math.NaN()
	}), false
}

// allEqual reports whether a row shows that the rewards of every group are equal: the
// deviation of the rewards is 0, within groups or over the batch; the largest reward of a
// sample is the smallest; every advantage is 0.
func allEqual(l *logs.Log, row int) bool {
	for _, q := range []logs.Quantity{logs.RewardStdWithin, logs.RewardStdBatch, logs.RewardStdAmbiguous} {
		if value(l, q, row) == 0 {
			return true
		}
	}
	return value(l, logs.RewardMax, row) == value(l, logs.RewardMin, row) ||
		value(l, logs.AdvantageMax, row) == 0 && value(l, logs.AdvantageMin, row) == 0
}

// negligible is the share of the deviation of the rewards at the start of a run below which
// it counts as none: if rewards differ where they do as much as at the start, they do in at
// most one group of a hundred.
const negligible = 0.01

// NoDeviation returns the deviation of the rewards with 0 where it is negligible, whatever its
// meaning: the deviation within a group, or that of the batch, which is at least as
// large; where neither is recorded the range of the rewards or of the advantages, which is
// 0 where they are.
func NoDeviation(l *logs.Log) (key string, values []float64) {
	values = make([]float64, len(l.Steps))
	for _, q := range [][2]logs.Quantity{{logs.RewardStdWithin}, {logs.RewardStdBatch}, {logs.RewardStdAmbiguous},
		{logs.RewardMax, logs.RewardMin}, {logs.AdvantageMax, logs.AdvantageMin}} {
		high, has := l.Column(q[0])
		low, hasLow := l.Column(q[1])
		if !has || q[1] != "" && !hasLow {
			continue
		}
		var known []float64
		for row := range values {
			values[row] = high.Values[row]
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

// aQuarter is the share of samples from which what they lack is worth a remark: half of the
// midpoint from which most of them lack it.
const aQuarter = 0.25

// noSignal finds steps whose groups have equal rewards, so that no sample has an advantage.
// That most groups do is a failure mode of its own in a long log (package diagnose); in a
// short one it is a remark, as a share of a quarter or more is, and a number of groups
// where it is not known of how many.
func noSignal(l *logs.Log) []Finding {
	share, exact := ZeroVariance(l)
	if found := silentRows(l, share, exact); found != nil || exact {
		return found
	}
	var counts []string
	step := 0
	for _, q := range []logs.Quantity{logs.CountZeroStd, logs.CountAll0, logs.CountAll1} {
		if s, has := read(l, 0, math.Inf(1), q); has && slices.Max(s.values) > 0 {
			counts, step = append(counts, s.key+" "+span(s.values, plain)), s.steps[0]
		}
	}
	if len(counts) == 0 {
		return nil
	}
	return []Finding{{Level: Remark, Since: step, Text: fmt.Sprintf("groups have equal rewards and teach nothing, the log does not say of how many (%s)", join(counts))}}
}

// silentRows is noSignal where the share is known, or which rows have no signal.
func silentRows(l *logs.Log, share logs.Column, exact bool) []Finding {
	s := numbers(l, share, 0, 1)
	if !exact { // a row that does not show that all are equal shows that some are not, but for the range
		key, deviation := NoDeviation(l)
		if deviation == nil {
			return nil
		}
		s = series{key: share.Key}
		for row, step := range l.Steps {
			equal := deviation[row] == 0 || share.Values[row] == 1
			if !equal && !(deviation[row] > 0) {
				continue
			}
			s.steps, s.values = append(s.steps, step), append(s.values, 0)
			if equal {
				s.values[len(s.values)-1] = 1
			}
		}
		if s.key == "" {
			s.key = key
		}
	}
	if len(s.values) == 0 {
		return nil
	}
	at := s.past(1)
	if at.certain() {
		which, why := groupsAre(l, at)
		f := Finding{Level: Failure, Since: at.since(), Text: fmt.Sprintf("all groups %s %s (%s): no sample has an advantage", which, at.text(), why)}
		switch which {
		case succeed:
			f.Next = "take harder prompts, or stop: nothing is left to learn from these"
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
	if !exact || mean < aQuarter {
		return nil
	}
	return []Finding{{Level: Remark, Since: s.steps[0],
		Text: fmt.Sprintf("%s of the groups, on average, have equal rewards and teach nothing (%s %s in %s)", percent(mean), s.key, span(s.values, plain), logs.CountWords(len(s.values), "row")),
		Next: "filter or resample such prompts (dynamic sampling), or take more samples a prompt"}}
}

// How the groups of a step are equal.
const (
	fail    = "fail"
	succeed = "succeed"
	equal   = "have equal rewards"
)

// groupsAre says how the groups are equal in the rows of a stretch, and by which keys that
// is known.
func groupsAre(l *logs.Log, in stretch) (which, why string) {
	row, _ := slices.BinarySearch(l.Steps, in.to)
	var keys []string
	tell := func(q logs.Quantity) (x float64, has bool) {
		x = value(l, q, row)
		if math.IsNaN(x) {
			return x, false
		}
		c, _ := l.Column(q)
		keys = append(keys, c.Key+" "+plain(x))
		return x, true
	}
	which = equal
	ofNone, ofAll := logs.CountAll0, logs.CountAll1
	if _, has := l.Column(logs.FracAll0); has {
		ofNone, ofAll = logs.FracAll0, logs.FracAll1
	}
	none, hasNone := tell(ofNone)
	all, hasAll := tell(ofAll)
	switch {
	case hasNone && none > 0 && !(all > 0):
		which = fail
	case hasAll && all > 0 && !(none > 0):
		which = succeed
	}
	for _, q := range []logs.Quantity{logs.FracZeroStd, logs.CountZeroStd, logs.RewardStdWithin, logs.RewardStdBatch, logs.RewardStdAmbiguous, logs.RewardMin, logs.RewardMax, logs.AdvantageMin, logs.AdvantageMax} {
		tell(q)
	}
	reward, has := tell(logs.Reward)
	smallest, largest := extremes(l)
	if which == equal && has {
		switch {
		case reward <= 0 && reward == smallest:
			which = fail
		case reward > 0 && reward >= largest*(1-negligible) && smallest < largest:
			which = succeed
		}
	}
	return which, join(keys)
}

// extremes returns the smallest and the largest reward that a log knows of.
func extremes(l *logs.Log) (smallest, largest float64) {
	smallest, largest = math.Inf(1), math.Inf(-1)
	for _, c := range l.Columns {
		switch c.Quantity {
		case logs.Reward, logs.RewardMin, logs.RewardMax:
			for _, x := range c.Values {
				if !math.IsNaN(x) {
					smallest, largest = min(smallest, x), max(largest, x)
				}
			}
		}
	}
	return smallest, largest
}

// constantReward finds a mean reward that is exactly the same in every row. Of few rows
// that may be chance where rewards are 0 or 1, hence a remark.
func constantReward(l *logs.Log) []Finding {
	reward, has := read(l, math.Inf(-1), math.Inf(1), logs.Reward)
	if n := len(reward.values); !has || n < 2 || slices.Min(reward.values) != slices.Max(reward.values) {
		return nil
	}
	f := Finding{Level: Remark, Since: reward.steps[0], Text: fmt.Sprintf("%s is exactly %s %s", reward.key, plain(reward.values[0]), inAll(len(reward.values)))}
	if len(reward.values) >= enough {
		f.Level = Failure
	}
	return []Finding{f}
}
