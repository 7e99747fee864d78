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
	begins:    matches(`(?:\[\s*)?\{\s*"|\{$`),
	read: func(c *collector, in *input) error {
		chunk := make([]byte, peeked)
		return (&parser{collector: c, line: 1, more: func() ([]byte, error) {
			n, err := in.Read(chunk)
			if n > 0 {
				err = nil // until the next time
			}
			return chunk[:n], err
		}}).json()
	},
}

// parser reads objects of JSON and dicts of Python in one pass. encoding/json would not
// do: Python writes NaN and Infinity into JSON, and prints None, True and single quotes.
type parser struct {
	*collector
	from []byte                 // what is being read
	at   int                    // the place in it of the byte read next
	more func() ([]byte, error) // gives what follows; nil: nothing does
	line int                    // of the byte read last, from 1
	path []byte                 // key of the value being read, with those of the objects around it
	text []byte                 // of the value being read
	err  error                  // the first error, after which nothing is read

	wrapped bool // lines are of a terminal, which ends them within keys and numbers too
	depth   int  // of objects and lists around the value
	lists   int  // of lists among them, whose values are skipped
	history bool // the file has a log_history
}

// syntax is an error in the form of an object.
type syntax struct{ got, want string }

func (s *syntax) Error() string { return fmt.Sprintf("got %s, want %s", s.got, s.want) }

// read returns the next byte, 0 after an error.
func (p *parser) read() byte {
	for p.err == nil && p.at == len(p.from) {
		if p.at, p.from, p.err = 0, nil, io.EOF; p.more != nil {
			p.from, p.err = p.more()
		}
	}
	if p.err != nil {
		return 0
	}
	b := p.from[p.at]
	if p.at++; b == '\n' {
		p.line++
	}
	return b
}

func (p *parser) back() {
	if p.at > 0 {
		if p.at--; p.from[p.at] == '\n' {
			p.line--
		}
	}
}

// next returns the first byte that is not a space, 0 after an error.
func (p *parser) next() byte {
	for {
		if b := p.read(); p.err != nil || strings.IndexByte(" \n\t\r", b) < 0 {
			return b
		}
	}
}

// unexpected is the error of a byte in the place of what is wanted.
func (p *parser) unexpected(b byte, want string) {
	if p.err != nil {
		return
	}
	p.err = &syntax{fmt.Sprintf("%q", rune(b)), want}
	switch b {
	case '\n', '\r':
		p.err = &syntax{"the end of the line", want}
		p.back()
	case '{': // may be the next row
		p.back()
	}
}

// object reads the rest of an object after its brace and sets its numbers under their
// keys, those of nested objects joined by slashes. An object data is not part of keys.
func (p *parser) object() {
	p.deeper()
	defer func() { p.depth-- }()
	prefix := len(p.path)
	for b := p.next(); p.err == nil && b != '}'; b = p.next() { // Python allows a last comma
		p.path = p.path[:prefix]
		if b == '.' && p.container == Console { // 'reward': 0.5, ...}: people leave keys out
			for b == '.' || b == ',' {
				b = p.next()
			}
			if b == '}' {
				return
			}
		}
		if b != '"' && b != '\'' {
			p.unexpected(b, "a quoted key")
		}
		p.path = p.quoted(p.path, b)
		if b = p.next(); b != ':' {
			p.unexpected(b, "a colon after a key")
		}
		b = p.next()
		if p.depth == 1 && b == '[' && string(p.path) == "log_history" && !p.history {
			p.logHistory()
		} else {
			p.value(b)
		}
		switch b = p.next(); b {
		case '}':
			return
		case ',':
		default:
			p.unexpected(b, "a comma or a brace after a value")
		}
	}
}

// value reads a value that begins with b.
func (p *parser) value(b byte) {
	switch {
	case b == '{':
		if p.depth == 1 && string(p.path) == "data" {
			p.path = p.path[:0]
		} else {
			p.path = append(p.path, '/')
		}
		p.object()
	case b == '[':
		p.list()
	case b == '"' || b == '\'':
		p.text = p.quoted(p.text[:0], b)
		p.put()
	case strings.IndexByte(",:]})", b) >= 0:
		p.unexpected(b, "a value")
	default:
		p.word(b)
	}
}

