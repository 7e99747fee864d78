package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// place is a position in a file, or an override on the command line. Line and column
// count from 1; 0: not known.
type place struct {
	source       string
	line, column int
}

// override is the source of all values given by --set.
const override = "--set"

// Problem is one error in a configuration.
type Problem struct {
	Source string // the file's name, or --set
	Line   int    // from 1; 0: none
	Column int    // from 1, in characters; 0: not known
	Key    string // the dotted path; "" for the file as a whole
	Text   string // got X, want Y
}

// String writes the problem as one line, file:line:column: key: got X, want Y.
func (p Problem) String() string {
	text := p.place() + ": "
	if p.Key != "" {
		text += p.Key + ": "
	}
	return text + p.Text
}

// place writes file:line:column, as far as they are known.
func (p Problem) place() string {
	text := p.Source
	if p.Line > 0 {
		text += fmt.Sprintf(":%d", p.Line)
		if p.Column > 0 {
			text += fmt.Sprintf(":%d", p.Column)
		}
	}
	return text
}

// Problems are all errors in a configuration in the order of its files and lines, followed
// by those in overrides.
type Problems []Problem

// shownProblems is the largest number of problems that Error lists.
const shownProblems = 50

// Error lists the problems, one per line; beyond 50 it gives their number.
func (p Problems) Error() string {
	lines := each(p[:min(len(p), shownProblems)], Problem.String)
	if more := len(p) - shownProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// sorted returns the problems in the order of the files and of their lines, without
// repetitions.
func (p Problems) sorted(files []string) Problems {
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
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(slices.Index(files, a.Source), slices.Index(files, b.Source)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return once
}
