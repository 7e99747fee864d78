package logs

import (
	"bufio"
	"encoding/json"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Tables of notebooks and of pandas are pasted, often with text around them. They are Markdown,
// with bars between their cells, or text with tabs or spaces.

var pastedFormat = format{
	container: Pasted,
	begins:    func(c *collector, in *input) bool { return isPasted(c, in.begin) },
	read:      func(c *collector, in *input) error { return readPasted(c, &lines{r: in.Reader}) },
}

// isPasted reports whether a text has the header of a pasted table, before any dict.
func isPasted(c *collector, begin string) bool {
	begin, _, _ = strings.Cut(begin, "{'")
	return slices.ContainsFunc(strings.Split(begin, "\n"),
		func(text string) bool { return heads(c, bareLine(text)) != nil })
}

type pasted struct {
	by    string // between cells: a bar, a tab or spaces
	names []string
	add   rowReader
}

const spaces = "  " // two at least in a header, one in rows of numbers

var (
	ruled   = regexp.MustCompile(`^[\s|:+=-]*-[\s|:+=-]*$`) // the line under a header
	quoting = regexp.MustCompile(`^\s*(?:>\s*)+`)
	comment = regexp.MustCompile(`^\s*#\s*(\|.*\||)\s*$`) // a table of bars in a comment of Python
	wide    = regexp.MustCompile(`\s{2,}`)
)

// bareLine returns a line of a table without what a quotation or a comment sets before it.
func bareLine(text string) string {
	text = quoting.ReplaceAllString(text, "")
	if m := comment.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}

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

// split splits a row of the table. Pandas sets an index before it, which has no name.
func (p *pasted) split(text string) []string {
	if p.by != spaces {
		return cellsOf(text, p.by)
	}
	cells := strings.Fields(text)
	if len(cells) == len(p.names)+1 {
		return cells[1:]
	}
	return cells
}

// heads returns the table of a header; nil if a line is none. A header has a step and a key of
// training, or of cells with bars or tabs between them two such keys.
func heads(c *collector, text string) *pasted {
	for _, by := range []string{"|", "\t", spaces} {
		if !strings.Contains(text, by) {
			continue
		}
		names := cellsOf(text, by)
		steps, keys := stepsAndKeys(c, names)
		if keys > 0 && steps > 0 || keys > 1 && by != spaces {
			return &pasted{by: by, names: names}
		}
	}
	return nil
}

func readPasted(c *collector, l *lines) error {
	var table *pasted
	for {
		next, ok := l.next()
		if !ok {
			return unlessEnd(l.err)
		}
		next.text = bareLine(next.text)
		if head := heads(c, next.text); head != nil {
			var columns []*series
			for _, name := range head.names {
				columns = append(columns, c.seriesOf(next.number, []byte(name)))
			}
			table, head.add = head, rowOf(c, columns)
			continue
		}
		if table == nil || ruled.MatchString(next.text) {
			continue
		}
		cells := table.split(next.text)
		switch {
		case strings.TrimSpace(next.text) == "":
		case len(cells) == 1, table.by == spaces && !slices.ContainsFunc(cells, isNumber):
			table = nil
		case len(cells) != len(table.names) && !next.whole:
			c.note(lastLine, next.number)
		case len(cells) != len(table.names):
			c.cannotRead(next.number, next.text, "it has "+CountWords(len(cells), "cell")+", the table "+CountWords(len(table.names), "column"))
		default:
			for i, cell := range cells {
				if strings.EqualFold(cell, "nan") { // as pandas writes what is missing
					cells[i] = ""
				}
			}
			if !next.whole && !strings.HasSuffix(strings.TrimSpace(next.text), "|") {
				cells[len(cells)-1] = ""
				c.note(lastCell, next.number)
			}
			table.add(next.number, cells)
		}
	}
}

func isNumber(word string) bool {
	_, has, ok := number([]byte(word))
	return has && ok
}

var notebookFormat = format{
	container: Console,
	begins:    matches(`\{\s*"(?:cells"\s*:\s*\[|nbformat")|\[\s*\{\s*"stream_name"\s*:`),
	read:      readNotebook,
}

// Notebooks hold what their cells printed. A file of Jupyter (nbformat 4) has the outputs of each
// cell, the log of a run on Kaggle a list of texts. The table in which a trainer shows its progress
// is HTML.

// printed is a text that a notebook has whole or by lines.
type printed string

// UnmarshalJSON joins the lines; what is neither is no text.
func (p *printed) UnmarshalJSON(b []byte) error {
	var lines []string
	if json.Unmarshal(b, &lines) != nil {
		lines = make([]string, 1)
		_ = json.Unmarshal(b, &lines[0])
	}
	*p = printed(strings.Join(lines, ""))
	return nil
}

// readNotebook reads what the cells printed: the tables of HTML with a header that is known,
// or if there are none the texts.
func readNotebook(c *collector, in *input) error {
	b, err := io.ReadAll(io.LimitReader(in, longUnpacked))
	if err != nil {
		return err
	}
	var jupyter struct {
		Cells []struct {
			Outputs []struct {
				Text printed
				Data map[string]printed
			}
		}
	}
	var kaggle []struct{ Data printed }
	var tables, text strings.Builder
	if json.Unmarshal(b, &jupyter) != nil {
		if err := json.Unmarshal(b, &kaggle); err != nil {
			c.err.add(0, "got a notebook that is not whole (%v), want a whole one", err)
			return nil
		}
	}
	for _, piece := range kaggle {
		text.WriteString(string(piece.Data))
	}
	for _, cell := range jupyter.Cells {
		for _, output := range cell.Outputs {
			text.WriteString(string(output.Text) + "\n" + string(output.Data["text/plain"]) + "\n")
			tables.WriteString(barred(string(output.Data["text/html"])))
		}
	}
	shown := text.String()
	if isPasted(c, tables.String()) {
		shown = tables.String()
	}
	c.notes = append(c.notes, "The outputs of a notebook are read; lines are counted in them.")
	lines := &lines{r: bufio.NewReader(strings.NewReader(shown))}
	if c.container = Console; isPasted(c, shown) {
		c.container = Pasted
		return readPasted(c, lines)
	}
	if err := readConsole(c, lines); err != nil {
		return err
	}
	if len(c.rows) == 0 {
		c.err.add(0, "got a notebook without metrics in its outputs, want %s", knownFormats)
	}
	return nil
}

var pageFormat = format{
	container: Pasted,
	begins: func(c *collector, in *input) bool {
		return strings.Contains(in.begin, "<t") && isPasted(c, barred(in.begin))
	},
	read: func(c *collector, in *input) error {
		b, err := io.ReadAll(io.LimitReader(in, longUnpacked))
		if err != nil {
			return err
		}
		c.note("The tables of the page are read; lines are counted in their rows.")
		return readPasted(c, &lines{r: bufio.NewReader(strings.NewReader(barred(string(b))))})
	},
}

var (
	tableRow  = regexp.MustCompile(`(?s)<tr.*?</tr>`)
	tableCell = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
	tag       = regexp.MustCompile(`<[^>]*>`)
)

// barred returns the rows of the tables of a page with bars between their cells.
func barred(page string) string {
	var b strings.Builder
	for _, row := range tableRow.FindAllString(page, -1) {
		b.WriteString("|")
		for _, cell := range tableCell.FindAllStringSubmatch(row, -1) {
			text := html.UnescapeString(tag.ReplaceAllString(cell[1], ""))
			b.WriteString(strings.Join(strings.Fields(text), " ") + "|")
		}
		b.WriteString("\n")
	}
	return b.String() + "\n"
}
