package logs

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var csvFormat = format{
	container: CSV,
	docs: [][2]string{
		{"history of W&B as CSV", "columns `_step`, `_runtime` and the keys"},
		{"a chart of W&B as CSV", "columns `RUN - KEY` of one or several runs; those that end in `__MIN` and `__MAX` are left out"},
		{"CSV", "a header with known keys, with commas, tabs or semicolons; with tabs and semicolons decimals may follow a comma"},
		{"CSV in long form, of Comet or MLflow", "columns `name` or `key`, `value`, `step`, perhaps `run`: a row for each value"},
	},
	begins: func(c *collector, in *input) bool {
		return !strings.HasPrefix(in.begin, "{") && separator(c, headerOf(in)) != 0
	},
	read: readCSV,
}

// headerOf returns the first line of a file that is no comment.
func headerOf(in *input) string {
	text := in.begin
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return firstLine(text)
}

// separators of the cells of a CSV file.
const separators = ",\t;"

// separator returns the separator of a header, 0 if the line has no step and no key of
// training.
func separator(c *collector, line string) rune {
	best, most := rune(0), 0
	for _, by := range separators {
		n := 0
		for _, name := range strings.Split(line, string(by)) {
			if _, key, _ := chartColumn(strings.Trim(name, "\" \r")); c.newSeries([]byte(key)).trained() {
				n++
			}
		}
		if n > most {
			best, most = by, n
		}
	}
	return best
}

// chartColumn splits the name of a column of a W&B chart, "RUN - KEY". Other names are
// keys. Those that end in __MIN or __MAX are bounds of what smoothing or grouping
// averaged, not series.
func chartColumn(name string) (run, key string, bound bool) {
	name = strings.TrimSpace(name)
	bound = strings.HasSuffix(name, "__MIN") || strings.HasSuffix(name, "__MAX")
	if i := strings.LastIndex(name, " - "); i >= 0 {
		return name[:i], name[i+len(" - "):], bound
	}
	return "", name, bound
}

// csvRun is a run in a CSV file with its columns.
type csvRun struct {
	*collector
	columns []*series // by index; nil: none
	long    *longRows // nil unless the file is in long form
}

// headerRuns looks up the names of columns. A chart of several runs has a collector for each, with
// the columns that name no run. W&B does not keep the names of runs apart: a column that repeats is
// of another run.
func headerRuns(c *collector, names []string) []*csvRun {
	if isEventChart(names) {
		return []*csvRun{{collector: c, columns: eventChartColumns(c)}}
	}
	if columns, is := longHeader(c, names); is {
		return []*csvRun{{collector: c, long: &longRows{longColumns: columns, from: c}}}
	}
	c.container = CSV
	var order []string // of runs
	of, times := make([]string, len(names)), make(map[string]int)
	for i, name := range names {
		run, key, bound := chartColumn(name)
		if key == "_runtime" || key == "_timestamp" {
			c.container = WandbHistory
		}
		if run == "" {
			continue
		}
		c.container = WandbChart
		if times[name]++; times[name] > 1 {
			run = fmt.Sprintf("%s (%d)", run, times[name])
		}
		if of[i] = run; key != "" && !bound && !slices.Contains(order, run) {
			order = append(order, run)
		}
	}
	runs := []*csvRun{{collector: c}}
	if len(order) == 1 { // the file is the run's
		c.run = order[0]
	} else if len(order) > 1 {
		runs = nil
		for _, name := range order {
			r := newCollector(c.err.File, c.how)
			r.run, r.container = name, c.container
			runs, c.runs = append(runs, &csvRun{collector: r}), append(c.runs, r)
		}
	}
	for _, r := range runs {
		r.columns = make([]*series, len(names))
	}
	only := onlyReward(c, names)
	for _, shared := range []bool{false, true} {
		for i, name := range names {
			_, key, bound := chartColumn(name)
			for _, r := range runs {
				switch {
				case key == "" || bound || shared != (of[i] == "") || !shared && r.run != of[i]:
				case r.byKey[key] != nil && shared:
					c.err.add(1, "got two columns %s, want one", quote(key))
				case r.byKey[key] != nil:
				case key == only:
					r.columns[i] = r.asReward(key)
				default:
					r.columns[i] = r.addKey(1, key)
				}
			}
		}
	}
	return runs
}

// onlyReward returns the key of a chart of W&B that has a single one. No trainer must be known to
// write it, and it must be like a reward's; else it is "".
func onlyReward(c *collector, names []string) (only string) {
	for _, name := range names {
		run, key, bound := chartColumn(name)
		switch {
		case run == "" || bound || key == only:
		case only != "" || c.newSeries([]byte(key)) != nil || likeReward(key) == 0:
			return ""
		default:
			only = key
		}
	}
	return only
}

// asReward returns the series of a column that is read as the reward, whatever its name.
func (c *collector) asReward(key string) *series {
	s := c.addKey(1, string(Reward))
	s.key = key
	c.byKey[key] = s
	c.note("%s is the only series of the file and is read as the reward.", quote(key))
	return s
}

// row adds a row of the file to the run.
func (r *csvRun) row(line int, cells []string) {
	if r.long != nil {
		r.long.row(line, cells)
		return
	}
	for i, s := range r.columns {
		if s != nil {
			r.setSeries(line, s, []byte(cells[i]))
		}
	}
	r.endRow(line)
}

