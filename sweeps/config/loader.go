package config

import (
	"fmt"
	"strings"
)

// loader decodes the tree of a file into a Spec, and checks it.
type loader struct {
	reader
	aim     Aim
	files   []string // in the order in which each extends the next
	extends Place    // where the first file says which it extends
	spec    *Spec
	given   draft // the base
	// of all sections and values of the file by path, entries of lists of scalars aside
	at    map[string]Place
	lists map[string]*node // overrides with the values of an axis, by key
	notes Problems         // on overrides that the file agrees with in part
	cells int              // number of cells in the grids decoded so far, at most maxCells+1
	// of Spec.Checks: whether its cells are not checked: it has been reported, or the aim is not
	// ToJudge
	broken   []bool
	reported map[Problem]bool // problems of cells, which many cells may share
}

// newLoader returns a loader that has recorded no problem.
func newLoader() *loader {
	return &loader{
		reader: newReader(nil), spec: &Spec{Confidence: 0.99}, given: make(draft, len(Keys)),
		at: map[string]Place{}, lists: map[string]*node{}, reported: map[Problem]bool{},
	}
}

// remember records the places of a node and of those below it.
func (l *loader) remember(n *node, path string) {
	l.at[path] = n.at
	for _, f := range n.fields {
		l.remember(f.value, strings.TrimPrefix(path+"."+f.name, "."))
	}
	for i, item := range n.items {
		if item.kind == list || item.kind == mapping {
			l.remember(item, fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

// near returns the place of a path, or of the nearest section that the file has.
func (l *loader) near(path string) Place {
	for path != "" {
		if at, given := l.at[path]; given {
			return at
		}
		path = path[:max(strings.LastIndexByte(path, '.'), 0)]
	}
	return l.at[""]
}

// reject records a problem at a path, at its place or the nearest section.
func (l *loader) reject(path, format string, args ...any) {
	l.problem(l.near(path), path, format, args...)
}

// cellProblem records a problem of a cell, once for all cells that have it.
func (l *loader) cellProblem(at Place, key, got, want string) {
	p := Problem{at, key, "got " + got + ", want " + want}
	if !l.reported[p] {
		l.reported[p] = true
		l.problems = append(l.problems, p)
	}
}

// rejectCell records a problem of a cell with a key of a check.
func (l *loader) rejectCell(path, got, want string) { l.cellProblem(l.near(path), path, got, want) }
