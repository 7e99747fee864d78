package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Place is a position in a file, or an override or another flag on the command line.
type Place struct {
	Source string // the file's name, or the flag, such as --set
	Line   int    // from 1; 0: none
	Column int    // from 1, in characters; 0: not known
}

// String writes file:line:column, as far as they are known.
func (at Place) String() string {
	switch {
	case at.Line == 0:
		return at.Source
	case at.Column == 0:
		return fmt.Sprintf("%s:%d", at.Source, at.Line)
	}
	return fmt.Sprintf("%s:%d:%d", at.Source, at.Line, at.Column)
}

// override is the source of all values given by --set.
const override = "--set"

// Problem is one error in a configuration.
type Problem struct {
	Place
	Key  string // the dotted path; "" for the file as a whole
	Text string // got X, want Y
}

// String writes the problem as one line, file:line:column: key: got X, want Y.
func (p Problem) String() string {
	if p.Key == "" {
		return p.Place.String() + ": " + p.Text
	}
	return p.Place.String() + ": " + p.Key + ": " + p.Text
}

// Wrong returns the problem of a file as a whole, or of a flag.
func Wrong(source, format string, args ...any) Problems {
	return Problems{{Place{Source: source}, "", fmt.Sprintf(format, args...)}}
}

// Problems are all errors in a configuration in the order of its files and lines, followed
// by those in overrides.
type Problems []Problem

// shownProblems is the largest number of problems that Error lists.
const shownProblems = 50

// Error lists the problems, one per line; beyond 50 it gives their number.
func (p Problems) Error() string {
	lines := Each(p[:min(len(p), shownProblems)], Problem.String)
	if more := len(p) - shownProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// sorted returns the problems in the order of the files and of their lines.
func (p Problems) sorted(files []string) Problems {
	rank := func(p Problem) int {
		if p.Source == override {
			return len(files)
		}
		return slices.Index(files, p.Source)
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column))
	})
	return p
}
