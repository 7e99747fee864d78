package logs

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

var jsonFormat = format{
	container: JSONLines,
	docs: [][2]string{
		{"`trainer_state.json` of transformers", "a JSON object with `log_history`; of a trainer's output folder, its own or that of its newest checkpoint, whichever is longer; event files below the folder are read instead if they go as far"},
		{"JSON lines, or a JSON list", "an object per row, flat or nested: keys of nested objects are joined by a slash, and verl's `{\"step\": N, \"data\": {…}}` has the keys of `data`"},
	},
	begins: func(_ *collector, in *input) bool {
		start := in.squeezed()
		return strings.HasPrefix(start, `{"`) || strings.HasPrefix(start, `[{"`) || start == "{"
	},
	read: func(c *collector, in *input) error { return (&parser{collector: c, r: in.Reader, line: 1}).json() },
}

// parser reads objects of JSON and dicts of Python in one pass. encoding/json would not
// do: Python writes NaN and Infinity into JSON, and prints None, True and single quotes.
type parser struct {
	*collector
	r    io.ByteScanner
	line int    // of the byte read last, from 1
	path []byte // key of the value being read, with those of the objects around it
	text []byte // of the value being read
	last byte   // the byte read last

	wrapped bool // lines are of a terminal, which ends them within keys and numbers too
	depth   int  // of objects and lists around the value
	lists   int  // of lists among them, whose values are skipped
	history bool // the file has a log_history
}

// syntax is an error in the form of an object.
type syntax struct{ got, want string }

func (s *syntax) Error() string { return fmt.Sprintf("got %s, want %s", s.got, s.want) }

const (
	deepest  = 50   // levels of nesting
	longText = 4096 // bytes kept of a key or a value
)

func (p *parser) read() (byte, error) {
	b, err := p.r.ReadByte()
	if err == nil && b == '\n' {
		p.line++
	}
	p.last = b
	return b, err
}

// back unreads the byte read last.
func (p *parser) back() {
	if p.r.UnreadByte() == nil && p.last == '\n' {
		p.line--
	}
}

// next returns the first byte that is not a space.
func (p *parser) next() (byte, error) {
	for {
		b, err := p.read()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(" \n\t\r", b) < 0 {
			return b, nil
		}
	}
}

func (p *parser) unexpected(b byte, want string) error {
	switch b {
	case '\n', '\r':
		p.back()
		return &syntax{"the end of the line", want}
	case '{': // may be the next row
		p.back()
	}
	return &syntax{fmt.Sprintf("%q", rune(b)), want}
}

// object reads the rest of an object after its brace and sets its numbers under their
// keys, those of nested objects joined by slashes. An object data is not part of keys.
func (p *parser) object() error {
	if err := p.deeper(); err != nil {
		return err
	}
	defer func() { p.depth-- }()
	prefix := len(p.path)
	b, err := p.next()
	if err == nil && b == '}' {
		return nil
	}
	for err == nil {
		p.path = p.path[:prefix]
		if b == '.' && p.container == Console { // 'reward': 0.5, ...}: people leave keys out
			if b, err = p.elided(b); err != nil {
				return err
			}
			if b == '}' {
				return nil
			}
		}
		if b != '"' && b != '\'' {
			return p.unexpected(b, "a quoted key")
		}
		if p.path, err = p.quoted(p.path, b); err != nil {
			return err
		}
		if b, err = p.next(); err != nil {
			return err
		}
		if b != ':' {
			return p.unexpected(b, "a colon after a key")
		}
		if b, err = p.next(); err != nil {
			return err
		}
		if p.depth == 1 && b == '[' && string(p.path) == "log_history" && !p.history {
			err = p.logHistory()
		} else {
			err = p.value(b)
		}
		if err != nil {
			return err
		}
		if b, err = p.next(); err != nil {
			return err
		}
		if b == '}' {
			return nil
		}
		if b != ',' {
			return p.unexpected(b, "a comma or a brace after a value")
		}
		if b, err = p.next(); err == nil && b == '}' { // Python allows a last comma
			return nil
		}
	}
	return err
}

// elided reads dots that begin with b, and returns what follows them and a comma.
func (p *parser) elided(b byte) (next byte, err error) {
	for b == '.' && err == nil {
		b, err = p.next()
	}
	if b == ',' && err == nil {
		b, err = p.next()
	}
	return b, err
}

