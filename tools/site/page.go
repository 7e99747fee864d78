package main

import (
	"bytes"
	"html/template"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// menuSource is the document whose sections and links are the menu of every page.
const menuSource = "docs/README.md"

type page struct {
	Path, Title string
	Body        template.HTML
	Headings    []heading // of levels 2 and 3
	groups      []group   // sections of level 2, with their links
}

type heading struct {
	Level    int
	ID, Says string
}

// markdown is GitHub's Markdown, with the HTML that documents contain (<br> in tables).
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

// longCell is the mean number of characters in a cell from which on a table of more than two
// columns is shown on a phone as one card a row. A table of numbers scrolls sideways, so that
// its columns can be compared.
const longCell = 14

// newPage returns the page that shows a file, or nil for a picture.
func (s *site) newPage(source string, data []byte) *page {
	switch {
	case path.Ext(source) == ".md":
		return s.fromMarkdown(source, data)
	case isPicture(source):
		return nil
	}
	code := template.HTMLEscapeString(string(data))
	return &page{Path: sitePath(source), Title: source, Body: template.HTML(title(source) + "<pre tabindex=\"0\"><code>" + code + "</code></pre>\n")}
}

// title returns the heading of a page whose source has none: its path, which may break at slashes.
func title(source string) string {
	return "<h1>" + strings.ReplaceAll(template.HTMLEscapeString(source), "/", "/<wbr>") + "</h1>\n"
}

// fromMarkdown returns the page of a document, and notes where its links lead.
func (s *site) fromMarkdown(source string, data []byte) *page {
	p := &page{Path: sitePath(source)}
	uses := make(map[string]int) // of anchors
	doc := markdown.Parser().Parse(text.NewReader(data))
	var nodes []ast.Node // first all, because some are replaced
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			nodes = append(nodes, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range nodes {
		switch n := n.(type) {
		case *ast.Heading:
			says := textOf(n, data)
			id := slug(says)
			if uses[id]++; uses[id] > 1 {
				id += "-" + strconv.Itoa(uses[id]-1)
			}
			n.SetAttributeString("id", id)
			switch {
			case n.Level == 1 && p.Title == "":
				p.Title = says
			case n.Level == 2:
				p.groups = append(p.groups, group{Label: says})
				fallthrough
			case n.Level == 3:
				p.Headings = append(p.Headings, heading{n.Level, id, says})
			}
		case *ast.Link:
			to, file := s.follow(source, lineOf(n, data), string(n.Destination))
			if to == "" { // a folder: its name without a link
				for n.FirstChild() != nil {
					n.Parent().InsertBefore(n.Parent(), n, n.FirstChild())
				}
				n.Parent().RemoveChild(n.Parent(), n)
				break
			}
			n.Destination = []byte(to)
			if last := len(p.groups) - 1; last >= 0 && file != "" {
				p.groups[last].Entries = append(p.groups[last].Entries, entry{textOf(n, data), file})
			}
		case *ast.Image:
			to, _ := s.follow(source, lineOf(n, data), string(n.Destination))
			n.Destination = []byte(to)
			if _, linked := n.Parent().(*ast.Link); !linked { // so that a phone can show it larger
				whole := ast.NewLink()
				whole.Destination = n.Destination
				n.Parent().ReplaceChild(n.Parent(), n, whole)
				whole.AppendChild(whole, n)
			}
		case *tables.Table:
			label(n, data)
		}
	}
	var b bytes.Buffer
	if p.Title == "" {
		p.Title = source
		b.WriteString(title(source))
	}
	if err := markdown.Renderer().Render(&b, data, doc); err != nil {
		panic(err) // a buffer takes everything
	}
	// A reader with a keyboard can scroll what is wider than the page.
	p.Body = template.HTML(strings.NewReplacer("<table", `<div class="scroll" tabindex="0"><table`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`).Replace(b.String()))
	return p
}

// label gives every cell of a table its column's heading, for a phone.
func label(table *tables.Table, data []byte) {
	var headings []string
	characters := 0
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		column := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			says := textOf(cell, data)
			if row == table.FirstChild() {
				headings = append(headings, says)
			} else {
				cell.SetAttributeString("data-label", headings[column])
			}
			characters += utf8.RuneCountInString(says)
			column++
		}
	}
	if columns := len(headings); columns > 2 && characters >= longCell*columns*table.ChildCount() {
		table.SetAttributeString("class", "cards")
	}
}

// textOf returns the text of a node without markup.
func textOf(n ast.Node, data []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			value := t.Value(data)
			if !t.IsRaw() {
				value = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
			}
			b.Write(value)
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// slug returns the anchor that GitHub gives a heading.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return r
		}
		return -1
	}, strings.ToLower(heading))
}

// lineOf returns the line of a node's text in the source.
func lineOf(n ast.Node, data []byte) int {
	return 1 + bytes.Count(data[:max(n.Pos(), 0)], []byte("\n"))
}
