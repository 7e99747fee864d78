package main

import (
	"html"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree writes files into a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// copied are an explorer and a report, in the place of those that take minutes.
var copied = map[string]string{
	"explorer.html": `<!DOCTYPE html><html lang="en"><title>Explorer</title><h1>Explorer</h1></html>`,
	"report.html":   `<!DOCTYPE html><html lang="en"><title>Report</title><h1 id="top">Report</h1><a href="#top">top</a><a href="one/cells.csv">cells</a></html>`,
	"one/cells.csv": "a,b\n",
	"one/other.csv": "not linked\n",
}

// buildIn builds the site of the repository in a folder.
func buildIn(t *testing.T, root string) *site {
	t.Helper()
	pages := tree(t, copied)
	t.Chdir(root)
	s, err := build(filepath.Join(pages, "explorer.html"), filepath.Join(pages, "report.html"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every link in the documents of the repository leads somewhere, on GitHub and on the
// site. The pages are read here as a browser reads them: every address in them is that of a file of
// the site, or https, and every fragment is an id of its page.
func TestDocuments(t *testing.T) {
	s := buildIn(t, filepath.Join("..", ".."))
	for _, problem := range s.problems {
		t.Error(problem)
	}
	address := regexp.MustCompile(`<[^>]*\s(?:href|src)="([^"]*)"`)
	internal, external := 0, 0
	for name, data := range s.files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, match := range address.FindAllSubmatch(data, -1) {
			u, err := url.Parse(html.UnescapeString(string(match[1])))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if u.IsAbs() {
				if external++; u.Scheme != "data" && (u.Scheme != "https" || !strings.Contains(u.Host, ".")) {
					t.Errorf("%s: %s is not https", name, u)
				}
				continue
			}
			internal++
			target := name
			if u.Path != "" {
				target = path.Join(path.Dir(name), u.Path)
			}
			page, exists := s.files[target]
			if !exists {
				t.Errorf("%s: there is no %s", name, target)
			}
			if u.Fragment != "" && strings.Count(string(page), ` id="`+u.Fragment+`"`) != 1 {
				t.Errorf("%s: %s has no #%s, or two", name, target, u.Fragment)
			}
		}
	}
	if internal < 1000 || external < 30 {
		t.Errorf("%d internal and %d external links", internal, external)
	}
}

// What is wrong with links is reported at once, each with its place.
func TestProblems(t *testing.T) {
	s := buildIn(t, tree(t, map[string]string{
		"sweeps/report/colours.css": "",
		"README.md":                 "# One\n\n[a](docs/a.md#two) [b](docs/b.md)\n",
		"docs/README.md":            "# Documents\n\n## Start\n\n- [a](a.md)\n",
		"docs/a.md":                 "# A\n\n## Two\n\n[here](#three) and [there](http://example.org)\n\n| x |\n|---|\n| [one](../README.md#one-1) ![p](p.svg) |\n",
		"docs/c.md":                 "# Nobody's\n",
	}))
	slices.Sort(s.problems)
	want := []string{
		"README.md:3: the link to docs/b.md leads to no file of the repository",
		"docs/README.md does not list docs/c.md",
		"docs/a.md:5: http://example.org is no address, want a path or https://…",
		"docs/a.md:5: the link to #three leads to no heading",
		"docs/a.md:9: the link to ../README.md#one-1 leads to no heading",
		"docs/a.md:9: the link to p.svg leads to no file of the repository",
	}
	if diff := cmp.Diff(want, s.problems); diff != "" {
		t.Error(diff)
	}
}

// Documents keep their places, a folder without a README has no link, and files that
// are not Markdown are copied or shown.
func TestPages(t *testing.T) {
	s := buildIn(t, tree(t, map[string]string{
		"sweeps/report/colours.css": ":root {}\n",
		"README.md":                 "# Name\n\n![picture](pictures/p.svg) [code](src), [peers](src/peers) and [a file](configs/a.yaml)\n",
		"docs/README.md":            "# Documents\n\n## Start\n\n- [The name](../README.md)\n- [a](a.md)\n",
		"docs/a.md":                 "text\n\n| key | G | meaning |\n|---|---|---|\n| `a` | 2 | " + strings.Repeat("long ", 30) + "|\n\n| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n",
		"pictures/p.svg":            "<svg/>",
		"src/peers/README.md":       "# Peers\n\n[up](../../docs/a.md)\n",
		"configs/a.yaml":            "a: <1>\n",
	}))
	if len(s.problems) > 0 {
		t.Fatal(s.problems)
	}
	var names []string
	for name := range s.files {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{
		"configs/a.yaml.html", "docs/a.html", "docs/index.html", "explorer.html", "index.html", "pictures/p.svg",
		"report/one/cells.csv", "report/report.html", "site.css", "site.js", "src/peers/index.html",
	}, names); diff != "" {
		t.Error(diff)
	}
	for _, part := range []struct{ page, has string }{
		{"index.html", `<a href="pictures/p.svg"><img src="pictures/p.svg" alt="picture"></a> code, <a href="src/peers/index.html">peers</a> and <a href="configs/a.yaml.html">a file</a>`},
		{"configs/a.yaml.html", "<h1>configs/<wbr>a.yaml</h1>\n<pre tabindex=\"0\"><code>a: &lt;1&gt;\n</code></pre>"},
		{"docs/a.html", "<h1>docs/<wbr>a.md</h1>\n<p>text</p>"},
		{"docs/a.html", `<a href="a.html" aria-current="page">a</a>`},
		{"docs/a.html", `<table class="cards">`},
		{"docs/a.html", `<td data-label="key"><code>a</code></td>`},
		{"docs/a.html", "<table>\n<thead>\n<tr>\n<th>a</th>"},
		{"src/peers/index.html", `<a href="../../docs/a.html">up</a>`},
		{"src/peers/index.html", `<link rel="stylesheet" href="../../site.css">`},
		{"src/peers/index.html", `<title>Peers · grposim</title>`},
		{"site.css", ":root {}\n" + string(style)},
	} {
		if !strings.Contains(string(s.files[part.page]), part.has) {
			t.Errorf("%s lacks %s:\n%s", part.page, part.has, s.files[part.page])
		}
	}
}

// Anchors are those of GitHub. The first rows are from the tests of github-slugger, which
// were compared with GitHub.
func TestAnchors(t *testing.T) {
	for heading, want := range map[string]string{
		"I ♥ unicode":                       "i--unicode",
		"Dash-dash":                         "dash-dash",
		"en–dash":                           "endash",
		"`foo` bar":                         "foo-bar",
		"Привет non-latin 你好":               "привет-non-latin-你好",
		"same\n# same\n# same":              "same same-1 same-2",
		"heading with an _underscore_a":     "heading-with-an-_underscore_a",
		"The rule ηλK = 1 − μ, *exact* [D]": "the-rule-ηλk--1--μ-exact-d",
		"[A link](https://a.org), 10 %":     "a-link-10-",
	} {
		var got []string
		for _, id := range anchor.FindAllStringSubmatch(string(new(site).fromMarkdown("a.md", []byte("# "+heading+"\n")).Body), -1) {
			got = append(got, html.UnescapeString(id[1]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("# %s has the anchor %q, want %q", heading, got, want)
		}
	}
}
