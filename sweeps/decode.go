package sweeps

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"grposim/grpo"
	"grposim/rom"
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

// value reads a value of a key, at path in the file.
func (l *loader) value(k Key, n *node, path string) (v any, ok bool) {
	switch k.Kind {
	case IntegerValue:
		if k.Path == groupSizeKey && (n.kind == plain || n.kind == quoted) && n.text == "inf" {
			return grpo.Infinite, true
		}
		return l.integer(n, path, k.Range, k.Want())
	case NumberValue:
		return l.number(n, path, k.Range, k.Want())
	case WordValue:
		return l.word(n, path, k.Words)
	case ListValue:
		return l.numbers(n, path, k.Want())
	case InitValue:
		return l.start(n, path, k.Want())
	default:
		return l.arms(n, path, k.Want())
	}
}

func (l *loader) integer(n *node, path string, r Range, want string) (int, bool) {
	if n.kind != plain || !integerSyntax.MatchString(n.text) {
		l.want(n, path, want)
		return 0, false
	}
	v, err := strconv.ParseInt(n.text, 10, 64)
	switch {
	case err != nil && n.text[0] != '-' || v > maxInteger:
		l.want(n, path, fmt.Sprintf("an integer of at most %d", maxInteger))
		return 0, false
	case err != nil || !r.Contains(float64(v)):
		l.want(n, path, want)
		return 0, false
	}
	return int(v), true
}

func (l *loader) number(n *node, path string, r Range, want string) (float64, bool) {
	if n.kind != plain || !numberSyntax.MatchString(n.text) {
		l.want(n, path, want)
		return 0, false
	}
	x, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		l.want(n, path, "a finite number")
		return 0, false
	}
	if !r.Contains(x) {
		l.want(n, path, want)
		return 0, false
	}
	return x + 0, true // −0 is 0
}

func (l *loader) word(n *node, path string, words []string) (string, bool) {
	if n.kind != plain && n.kind != quoted {
		l.want(n, path, listWords(words))
		return "", false
	}
	if !slices.Contains(words, n.text) {
		l.want(n, path, listWords(words)+didYouMean(n.text, words))
		return "", false
	}
	return n.text, true
}

func (l *loader) numbers(n *node, path, want string) ([]float64, bool) {
	if n.kind != list {
		l.want(n, path, want)
		return nil, false
	}
	numbers, good := make([]float64, len(n.items)), true
	for i, item := range n.items {
		x, ok := l.number(item, fmt.Sprintf("%s[%d]", path, i), anyNumber, "a number")
		numbers[i], good = x, good && ok
	}
	return numbers, good
}

func (l *loader) start(n *node, path, want string) (Init, bool) {
	switch n.kind {
	case list:
		logits, ok := l.numbers(n, path, want)
		return Init{Kind: AtLogits, Logits: logits}, ok
	case mapping:
		fields := l.fields(n, path, []string{offsetField})
		offset := fields[offsetField]
		if offset == nil {
			l.want(n, path, want)
			return Init{}, false
		}
		x, ok := l.number(offset, join(path, offsetField), anyNumber, "a number")
		return Init{Kind: AtFixedPoint, Offset: x}, ok && len(fields) == len(n.fields)
	case plain, quoted:
		if n.text == fixedPointWord {
			return Init{Kind: AtFixedPoint}, true
		}
		l.want(n, path, want+didYouMean(n.text, []string{fixedPointWord}))
		return Init{}, false
	default:
		l.want(n, path, want)
		return Init{}, false
	}
}

func (l *loader) arms(n *node, path, want string) ([]ArmGroup, bool) {
	if n.kind != list {
		l.want(n, path, want)
		return nil, false
	}
	var groups []ArmGroup
	good, total := true, 0
	for i, item := range n.items {
		g, ok := l.arm(item, fmt.Sprintf("%s[%d]", path, i))
		groups = append(groups, g)
		good = good && ok
		total = min(total+g.Count, maxArms+1)
	}
	switch {
	case good && total < 2:
		l.problem(n.at, path, "got %s, want at least 2", countWords(total, "arm"))
		return nil, false
	case total > maxArms:
		l.problem(n.at, path, "got more than %d arms, want at most %d", maxArms, maxArms)
		return nil, false
	}
	return groups, good
}

// armFields are the names of an arm's properties.
var armFields = []string{"reward", "mean", "std", "count"}

