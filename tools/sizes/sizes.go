// Command sizes prints how much there is in each room of the repository, beside the limit.
// It exits with code 1 where one is exceeded.
package main

import (
	"cmp"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"grposim/tools/internal/tool"
)

// size is what a room has.
type size struct{ code, tests int }

// house is what the repository has.
type house struct {
	rooms     map[string]size // lines of Go, by folder
	docs      int             // bytes of docs/*.md, README.md and CHANGELOG.md
	longLines int             // lines of Go with more than mostCharacters
	words     []int           // words of each sentence of a comment, sorted
}

// mostCharacters is the width at which lines end.
const mostCharacters = 100

// measure reads every Go file and document below the root.
func measure(root string) (*house, error) {
	h := &house{rooms: make(map[string]size)}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		switch {
		case entry.IsDir() && (name == "bin" || name == ".git" || entry.Name() == "testdata"):
			return fs.SkipDir
		case filepath.Ext(name) == ".go":
			return h.addGo(path, filepath.ToSlash(filepath.Dir(name)))
		case name == "README.md", name == "CHANGELOG.md",
			filepath.Dir(name) == "docs" && filepath.Ext(name) == ".md":
			info, err := entry.Info()
			h.docs += int(info.Size())
			return err
		}
		return nil
	})
	slices.Sort(h.words)
	return h, err
}

func (h *house) addGo(path, room string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s := h.rooms[room]
	for line := range strings.Lines(string(text)) {
		if strings.HasSuffix(path, "_test.go") {
			s.tests++
		} else {
			s.code++
		}
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > mostCharacters {
			h.longLines++
		}
	}
	h.rooms[room] = s
	const how = parser.ParseComments | parser.SkipObjectResolution
	file, err := parser.ParseFile(token.NewFileSet(), path, text, how)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for _, sentence := range sentenceEnd.Split(group.Text(), -1) {
			if n := len(strings.Fields(sentence)); n > 0 {
				h.words = append(h.words, n)
			}
		}
	}
	return nil
}

// sentenceEnd is where a sentence of a comment ends: a full stop before a space, or an empty line.
var sentenceEnd = regexp.MustCompile(`[.!?]\s+|\n\n`)

// limit is a size of the whole repository beside the most that it may be.
type limit struct {
	what, unit string
	got, most  int
}

// limits returns the lines of the product, of the tools and of the tests of both, and the documents,
// with their limits.
func (h *house) limits() []limit {
	product, tools, tests := 0, 0, 0
	for room, s := range h.rooms {
		if room == "tools" || strings.HasPrefix(room, "tools/") {
			tools += s.code
		} else {
			product += s.code
		}
		tests += s.tests
	}
	return []limit{
		{"product without tests", "lines", product, mostProduct},
		{"tools without tests", "lines", tools, mostTools},
		{"tests of both", "lines", tests, mostTests},
		{"documents", "KB", h.docs / 1000, mostDocs},
	}
}

func (h *house) print(w io.Writer) {
	lines := 0
	fmt.Fprintf(w, "%-26s %7s %7s %7s\n", "ROOM", "LINES", "LIMIT", "TESTS")
	for _, room := range h.names() {
		s := h.rooms[room]
		lines += s.code + s.tests
		fmt.Fprintf(w, "%-26s %7d %7d %7d\n", room, s.code, rooms[room], s.tests)
	}
	fmt.Fprintln(w)
	for _, l := range h.limits() {
		fmt.Fprintf(w, "%-26s %7d %7d %s\n", l.what, l.got, l.most, l.unit)
	}
	fmt.Fprintf(w, "lines of more than %d characters: %.1f %%\n",
		mostCharacters, 100*float64(h.longLines)/float64(lines))
	fmt.Fprintf(w, "words of a sentence in a comment: median %d, 90 %% %d\n",
		h.words[len(h.words)/2], h.words[len(h.words)*9/10])
}

// names returns the rooms, the largest first.
func (h *house) names() []string {
	return slices.SortedFunc(maps.Keys(h.rooms), func(a, b string) int {
		return cmp.Or(cmp.Compare(h.rooms[b].code, h.rooms[a].code), cmp.Compare(a, b))
	})
}

func (h *house) excess() (over []string) {
	limits := h.limits()
	for _, room := range h.names() {
		limits = append(limits, limit{room, "lines without tests", h.rooms[room].code, rooms[room]})
	}
	for _, l := range limits {
		if l.got > l.most {
			over = append(over, fmt.Sprintf("%s, %s: got %d, want at most %d", l.what, l.unit, l.got, l.most))
		}
	}
	return over
}

func main() { tool.Main("sizes", run) }

// run prints the sizes of the repository in the folder that the command line names.
func run(_ context.Context, c *tool.Command) error {
	c.Usage = func() { c.Say("usage: sizes FOLDER") }
	if err := c.Parse(1); err != nil {
		return err
	}
	h, err := measure(c.Args()[0])
	if err != nil {
		return err
	}
	h.print(c.Stdout)
	return tool.Unmet(h.excess()).OrNil()
}
