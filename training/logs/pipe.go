package logs

import (
	"regexp"
	"strings"
)

// Tables of notebooks are pasted as Markdown, with bars between their cells, or with tabs,
// often with text around them.

// pasted is a table being read.
type pasted struct {
	by      string // between cells
	columns []*series
}

// ruled is the line under a header.
var ruled = regexp.MustCompile(`^[\s|:+=-]*-[\s|:+=-]*$`)

// cellsOf splits a line of a table.
func cellsOf(text, by string) []string {
	if by == "|" {
		text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "|"), "|")
	}
	cells := strings.Split(text, by)
	for i, cell := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(cell), "*`")
	}
	return cells
}

// heads reports what separates the cells of a header: bars or tabs; "" if a line is none.
// A header has a step and a key of training, or two of those.
func (c *collector) heads(text string) string {
	for _, by := range []string{"|", "\t"} {
		if !strings.Contains(text, by) {
			continue
		}
		known := 0
		for _, name := range cellsOf(text, by) {
			if c.newSeries([]byte(name)).trained() {
				known++
			}
		}
		if known > 1 {
			return by
		}
	}
	return ""
}

// readPasted reads the tables in a text.
func (c *collector) readPasted(l *lines) error {
	var table *pasted
	for {
		next, ok := l.next()
		if !ok {
			return unlessEnd(l.err)
		}
		if by := c.heads(next.text); by != "" {
			table = &pasted{by: by}
			for _, name := range cellsOf(next.text, by) {
				s, seen := c.byKey[name]
				if !seen {
					s = c.addKey(next.number, name)
				}
				table.columns = append(table.columns, s)
			}
			continue
		}
		if table == nil || ruled.MatchString(next.text) {
			continue
		}
		cells := cellsOf(next.text, table.by)
		switch {
		case !strings.Contains(next.text, table.by):
			if strings.TrimSpace(next.text) != "" {
				table = nil
			}
		case len(cells) != len(table.columns) && !next.whole:
			c.notes = append(c.notes, lastLine(next.number))
		case len(cells) != len(table.columns):
			c.unread.add(next.number, next.text, "it has "+countWords(len(cells), "cell")+", the table "+countWords(len(table.columns), "column"))
		default:
			for i, s := range table.columns {
				if s != nil && !missing(cells[i]) {
					c.setCell(next, s, cells[i])
				}
			}
			c.endRow(next.number)
		}
	}
}

// setCell sets a cell; one that is not understood is noted.
func (c *collector) setCell(l line, s *series, text string) {
	if x, has, ok := number([]byte(text)); !ok {
		c.unread.add(l.number, s.key+": "+text, "want a number")
	} else if has {
		c.cells = append(c.cells, cell{s, x})
	}
}

// missing reports whether a cell has no value. Notebooks write No Log or nan where a row
// lacks one.
func missing(cell string) bool {
	switch strings.ToLower(cell) {
	case "", "-", "–", "—", "no log", "nan", "n/a", "none", "null":
		return true
	}
	return false
}
