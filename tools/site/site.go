// Command site writes the documents of this repository as static pages, which need no server and no
// network. It begins at README.md and docs/README.md and follows every link. If a link leads
// nowhere it writes nothing, reports all such links, and exits with code 1.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"grposim/tools/internal/tool"
)

// A site is made of the repository's files, named by their paths. Pages keep their places,
// so that links between them and to pictures stay relative: docs/paper.md becomes
// docs/paper.html, the README of a folder its index.html, and a text file such as
// configs/smoke.yaml a page that shows it, configs/smoke.yaml.html. What the program prints of its
// tables is made into pages of the group Printed.
type site struct {
	sources  []string // files to which a page links, in the order found
	links    []link
	files    map[string][]byte // of the site, by path
	problems []string
}

// link is a link into the site: where it stands, what it says, and where it leads.
type link struct{ where, says, file, fragment string }

// group is a section of docs/README.md; its entries are the pages to which it links.
type group struct {
	Label   string
	Entries []entry
}

type entry struct{ Label, Path string }

// Has reports whether a page belongs to the group.
func (g group) Has(path string) bool {
	return slices.ContainsFunc(g.Entries, func(e entry) bool { return e.Path == path })
}

var (
	//go:embed page.tmpl.html
	layout string

	//go:embed site.css
	style []byte

	//go:embed site.js
	script []byte

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"relative": relative}).Parse(layout))

	address = regexp.MustCompile(`<(?:a|img|link|script)\s(?:[^>]*\s)?(?:href|src)="([^"]*)"`)
	anchor  = regexp.MustCompile(`\sid="([^"]*)"`)
)

// build makes the files of the site from the repository in the current folder. The explorer
// and the report are copied. Printed are files of Markdown elsewhere, each a page in docs.
func build(explorer, report string, printed []string) (*site, error) {
	s := &site{sources: []string{"README.md", menuSource}, files: map[string][]byte{"site.js": script}}
	colours, err := os.ReadFile("sweeps/report/colours.css") // those of reports
	if err != nil {
		return nil, err
	}
	s.files["site.css"] = append(colours, style...)
	copies := struct{ Explorer, Report string }{"explorer.html", "report/report.html"}
	if err := s.copyPage(explorer, copies.Explorer); err != nil {
		return nil, err
	}
	if err := s.copyPage(report, copies.Report); err != nil {
		return nil, err
	}
	var pages []*page
	for i := 0; i < len(s.sources); i++ { // a page adds to the sources
		source := s.sources[i]
		data, err := os.ReadFile(source)
		if err != nil {
			return nil, err
		}
		if p := s.newPage(source, data); p != nil {
			pages = append(pages, p)
		} else {
			s.files[sitePath(source)] = data
		}
	}
	menu := pages[1].groups
	group := group{Label: "Printed by grposim help"}
	for _, file := range printed {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		p := s.newPage("docs/"+filepath.Base(file), data)
		pages = append(pages, p)
		group.Entries = append(group.Entries, entry{p.Title, p.Path})
	}
	if printed != nil {
		menu = append(menu, group)
	}
	s.checkMenu(menu)
	for _, p := range pages {
		var b bytes.Buffer
		if err := pageTemplate.Execute(&b, map[string]any{"Page": p, "Menu": menu, "Copies": copies}); err != nil {
			return nil, err
		}
		s.files[p.Path] = b.Bytes()
	}
	s.checkLinks()
	return s, nil
}

// follow returns what a link of a source becomes: its address, and the file of the site to
// which it leads, "" if it leads elsewhere. The address is "" if it leads to a folder
// without a README, which the site does not show.
func (s *site) follow(source string, line int, says string) (address, file string) {
	where := fmt.Sprintf("%s:%d", source, line)
	u, err := url.Parse(says)
	if err != nil || u.IsAbs() && (u.Scheme != "https" || u.Host == "") {
		s.problems = append(s.problems, fmt.Sprintf("%s: %s is no address, want a path or https://…", where, says))
		return says, ""
	}
	if u.IsAbs() {
		return says, ""
	}
	target := source
	if u.Path != "" {
		target = path.Join(path.Dir(source), u.Path)
	}
	kind, err := os.Stat(target)
	if err != nil || !filepath.IsLocal(target) {
		s.problems = append(s.problems, fmt.Sprintf("%s: the link to %s leads to no file of the repository", where, says))
		return says, ""
	}
	if kind.IsDir() {
		target = path.Join(target, "README.md")
		if _, err := os.Stat(target); err != nil {
			return "", ""
		}
	}
	if !slices.Contains(s.sources, target) {
		s.sources = append(s.sources, target)
	}
	file = sitePath(target)
	s.links = append(s.links, link{where, says, file, u.Fragment})
	if u.Path != "" {
		u.Path = relative(sitePath(source), file)
	}
	return u.String(), file
}

