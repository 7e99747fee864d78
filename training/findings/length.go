package findings

import (
	"fmt"
	"math"
	"slices"

	"grposim/training/change"
	"grposim/training/logs"
)

// half is the midpoint from which most of the samples or groups lack something.
const half = 0.5

// truncation finds completions that are cut at the length limit. The reward of a cut
// completion says nothing about the answer that it does not reach. From ½ on, the midpoint,
// most of what is trained on is cut: a failure, unless it passes, or the reward of the others
// rises. From a quarter on it is a remark.
//
// Where no share is logged, completions that all have one length have reached the limit
// (oneLength).
func truncation(l *logs.Log) []Finding {
	long := func() string {
		if s, has := read(l, 0, math.Inf(1), logs.LenMax, logs.LenMean); has {
			return fmt.Sprintf(" (%s %s)", s.key, plain(s.values[len(s.values)-1]))
		}
		return ""
	}
	share, has := read(l, 0, 1, logs.LenClipped)
	if !has {
		return oneLength(l)
	}
	if at := share.past(half); at.certain() {
		const all = 0.995 // 1 but for the rounding of a mean
		values := share.within(at, half)
		every := change.Median(values) >= all
		f := Finding{Level: Failure, Since: at.since(), Text: "most completions are"}
		if every {
			f.Text = "every completion is"
		}
		f.Text += fmt.Sprintf(" cut at the length limit %s: %s %s%s", at.text(), share.key, span(values, percent), long())
		switch rises := meanwhile(l); {
		case !at.atEnd:
			f.Level = Remark // it has passed
		case !every && rises != "":
			f.Level = Remark
			f.Text += rises
		}
		return []Finding{f}
	}
	if at := share.past(aQuarter); at.certain() || change.Mean(share.values) >= aQuarter {
		values := share.values
		if at.certain() {
			values = share.within(at, aQuarter)
		}
		return []Finding{{Level: Remark, Since: at.since(),
			Text: fmt.Sprintf("many completions are cut at the length limit %s: %s %s%s", at.text(), share.key, span(values, percent), long()),
			Next: "raise the length limit, or leave cut completions out of the loss"}}
	}
	return nil
}

// oneLength finds rows whose completions all have one length, the same in every row: the
// shortest is as long as the longest. Where these are not logged, a mean that is the same
// whole number, the largest of the log, is a remark.
func oneLength(l *logs.Log) []Finding {
	length, _ := read(l, 1, math.Inf(1), logs.LenMean)
	key, level := length.key, Remark
	if low, has := read(l, 1, math.Inf(1), logs.LenMin); has {
		length, has = read(l, 1, math.Inf(1), logs.LenMax)
		if !has || len(low.values) != len(length.values) {
			return nil
		}
		key, level = low.key+" = "+length.key, Failure
		for i, x := range low.values {
			if x != length.values[i] {
				length.values[i] = 0
			}
		}
	}
	if len(length.values) < 2 {
		return nil
	}
	limit := slices.Max(length.values)
	at := longest(length.steps, func(i int) bool { return length.values[i] == limit })
	if limit != math.Trunc(limit) || !at.certain() {
		return nil
	}
	if !at.atEnd {
		level = Remark
	}
	text := fmt.Sprintf("every completion has %s tokens %s (%s): all are cut at the length limit", plain(limit), at.text(), key)
	if key == length.key {
		text = fmt.Sprintf("%s is exactly %s %s, as if every completion were cut at the length limit", key, plain(limit), at.text())
	}
	return []Finding{{Level: level, Since: at.since(), Text: text}}
}

// lengthChange finds a mean length that grows or shrinks by a factor of e (factorChange).
// Completions that grow until they are cut are a failure, which truncation says; that they
// grow or shrink is none by itself.
func lengthChange(l *logs.Log) []Finding {
	length, has := read(l, 0, math.Inf(1), logs.LenMean)
	if !has {
		return nil
	}
	c, found := length.factorChange()
	if !found {
		return nil
	}
	verb, cut := "shrink", ""
	if c.to > c.from {
		verb = "grow"
		if share, has := read(l, 0, 1, logs.LenClipped); has && share.trend() > 0 {
			cut = "; more are cut: " + share.ends()
		}
	}
	return []Finding{{Level: Remark, Since: c.since, Text: fmt.Sprintf("completions %s %s, from %s to %s tokens (%s), since about step %d%s%s",
		verb, c.factor(), plain(c.from), plain(c.to), length.key, c.since, cut, meanwhile(l))}}
}