func (l *loader) arm(n *node, path string) (ArmGroup, bool) {
	g := ArmGroup{Count: 1}
	before := len(l.problems)
	fields := l.fields(n, path, armFields)
	if fields == nil {
		return g, false
	}
	missing := func(name, want string) {
		l.problem(n.at, path+"."+name, "got nothing, want %s", want)
	}
	var laws []string
	for _, law := range grpo.Laws {
		laws = append(laws, string(law))
	}
	if f := fields["reward"]; f == nil {
		missing("reward", listWords(laws))
	} else {
		law, _ := l.word(f, path+".reward", laws)
		g.Arm.Reward = grpo.Law(law)
	}
	r, want := anyNumber, "a number"
	if g.Arm.Reward == grpo.Bernoulli {
		r, want = unit, "a number in [0, 1]"
	}
	if f := fields["mean"]; f == nil {
		missing("mean", want)
	} else {
		g.Arm.Mean, _ = l.number(f, path+".mean", r, want)
	}
	switch f := fields["std"]; {
	case f == nil && g.Arm.Reward == grpo.Normal:
		missing("std", "a number ≥ 0")
	case f != nil && (g.Arm.Reward == grpo.Bernoulli || g.Arm.Reward == grpo.Constant):
		l.want(f, path+".std", "no std for a "+string(g.Arm.Reward)+" reward")
	case f != nil:
		g.Arm.Std, _ = l.number(f, path+".std", nonNegative, "a number ≥ 0")
	}
	if f := fields["count"]; f != nil {
		if count, ok := l.integer(f, path+".count", atLeast(1), "an integer ≥ 1"); ok {
			g.Count = count
		}
	}
	return g, len(l.problems) == before
}

// assignments reads a mapping of dotted keys.
func (l *loader) assignments(n *node, path string) ([]Assignment, map[string]place) {
	if n.kind != mapping {
		l.want(n, path, "a mapping of dotted keys to values")
		return nil, nil
	}
	var set []Assignment
	places := map[string]place{}
	for _, f := range n.fields {
		k, known := LookupKey(f.name)
		if !known {
			l.problem(f.at, join(path, f.name), "got an unknown key, want a dotted key of the base%s", keyHint(f.name, keyPaths()))
			continue
		}
		places[k.Path] = f.value.at
		if v, ok := l.value(k, f.value, join(path, f.name)); ok {
			set = append(set, Assignment{Param: k.Path, Value: v})
		} else {
			l.bad[k.Path] = true
		}
	}
	return set, places
}

func (l *loader) decodeVariants(n *node) {
	if n.kind != list {
		l.want(n, "variants", "a list of variants")
		return
	}
	first := map[string]int{}
	for i, item := range n.items {
		path := fmt.Sprintf("variants[%d]", i)
		v := Variant{Sweep: l.spec.Sweep}
		places := variantPlaces{sweep: l.sweepAt}
		fields := l.fields(item, path, []string{"name", "set", "sweep"})
		if f := fields["name"]; f != nil {
			v.Name, _ = l.name(f, path+".name")
			if line, taken := first[v.Name]; taken && v.Name != "" {
				l.problem(f.at, path+".name", "got %q again, want a name of its own (first in line %d)", v.Name, line)
			}
			first[v.Name] = f.at.line
		} else if fields != nil {
			l.problem(item.at, path+".name", "got nothing, want %s", nameWant)
		}
		if f := fields["set"]; f != nil {
			v.Set, places.set = l.assignments(f, path+".set")
		}
		if f := fields["sweep"]; f != nil {
			v.Sweep, places.sweep = l.grid(f, path+".sweep")
		}
		for _, a := range v.Set {
			if varies(v.Sweep, a.Param) {
				l.problem(places.set[a.Param], path+".set."+a.Param, "got a value that the sweep replaces in every cell, want it set or swept")
			}
		}
		l.count(v.Sweep, item.at)
		l.spec.Variants = append(l.spec.Variants, v)
		l.variants = append(l.variants, places)
	}
}

func varies(sweep []Axis, param string) bool {
	return slices.ContainsFunc(sweep, func(axis Axis) bool { return slices.Contains(axis.Params, param) })
}

// axisDraft is an axis whose points are counted but not yet made.
type axisDraft struct {
	at     place
	path   string
	params []paramDraft
}

type paramDraft struct {
	key    Key
	at     place
	n      int
	values []any
	places []place
	make   func() []float64 // nil where the file writes the values out
}

