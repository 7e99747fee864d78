package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

func (l *loader) decodeVariants(n *node) {
	if n.kind != list {
		l.want(n, "variants", "a list of variants")
		return
	}
	first := map[string]int{}
	for i, item := range n.items {
		path := fmt.Sprintf("variants[%d]", i)
		v, places := Variant{Sweep: l.spec.Sweep}, l.axes[0]
		fields := l.fields(item, path, []string{"name", "set", "sweep"})
		if f := fields["name"]; f != nil {
			v.Name, _ = l.name(f, path+".name")
			if line, taken := first[v.Name]; taken && v.Name != "" {
				l.problem(f.at, path+".name", "got %q again, want a unique name (first in line %d)", v.Name, line)
			}
			first[v.Name] = f.at.line
		} else if fields != nil {
			l.problem(item.at, path+".name", "got nothing, want %s", nameWant)
		}
		if f := fields["set"]; f != nil {
			v.Set = l.assignments(f, path+".set")
		}
		if f := fields["sweep"]; f != nil {
			v.Sweep, places = l.grid(f, path+".sweep")
		}
		for _, a := range v.Set {
			if varies(v.Sweep, a.Param) {
				l.reject(path+".set."+a.Param, "got a value that the sweep replaces in every cell, want the key either set or swept")
			}
		}
		l.count(v.Sweep, item.at)
		l.spec.Variants = append(l.spec.Variants, v)
		l.axes = append(l.axes, places)
	}
}

// varies reports whether an axis assigns the key.
func varies(sweep []Axis, param string) bool {
	return slices.ContainsFunc(sweep, func(axis Axis) bool { return slices.Contains(axis.Params, param) })
}

// axisDraft is an axis whose points are counted but not yet generated.
type axisDraft struct {
	at     place
	path   string
	params []paramDraft
	ok     bool // it has no problem
}

// paramDraft is one parameter of an axisDraft.
type paramDraft struct {
	key    Key
	at     place
	n      int              // number of values
	values []any            // the values, where the file writes them out
	places []place          // of values
	make   func() []float64 // generates the values of log and range; nil for values
}

// grid decodes a list of axes. It generates no points once the file has too many cells.
func (l *loader) grid(n *node, path string) ([]Axis, []axisPlaces) {
	if n.kind != list {
		l.want(n, path, "a list of axes, as [{param: KEY, values: [a, b]}]")
		return nil, nil
	}
	var drafts []axisDraft
	seen := map[string]bool{}
	cells := 1
	for i, item := range n.items {
		axis := l.axis(item, fmt.Sprintf("%s[%d]", path, i))
		for _, p := range axis.params {
			if p.key.Path != "" && seen[p.key.Path] {
				l.problem(p.at, axis.path, "got %s again, want one axis per key", p.key.Path)
				axis.ok = false
			}
			seen[p.key.Path] = true
		}
		drafts = append(drafts, axis)
		if axis.ok {
			cells = min(cells*axis.params[0].n, maxCells+1)
		}
	}
	if cells > maxCells {
		l.problem(n.at, path, "got more than %d cells, want at most %d", maxCells, maxCells)
		l.cells = maxCells + 1
	}
	var axes []Axis
	var places []axisPlaces
	for _, d := range drafts {
		if l.cells <= maxCells && d.ok {
			axis, at := l.makeAxis(d)
			axes = append(axes, axis)
			places = append(places, at)
		}
	}
	if len(axes) == len(drafts) {
		return axes, places
	}
	for _, d := range drafts {
		for _, p := range d.params {
			l.bad[p.key.Path] = true
		}
	}
	return nil, nil
}

// count adds the cells of a grid to those of the file and records when they become
// too many.
func (l *loader) count(sweep []Axis, at place) {
	before := l.cells
	l.cells = min(l.cells+Grid{Axes: sweep}.cells(), maxCells+1)
	if before <= maxCells && l.cells > maxCells {
		l.problem(at, "variants", "got more than %d cells, want at most %d", maxCells, maxCells)
	}
}

// axis decodes an axis: a parameter, or a zip of several.
func (l *loader) axis(n *node, path string) axisDraft {
	d := axisDraft{at: n.at, path: path}
	isZip := n.kind == mapping && slices.ContainsFunc(n.fields, func(f field) bool { return f.name == "zip" })
	if !isZip {
		p, ok := l.param(n, path)
		d.params, d.ok = []paramDraft{p}, ok
		return d
	}
	fields := l.fields(n, path, []string{"zip"})
	members := fields["zip"]
	if members.kind != list || len(members.items) < 2 {
		l.want(members, path+".zip", "a list of at least 2 axes")
		return d
	}
	d.ok = len(n.fields) == 1
	for i, item := range members.items {
		p, ok := l.param(item, fmt.Sprintf("%s.zip[%d]", path, i))
		d.params = append(d.params, p)
		d.ok = d.ok && ok
		if d.ok && p.n != d.params[0].n {
			l.problem(p.at, path+".zip", "got %s for %s and %d for %s, want equally many values",
				CountWords(d.params[0].n, "value"), d.params[0].key.Path, p.n, p.key.Path)
			d.ok = false
		}
	}
	return d
}

