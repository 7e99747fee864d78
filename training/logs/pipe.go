package logs

import (
	"regexp"
	"slices"
	"strings"
)

// Tables of notebooks and of pandas are pasted, often with text around them: as Markdown,
// with bars between their cells, with tabs, or as text, with spaces.

// pasted is a table being read.
type pasted struct {
	by      string // between cells: a bar, a tab or spaces
	columns []*series
}

const spaces = "  " // two at least in a header, one in rows of numbers

var (
	ruled = regexp.MustCompile(`^[\s|:+=-]*-[\s|:+=-]*$`) // the line under a header
	wide  = regexp.MustCompile(`\s{2,}`)
)

// cellsOf splits the header of a table.
func cellsOf(text, by string) (cells []string) {
	switch by {
	case spaces:
		cells = wide.Split(strings.TrimSpace(text), -1)
	case "|":
		text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "|"), "|")
		fallthrough
	default:
		cells = strings.Split(text, by)
	}
	for i, cell := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(cell), "*`")
	}
	return cells
}

// row splits a row of the table. Pandas sets an index before it, which has no name.
func (p *pasted) row(text string) []string {
	if p.by != spaces {
		return cellsOf(text, p.by)
	}
	cells := strings.Fields(text)
	if len(cells) == len(p.columns)+1 {
		return cells[1:]
	}
	return cells
}

// heads reports what separates the cells of a header; "" if a line is none. A header has a
// step and a key of training, or of cells with bars or tabs between them two such keys.
func (c *collector) heads(text string) string {
	for _, by := range []string{"|", "\t", spaces} {
		if !strings.Contains(text, by) {
			continue
		}
		keys, steps := 0, 0
		for _, name := range cellsOf(text, by) {
			switch s := c.newSeries([]byte(name)); {
			case s == nil:
			case s.isStep:
				steps++
			case s.trains:
				keys++
			}
		}
		if keys > 0 && steps > 0 || keys > 1 && by != spaces {
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
		cells := table.row(next.text)
		switch {
		case strings.TrimSpace(next.text) == "":
		case len(cells) == 1, table.by == spaces && !slices.ContainsFunc(cells, isNumber):
			table = nil
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

// isNumber reports whether a word is a number.
func isNumber(word string) bool {
	_, has, ok := number([]byte(word))
	return has && ok
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