// grid reads a list of axes.
func (l *loader) grid(n *node, path string) ([]Axis, []axisPlaces) {
	if n.kind != list {
		l.want(n, path, "a list of axes")
		return nil, nil
	}
	var drafts []axisDraft
	seen := map[string]bool{}
	cells, good := 1, true
	for i, item := range n.items {
		axis, ok := l.axis(item, fmt.Sprintf("%s[%d]", path, i))
		for _, p := range axis.params {
			if p.key.Path != "" && seen[p.key.Path] {
				l.problem(p.at, axis.path, "got %s again, want one axis a key", p.key.Path)
				ok = false
			}
			seen[p.key.Path] = true
		}
		if !ok {
			for _, p := range axis.params {
				l.bad[p.key.Path] = true
			}
			good = false
			continue
		}
		drafts = append(drafts, axis)
		cells = min(cells*axis.params[0].n, maxCells+1)
	}
	if cells > maxCells {
		l.problem(n.at, path, "got more than %d cells, want at most %d", maxCells, maxCells)
		l.cells = maxCells + 1
	}
	if l.cells > maxCells || !good {
		return nil, nil
	}
	var axes []Axis
	var places []axisPlaces
	for _, d := range drafts {
		axis, at := l.makeAxis(d)
		axes = append(axes, axis)
		places = append(places, at)
	}
	return axes, places
}

// count adds the cells of a grid to those of the file.
func (l *loader) count(sweep []Axis, at place) {
	before := l.cells
	l.cells = min(l.cells+grid{axes: sweep}.cells(), maxCells+1)
	if before <= maxCells && l.cells > maxCells {
		l.problem(at, "variants", "got more than %d cells, want at most %d", maxCells, maxCells)
	}
}

func (l *loader) axis(n *node, path string) (axisDraft, bool) {
	d := axisDraft{at: n.at, path: path}
	isZip := n.kind == mapping && slices.ContainsFunc(n.fields, func(f field) bool { return f.name == "zip" })
	if !isZip {
		p, ok := l.param(n, path)
		d.params = []paramDraft{p}
		return d, ok
	}
	fields := l.fields(n, path, []string{"zip"})
	members := fields["zip"]
	if members.kind != list || len(members.items) < 2 {
		l.want(members, path+".zip", "a list of at least 2 axes")
		return d, false
	}
	good := len(n.fields) == 1
	for i, item := range members.items {
		p, ok := l.param(item, fmt.Sprintf("%s.zip[%d]", path, i))
		d.params = append(d.params, p)
		good = good && ok
		if good && p.n != d.params[0].n {
			l.problem(p.at, path+".zip", "got %s for %s and %d for %s, want equally many",
				countWords(d.params[0].n, "value"), d.params[0].key.Path, p.n, p.key.Path)
			good = false
		}
	}
	return d, good
}

// param reads one parameter of an axis and how its values are given.
func (l *loader) param(n *node, path string) (paramDraft, bool) {
	p := paramDraft{at: n.at}
	forms := []string{"values", "log", "range"}
	fields := l.fields(n, path, append([]string{"param"}, forms...))
	if fields == nil {
		return p, false
	}
	good := len(fields) == len(n.fields)
	f := fields["param"]
	if f == nil {
		l.problem(n.at, path+".param", "got nothing, want a dotted key of the base")
		return p, false
	}
	k, known := LookupKey(f.text)
	if !known || f.kind != plain && f.kind != quoted {
		l.want(f, path+".param", "a dotted key of the base"+keyHint(f.text, keyPaths()))
		return p, false
	}
	p.key = k
	var given []string
	for _, form := range forms {
		if fields[form] != nil {
			given = append(given, form)
		}
	}
	if len(given) != 1 {
		got := "nothing"
		if len(given) > 1 {
			got = strings.Join(given, " and ")
		}
		l.problem(n.at, path, "got %s, want one of values, log or range", got)
		return p, false
	}
	form := fields[given[0]]
	path += "." + given[0]
	var ok bool
	switch given[0] {
	case "values":
		ok = l.axisValues(&p, form, path)
	case "log":
		ok = l.axisLog(&p, form, path)
	case "range":
		ok = l.axisRange(&p, form, path)
	}
	return p, good && ok
}

func (l *loader) axisValues(p *paramDraft, n *node, path string) bool {
	if n.kind != list || len(n.items) == 0 {
		l.want(n, path, "a list of at least 1 value")
		return false
	}
	good := true
	for i, item := range n.items {
		v, ok := l.value(p.key, item, fmt.Sprintf("%s[%d]", path, i))
		good = good && ok
		p.values = append(p.values, roundValue(v))
		p.places = append(p.places, item.at)
	}
	p.n = len(p.values)
	return good
}

