package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/fp"
	"grposim/training/change"
	"grposim/training/logs"
)

// series holds the rows of a column that have a number.
type series struct {
	key    string
	below  float64 // a 0 is any number below it
	steps  []int
	values []float64
}

// within are the smallest and the largest number that is believed of a quantity.
type within struct{ least, most float64 }

var (
	anything  = within{math.Inf(-1), math.Inf(1)}
	notBelow0 = within{0, math.Inf(1)}
	positive  = within{math.SmallestNonzeroFloat64, math.Inf(1)}
	aShare    = within{0, 1}
	tokens    = within{1, math.Inf(1)} // of a completion
)

// numbers returns the numbers of a column that are believed.
func numbers(l *logs.Log, c logs.Column, in within) series {
	s := series{key: c.Key, below: c.Below}
	for i, x := range c.Values {
		if x >= in.least && x <= in.most {
			s.steps, s.values = append(s.steps, l.Steps[i]), append(s.values, x)
		}
	}
	return s
}

// read returns the numbers of the first of the quantities that has any.
func read(l *logs.Log, in within, quantities ...logs.Quantity) series {
	for _, q := range quantities {
		if c, has := l.Column(q); has {
			if s := numbers(l, c, in); len(s.values) > 0 {
				return s
			}
		}
	}
	return series{}
}

// value returns the number of a quantity in a row, NaN if there is none.
func value(l *logs.Log, q logs.Quantity, row int) float64 {
	if c, has := l.Column(q); has {
		return c.Values[row]
	}
	return math.NaN()
}

// stretch is the part of a log in which something holds in at least nineteen rows of twenty. Of all
// parts it has the largest excess of rows in which it holds over nineteen times the others.
type stretch struct {
	from, to    int  // steps of its first and last row
	held, rows  int  // rows of it in which it holds, and all rows of it
	first       int  // step of the first row of the log in which it holds
	total, read int  // rows of the log in which it holds, and all in which it is known
	atEnd       bool // too few rows follow to say that it has passed
	begin, end  int  // indices of its rows among those read
}

// leastExcess is the least number of rows of a stretch that is no accident. Fewer rows after it do
// not say that it has passed.
const leastExcess = 8

// others is the number of rows in which something holds that one in which it does not outweighs.
const others = 19

// longest returns the stretch in which something holds; steps are those of the rows in
// which that is known.
func longest(steps []int, holds func(i int) bool) (s stretch) {
	sum, begin, best := 0, 0, 0
	heldSince := 0 // rows that hold before begin
	for i := range steps {
		if sum <= 0 {
			sum, begin, heldSince = 0, i, s.total
		}
		if !holds(i) {
			sum -= others
			continue
		}
		if s.total == 0 {
			s.first = steps[i]
		}
		s.total++
		if sum++; sum > best {
			best = sum
			s.begin, s.end, s.held = begin, i+1, s.total-heldSince
		}
	}
	s.read, s.rows = len(steps), s.end-s.begin
	if s.rows > 0 {
		s.from, s.to, s.atEnd = steps[s.begin], steps[s.end-1], len(steps)-s.end < leastExcess
	}
	return s
}

// past returns the stretch of rows with values from a threshold on.
func (s series) past(threshold float64) stretch {
	return longest(s.steps, func(i int) bool { return s.values[i] >= threshold })
}

func (s stretch) always() bool { return s.total > 0 && s.total == s.read }

// certain reports whether it holds in every row, or in a stretch that is no accident: it would begin
// somewhere with probability change.FalseAlarm at most if it held as often as in the other rows.
func (s stretch) certain() bool {
	often := float64(s.total-s.held+1) / float64(s.read-s.rows+2)
	return s.always() || s.held >= leastExcess && float64(s.read)*fp.Pow(often,
		float64(2*s.held-s.rows)) <= change.FalseAlarm
}

// since is the step since which it holds: that of the stretch if it is certain, else the first.
func (s stretch) since() int {
	if s.certain() {
		return s.from
	}
	return s.first
}

// text says in which rows it holds.
func (s stretch) text() string {
	switch {
	case s.always() && s.read == 1:
		return fmt.Sprintf("at step %d, the only row", s.from)
	case s.always() && s.read == 2:
		return "in both rows"
	case s.always():
		return fmt.Sprintf("in all %d rows", s.read)
	case s.certain() && s.atEnd:
		return fmt.Sprintf("since step %d (%d of %d rows)", s.from, s.held, s.read)
	case s.certain():
		return fmt.Sprintf("from step %d to step %d (%d of %d rows)", s.from, s.to, s.held, s.read)
	case s.total == 1:
		return fmt.Sprintf("at step %d (1 of %d rows)", s.first, s.read)
	}
	return fmt.Sprintf("in %d of %d rows, first at step %d", s.total, s.read, s.first)
}

// span says which values a list holds: one, or from the smallest to the largest with the median.
func span(values []float64, number func(float64) string) string {
	least, most := number(slices.Min(values)), number(slices.Max(values))
	if least == most {
		return most
	}
	return fmt.Sprintf("%s to %s, median %s", least, most, number(change.Median(values)))
}

