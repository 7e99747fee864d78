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

var notebookFormat = format{
	container: Console,
	begins: func(_ *collector, in *input) bool {
		return slices.ContainsFunc([]string{`{"cells":[`, `{"nbformat"`, `[{"stream_name":`},
			func(start string) bool { return strings.HasPrefix(in.squeezed(), start) })
	},
	read: readNotebook,
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
