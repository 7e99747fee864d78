package logs

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is one thing wrong with a file.
type Problem struct {
	Line int    // from 1; 0: the file as a whole
	Text string // got X, want Y
}

// Error is everything wrong with a file.
type Error struct {
	File     string
	Problems []Problem // in the order of the file, at most shownProblems
	More     int       // number of further problems
}

// shownProblems is the largest number of problems that an Error keeps.
const shownProblems = 10

// Error lists the problems, one per line.
func (e *Error) Error() string {
	var lines []string
	for _, p := range e.Problems {
		place := e.File
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d", e.File, p.Line)
		}
		lines = append(lines, place+": "+p.Text)
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

func (e *Error) add(line int, format string, args ...any) {
	if len(e.Problems) == shownProblems {
		e.More++
		return
	}
	e.Problems = append(e.Problems, Problem{line, oneLine(format, args...)})
}

// oneLine formats a message; keys of a file may hold control characters.
func oneLine(format string, args ...any) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, fmt.Sprintf(format, args...))
}

// quote quotes a text of the file for a message and cuts it after 60 characters.
func quote(text string) string {
	const most = 60
	if runes := []rune(text[:min(len(text), 4*most)]); len(runes) > most {
		return fmt.Sprintf("%q…", string(runes[:most]))
	}
	return fmt.Sprintf("%q", text)
}

// CountWords writes a count of a noun with a plural in s: 1 row, 2 rows.
func CountWords(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// mostNames is the number of names that a message lists of many.
const mostNames = 30

// quoteAll lists names for a message, the first of many.
func quoteAll(names []string, shown int) string {
	var list []string
	for _, name := range names[:min(len(names), shown)] {
		list = append(list, quote(name))
	}
	if more := len(names) - shown; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// shownUnread is how many lines that were not understood are quoted.
const shownUnread = 3

// cannotRead notes a line that looks like metrics and was not understood, and why.
func (c *collector) cannotRead(line int, text, why string) {
	if c.unread++; c.unread <= shownUnread {
		c.note("Line %d, %s, was not understood: %s.", line, quote(text), why)
	}
}
