package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
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
		case name == "README.md" || name == "CHANGELOG.md" || filepath.Dir(name) == "docs" && filepath.Ext(name) == ".md":
			info, err := entry.Info()
			h.docs += int(info.Size())
			return err
		}
		return nil
	})
	slices.Sort(h.words)
	return h, err
}

// addGo adds a Go file of a room.
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
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
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

// totals returns the lines of the product, of the tools, and of the tests of both.
func (h *house) totals() (product, tools, tests int) {
	for room, s := range h.rooms {
		if room == "tools" || strings.HasPrefix(room, "tools/") {
			tools += s.code
		} else {
			product += s.code
		}
		tests += s.tests
	}
	return product, tools, tests
}

// print writes the sizes beside their limits.
func (h *house) print(w io.Writer) {
	product, tools, tests := h.totals()
	lines := 0
	fmt.Fprintf(w, "%-26s %7s %7s %7s\n", "ROOM", "LINES", "LIMIT", "TESTS")
	for _, room := range h.names() {
		s := h.rooms[room]
		lines += s.code + s.tests
		fmt.Fprintf(w, "%-26s %7d %7d %7d\n", room, s.code, rooms[room], s.tests)
	}
	fmt.Fprintf(w, "\n%-26s %7d %7d\n%-26s %7d %7d\n%-26s %7d %7d\n%-26s %7d %7d\n",
		"product without tests", product, mostProduct, "tools without tests", tools, mostTools,
		"tests of both", tests, mostTests, "documents, KB", h.docs/1000, mostDocs)
	fmt.Fprintf(w, "lines of more than %d characters: %.1f %%\n", mostCharacters, 100*float64(h.longLines)/float64(lines))
	fmt.Fprintf(w, "words of a sentence in a comment: median %d, 90 %% %d\n",
		h.words[len(h.words)/2], h.words[len(h.words)*9/10])
}

// names returns the rooms, the largest first.
func (h *house) names() []string {
	var names []string
	for room := range h.rooms {
		names = append(names, room)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := h.rooms[b].code - h.rooms[a].code; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

// excess says which limits are exceeded.
func (h *house) excess() (over []string) {
	check := func(what string, got, most int) {
		if got > most {
			over = append(over, fmt.Sprintf("%s: got %d, want at most %d", what, got, most))
		}
	}
	for _, room := range h.names() {
		if h.rooms[room].code > 0 {
			check(room+", lines without tests", h.rooms[room].code, rooms[room])
		}
	}
	product, tools, tests := h.totals()
	check("product, lines without tests", product, mostProduct)
	check("tools, lines without tests", tools, mostTools)
	check("tests, lines", tests, mostTests)
	check("documents, KB", h.docs/1000, mostDocs)
	return over
}