// word reads a value without quotes.
func (p *parser) word(b byte) {
	p.text = p.text[:0]
	for parentheses := 0; p.err == nil; b = p.read() {
		switch b {
		case '(':
			parentheses++
		case ')':
			parentheses--
		}
		if b == '\n' && p.wrapped && parentheses == 0 {
			if b = p.read(); p.err != nil {
				return
			} else if strings.IndexByte("0123456789.eE+-", b) < 0 {
				p.back()
				break
			}
		}
		if b == '\n' && !p.wrapped || parentheses == 0 && strings.IndexByte(",:]} \t\r", b) >= 0 {
			p.back()
			break
		}
		if len(p.text) < longText {
			p.text = append(p.text, b)
		}
	}
	if _, _, ok := number(p.text); !ok && p.err == nil {
		p.err = &syntax{quote(string(p.text)), "a value"}
	}
	p.put()
}

// put sets the value that has been read; those of lists are no series.
func (p *parser) put() {
	if p.lists == 0 && p.err == nil {
		p.set(p.line, p.path, p.text)
	}
}

// list reads the rest of a list, which holds no series, after its bracket.
func (p *parser) list() {
	p.deeper()
	p.lists++
	defer func() { p.depth--; p.lists-- }()
	for b := p.next(); p.err == nil && b != ']'; b = p.next() {
		if b != ',' {
			p.value(b)
		}
	}
}

// deeper enters an object or a list.
func (p *parser) deeper() {
	if p.depth++; p.depth > deepest && p.err == nil {
		p.err = &syntax{fmt.Sprintf("more than %d levels of nesting", deepest), "fewer"}
	}
}

// quoted appends a quoted text after its opening quote.
func (p *parser) quoted(to []byte, quote byte) []byte {
	most := len(to) + longText
	for {
		b := p.read()
		switch {
		case p.err != nil || b == quote:
			return to
		case b == '\n' && p.wrapped:
			continue
		case b == '\n':
			p.unexpected(b, "a closing quote")
			return to
		case b == '\\':
			switch b = p.read(); b {
			case 'n':
				b = '\n'
			case 't':
				b = '\t'
			case 'u':
				if r := p.hex(); len(to) < most {
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

func (p *parser) hex() rune {
	var digits [4]byte
	for i := range digits {
		digits[i] = p.read()
	}
	code, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		p.unexpected(digits[3], "four hexadecimal digits after \\u")
	}
	return rune(code)
}

// logHistory reads the list of rows in a trainer_state.json. What the file holds beside
// it is no row.
func (p *parser) logHistory() {
	p.dropRow()
	p.container, p.history = TrainerState, true
	p.depth, p.unknown, p.texts = 0, nil, nil
	defer func() { p.depth, p.lists = 1, 1 }() // nor what follows
	for b := p.next(); p.err == nil && b != ']'; b = p.next() {
		switch b {
		case ',':
		case '{':
			line := p.line
			p.path = p.path[:0]
			if p.object(); p.err == nil {
				p.endRow(line)
			}
		default:
			p.unexpected(b, "an object")
		}
	}
}

// json reads objects, each a row, one after another or in a list.
func (p *parser) json() error {
	for {
		b := p.next()
		if p.err == io.EOF {
			return nil
		}
		line := p.line
		switch b {
		case '{':
			p.path, p.depth, p.lists = p.path[:0], 0, 0
			p.object()
		case ',', '[', ']':
		default:
			p.unexpected(b, "an object")
		}
		wrong, inForm := errors.AsType[*syntax](p.err)
		switch {
		case p.err == nil && p.history:
			p.dropRow()
		case p.err == nil:
			p.endRow(line)
		case p.err == io.EOF:
			p.dropRow()
			if len(p.rows) == 0 {
				p.collector.err.add(line, "got the end of the file within the first row, want a whole row")
				return nil
			}
			p.note("The last row, from line %d on, is not complete and was left out.", p.line)
			return nil
		case !inForm:
			return p.err
		default:
			p.dropRow()
			p.err = nil
			opens := p.read() == '{'
			p.back()
			if p.line > line && opens && !p.history {
				p.collector.err.add(line, "got a row without its end, want a closing brace")
				continue
			}
			p.collector.err.add(p.line, "%s", wrong)
			for b := byte(0); b != '\n' && p.err == nil; { // the rest of the line
				b = p.read()
			}
			if p.history || p.err != nil {
				return unlessEnd(p.err)
			}
		}
	}
}