// roundValue rounds the numbers of an axis value to 12 significant digits.
func roundValue(v any) any {
	switch v := v.(type) {
	case float64:
		return round12(v)
	case []float64:
		return roundEach(v)
	case Init:
		return Init{Kind: v.Kind, Logits: roundEach(v.Logits), Offset: round12(v.Offset)}
	case []ArmGroup:
		for i := range v {
			v[i].Arm.Mean, v[i].Arm.Std = round12(v[i].Arm.Mean), round12(v[i].Arm.Std)
		}
	}
	return v
}

func roundEach(list []float64) []float64 {
	if list == nil {
		return nil
	}
	rounded := make([]float64, len(list))
	for i, x := range list {
		rounded[i] = round12(x)
	}
	return rounded
}

// ends reads the fields of log and range that have the type of the key.
func (l *loader) ends(p *paramDraft, n *node, path string, last string) (from, to *node, x, y float64, third *node, ok bool) {
	if p.key.Kind != IntegerValue && p.key.Kind != NumberValue {
		l.problem(n.at, path, "got an interval for %s, want values", p.key.Path)
		return
	}
	fields := l.fields(n, path, []string{"from", "to", last})
	if fields == nil {
		return
	}
	ok = len(fields) == len(n.fields)
	read := func(name string) (*node, float64) {
		f := fields[name]
		if f == nil {
			l.problem(n.at, path+"."+name, "got nothing, want %s", strings.TrimSuffix(p.key.Want(), ", or inf"))
			ok = false
			return nil, 0
		}
		var x float64
		var good bool
		if p.key.Kind == IntegerValue {
			var i int
			i, good = l.integer(f, path+"."+name, p.key.Range, strings.TrimSuffix(p.key.Want(), ", or inf"))
			x = float64(i)
		} else {
			x, good = l.number(f, path+"."+name, p.key.Range, p.key.Want())
		}
		ok = ok && good
		return f, x
	}
	from, x = read("from")
	to, y = read("to")
	if third = fields[last]; third == nil {
		l.problem(n.at, path+"."+last, "got nothing, want %s", map[string]string{"points": pointsWant, "step": "a number other than 0"}[last])
		ok = false
	}
	return
}

const pointsWant = "an integer in [2, 1000000]"

func (l *loader) axisLog(p *paramDraft, n *node, path string) bool {
	from, to, x, y, points, ok := l.ends(p, n, path, "points")
	if from != nil && ok && x <= 0 {
		l.want(from, path+".from", "a number > 0")
		ok = false
	}
	if to != nil && ok && y <= 0 {
		l.want(to, path+".to", "a number > 0")
		ok = false
	}
	if points != nil {
		count, good := l.integer(points, path+".points", Range{Low: 2, High: maxCells}, pointsWant)
		p.n, ok = count, ok && good
	}
	p.make = func() []float64 { return logPoints(x, y, p.n) }
	return ok
}

func (l *loader) axisRange(p *paramDraft, n *node, path string) bool {
	_, _, x, y, third, ok := l.ends(p, n, path, "step")
	if third == nil {
		return false
	}
	var step float64
	if p.key.Kind == IntegerValue {
		i, good := l.integer(third, path+".step", anyNumber, "an integer other than 0")
		step, ok = float64(i), ok && good
	} else {
		number, good := l.number(third, path+".step", anyNumber, "a number other than 0")
		step, ok = number, ok && good
	}
	if !ok {
		return false
	}
	if step == 0 {
		l.want(third, path+".step", "a number other than 0")
		return false
	}
	steps := (y - x) / step
	whole := math.Round(steps)
	if steps < 0 || math.Abs(steps-whole) > 1e-9*max(1, whole) { // a decimal step is not a binary number
		l.want(third, path+".step", fmt.Sprintf("a step that leads from %s to %s", Format(x), Format(y)))
		return false
	}
	p.n = int(min(whole+1, maxCells+1))
	p.make = func() []float64 { return rangePoints(x, step, p.n) }
	return true
}

