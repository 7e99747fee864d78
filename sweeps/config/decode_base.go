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
	l.at[name] = n.at // an override is not in the tree
	switch name {
	case "name":
		l.spec.Name, _ = l.name(n, name, nameSyntax, nameWant)
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

// SetKeys returns the keys that --set takes.
func SetKeys() []string { return append(keyPaths(), "name", "confidence") }

// overrides applies key=value arguments to the base, and keeps lists of values for grid
// and overrideGrids.
func (l *loader) overrides(set []string) {
	seen := map[string]bool{}
	at := Place{Source: override}
	for _, argument := range set {
		key, text, assigned := strings.Cut(argument, "=")
		i := keyIndex(key)
		switch {
		case !assigned:
			l.problem(at, "", "got %s, want key=value", quoteText(argument))
			continue
		case i < 0 && (!slices.Contains(topNames, key) || key == "claim"):
			const want = "a dotted key of the base, or seed, name or confidence"
			l.unknownKey(at, join("", key), "", key, want, SetKeys())
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
		case Keys[i].Kind <= WordValue &&
			(n.kind == mapping || n.kind == plain && strings.Contains(n.text, ",")):
			l.bad[key] = true
			l.want(n, key, Keys[i].Want()+"; several values in brackets, as [a, b]")
		default:
			l.give(i, n, key)
		}
	}
}

// unread are the values of the keys that a prediction does without.
var unread = map[string]any{SeedKey: uint64(1), StepsKey: 1000}

// require records the required keys that neither the base nor the grids give, at the
// nearest section that is given.
func (l *loader) require() {
	missing := func(path, want string) {
		if _, given := l.at[path]; !given && !l.bad[path] {
			l.bad[path] = true
			l.reject(path, "got nothing, want %s", want)
		}
	}
	missing("name", nameWant)
	for i, k := range Keys {
		if !k.Required() {
			continue
		}
		grids := l.spec.Grids()
		replaces := func(g Grid) bool { return l.replaces(g, k.Path) }
		without := slices.DeleteFunc(slices.Clone(grids), replaces)
		want := k.Want()
		if k.Path == LearningRateKey && len(l.files) > 1 {
			want += " (" + onLogits + ")"
		}
		if len(without) == 0 || l.given[i] != nil {
			continue
		} else if usual := unread[k.Path]; l.aim == ToPredict && usual != nil {
			l.given[i] = usual
			if k.Path == StepsKey {
				l.notes = append(l.notes, Problem{l.at[""], k.Path, "got nothing, 1000 are taken"})
			}
			continue
		} else if len(without) < len(grids) {
			want += ", here or in variant " + without[0].Name
		}
		missing(k.Path, want)
	}
}

// overrideGrids makes every override win over what the grids say of its key, except a zip, whose
// keys belong together: a value that a variant sets gives way, and so does an axis over the key
// alone. A list of values takes the place of that axis or becomes the last and fastest one. A
// note says which variants lose a value, and which keep a zip.
func (l *loader) overrideGrids() {
	for _, k := range Keys {
		list := l.lists[k.Path]
		if list == nil && l.at[k.Path].Source != override {
			continue
		}
		var axes []Axis // of a list: the axis
		if list != nil {
			p := param{key: k, at: list.at}
			if !l.axisValues(&p, list, k.Path) {
				l.bad[k.Path] = true
				continue
			}
			axes = []Axis{l.makeAxis([]param{p}, list.at, k.Path)}
		}
		var with, keep, lose []string // the keys that a zip varies with this one; variants
		win := func(sweep *[]Axis) (zipped bool) {
			i, n := axisOver(*sweep, k.Path), 1
			if i < 0 {
				i, n = len(*sweep), 0
			} else if params := (*sweep)[i].Params; len(params) > 1 {
				own := slices.Index(params, k.Path)
				with = slices.Delete(slices.Clone(params), own, own+1)
				return true
			}
			// variants share the sweep of the file
			*sweep = slices.Concat((*sweep)[:i], axes, (*sweep)[i+n:])
			return false
		}
		zipped := len(l.spec.Variants) == 0 && win(&l.spec.Sweep)
		for i := range l.spec.Variants {
			v := &l.spec.Variants[i]
			if win(&v.Sweep) {
				keep = append(keep, v.Name)
			} else if j := assigned(v.Set, k.Path); j >= 0 {
				v.Set = slices.Delete(v.Set, j, j+1)
				lose = append(lose, v.Name)
			}
		}
		if zipped || len(keep) > 0 && len(keep) == len(l.spec.Variants) {
			l.problem(Place{Source: override}, k.Path, "got a key that the file varies together "+
				"with %s, want one that no zip varies: other values have to stand in its zip",
				JoinWords(with, "and"))
			continue
		}
		l.note(k.Path, "takes the place of what is set in variant %s", lose)
		l.note(k.Path, "has no effect in variant %s, whose zip varies it together with "+
			JoinWords(with, "and"), keep)
		if l.cells = min(l.spec.Size(), maxCells+1); list != nil && l.cells > maxCells {
			l.problem(list.at, k.Path, "got %s, which make more than %d cells, want at most %d",
				CountWords(len(list.items), "value"), maxCells, maxCells)
		}
	}
}

// note says what an override means for variants.
func (l *loader) note(key, format string, variants []string) {
	if len(variants) > 0 {
		text := fmt.Sprintf(format, JoinWords(variants, "and"))
		l.notes = append(l.notes, Problem{Place{Source: override}, key, text})
	}
}
