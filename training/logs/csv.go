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

// separator returns the separator of a header, 0 if the line has no step and no key of training.
func separator(c *collector, line string) rune {
	best, most := rune(0), 0
	for _, by := range separators {
		names := strings.Split(line, string(by))
		for i, name := range names {
			_, names[i], _ = chartColumn(strings.Trim(name, "\" \r"))
		}
		if steps, keys := stepsAndKeys(c, names); steps+keys > most {
			best, most = by, steps+keys
		}
	}
	return best
}

// chartColumn splits the name of a column of a W&B chart, "RUN - KEY". Other names are keys. Those
// that end in __MIN or __MAX are bounds of what smoothing or grouping averaged, not series.
func chartColumn(name string) (run, key string, bound bool) {
	name = strings.TrimSpace(name)
	bound = strings.HasSuffix(name, "__MIN") || strings.HasSuffix(name, "__MAX")
	if i := strings.LastIndex(name, " - "); i >= 0 {
		return name[:i], name[i+len(" - "):], bound
	}
	return "", name, bound
}

// rowReader reads a row of a table.
type rowReader func(line int, cells []string)

// rowOf returns a reader of rows with these columns, of which nil ones are not read.
func rowOf(c *collector, columns []*series) rowReader {
	return func(line int, cells []string) {
		for i, s := range columns {
			if s != nil {
				c.setSeries(line, s, []byte(cells[i]))
			}
		}
		c.endRow(line)
	}
}

// chartRows looks up the names of columns, and returns a reader of rows for each run. A chart of
// several runs has a collector for each, with the columns that name no run. W&B does not keep the
// names of runs apart: a column that repeats is of another run. A key of a chart is read as the
// reward if it is the only one, is like a reward's, and no trainer is known to write it.
func chartRows(c *collector, names []string) (rows []rowReader) {
	var order, keys []string // of runs
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
		if of[i] = run; key != "" && !bound {
			if keys = append(keys, key); !slices.Contains(order, run) {
				order = append(order, run)
			}
		}
	}
	runs := []*collector{c}
	if len(order) == 1 { // the file is the run's
		c.run = order[0]
	} else if len(order) > 1 {
		for _, name := range order {
			c.addRun(name)
		}
		runs = c.runs
	}
	isReward := len(slices.Compact(slices.Sorted(slices.Values(keys)))) == 1 && c.look(keys[0]) == nil && likeReward(keys[0]) > 0
	for _, r := range runs {
		columns := make([]*series, len(names))
		for _, shared := range []bool{false, true} {
			for i, name := range names {
				_, key, bound := chartColumn(name)
				switch {
				case key == "" || bound || shared != (of[i] == "") || !shared && r.run != of[i]:
				case r.byKey[key] != nil && shared:
					c.err.add(1, "got two columns %s, want one", quote(key))
				case r.byKey[key] != nil:
				case isReward && key == keys[0]:
					columns[i] = asReward(r, key)
				default:
					columns[i] = r.seriesOf(1, []byte(key))
				}
			}
		}
		rows = append(rows, rowOf(r, columns))
	}
	return rows
}

// asReward returns the series of a column that is read as the reward, whatever its name.
func asReward(c *collector, key string) *series {
	s := c.seriesOf(1, []byte(Reward))
	s.key = key
	c.byKey[key] = s
	c.note("%s is the only series of the file and is read as the reward.", quote(key))
	return s
}

// decimalComma finds a number whose decimals follow a comma.
var decimalComma = regexp.MustCompile(`(?:^|\t)[-+]?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))(?:\t|\r?\n)`)