// makeAxis makes the points of a counted axis, and refuses a repeated one.
func (l *loader) makeAxis(d axisDraft) (Axis, axisPlaces) {
	n := d.params[0].n
	axis := Axis{Points: make([][]any, n)}
	var at axisPlaces
	for _, p := range d.params {
		axis.Params = append(axis.Params, p.key.Path)
		at.params = append(at.params, p.at)
		at.values = append(at.values, p.places)
		values := p.values
		if p.make != nil {
			for _, x := range p.make() {
				if p.key.Kind == IntegerValue {
					values = append(values, int(math.Round(x)))
				} else {
					values = append(values, x)
				}
			}
		}
		for i, v := range values {
			axis.Points[i] = append(axis.Points[i], v)
		}
	}
	seen := map[string]bool{}
	for i, point := range axis.Points {
		text := formatList(point, Format)
		if seen[text] {
			where := d.at
			if at.values[0] != nil {
				where = at.values[0][i]
			}
			l.problem(where, d.path, "got %s again, want every value once", quoteText(text[1:len(text)-1]))
		}
		seen[text] = true
	}
	return axis, at
}

func (l *loader) decodeChecks(n *node) {
	if n.kind != list {
		l.want(n, "checks", "a list of checks")
		return
	}
	for i, item := range n.items {
		c, places := l.check(item, fmt.Sprintf("checks[%d]", i))
		l.spec.Checks = append(l.spec.Checks, c)
		l.checks = append(l.checks, places)
	}
}

// checkFields are the names that a check may have.
var checkFields = []string{"claim", "margin", "absolute_margin", "prediction", "expect", "over", "where", "variant", "control", "displacement", "draws"}

var expectations = []string{string(Holds), string(Fails)}

func (l *loader) check(n *node, path string) (Check, checkPlaces) {
	c := Check{Expect: Holds}
	at := checkPlaces{path: path, fields: map[string]place{"": n.at}}
	before := len(l.problems)
	fields := l.fields(n, path, checkFields)
	for name, f := range fields {
		at.fields[name] = f.at
	}
	if fields == nil {
		at.broken = true
		return c, at
	}
	missing := func(name, want string) { l.problem(n.at, path+"."+name, "got nothing, want %s", want) }

	var row ClaimRow
	known := false
	if f := fields["claim"]; f == nil {
		missing("claim", listWords(claimNames()))
	} else {
		c.Claim, known = l.word(f, path+".claim", claimNames())
		row, _ = LookupClaim(c.Claim)
	}
	if f := fields["margin"]; f != nil {
		c.Margin, _ = l.number(f, path+".margin", positive, "a number > 0")
	}
	if f := fields["absolute_margin"]; f != nil {
		c.AbsoluteMargin, _ = l.number(f, path+".absolute_margin", positive, "a number > 0")
	}
	switch relative, absolute := fields["margin"] != nil, fields["absolute_margin"] != nil; {
	case relative && absolute:
		l.problem(at.fields["absolute_margin"], path+".absolute_margin", "got margin and absolute_margin, want one of them")
	case !relative && !absolute:
		missing("margin", "margin or absolute_margin")
	}
	if f := fields["expect"]; f != nil {
		if word, ok := l.word(f, path+".expect", expectations); ok {
			c.Expect = Expectation(word)
		}
	}
	if f := fields["prediction"]; f != nil {
		kinds := []string{string(rom.Exact), string(rom.LeadingOrder), string(rom.PaperRule)}
		if known {
			kinds = nil
			for _, kind := range row.Predictions {
				kinds = append(kinds, string(kind))
			}
		}
		word, _ := l.word(f, path+".prediction", kinds)
		c.Prediction = rom.Kind(word)
	}
	if c.Expect == Fails && (fields["prediction"] == nil || c.Prediction == rom.Exact) {
		l.problem(at.fields["expect"], path+".expect", "got fails with the exact prediction, want prediction: leading-order or paper-rule")
	}
	if known {
		l.measuringKeys(&c, row, n, fields, path)
	}
	if f := fields["where"]; f != nil {
		c.Where = l.conditions(f, path+".where")
	}
	if f := fields["variant"]; f != nil {
		var names []string
		for _, v := range l.spec.Variants {
			names = append(names, v.Name)
		}
		if len(names) == 0 {
			l.want(f, path+".variant", "no variant: the file has none")
		} else {
			c.Variant, _ = l.word(f, path+".variant", names)
		}
	}
	if f := fields["control"]; f != nil {
		c.Control, at.control = l.control(f, path+".control", c.Prediction)
	}
	at.broken = len(l.problems) > before
	return c, at
}

