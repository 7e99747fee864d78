package config

import (
	"fmt"
	"slices"
)

// loader turns the tree of a file into a Spec, and notes what is wrong and
// where everything stands.
type loader struct {
	problems Problems
	spec     *Spec
	given    draft
	at       map[string]place // sections and keys of the base, where they are given
	bad      map[string]bool  // keys with a value that is already a problem: rules about them are off
	cells    int              // of all grids so far
	sweepAt  []axisPlaces     // of Spec.Sweep
	variants []variantPlaces  // of Spec.Variants
	checks   []checkPlaces    // of Spec.Checks
	noted    map[Problem]bool // of cells
}

// axisPlaces is where an axis stands: params[j] the axis of Params[j], and
// values[j][i] its i-th value where the file writes them out.
type axisPlaces struct {
	params []place
	values [][]place
}

type variantPlaces struct {
	set   map[string]place
	sweep []axisPlaces
}

type checkPlaces struct {
	path    string
	fields  map[string]place // and "" the check itself
	control map[string]place // of control.set
	locate  place            // of locate.param
	broken  bool             // a field is already a problem
}

func newLoader(problems Problems) *loader {
	return &loader{
		problems: problems, spec: &Spec{Confidence: 0.99}, given: make(draft, len(Keys)),
		at: map[string]place{}, bad: map[string]bool{}, noted: map[Problem]bool{},
	}
}

func (l *loader) problem(at place, key, format string, args ...any) {
	l.problems = append(l.problems, Problem{Source: at.source, Line: at.line, Column: at.column, Key: key, Text: fmt.Sprintf(format, args...)})
}

// want notes that a node is not what it should be, unless the node is a
// problem already.
func (l *loader) want(n *node, key, want string) {
	if n.kind != refused {
		l.problem(n.at, key, "got %s, want %s", n.describe(), want)
	}
}

// fields opens a mapping that may have the known names, and notes the others.
func (l *loader) fields(n *node, path string, known []string) map[string]*node {
	if n.kind != mapping {
		l.want(n, path, "a mapping with "+listWords(known))
		return nil
	}
	fields := map[string]*node{}
	for _, f := range n.fields {
		if slices.Contains(known, f.name) {
			fields[f.name] = f.value
		} else {
			l.unknownKey(f.at, join(path, f.name), f.name, known)
		}
	}
	return fields
}

// unknownKey notes a key that does not exist.
func (l *loader) unknownKey(at place, path, name string, known []string) {
	l.problem(at, path, "got an unknown key, want %s%s", listWords(known), keyHint(name, known))
}

// keyHint is didYouMean for a key; where no known name is near, a key of the
// table with a last name that is near may be what is meant.
func keyHint(name string, known []string) string {
	if hint := didYouMean(name, known); hint != "" {
		return hint
	}
	var last []string
	for _, k := range Keys {
		last = append(last, lastName(k.Path))
	}
	if near := nearestWord(lastName(name), last); near != "" {
		return didYouMean(Keys[slices.Index(last, near)].Path, keyPaths())
	}
	return ""
}

// cellProblem notes a problem of a cell, which other cells may have too.
func (l *loader) cellProblem(at place, key, got, want string) {
	text := "got " + got + ", want " + want
	p := Problem{Source: at.source, Line: at.line, Column: at.column, Key: key, Text: text}
	if !l.noted[p] {
		l.noted[p] = true
		l.problems = append(l.problems, p)
	}
}