func readCSV(c *collector, in *input) error {
	by := separator(c, headerOf(in))
	commas := by == ';' || by == '\t' && decimalComma.MatchString(in.begin)
	input := &bounded{from: in}
	r := csv.NewReader(input)
	r.Comma, r.Comment, r.FieldsPerRecord, r.LazyQuotes = by, '#', -1, true
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
	var rows []rowReader
	if row, finish := longRow(c, header); row != nil {
		rows = []rowReader{row}
		defer finish()
	} else if strings.EqualFold(strings.Join(header, ","), "Wall time,Step,Value") {
		rows = []rowReader{eventRow(c)}
	} else {
		rows = chartRows(c, header)
	}

	var held []string // the row read before, which may be cut if it is the last
	want, line := len(header), 0
	for {
		cells, next, err := record()
		wrong, malformed := errors.AsType[*csv.ParseError](err)
		switch end := err == io.EOF; {
		case len(held) == 0, slices.Equal(held, header): // a writer that is started again writes it again
		case len(held) == want:
			if end && input.last != '\n' && input.last != '\r' {
				c.note(lastCell, line)
				held[want-1] = ""
			}
			for _, row := range rows {
				row(line, held)
			}
		case end && len(held) < want:
			c.note(lastLine, line)
		default:
			c.err.add(line, "got %s, want %d", CountWords(len(held), "cell"), want)
		}
		held, line = cells, next
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
		for i, cell := range held {
			if commas {
				held[i] = pointed(cell)
			}
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

// longRow returns a reader of rows of a table in long form, which has a row for each value: Comet's
// export, and queries of MLflow's database. It is nil if the header is not that of one, as with a
// key of training beside the columns. The other function is called after the last row.
func longRow(c *collector, names []string) (row rowReader, finish func()) {
	find := func(words ...string) int {
		return slices.IndexFunc(names, func(name string) bool {
			return slices.Contains(words, strings.ToLower(strings.TrimSpace(name)))
		})
	}
	run := find("run", "run_id", "run_uuid", "run_name", "experiment", "trial_id")
	key := find("key", "name", "metric", "metric_name", "tag")
	step, value := find("step"), find("value", "metric_value")
	if min(key, step, value) < 0 || slices.ContainsFunc(names, func(name string) bool {
		s := c.look(name)
		return s != nil && s.tells
	}) {
		return nil, nil
	}
	runs := make(map[string]*timeline)
	row = func(line int, cells []string) {
		name := ""
		if run >= 0 {
			name = cells[run]
		}
		t := runs[name]
		switch {
		case t == nil && len(runs) == mostRuns:
			c.err.add(line, "got more than %d runs, want fewer in a file", mostRuns)
			return
		case t == nil:
			t = newTimeline(c.addRun(name))
			t.begin(c.err.File)
			runs[name] = t
		}
		at, hasStep, whole := number([]byte(cells[step]))
		x, has, ok := number([]byte(cells[value]))
		switch {
		case !ok || !whole:
			t.cannotRead(line, strings.Join(cells, ","), "want a step and a value")
		case has && hasStep:
			t.add(int64(at), []byte(cells[key]), x)
		}
	}
	return row, func() {
		for _, r := range c.runs {
			runs[r.run].finish()
		}
	}
}

var eventJSONFormat = format{container: EventChart, begins: matches(`\[\s*\[`), read: readEventJSON}

// eventRow returns a reader of rows of TensorBoard's download of a chart. The file does not say of
// what it is; TensorBoard's name for it does, run-RUN-tag-TAG.csv.
func eventRow(c *collector) rowReader {
	c.container = EventChart
	step, value := c.seriesOf(1, []byte("Step")), asReward(c, "Value")
	if _, tag, named := strings.Cut(filepath.Base(c.err.File), "-tag-"); named && likeReward(tag) == 0 {
		c.err.add(0, "got the chart of another tag by the file's name, want that of the reward")
	}
	return rowOf(c, []*series{nil, step, value})
}

// readEventJSON reads TensorBoard's download of a chart as JSON.
func readEventJSON(c *collector, in *input) error {
	var rows [][]any
	from := json.NewDecoder(in)
	from.UseNumber()
	add := eventRow(c)
	if err := from.Decode(&rows); err != nil {
		c.err.add(0, "got %s, want rows [WALL TIME, STEP, VALUE]", err)
		return nil
	}
	for _, row := range rows {
		if len(row) == 3 {
			add(0, []string{"", fmt.Sprint(row[1]), fmt.Sprint(row[2])})
		}
	}
	return nil
}
