package logs

import (
	"bufio"
	"bytes"
	"regexp"
	"strings"
)

// line is a line of a text as a terminal shows it.
type line struct {
	text   string // without escape sequences
	number int    // from 1
	whole  bool   // its end was read
}

// lines reads a text line by line. A carriage return ends a line too: progress bars write
// over themselves with it.
type lines struct {
	r      *bufio.Reader
	number int    // of the line read last
	ahead  []line // read and not yet taken
	err    error  // of the reader, io.EOF at the end
}

func (l *lines) next() (line, bool) {
	next, ok := l.peek(0)
	l.skip(min(1, len(l.ahead)))
	return next, ok
}

// skip takes n lines that have been looked at.
func (l *lines) skip(n int) { l.ahead = l.ahead[n:] }

// peek returns the line after n others without taking it.
func (l *lines) peek(n int) (line, bool) {
	for len(l.ahead) <= n && l.err == nil {
		l.read()
	}
	if len(l.ahead) <= n {
		return line{}, false
	}
	return l.ahead[n], true
}

func (l *lines) read() {
	var text []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		if text == nil && err == nil {
			text = piece
		} else if len(text) < longLine {
			text = append(text, piece...)
		}
		if err != bufio.ErrBufferFull {
			l.err = err
			break
		}
	}
	if len(text) == 0 {
		return
	}
	l.number++
	whole := text[len(text)-1] == '\n' || l.err == nil
	shown := strings.TrimRight(visible(text), "\r\n")
	for shown != "" {
		var part string
		part, shown, _ = strings.Cut(shown, "\r")
		l.ahead = append(l.ahead, line{part, l.number, whole || shown != ""})
	}
	if len(bytes.TrimSpace(text)) == 0 {
		l.ahead = append(l.ahead, line{"", l.number, whole})
	}
}

// colours are sequences that lost their escape on the way through a web page.
var colours = regexp.MustCompile(`\x{FFFD}?\[(?:\d\d?)?(?:;\d+)*m`)

// escapes set colours, move the cursor or name the window of a terminal.
var escapes = regexp.MustCompile(`\x1b(?:\[[^@-~\n]*[@-~]?|\][^\a\n]*?(?:\a|\x1b\\|\n|$)|.)`)

// visible returns a text without the sequences that a terminal does not show.
func visible(text []byte) string {
	switch {
	case bytes.IndexByte(text, '\x1b') >= 0:
		return escapes.ReplaceAllString(string(text), "")
	case bytes.Contains(text, []byte("[0m")):
		return colours.ReplaceAllString(string(text), "")
	}
	return string(text)
}

// prefixes is what Ray, loggers and quotations set before a line: (NAME pid=1), [TIME], >.
var prefixes = regexp.MustCompile(`^(?:[ \t>]|\([^)]* pid=[^)]*\)|\[[^\]'"{]{0,59}\])*`)

// unprefixed returns a line without what is set before it.
func unprefixed(text string) string { return text[len(prefixes.FindString(text)):] }
