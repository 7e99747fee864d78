package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"grposim/sweeps/store"
)

// page is the text that a command prints. The first error of its stream stays.
type page struct {
	w     io.Writer
	width int // most columns of a table; 0: as many as are readable
	err   error
}

// readable is a width at which text is still read easily, anyWidth that of tables for programs.
const readable, anyWidth = 100, math.MaxInt

// paragraph prints a text in lines of at most a readable width, the later ones with an indent.
// A line ends at a space.
func (p *page) paragraph(indent, text string) {
	width := min(p.screen().width, readable) - utf8.RuneCountInString(indent)
	p.printf("%s\n", strings.Join(fill(strings.SplitAfter(text, " "), width), "\n"+indent))
}

// screen is that of the page's stream, no wider than the page.
func (p *page) screen() screen {
	s, width := screenOf(p.w), cmp.Or(p.width, readable)
	s.width = min(cmp.Or(s.width, width), width)
	return s
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// table prints rows of equally many fields, the first of them the names of the columns. A field is
// one line. Names alone are no table.
func (p *page) table(rows [][]string) {
	if len(rows) < 2 || p.err != nil {
		return
	}
	escaped := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			escaped[i] = append(escaped[i], escape(cell, ""))
		}
	}
	_, p.err = io.WriteString(bare(p.w), p.screen().table(escaped))
}

// printer prints the results of a command: as text or, with the flag --json, as JSON.
type printer struct {
	stdout io.Writer
	json   bool
	indent string // of JSON; "": a result is a line
}

func addJSON(c *cobra.Command, stdout io.Writer, indent, usage string) *printer {
	p := &printer{stdout: stdout, indent: indent}
	c.Flags().BoolVar(&p.json, "json", false, usage)
	return p
}

// print prints a result, whose text is what text prints.
func (p *printer) print(result any, text func(*page)) error {
	if !p.json {
		return p.text(text)
	}
	encoder := json.NewEncoder(p.stdout)
	encoder.SetIndent("", p.indent)
	return encoder.Encode(result)
}

// text prints what is not a result alone, or has no JSON.
func (p *printer) text(text func(*page)) error {
	to := &page{w: p.stdout}
	text(to)
	return to.err
}

// object is a JSON object: names and values in turn. A number that is not finite is null.
type object []any

// with returns the object with another field, if the field is there.
func (o object) with(name string, value any, there bool) object {
	if there {
		return append(o, name, value)
	}
	return o
}

// MarshalJSON writes the fields in their order.
func (o object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i := 0; i < len(o); i += 2 {
		value := o[i+1]
		if number, is := value.(float64); is {
			value = store.Number(number)
		}
		name, err := json.Marshal(o[i])
		data, problem := json.Marshal(value)
		if err = errors.Join(err, problem); err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = slices.Concat(text, name, []byte{':'}, data)
	}
	return append(text, '}'), nil
}

// printable is a stream to a user, in which no character that is not seen reaches a
// terminal: keys of a log, names of benchmarks and of files are written by others, and
// could move the cursor or turn the direction of a text. Such a character is written as
// \u001b, which in a string of JSON stands for itself, and a byte of no character as \x9b.
type printable struct {
	bare io.Writer

	mutex sync.Mutex
	rest  []byte // begin of a character whose end has not been written yet
}

// Write writes text to the bare stream; a character may be divided between two calls.
func (p *printable) Write(text []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	whole := append(p.rest, text...)
	end := len(whole)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(whole[i]) && !utf8.FullRune(whole[i:]) {
			end = i
		}
	}
	p.rest = append([]byte(nil), whole[end:]...)
	if _, err := io.WriteString(p.bare, escape(string(whole[:end]), "\n\t")); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Close writes what is left of a character that has no end.
func (p *printable) Close() error {
	if len(p.rest) == 0 {
		return nil
	}
	_, err := io.WriteString(p.bare, escape(string(p.rest), ""))
	p.rest = nil
	return err
}

// bare returns the stream behind a printable one, for what the program itself writes to a
// terminal: colours and the progress bar.
func bare(w io.Writer) io.Writer {
	if p, is := w.(*printable); is {
		return p.bare
	}
	return w
}

// escape writes the characters of a text that are not seen as escapes, except those kept:
// control characters, format characters (directions, of no width, tags) and the separators
// of lines and paragraphs.
func escape(text, kept string) string {
	unseen := func(r rune) bool {
		return r == utf8.RuneError || !strings.ContainsRune(kept, r) &&
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if strings.IndexFunc(text, unseen) < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == utf8.RuneError || !unseen(r):
			b.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) { // as JSON writes it
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
		i += size
	}
	return b.String()
}
