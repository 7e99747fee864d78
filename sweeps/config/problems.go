package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
