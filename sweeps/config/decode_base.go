package config

import (
	"fmt"
	"slices"
	"strings"
)

// topNames are the top-level keys of a file outside the key table that hold a scalar.
var topNames = []string{"name", "claim", "confidence"}

// top decodes a scalar of topNames.
func (l *loader) top(name string, n *node) {
	l.at[name] = n.at
	switch name {
	case "name":
		l.spec.Name, _ = l.name(n, name)
	case "claim":
		l.spec.Claim, _ = l.prose(n, name)
	case "confidence":
		if x, ok := l.number(n, name, openUnit, "a number in (0, 1)"); ok {
			l.spec.Confidence = x
		}
	}
}

// section decodes a section of the base or, where path is a key, its value.
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

// badSection marks every key of a section that cannot be read as bad.
func (l *loader) badSection(path string) {
	for _, k := range Keys {
		if strings.HasPrefix(k.Path, path+".") {
			l.bad[k.Path] = true
		}
	}
}

// give decodes the value of key i of the base.
func (l *loader) give(i int, n *node, path string) {
	l.at[Keys[i].Path] = n.at
	v, ok := l.value(Keys[i], n, path)
	if !ok {
		l.bad[Keys[i].Path] = true
		return
	}
	l.given[i] = v
}

// overrides applies key=value arguments to the base, and keeps lists of values for grid
// and listAxes.
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
			known := append(keyPaths(), "name", "confidence")
			l.problem(at, join("", key), "got an unknown key, want a dotted key of the base, or seed, name or confidence%s", l.keyHint("", key, known))
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
		case n.kind == list && len(n.items) > 0 && !isOneValue(Keys[i], n):
			l.lists[key] = n
		default:
			l.give(i, n, key)
		}
	}
}

// require records the required keys that neither the base nor the grids give, at the
// nearest section that is given.
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
	for _, k := range Keys {
		if !k.Required() {
			continue
		}
		grids := l.spec.Grids()
		without := slices.DeleteFunc(slices.Clone(grids), func(g Grid) bool { return l.replaces(g, k.Path) })
		want := k.Want()
		if k.Path == LearningRateKey && len(l.files) > 1 {
			want += " (" + onLogits + ")"
		}
		if len(without) == 0 {
			continue
		} else if len(without) < len(grids) {
			want += ", here or in variant " + without[0].Name
		}
		missing(k.Path, want)
	}
}

// listAxes makes an axis of every override with a list of values whose key no axis varies
// alone, the last and fastest of every grid but those in which a zip or the variant sets
// the key.
func (l *loader) listAxes() {
	for _, k := range Keys {
		n := l.lists[k.Path]
		if n == nil || l.swept[k.Path] {
			continue
		}
		p := paramDraft{key: k, at: n.at}
		if !l.axisValues(&p, n, k.Path) {
			l.bad[k.Path] = true
			continue
		}
		axis, where := l.makeAxis(axisDraft{at: n.at, path: k.Path, params: []paramDraft{p}})
		var zip string // the keys of an axis that varies this one with others
		made := false
		add := func(sweep *[]Axis, places *[]axisPlaces, set []Assignment) {
			for _, other := range *sweep {
				if slices.Contains(other.Params, k.Path) {
					zip = listWords(slices.DeleteFunc(slices.Clone(other.Params), func(param string) bool { return param == k.Path }))
					return
				}
			}
			if !slices.ContainsFunc(set, func(a Assignment) bool { return a.Param == k.Path }) {
				*sweep, *places = append(slices.Clip(*sweep), axis), append(slices.Clip(*places), where)
				made = true
			}
		}
		if len(l.spec.Variants) == 0 {
			add(&l.spec.Sweep, &l.sweepAt, nil)
		}
		for i := range l.spec.Variants {
			v := &l.spec.Variants[i]
			add(&v.Sweep, &l.variants[i].sweep, v.Set)
		}
		switch {
		case made:
			l.swept[k.Path] = true
			if l.cells <= maxCells {
				if l.cells = min(l.spec.Size(), maxCells+1); l.cells > maxCells {
					l.problem(n.at, k.Path, "got %s, which make more than %d cells, want at most %d", countWords(p.n, "value"), maxCells, maxCells)
				}
			}
		case zip != "":
			l.want(n, k.Path, fmt.Sprintf("a key that no zip varies: the file varies it together with %s, so that other values have to stand in its zip", zip))
		default:
			l.want(n, k.Path, "a key that not every variant sets")
		}
	}
}
