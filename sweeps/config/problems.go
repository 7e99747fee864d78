package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// place is where something stands: in a file, or in an override given on the
// command line. Line and column count from 1; 0 is "not known".
type place struct {
	source       string
	line, column int
}

// override is the source of everything that --set gives.
const override = "--set"

// Problem is one thing wrong with a configuration.
type Problem struct {
	Source string // the file's name, or --set
	Line   int    // from 1; 0 where the problem has no line
	Column int    // from 1, in characters; 0 where not known
	Key    string // the dotted path; "" for the file as a whole
	Text   string // got X, want Y
}

// String gives the problem as one line, file:line:column: key: got X, want Y.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Source)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Problems is everything wrong with a configuration, in the order of its
// lines, what --set gives last.
type Problems []Problem

// shownProblems is how many problems Error writes out: more than a reader
// repairs at once.
const shownProblems = 50

// Error gives one line a problem.
func (p Problems) Error() string {
	var lines []string
	for _, problem := range p[:min(len(p), shownProblems)] {
		lines = append(lines, problem.String())
	}
	if more := len(p) - shownProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// sorted gives the problems in line order, each once.
func (p Problems) sorted() Problems {
	seen := map[Problem]bool{}
	var once Problems
	for _, problem := range p {
		if !seen[problem] {
			seen[problem] = true
			once = append(once, problem)
		}
	}
	slices.SortStableFunc(once, func(a, b Problem) int {
		rank := func(x Problem) int {
			if x.Source == override {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return once
}

// shownText is how many characters of a reader's text a message repeats.
const shownText = 60

// quoteText puts a reader's text into a message: quoted, and cut where long.
func quoteText(text string) string {
	n := utf8.RuneCountInString(text)
	if n <= shownText {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q… (%d characters)", string([]rune(text[:min(len(text), 4*shownText)])[:shownText]), n)
}

// didYouMean is the end of a message about an unknown word: the known word
// that is nearest, or nothing where none is near.
func didYouMean(word string, known []string) string {
	if best := nearestWord(word, known); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return ""
}

// nearestWord is the first of the known words with the fewest edits from word,
// "" where that is more than an edit in three letters.
func nearestWord(word string, known []string) string {
	best, least := "", (len(word)+1)/3+1
	if len(word) > shownText {
		return ""
	}
	for _, candidate := range known {
		if d := editDistance(word, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment), bytewise.
func editDistance(a, b string) int {
	row := func() []int { return make([]int, len(b)+1) }
	before, last, next := row(), row(), row()
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			next[j+1] = min(last[j+1]+1, next[j]+1, replace)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}

// listWords joins words as prose does: a, b or c.
func listWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