// plain prints a number with three digits, or all of those before the point.
func plain(x float64) string {
	if math.Abs(x) >= 1000 && math.Abs(x) < 1e7 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

// factorChange returns a change of level by a factor of e at least between the first and the last
// quarter of rows. Fewer than sixteen rows have halves. since is the step from which values are
// nearer to the later level, in logarithms.
//
// Quarters differ if nine tenths of the values of one lie on the far side of nine tenths of the
// other's. Of fewer than ten, all must.
func (s series) factorChange() (from, to float64, since int, found bool) {
	n := len(s.values) / 4
	if len(s.values) < 16 {
		n = len(s.values) / 2
	}
	if n < 2 {
		return 0, 0, 0, false
	}
	low := slices.Sorted(slices.Values(s.values[:n]))
	high := slices.Sorted(slices.Values(s.values[len(s.values)-n:]))
	if from, to = change.Median(low), change.Median(high); to < from {
		low, high = high, low
	}
	way := math.Log(to) - math.Log(from)
	if !(from > 0 && to > 0 && math.Abs(way) >= 1) || low[n-1-n/10] >= high[n/10] {
		return 0, 0, 0, false
	}
	row := change.Onset(len(s.values), func(i int) float64 {
		return max(min((math.Log(s.values[i])-math.Log(from))/way, 1), 0) - 0.5
	})
	return from, to, s.steps[row], true
}

// factor says by which factor a level has changed.
func factor(from, to float64) string {
	if x := max(from/to, to/from); !math.IsInf(x, 0) {
		return fmt.Sprintf("%.2g times", x)
	}
	return "beyond measure"
}

// batches is the number of batch means of which a trend is made, so that the noise of rows
// may be correlated.
const batches = 8

// steep is the number of standard errors of a slope that batch means about a level exceed with
// probability change.FalseAlarm.
var steep = distuv.StudentsT{Sigma: 1, Nu: batches - 2}.Quantile(1 - change.FalseAlarm)

// trend returns 1 if a series rises, −1 if it falls and 0 if neither is certain by the slope of eight
// batch means.
func (s series) trend() int {
	if len(s.values) < batches {
		return 0
	}
	slope, error := change.Line(change.Rows(batches), change.Batches(s.values, batches))
	if math.Abs(slope) <= steep*error {
		return 0
	}
	return cmp.Compare(slope, 0)
}

// rose reports whether the last quarter of a series is above its first two, four, eight, … values,
// up to a quarter of all. It must be so by a number of deviations of their mean and by half of the
// way to the top. A reward that rises within a few rows has no trend. Its noise is that of the last
// half, whose neighbours have the correlation memory.
func (s series) rose(deviations, memory float64) bool {
	n := len(s.values)
	if n < batches {
		return false
	}
	level, noise := change.Mean(s.values[n-n/4:]), change.Noise(s.values[n/2:])/math.Sqrt(1-memory)
	top := slices.Max(change.Batches(s.values, batches))
	for k := 2; k <= n/4; k *= 2 {
		first := change.Mean(s.values[:k])
		error := noise * min(1, math.Sqrt((1/float64(k)+4/float64(n))/change.Independent(memory)))
		if level-first > deviations*error && level >= (first+top)/2 {
			return true
		}
	}
	return false
}

// ends says how a series went: its mean over the first and the last quarter, of at least one row.
func (s series) ends() string {
	n := max(1, len(s.values)/4)
	return fmt.Sprintf("%s (%s to %s)", s.key, plain(change.Mean(s.values[:n])),
		plain(change.Mean(s.values[len(s.values)-n:])))
}

// Learnt says that the reward has risen and stays up, or is nearly the largest of a sample, which is
// 1 where all lie in [0, 1] and it is not logged; "" if neither is certain.
func Learnt(l *logs.Log) string {
	reward := read(l, anything, logs.Reward)
	n := len(reward.values)
	if n < batches {
		return ""
	}
	level := change.Mean(reward.values[n-max(1, n/4):])
	rise := change.Find(reward.values, change.Rises)
	stays := level >= (rise.Before+rise.After)/2
	if reward.trend() > 0 || rise.Chance <= change.FalseAlarm && stays || reward.rose(4, 0.75) {
		return "; the reward rises meanwhile: " + reward.ends()
	}
	smallest, largest := extremes(l)
	if _, has := l.Column(logs.RewardMax); !has {
		if largest > 1 || smallest < 0 {
			return ""
		}
		largest = 1
	}
	if smallest < largest && level >= solved*largest {
		return fmt.Sprintf("; the reward is high: %s %s of %s", reward.key, plain(level), plain(largest))
	}
	return ""
}

// solved is the share of the largest reward from which a task counts as solved.
const solved = 0.9

// falls reports whether the reward falls, or is nowhere above the smallest at the end.
func falls(l *logs.Log) bool {
	reward := read(l, anything, logs.Reward)
	n := len(reward.values)
	return n == 0 || reward.trend() < 0 || len(rewardCollapse(l)) > 0 ||
		slices.Max(reward.values[n-max(1, n/4):]) <= slices.Min(reward.values)
}

// unlessLearnt makes a remark of a failure beside which the reward has been learnt.
func (f Finding) unlessLearnt(l *logs.Log) Finding {
	if learnt := Learnt(l); learnt != "" {
		f.Level, f.Text = Remark, f.Text+learnt
	}
	return f
}

// join writes a list as a sentence has it.
func join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
