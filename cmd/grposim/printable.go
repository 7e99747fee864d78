package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

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
