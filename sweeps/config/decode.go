package config

import (
	"fmt"
	"slices"
	"strings"
)

// loader decodes the tree of a file into a Spec. It records problems, and the places
// of all values for messages of later checks.
type loader struct {
	aim      Aim
	problems Problems
	files    []string // in the order in which each extends the next
	extends  place    // where the first file says which it extends
	spec     *Spec
	given    draft            // the base
	at       map[string]place // places of the given sections and keys of the base
	bad      map[string]bool  // keys with a reported value: rules about them are not applied
	lists    map[string]*node // overrides with the values of an axis, by key
	notes    Problems         // on overrides that the file agrees with in part
	cells    int              // number of cells in the grids decoded so far, at most maxCells+1
	sweepAt  []axisPlaces     // places of Spec.Sweep
	variants []variantPlaces  // places of Spec.Variants
	checks   []checkPlaces    // places of Spec.Checks
	reported map[Problem]bool // problems of cells, which many cells may share
}

// axisPlaces holds the places of an axis.
type axisPlaces struct {
	params []place   // params[j] is the place of the axis over Params[j]
	values [][]place // values[j][i] is the place of its value i; values[j] is nil for log and range
}

// variantPlaces holds the places of a variant.
type variantPlaces struct {
	set   map[string]place // by key
	sweep []axisPlaces
}

// checkPlaces holds the places of a check.
type checkPlaces struct {
	path    string           // checks[i]
	fields  map[string]place // by name; "": the check itself
	control map[string]place // of control.set, by key
	locate  place            // of locate.param
	broken  bool             // whether its cells are not checked: a field has been reported, or the aim is not ToJudge
}

// newLoader returns a loader that has recorded the problems of parseYAML.
func newLoader(problems Problems) *loader {
	return &loader{
		problems: problems, spec: &Spec{Confidence: 0.99}, given: make(draft, len(Keys)),
		at: map[string]place{}, bad: map[string]bool{}, lists: map[string]*node{}, reported: map[Problem]bool{},
	}
}

// problem records a problem.
func (l *loader) problem(at place, key, format string, args ...any) {
	l.problems = append(l.problems, Problem{Source: at.source, Line: at.line, Column: at.column, Key: key, Text: fmt.Sprintf(format, args...)})
}

// want records the problem "got n, want want", unless parseYAML has refused the node.
func (l *loader) want(n *node, key, want string) {
	if n.kind != refused {
		l.problem(n.at, key, "got %s, want %s", n.describe(), want)
	}
}

// fields returns the entries of a mapping by name and records names that are not
// known. It returns nil where the node is not a mapping.
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

// unknownKey records a key that does not exist.
func (l *loader) unknownKey(at place, path, name string, known []string) {
	l.problem(at, path, "got an unknown key, want %s%s", listWords(known), l.keyHint(strings.TrimSuffix(path, name), name, known))
}

// keyHint ends a message about an unknown key of a section: it suggests the key that is
// meant, and marks it as bad, so that no other problem follows. The section ends with a
// dot; "": the known names are paths.
func (l *loader) keyHint(section, name string, known []string) string {
	meant := meantKey(name, known)
	path := meant
	if slices.Contains(known, meant) {
		path = section + meant
	}
	l.bad[path] = true
	l.badSection(path)
	return didYou(meant)
}

// meantKey returns the known name that a reader means by an unknown one or, where there
// is none, the key of the table that is meant by its last name; else "".
func meantKey(name string, known []string) string {
	if meant := Meant(name, known); meant != "" {
		return meant
	}
	var last []string
	for _, k := range Keys {
		last = append(last, lastName(k.Path))
	}
	name = lastName(name)
	if meant := Meant(name, keyPaths()); meant != "" {
		return meant
	}
	if i := slices.IndexFunc(Keys, func(k Key) bool { return k.Symbol == name }); i >= 0 && name != "" {
		return Keys[i].Path
	}
	if near := nearestWord(name, last); near != "" {
		return Keys[slices.Index(last, near)].Path
	}
	return ""
}

// NamedKey returns the key of --set that a word of the command line names: by its path or its
// last name but for a letter, by its symbol, or as trainers do; "" for any other word.
func NamedKey(word string) string {
	word = strings.ReplaceAll(word, "-", "_")
	key := meantKey(word, SetKeys())
	i := keyIndex(key)
	switch {
	case ofTrainers[word] == key, i >= 0 && Keys[i].Symbol == word:
		return key
	case key == word || min(editDistance(word, key), editDistance(lastName(word), lastName(key))) <= 1:
		return key
	}
	return ""
}

// cellProblem records a problem of a cell, once for all cells that have it.
func (l *loader) cellProblem(at place, key, got, want string) {
	text := "got " + got + ", want " + want
	p := Problem{Source: at.source, Line: at.line, Column: at.column, Key: key, Text: text}
	if !l.reported[p] {
		l.reported[p] = true
		l.problems = append(l.problems, p)
	}
}