// measuringKeys reads the keys that say how a claim measures, and refuses
// those that the claim has no use for.
func (l *loader) measuringKeys(c *Check, row ClaimRow, n *node, fields map[string]*node, path string) {
	uses := func(name string, need Need, want string) *node {
		f := fields[name]
		switch {
		case f != nil && !row.Has(need):
			l.problem(f.at, path+"."+name, "got a key that %s has no use for, want it left out", c.Claim)
			return nil
		case f == nil && row.Has(need):
			l.problem(n.at, path+"."+name, "got nothing, want %s", want)
		}
		return f
	}
	if f := uses("over", NeedsThreeSizes, groupSizeKey); f != nil {
		c.Over, _ = l.word(f, path+".over", []string{groupSizeKey})
	}
	if f := uses("displacement", NeedsDisplacement, "a number > 0"); f != nil {
		c.Displacement, _ = l.number(f, path+".displacement", positive, "a number > 0")
	}
	if f := uses("draws", NeedsDisplacement, "an integer ≥ 1"); f != nil {
		c.Draws, _ = l.integer(f, path+".draws", atLeast(1), "an integer ≥ 1")
	}
}

func (l *loader) conditions(n *node, path string) []Condition {
	if n.kind != mapping {
		l.want(n, path, "a mapping of dotted keys to a value or a list of values")
		return nil
	}
	var conditions []Condition
	for _, f := range n.fields {
		k, known := LookupKey(f.name)
		if !known {
			l.problem(f.at, join(path, f.name), "got an unknown key, want a dotted key of the base%s", keyHint(f.name, keyPaths()))
			continue
		}
		c := Condition{Param: k.Path}
		if f.value.kind != list || isOneValue(k, f.value) {
			if v, ok := l.value(k, f.value, join(path, f.name)); ok {
				c.Values = []any{v}
			}
		} else {
			for i, item := range f.value.items {
				if v, ok := l.value(k, item, fmt.Sprintf("%s[%d]", join(path, f.name), i)); ok {
					c.Values = append(c.Values, v)
				}
			}
			if len(f.value.items) == 0 {
				l.want(f.value, join(path, f.name), "at least 1 value")
			}
		}
		conditions = append(conditions, c)
	}
	return conditions
}

// isOneValue says whether a list is one value of a key whose values are lists.
func isOneValue(k Key, n *node) bool {
	if len(n.items) == 0 {
		return false
	}
	first := n.items[0]
	switch k.Kind {
	case ListValue:
		return first.kind != list
	case InitValue:
		return first.kind == plain && numberSyntax.MatchString(first.text)
	case ArmsValue:
		return first.kind != list
	}
	return false
}

// faultNames are the constants of the theory that a control may scale.
var faultNames = []string{"stiffness", "noise", "lag", "mass"}

func (l *loader) control(n *node, path string, prediction rom.Kind) (*Control, map[string]place) {
	fields := l.fields(n, path, []string{"set", "scale"})
	if fields == nil {
		return nil, nil
	}
	if len(n.fields) == 0 {
		l.want(n, path, "set or scale")
	}
	c := &Control{Scale: rom.Unit}
	var places map[string]place
	if f := fields["set"]; f != nil {
		c.Set, places = l.assignments(f, path+".set")
		if f.kind == mapping && len(f.fields) == 0 {
			l.want(f, path+".set", "at least 1 key")
		}
		for _, a := range c.Set {
			if k, _ := LookupKey(a.Param); !usedByTheory(k) {
				l.problem(places[a.Param], path+".set."+a.Param, "got a key that the theory does not use, want one that changes the prediction")
			}
		}
	}
	if f := fields["scale"]; f != nil {
		factors := l.fields(f, path+".scale", faultNames)
		if f.kind == mapping && len(f.fields) == 0 {
			l.want(f, path+".scale", "at least 1 factor")
		}
		targets := []*float64{&c.Scale.Stiffness, &c.Scale.Noise, &c.Scale.Lag, &c.Scale.Mass}
		for i, name := range faultNames {
			factor := factors[name]
			if factor == nil {
				continue
			}
			key := path + ".scale." + name
			x, ok := l.number(factor, key, positive, "a number > 0 other than 1")
			switch {
			case ok && x == 1:
				l.want(factor, key, "a number > 0 other than 1")
			case ok && i >= 2 && (prediction == "" || prediction == rom.Exact):
				l.want(factor, key, "no factor: "+name+" is a constant of the leading-order prediction only")
			case ok:
				*targets[i] = x
			}
		}
	}
	return c, places
}
