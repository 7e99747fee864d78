package logs

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// magics are the first bytes of files that are no text, and what to do with them.
var magics = []struct{ bytes, is string }{
	{"\x1f\x8b", "a gzip file, want it unpacked"},
	{"\x28\xb5\x2f\xfd", "a zstd file, want it unpacked"},
	{"PK\x03\x04", "a zip file, want it unpacked"},
	{"%PDF", "a PDF, want text: copy the lines of the log out of it"},
	{"\x89PNG", "a picture, want text: the lines of the log, or the numbers of the chart as CSV"},
	{"\xff\xd8\xff", "a picture, want text: the lines of the log, or the numbers of the chart as CSV"},
	{"SQLite format 3", "an SQLite database, want its rows as JSON lines or CSV (of trackio: trackio get metric --json)"},
}

// knownFormats lists what Read reads, for messages.
const knownFormats = `a trainer_state.json, JSON lines ({"step": 1, "reward": 0.5}), console output with dicts ({'reward': 0.5, …}), a pasted table, CSV (header step,reward,…; W&B exports), TensorBoard event files, or Parquet`

// textForms is the table of the forms of a text: how one is recognised by its beginning,
// and its reader. The first that is recognised counts; a console is any other text.
var textForms = []struct {
	container Container
	is        func(c *collector, begin string) bool
	read      func(c *collector, r *bufio.Reader, begin string) error
}{
	{Console, isNotebook, func(c *collector, r *bufio.Reader, _ string) error { return c.notebook(r) }},
	{JSONLines, (*collector).isJSON, func(c *collector, r *bufio.Reader, _ string) error {
		return (&parser{collector: c, r: r, line: 1}).json()
	}},
	{EventChart, (*collector).isEventJSON, func(c *collector, r *bufio.Reader, _ string) error { return c.eventJSON(r) }},
	{CSV, (*collector).isCSV, func(c *collector, r *bufio.Reader, begin string) error {
		return c.csv(r, c.separator(firstLine(begin)))
	}},
	{Pasted, (*collector).isPasted, func(c *collector, r *bufio.Reader, _ string) error {
		return c.readPasted(&lines{r: r})
	}},
	{Console, func(*collector, string) bool { return true }, func(c *collector, r *bufio.Reader, begin string) error {
		err := c.readConsole(&lines{r: r})
		if err == nil && len(c.rows) == 0 {
			if names := tableOfNumbers(begin); names != nil {
				c.err.add(1, "got no known column among %s, want step, reward and others of docs/logs.md%s", quoteAll(names), renamings(names))
			} else {
				n, text := telling(begin)
				c.err.add(n, "got %s, want %s", quote(text), knownFormats)
			}
		}
		return err
	}},
}

// namedNumber matches a number after a name, which a line of metrics has.
var namedNumber = regexp.MustCompile(`[A-Za-z_)\]'"][:=]\s*[-+]?\d`)

// telling returns the line of a text that is most like one of metrics, with its number: the
// first with a number after a name, or the first.
func telling(text string) (number int, line string) {
	for i, line := range strings.Split(text, "\n") {
		if namedNumber.MatchString(line) {
			return i + 1, line
		}
	}
	return 1, firstLine(text)
}

// read recognises the container and reads the rows. Its errors are those of the reader;
// problems of the content are left in c.err.
func (c *collector) read(from io.Reader) error {
	r := c.unpacked(from)
	head, err := r.Peek(peeked)
	if err != nil && err != io.EOF {
		return err
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		head = head[len("\ufeff"):]
		if _, err := r.Discard(len("\ufeff")); err != nil {
			return err
		}
	}
	begin := strings.TrimSpace(string(head))
	switch is := notText(head); {
	case bytes.HasPrefix(head, []byte(parquetMagic)):
		return c.parquet(r, from)
	case bytes.HasPrefix(head, []byte(wandbMagic)):
		return c.wandb(r)
	case isEvents(head):
		c.container = TensorBoard
		return c.timeline(func(t *timeline) error { return t.events(r, filepath.Base(c.err.File)) })
	case is != "":
		c.err.add(0, "got %s", is)
		return nil
	case begin == "" && err == io.EOF:
		c.err.add(0, "got an empty file, want %s", knownFormats)
		c.tellNotes()
		return nil
	}
	for _, form := range textForms {
		if form.is(c, begin) {
			c.container = form.container
			return form.read(c, r, begin)
		}
	}
	panic("logs: no form of a text")
}

// firstLine returns the first line of a text.
func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// isJSON reports whether a text begins with an object or a list of objects.
func (c *collector) isJSON(begin string) bool {
	squeezed := strings.Map(dropSpace, begin[:min(len(begin), 1000)])
	return strings.HasPrefix(squeezed, `{"`) || strings.HasPrefix(squeezed, `[{"`) || squeezed == "{"
}

// isCSV reports whether a text begins with a header.
func (c *collector) isCSV(begin string) bool {
	return !strings.HasPrefix(begin, "{") && c.separator(firstLine(begin)) != 0
}

// isPasted reports whether a text has the header of a pasted table, before any dict.
func (c *collector) isPasted(begin string) bool {
	begin, _, _ = strings.Cut(begin, "{'")
	for _, text := range strings.Split(begin, "\n") {
		if c.heads(text) != "" {
			return true
		}
	}
	return false
}

func dropSpace(r rune) rune {
	if strings.ContainsRune(" \t\r\n", r) {
		return -1
	}
	return r
}

// notText says of bytes that are no text what they are, and what is wanted; "" for a text.
func notText(head []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return m.is
		}
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return fmt.Sprintf("a binary file (byte %d is 0), want %s", i, knownFormats)
	}
	return ""
}

// lastLine is the note about a last line that is not complete.
func lastLine(line int) string {
	return fmt.Sprintf("Line %d, the last, is not complete and was left out.", line)
}
