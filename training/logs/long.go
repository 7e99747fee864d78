package logs

import (
	"slices"
	"strings"
)

// A table in long form has a row for each value: Comet's export, and queries of MLflow's database.

// mostRuns is the largest number of runs of a file.
const mostRuns = 100

// longColumns are the columns of a table in long form; run is −1 where there is none.
type longColumns struct{ run, key, step, value int }

// longHeader finds the columns of a long form in a header. A key of training beside them is none.
func longHeader(c *collector, names []string) (l longColumns, is bool) {
	find := func(words ...string) int {
		return slices.IndexFunc(names, func(name string) bool {
			return slices.Contains(words, strings.ToLower(strings.TrimSpace(name)))
		})
	}
	l = longColumns{
		run: find("run", "run_id", "run_uuid", "run_name", "experiment", "trial_id"),
		key: find("key", "name", "metric", "metric_name", "tag"), step: find("step"), value: find("value", "metric_value"),
	}
	tells := func(name string) bool {
		s := c.newSeries([]byte(name))
		return s != nil && s.tells
	}
	return l, l.key >= 0 && l.step >= 0 && l.value >= 0 && !slices.ContainsFunc(names, tells)
}

// longRows reads the rows of a long form.
type longRows struct {
	longColumns
	from *collector
	runs []*timeline
}

// row adds a value.
func (l *longRows) row(line int, cells []string) {
	run := ""
	if l.run >= 0 {
		run = cells[l.run]
	}
	t := l.timeline(line, run)
	if t == nil {
		return
	}
	step, hasStep, whole := number([]byte(cells[l.step]))
	x, has, ok := number([]byte(cells[l.value]))
	switch {
	case !ok || !whole:
		t.unread.add(line, strings.Join(cells, ","), "want a step and a value")
	case has && hasStep:
		t.add(int64(step), []byte(cells[l.key]), x)
	}
}

// timeline returns a run by its name, nil if there are too many.
func (l *longRows) timeline(line int, run string) *timeline {
	if i := slices.IndexFunc(l.runs, func(t *timeline) bool { return t.run == run }); i >= 0 {
		return l.runs[i]
	}
	if len(l.runs) == mostRuns {
		l.from.err.add(line, "got more than %d runs, want fewer in a file", mostRuns)
		return nil
	}
	t := newTimeline(newCollector(l.from.err.File, l.from.how))
	t.run, t.container = run, CSV
	t.begin(l.from.err.File)
	l.runs = append(l.runs, t)
	return t
}

// finish makes rows of the values.
func (l *longRows) finish() {
	for _, t := range l.runs {
		t.finish()
		l.from.runs = append(l.from.runs, t.collector)
	}
}
