package logs

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// format is a container that is recognised by its beginning. It is a row of a table of formats,
// which stands in the file of its reader; keys.md.tmpl says what the file is.
type format struct {
	container Container // its reader may set another, which only the keys tell
	begins    func(c *collector, in *input) bool
	// read reads the rows into the collector (set, endRow). Its errors are those of the
	// reader; problems of the content are left in c.err.
	read func(c *collector, in *input) error
}

type input struct {
	*bufio.Reader
	head  []byte // its first bytes, at most peeked
	begin string // as text, without space around it
}

// formats is the table. The first row that is recognised counts; a console is any other text. One
// more format is a file and a row.
var formats = []format{parquetFormat, wandbFormat, eventsFormat, noFormat, notebookFormat, jsonFormat,
	eventJSONFormat, csvFormat, pageFormat, pastedFormat, consoleFormat}

// noFormat refuses a file that is empty or no text.
var noFormat = format{
	begins: func(_ *collector, in *input) bool {
		return notText(in.head) != "" || in.begin == "" && len(in.head) < peeked
	},
	read: func(c *collector, in *input) error {
		if is := notText(in.head); is != "" {
			c.err.add(0, "got %s", is)
		} else if len(c.err.Problems) == 0 { // of what is packed
			c.err.add(0, "got an empty file, want %s", knownFormats)
			c.tellNotes()
		}
		return nil
	},
}

// knownFormats lists what is read, for messages.
const knownFormats = `a trainer_state.json, JSON lines ({"step": 1, "reward": 0.5}), console output with dicts ({'reward': 0.5, …}), a pasted table, CSV (header step,reward,…; W&B exports), TensorBoard event files, or Parquet`

// matches returns a test of the beginning of a text.
func matches(pattern string) func(*collector, *input) bool {
	start := regexp.MustCompile(`^(?:` + pattern + `)`)
	return func(_ *collector, in *input) bool { return start.MatchString(in.begin) }
}

// read recognises the format and reads the rows.
func (c *collector) read(from io.Reader) error {
	in := &input{Reader: c.unpacked(from)}
	head, err := in.Peek(peeked)
	if err != nil && err != io.EOF {
		return err
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		head = head[len("\ufeff"):]
		if _, err := in.Discard(len("\ufeff")); err != nil {
			return err
		}
	}
	in.head, in.begin = head, strings.TrimSpace(string(head))
	f := formats[slices.IndexFunc(formats, func(f format) bool { return f.begins(c, in) })]
	c.container = f.container
	return f.read(c, in)
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// notText says of bytes that are no text what they are, and what is wanted; "" for a text.
func notText(head []byte) string {
	is := magicOf(head).is
	switch i := bytes.IndexByte(head, 0); {
	case is != "":
		return is
	case bytes.HasPrefix(head, []byte("SQLite format 3")):
		return database(head)
	case i >= 0:
		return fmt.Sprintf("a binary file (byte %d is 0), want %s", i, knownFormats)
	}
	return ""
}

// Notes about the last line of a file, which may be cut.
const (
	lastLine = "Line %d, the last, is not complete and was left out."
	lastCell = "Line %d, the last, has no end: its last cell may be cut and was left out."
)

// databases are the stores that keep metrics in SQLite: a word of their tables, and the query that
// writes rows which are read.
var databases = []struct{ name, table, query string }{
	{"MLflow", "run_uuid", `sqlite3 -csv -header FILE "select run_uuid as run, key, iif(is_nan, 'nan', value) as value, step from metrics order by run, timestamp" > metrics.csv`},
	{"trackio", "run_name", `sqlite3 FILE "select json_patch(metrics, json_object('step', step)) from metrics where run_name = 'RUN' order by id" > run.jsonl`},
}

// database says of an SQLite database how its rows are had. Its first page names the tables.
func database(head []byte) string {
	for _, d := range databases {
		if bytes.Contains(head, []byte(d.table)) {
			return "a database of " + d.name + ", want its rows: " + d.query
		}
	}
	return "an SQLite database, want its rows as JSON lines or CSV"
}