// param decodes one parameter of an axis and the form of its values.
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
		l.want(f, path+".param", "a dotted key of the base"+didYou(meantKey(f.text, keyPaths())))
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
	if given[0] == "values" {
		ok = l.axisValues(&p, form, path)
	} else {
		ok = l.axisInterval(&p, form, path, given[0])
	}
	return p, ok && good
}

// axisValues decodes the form values: [a, b, c].
func (l *loader) axisValues(p *paramDraft, n *node, path string) bool {
	if n.kind != list || len(n.items) == 0 {
		want := "a list of at least 1 value"
		if (n.kind == plain || n.kind == quoted) && len(n.text) <= shownText {
			want += ", in brackets: [" + n.text + "]"
		}
		l.want(n, path, want)
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

// axisInterval decodes the forms log: {from, to, points} and range: {from, to, step}, of numbers
// of the type of the key.
func (l *loader) axisInterval(p *paramDraft, n *node, path, form string) bool {
	if !p.key.whole() && p.key.Kind != NumberValue {
		l.problem(n.at, path, "got an interval for %s, want values", p.key.Path)
		return false
	}
	number := func(name string, r Range) Key {
		kind := NumberValue
		if p.key.whole() {
			kind = IntegerValue
		}
		return Key{Path: name, Kind: kind, Range: r}
	}
	var from, to float64
	step := math.NaN()
	end := p.key.Range
	last := part{Key: number("step", anyNumber), note: " other than 0", to: &step}
	if form == "log" {
		if end.Low <= 0 {
			end.Low, end.LowOpen = 0, true // its logarithm is taken
		}
		last = part{Key: Key{Path: "points", Kind: IntegerValue, Range: between(2, maxCells)}, to: &p.n}
	}
	fields, ok := l.record(n, path, part{Key: number("from", end), to: &from}, part{Key: number("to", end), to: &to}, last)
	switch {
	case form == "log":
		p.make = func() []float64 { return logPoints(from, to, p.n) }
		return ok
	case step == 0:
		l.want(fields["step"], path+".step", last.Want()+last.note)
		return false
	case !ok:
		return false
	}
	steps := (to - from) / step
	whole := math.Round(steps)
	if steps < 0 || math.Abs(steps-whole) > 1e-9*max(1, whole) { // tolerance: most decimal steps have no exact binary form
		l.want(fields["step"], path+".step", fmt.Sprintf("a step that leads from %s to %s in whole steps", Format(from), Format(to)))
		return false
	}
	p.n = int(min(whole+1, maxCells+1))
	p.make = func() []float64 { return rangePoints(from, step, p.n) }
	return true
}

// makeAxis generates the points of an axis and records repeated ones.
func (l *loader) makeAxis(d axisDraft) (Axis, axisPlaces) {
	n := d.params[0].n
	axis := Axis{Points: make([][]any, n)}
	var at axisPlaces
	for _, p := range d.params {
		axis.Params = append(axis.Params, p.key.Path)
		at = append(at, p.places)
		values := p.values
		if p.make != nil {
			at[len(at)-1] = []place{p.at}
			for _, x := range p.make() {
				switch p.key.Kind {
				case IntegerValue:
					values = append(values, int(math.Round(x)))
				case SeedValue:
					values = append(values, uint64(math.Round(x)))
				default:
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
			if d.params[0].make == nil {
				where = at[0][i]
			}
			l.problem(where, d.path, "got %s again, want every value once", quoteText(text[1:len(text)-1]))
		}
		seen[text] = true
	}
	return axis, at
}

// placeIn returns the place of the value that a key has in a cell: an axis, the variant
// or the base.
func (l *loader) placeIn(g Grid, choice []int, key string) place {
	for a, axis := range g.Axes {
		if j := slices.Index(axis.Params, key); j >= 0 {
			places := l.axes[g.variant+1][a][j]
			return places[min(choice[a], len(places)-1)]
		}
	}
	if g.variant >= 0 {
		if where, set := l.at[fmt.Sprintf("variants[%d].set.%s", g.variant, key)]; set && l.replaces(g, key) {
			return where
		}
	}
	if where, given := l.at[key]; given {
		return where
	}
	return l.at[""]
}
