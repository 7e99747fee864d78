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
