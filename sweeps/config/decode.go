package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
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

// Names of a file outside the key table.
var topNames = []string{"name", "claim", "seed", "confidence"}

func (l *loader) load(root *node, set []string) {
	var fields map[string]*node
	if root != nil && root.kind == nothing {
		l.want(root, "", "a configuration")
	} else if root != nil {
		l.at[""] = root.at
		sections := sectionNames("")
		fields = l.fields(root, "", slices.Concat(topNames, sections, []string{"sweep", "variants", "checks"}))
		for _, name := range topNames {
			if n := fields[name]; n != nil {
				l.top(name, n)
			}
		}
		for _, name := range sections {
			if n := fields[name]; n != nil {
				l.section(name, n)
			}
		}
	}
	l.overrides(set)
	if fields == nil {
		return
	}
	l.require()
	l.spec.given = l.given
	if n := fields["sweep"]; n != nil {
		l.spec.Sweep, l.sweepAt = l.grid(n, "sweep")
	}
	if n := fields["variants"]; n != nil {
		l.decodeVariants(n)
	}
	if len(l.spec.Variants) == 0 {
		l.count(l.spec.Sweep, l.at[""])
	}
	if n := fields["checks"]; n != nil {
		l.decodeChecks(n)
	}
	l.validate()
	if len(l.problems) == 0 {
		l.spec.Base = l.given.settings()
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

// sectionNames lists what may stand under a prefix of the key table's paths.
func sectionNames(prefix string) []string {
	if prefix != "" {
		prefix += "."
	}
	var names []string
	for _, k := range Keys {
		if rest, under := strings.CutPrefix(k.Path, prefix); under {
			name, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (l *loader) section(path string, n *node) {
	l.at[path] = n.at
	if i := keyIndex(path); i >= 0 {
		l.give(i, n, path)
		return
	}
	names := sectionNames(path)
	fields := l.fields(n, path, names)
	for _, name := range names {
		if child := fields[name]; child != nil {
			l.section(path+"."+name, child)
		} else if fields == nil {
			l.badSection(path)
		}
	}
}

// badSection turns off the rules about every key of a section that cannot be
// read.
func (l *loader) badSection(path string) {
	for _, k := range Keys {
		if strings.HasPrefix(k.Path, path+".") {
			l.bad[k.Path] = true
		}
	}
}

// give takes the value of a base key.
func (l *loader) give(i int, n *node, path string) {
	l.at[Keys[i].Path] = n.at
	v, ok := l.value(Keys[i], n, path)
	if !ok {
		l.bad[Keys[i].Path] = true
		return
	}
	l.given[i] = v
}

var nameSyntax = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

const nameWant = "1 to 64 of a-z, 0-9 and -"

func (l *loader) top(name string, n *node) {
	l.at[name] = n.at
	switch name {
	case "name":
		l.spec.Name, _ = l.name(n, name)
	case "claim":
		l.spec.Claim, _ = l.prose(n, name)
	case "seed":
		seed, err := strconv.ParseUint(strings.TrimPrefix(n.text, "+"), 10, 64)
		if n.kind != plain || !integerSyntax.MatchString(n.text) || err != nil {
			l.want(n, name, "an integer in [0, 18446744073709551615]")
		}
		l.spec.Seed = seed
	case "confidence":
		if x, ok := l.number(n, name, openUnit, "a number in (0, 1)"); ok {
			l.spec.Confidence = x
		}
	}
}

func (l *loader) name(n *node, path string) (string, bool) {
	text, ok := l.prose(n, path)
	if ok && !nameSyntax.MatchString(text) {
		l.want(n, path, nameWant)
		return "", false
	}
	return text, ok
}

func (l *loader) prose(n *node, path string) (string, bool) {
	switch {
	case n.kind == plain && !n.isText:
		l.want(n, path, "text (put it in quotes)")
		return "", false
	case n.kind != plain && n.kind != quoted:
		l.want(n, path, "text")
		return "", false
	case strings.ContainsFunc(n.text, func(c rune) bool { return c != '\n' && !harmless(c) || c == unicode.ReplacementChar }):
		l.want(n, path, "text without control characters")
		return "", false
	}
	return n.text, true
}

// overrides applies key=value arguments to the base.
func (l *loader) overrides(set []string) {
	seen := map[string]bool{}
	at := place{source: override}
	for _, argument := range set {
		key, text, assigned := strings.Cut(argument, "=")
		i := keyIndex(key)
		switch {
		case !assigned:
			l.problem(at, "", "got %s, want key=value", quoteText(argument))
			continue
		case i < 0 && (!slices.Contains(topNames, key) || key == "claim"):
			known := append(keyPaths(), "seed", "name", "confidence")
			l.problem(at, join("", key), "got an unknown key, want a dotted key of the base, or seed, name or confidence%s", keyHint(key, known))
			continue
		case seen[key]:
			l.problem(at, key, "got the key again, want it once")
			continue
		case strings.ContainsAny(text, "\r\n"):
			l.problem(at, key, "got %s, want one line", quoteText(text))
			continue
		}
		seen[key] = true
		n, problems := parseYAML(override, key, []byte(text))
		l.problems = append(l.problems, problems...)
		switch {
		case n == nil:
		case i < 0:
			l.top(key, n)
		default:
			l.give(i, n, key)
		}
	}
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

func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func keyPaths() []string {
	var paths []string
	for _, k := range Keys {
		paths = append(paths, k.Path)
	}
	return paths
}

// require notes the required keys that are left out, at the nearest section
// that is there.
func (l *loader) require() {
	missing := func(path, want string) {
		if _, given := l.at[path]; given || l.bad[path] {
			return
		}
		l.bad[path] = true
		at := path
		for {
			dot := strings.LastIndexByte(at, '.')
			at = at[:max(dot, 0)]
			if where, given := l.at[at]; given {
				l.problem(where, path, "got nothing, want %s", want)
				return
			}
		}
	}
	missing("name", nameWant)
	missing("seed", "an integer in [0, 18446744073709551615]")
	for _, k := range Keys {
		if k.Required() {
			missing(k.Path, k.Want())
		}
	}
}