// value reads a value that begins with b.
func (p *parser) value(b byte) (err error) {
	switch b {
	case '{':
		if p.depth == 1 && string(p.path) == "data" {
			p.path = p.path[:0]
		} else {
			p.path = append(p.path, '/')
		}
		return p.object()
	case '[':
		return p.list()
	case '"', '\'':
		if p.text, err = p.quoted(p.text[:0], b); err != nil {
			return err
		}
		p.put()
		return nil
	}
	if strings.IndexByte(",:]})", b) >= 0 {
		return p.unexpected(b, "a value")
	}
	p.text = p.text[:0]
	for parentheses := 0; ; {
		switch b {
		case '(':
			parentheses++
		case ')':
			parentheses--
		}
		if b == '\n' && p.wrapped && parentheses == 0 {
			if b, err = p.read(); err == nil && strings.IndexByte("0123456789.eE+-", b) < 0 {
				p.back()
				break
			}
		}
		if err != nil {
			return err
		}
		if b == '\n' && !p.wrapped || parentheses == 0 && strings.IndexByte(",:]} \t\r", b) >= 0 {
			p.back()
			break
		}
		if len(p.text) < longText {
			p.text = append(p.text, b)
		}
		if b, err = p.read(); err != nil {
			return err
		}
	}
	if _, _, ok := number(p.text); !ok {
		return &syntax{quote(string(p.text)), "a value"}
	}
	p.put()
	return nil
}

// put sets the value that has been read; those of lists are no series.
func (p *parser) put() {
	if p.lists == 0 {
		p.set(p.line, p.path, p.text)
	}
}

// list reads the rest of a list, which holds no series, after its bracket.
func (p *parser) list() error {
	if err := p.deeper(); err != nil {
		return err
	}
	p.lists++
	defer func() { p.depth--; p.lists-- }()
	for {
		b, err := p.next()
		if err != nil {
			return err
		}
		switch b {
		case ']':
			return nil
		case ',':
		default:
			if err := p.value(b); err != nil {
				return err
			}
		}
	}
}

// deeper enters an object or a list.
func (p *parser) deeper() error {
	if p.depth++; p.depth > deepest {
		return &syntax{fmt.Sprintf("more than %d levels of nesting", deepest), "fewer"}
	}
	return nil
}

// quoted appends a quoted text after its opening quote.
func (p *parser) quoted(to []byte, quote byte) ([]byte, error) {
	most := len(to) + longText
	for {
		b, err := p.read()
		switch {
		case err != nil:
			return to, err
		case b == quote:
			return to, nil
		case b == '\n' && p.wrapped:
			continue
		case b == '\n':
			return to, p.unexpected(b, "a closing quote")
		case b == '\\':
			if b, err = p.read(); err != nil {
				return to, err
			}
			switch b {
			case 'n':
				b = '\n'
			case 't':
				b = '\t'
			case 'u':
				r, err := p.hex()
				if err != nil {
					return to, err
				}
				if len(to) < most {
					to = utf8.AppendRune(to, r)
				}
				continue
			}
		}
		if len(to) < most {
			to = append(to, b)
		}
	}
}

// hex reads the four digits of \u.
func (p *parser) hex() (rune, error) {
	var digits [4]byte
	var err error
	for i := range digits {
		if digits[i], err = p.read(); err != nil {
			return 0, err
		}
	}
	code, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, p.unexpected(digits[3], "four hexadecimal digits after \\u")
	}
	return rune(code), nil
}

// logHistory reads the list of rows in a trainer_state.json. What the file holds beside
// it is no row.
func (p *parser) logHistory() error {
	p.dropRow()
	p.container, p.history = TrainerState, true
	p.depth = 0
	defer func() { p.depth = 1 }()
	for {
		b, err := p.next()
		if err != nil {
			return err
		}
		switch line := p.line; b {
		case ']':
			return nil
		case ',':
		case '{':
			p.path = p.path[:0]
			if err := p.object(); err != nil {
				return err
			}
			p.endRow(line)
		default:
			return p.unexpected(b, "an object")
		}
	}
}

// json reads objects, each a row, one after another or in a list.
func (p *parser) json() error {
	for {
		b, err := p.next()
		if err == io.EOF {
			return nil
		}
		line := p.line
		switch {
		case err != nil:
		case b == '{':
			p.path, p.depth, p.lists = p.path[:0], 0, 0
			err = p.object()
		case b != ',' && b != '[' && b != ']':
			err = p.unexpected(b, "an object")
		}
		var wrong *syntax
		switch {
		case err == nil && p.history:
			p.dropRow()
		case err == nil:
			p.endRow(line)
		case err == io.EOF:
			p.dropRow()
			if len(p.rows) == 0 {
				p.err.add(line, "got the end of the file within the first row, want a whole row")
				return nil
			}
			p.notes = append(p.notes, fmt.Sprintf("The last row, from line %d on, is not complete and was left out.", p.line))
			return nil
		case errors.As(err, &wrong):
			p.dropRow()
			if p.line > line && p.upcoming() == '{' && !p.history {
				p.err.add(line, "got a row without its end, want a closing brace")
				continue
			}
			p.err.add(p.line, "%s", wrong)
			if err := p.skipLine(); p.history || err != nil {
				return unlessEnd(err)
			}
		default:
			return err
		}
	}
}

// upcoming returns the next byte without reading it, 0 at the end.
func (p *parser) upcoming() byte {
	b, err := p.r.ReadByte()
	if err != nil {
		return 0
	}
	_ = p.r.UnreadByte() // of a byte just read
	return b
}

// skipLine skips the rest of the line.
func (p *parser) skipLine() error {
	for {
		if b, err := p.read(); err != nil || b == '\n' {
			return err
		}
	}
}
