package logs

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// separators of the cells of a CSV file.
const separators = ",\t;"

// separator returns the separator of a header, 0 if the line has no step and no key of
// training.
func (c *collector) separator(line string) rune {
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

// csv reads a file of a header and rows.
func (c *collector) csv(from *bufio.Reader, by rune) error {
	input := &bounded{from: from}
	r := csv.NewReader(input)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord, r.LazyQuotes = by, -1, true, true
	record := func() ([]string, int, error) {
		input.left = longRecord
		cells, err := r.Read()
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			return nil, wrong.Line, err
		}
		if len(cells) == 0 {
			return cells, 0, err
		}
		line, _ := r.FieldPos(0)
		return cells, line, err
	}

	c.container = CSV
	header, _, err := record()
	if err != nil {
		return err
	}
	columns := make([]*series, len(header))
	var runs []string
	for i, name := range header {
		run, key, bound := chartColumn(name)
		if run != "" {
			c.container = WandbChart
			if !bound && !slices.Contains(runs, run) {
				runs = append(runs, strings.Clone(run))
			}
		}
		if key == "_runtime" || key == "_timestamp" {
			c.container = WandbHistory
		}
		if !bound && key != "" {
			if columns[i] = c.byKey[key]; columns[i] == nil {
				columns[i] = c.addKey(1, []byte(key))
			} else if run == "" {
				c.err.add(1, "got two columns %s, want one", quote(key))
			}
		}
	}
	if len(runs) > 1 {
		c.err.add(1, "got columns of %s (%s), want one run a file", countWords(len(runs), "run"), strings.Join(runs, ", "))
	}

	want, short, shortLine := len(header), -1, 0 // a row that is too short may be the last
	flush := func() {
		if short >= 0 {
			c.err.add(shortLine, "got %s, want %d", countWords(short, "cell"), want)
			short = -1
		}
	}
	for {
		cells, line, err := record()
		var wrong *csv.ParseError
		switch {
		case err == io.EOF:
			if short >= 0 {
				c.notes = append(c.notes, lastLine(shortLine))
			}
			return nil
		case errors.As(err, &wrong):
			flush()
			c.err.add(line, "got %s, want a row of %d cells", wrong.Err, want)
			continue
		case err != nil:
			return err
		}
		flush()
		switch {
		case len(cells) < want:
			short, shortLine = len(cells), line
			continue
		case len(cells) > want:
			c.err.add(line, "got %d cells, want %d", len(cells), want)
			continue
		}
		for i, s := range columns {
			if s != nil {
				c.setSeries(line, s, []byte(cells[i]))
			}
		}
		c.endRow(line)
	}
}

// longRecord is the largest number of bytes of a row of CSV; a quote that is not closed
// would otherwise read the whole file into memory.
const longRecord = 64 << 20

var errLongRecord = errors.New("got a row of more than 64 MiB, want shorter rows: is a quote not closed?")

// bounded reads at most left bytes.
type bounded struct {
	from io.Reader
	left int
}

func (b *bounded) Read(to []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRecord
	}
	n, err := b.from.Read(to)
	b.left -= n
	return n, err
}