// decimalComma finds a number whose decimals follow a comma.
var decimalComma = regexp.MustCompile(`(?:^|\t)[-+]?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))(?:\t|\r?\n)`)

// readCSV reads a file of a header and rows.
func readCSV(c *collector, in *input) error {
	by := separator(c, headerOf(in))
	commas := by == ';' || by == '\t' && decimalComma.MatchString(in.begin)
	input := &bounded{from: in}
	r := csv.NewReader(input)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord, r.LazyQuotes = by, -1, true, true
	r.Comment = '#'
	record := func() ([]string, int, error) {
		input.left = longRecord
		cells, err := r.Read()
		if wrong, is := errors.AsType[*csv.ParseError](err); is {
			return nil, wrong.Line, err
		} else if len(cells) == 0 {
			return nil, 0, err
		}
		line, _ := r.FieldPos(0)
		return cells, line, err
	}

	header, _, err := record()
	if err != nil {
		return err
	}
	runs := headerRuns(c, header)
	if long := runs[0].long; long != nil {
		defer long.finish()
	}

	var held []string             // the row read before, which may be cut if it is the last
	header = slices.Clone(header) // a writer that is started again writes it again
	want, line := len(header), 0
	for {
		cells, next, err := record()
		wrong, malformed := errors.AsType[*csv.ParseError](err)
		switch end := err == io.EOF; {
		case len(held) == 0, slices.Equal(held, header):
		case len(held) == want:
			if end && input.last != '\n' && input.last != '\r' {
				c.note(lastCell, line)
				held[want-1] = ""
			}
			for _, run := range runs {
				run.row(line, held)
			}
		case end && len(held) < want:
			c.note(lastLine, line)
		default:
			c.err.add(line, "got %s, want %d", CountWords(len(held), "cell"), want)
		}
		held, line = held[:0], next
		switch {
		case err == io.EOF || c.values > mostValues:
			return nil
		case err == errLongRecord:
			c.err.add(line+1, "%s", err)
			return nil
		case malformed:
			c.err.add(line, "got %s, want a row of %d cells", wrong.Err, want)
		case err != nil:
			return err
		}
		for _, cell := range cells {
			if commas {
				cell = pointed(cell)
			}
			held = append(held, cell)
		}
	}
}

// pointed returns a number whose decimals follow a comma with a point.
func pointed(cell string) string {
	if whole, decimals, ok := strings.Cut(cell, ","); ok && !strings.ContainsAny(decimals, ",.") {
		return strings.ReplaceAll(whole, ".", "") + "." + decimals
	}
	return cell
}

// longRecord is the largest number of bytes of a row of CSV. A quote that is not closed would
// otherwise read the whole file into memory.
const longRecord = 16 << 20

var errLongRecord = errors.New("got a row of more than 16 MiB, want shorter rows: is a quote not closed?")

// bounded reads at most left bytes.
type bounded struct {
	from io.Reader
	left int
	last byte // read last
}

func (b *bounded) Read(to []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRecord
	}
	n, err := b.from.Read(to)
	if b.left -= n; n > 0 {
		b.last = to[n-1]
	}
	return n, err
}

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
	return l, min(l.key, l.step, l.value) >= 0 && !slices.ContainsFunc(names, func(name string) bool {
		s := c.newSeries([]byte(name))
		return s != nil && s.tells
	})
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
		t.cannotRead(line, strings.Join(cells, ","), "want a step and a value")
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

var eventJSONFormat = format{
	container: EventChart,
	docs: [][2]string{{"a chart of TensorBoard, downloaded", "CSV with columns `Wall time`, " +
		"`Step`, `Value`, or a JSON list of rows `[WALL TIME, STEP, VALUE]`; read as the reward"}},
	begins: func(_ *collector, in *input) bool { return strings.HasPrefix(in.squeezed(), "[[") },
	read:   func(c *collector, in *input) error { return readEventJSON(c, in) },
}

// TensorBoard downloads a chart as CSV, with a header, or as a JSON list of rows
// [WALL TIME, STEP, VALUE].

// isEventChart reports whether a header is that of TensorBoard's download of a chart.
func isEventChart(names []string) bool {
	return strings.EqualFold(strings.Join(names, ","), "Wall time,Step,Value")
}

// eventChartColumns returns the columns of TensorBoard's download of a chart. The file does not say
// of what it is; TensorBoard's name for it does, run-RUN-tag-TAG.csv.
func eventChartColumns(c *collector) []*series {
	c.container = EventChart
	step, value := c.addKey(1, "Step"), c.asReward("Value")
	if _, tag, named := strings.Cut(filepath.Base(c.err.File), "-tag-"); named && likeReward(tag) == 0 {
		c.err.add(0, "got the chart of another tag by the file's name, want that of the reward")
	}
	return []*series{nil, step, value}
}

// readEventJSON reads TensorBoard's download of a chart as JSON.
func readEventJSON(c *collector, r io.Reader) error {
	var rows [][]any
	from := json.NewDecoder(r)
	from.UseNumber()
	run := csvRun{collector: c, columns: eventChartColumns(c)}
	if err := from.Decode(&rows); err != nil {
		c.err.add(0, "got %s, want rows [WALL TIME, STEP, VALUE]", err)
		return nil
	}
	for _, row := range rows {
		if len(row) == 3 {
			run.row(0, []string{"", fmt.Sprint(row[1]), fmt.Sprint(row[2])})
		}
	}
	return nil
}
