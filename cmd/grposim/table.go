package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"grposim/sweeps/judge"
	"grposim/training/equivalence"
)

// screen is the place where a table is shown.
type screen struct {
	width  int  // in characters; 0: any
	colour bool // whether verdicts have colours
}

// screenOf returns the screen of a writer: any width and no colours unless it is a
// terminal. COLUMNS in the environment gives another width than the terminal's, and
// NO_COLOR takes the colours away.
func screenOf(w io.Writer) screen {
	file, ok := bare(w).(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return screen{}
	}
	s := screen{width: 80, colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		s.width = width
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		s.width = width
	}
	return s
}

// table lays out rows in columns that are two spaces apart, each as wide as its longest
// field. On a narrower screen the widest columns are wrapped between words; where that
// does not suffice every row is a record of one line per field.
func (s screen) table(rows [][]string) string {
	least, widths := make([]int, len(rows[0])), make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			for _, piece := range pieces(cell) {
				least[i] = max(least[i], utf8.RuneCountInString(strings.TrimRight(piece, " ")))
			}
		}
	}
	over := func(widths []int) bool { // whether columns of these widths do not fit
		total := gap * (len(widths) - 1)
		for _, width := range widths {
			total += width
		}
		return s.width > 0 && total > s.width
	}
	if over(least) {
		return s.records(rows)
	}
	for over(widths) {
		widest := -1 // of the columns that can be narrower
		for i := range widths {
			if widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		widths[widest]--
	}
	var b strings.Builder
	for _, row := range rows {
		s.line(&b, rows[0], row, widths)
	}
	return b.String()
}

// gap is the number of spaces between columns.
const gap = 2

// line writes a row, whose fields are as many lines as the widths of their columns need.
func (s screen) line(b *strings.Builder, columns, row []string, widths []int) {
	cells, height := make([][]string, len(row)), 0
	for i, cell := range row {
		cells[i] = fill(pieces(cell), widths[i])
		height = max(height, len(cells[i]))
	}
	for n := range height {
		spaces := 0 // are written before the next text
		for i := range cells {
			text := ""
			if n < len(cells[i]) {
				text = cells[i][n]
			}
			if text != "" {
				b.WriteString(strings.Repeat(" ", spaces) + s.paint(columns[i], text))
				spaces = 0
			}
			spaces += widths[i] - utf8.RuneCountInString(text) + gap
		}
		b.WriteByte('\n')
	}
}

// records lays out each row as lines of a column's name and the field, with an empty
// line between rows.
func (s screen) records(rows [][]string) string {
	label := 0
	for _, name := range rows[0] {
		label = max(label, utf8.RuneCountInString(name))
	}
	var b strings.Builder
	for r, row := range rows[1:] {
		if r > 0 {
			b.WriteByte('\n')
		}
		for i, cell := range row {
			name := rows[0][i]
			s.line(&b, []string{"", name}, []string{name, cell}, []int{label, s.width - label - gap})
		}
	}
	return b.String()
}

func (s screen) paint(column, text string) string {
	word, rest, found := strings.Cut(text, ":")
	if found {
		rest = ":" + rest
	}
	const green, red, yellow, cyan = "32", "31", "33", "36"
	colour, known := map[string]string{
		string(judge.Agree): green, judge.Refuted: green, string(equivalence.Same): green,
		string(judge.Disagree): red, string(equivalence.Different): red,
		string(judge.Inconclusive): yellow, string(equivalence.Undecided): yellow,
		string(judge.OutOfScope): cyan,
	}[word]
	if !s.colour || column != "VERDICT" || !known {
		return text
	}
	return "\x1b[" + colour + "m" + word + "\x1b[0m" + rest
}

// fill joins pieces of a text to lines of at most a number of characters, or of one piece.
func fill(pieces []string, width int) []string {
	var lines []string
	line := ""
	for _, piece := range pieces {
		if line != "" && utf8.RuneCountInString(line+strings.TrimRight(piece, " ")) > width {
			lines = append(lines, strings.TrimRight(line, " "))
			line = ""
		}
		line += piece
	}
	return append(lines, strings.TrimRight(line, " "))
}

// pieces divides a text where a line can end: after a space, and after a hyphen between
// two letters.
func pieces(text string) []string {
	runes := []rune(text)
	var all []string
	begin := 0
	for i, r := range runes {
		inside := i > 0 && i+1 < len(runes)
		hyphen := r == '-' && inside && unicode.IsLetter(runes[i-1]) && unicode.IsLetter(runes[i+1])
		if r == ' ' || hyphen {
			all = append(all, string(runes[begin:i+1]))
			begin = i + 1
		}
	}
	return append(all, string(runes[begin:]))
}