// sitePath returns the path in the site of a file of the repository.
func sitePath(source string) string {
	dir, base := path.Split(source)
	switch ext := path.Ext(base); {
	case base == "README.md":
		return dir + "index.html"
	case ext == ".md":
		return strings.TrimSuffix(source, ext) + ".html"
	case isPicture(source):
		return source
	}
	return source + ".html"
}

func isPicture(source string) bool { return path.Ext(source) == ".svg" || path.Ext(source) == ".png" }

// relative returns the link from a page to a file of the site.
func relative(page, file string) string {
	to, _ := filepath.Rel(path.Dir(page), file) // both are relative
	return filepath.ToSlash(to)
}

// copyPage adds a page of HTML that is not of the repository, and the files to which it links.
func (s *site) copyPage(file, as string) error {
	if s.files[as] != nil {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s.files[as] = data
	if path.Ext(as) != ".html" {
		return nil
	}
	for _, match := range address.FindAllSubmatch(data, -1) {
		says := html.UnescapeString(string(match[1]))
		u, err := url.Parse(says)
		if err != nil || u.IsAbs() {
			continue
		}
		target := as
		if u.Path != "" {
			target = path.Join(path.Dir(as), u.Path)
			if err := s.copyPage(filepath.Join(filepath.Dir(file), u.Path), target); err != nil {
				return fmt.Errorf("%s links to it: %w", file, err)
			}
		}
		s.links = append(s.links, link{file, says, target, u.Fragment})
	}
	return nil
}

// checkMenu reports documents that the menu does not list.
func (s *site) checkMenu(menu []group) {
	documents, _ := filepath.Glob("docs/*.md") // the pattern is a good one
	for _, source := range documents {
		if source != menuSource && !slices.ContainsFunc(menu, func(g group) bool { return g.Has(sitePath(source)) }) {
			s.problems = append(s.problems, fmt.Sprintf("%s does not list %s", menuSource, source))
		}
	}
}

// checkLinks reports links to a fragment that its page does not have.
func (s *site) checkLinks() {
	anchors := make(map[string]bool)
	for name, data := range s.files {
		if path.Ext(name) == ".html" {
			for _, id := range anchor.FindAllSubmatch(data, -1) {
				anchors[name+"#"+string(id[1])] = true
			}
		}
	}
	for _, l := range s.links {
		if l.fragment != "" && !anchors[l.file+"#"+l.fragment] {
			s.problems = append(s.problems, fmt.Sprintf("%s: the link to %s leads to no heading", l.where, l.says))
		}
	}
}

func main() { tool.Main("site", run) }

func run(_ context.Context, c *tool.Command) error {
	out := c.String("o", "results/local/site", "write the pages to `FOLDER`")
	const local = "results/local/"
	explorer := c.String("explorer", local+"explorer.html", "`FILE` that make explorer writes")
	report := c.String("report", local+"paper/report.html", "`FILE` that make reproduce writes")
	help := c.String("help-pages", local+"help", "`FOLDER` with what grposim help prints, in Markdown")
	if err := c.Parse(0); err != nil {
		return err
	}
	printed, _ := filepath.Glob(filepath.Join(*help, "*.md")) // the pattern is a good one
	s, err := build(*explorer, *report, printed)
	if err != nil {
		return err
	}
	if len(s.problems) > 0 { // a link leads nowhere, or docs/README.md lacks a document
		return tool.Unmet(s.problems)
	}
	for name, data := range s.files {
		file := filepath.Join(*out, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	c.Say("%d files; begin at %s", len(s.files), filepath.Join(*out, "index.html"))
	return nil
}
