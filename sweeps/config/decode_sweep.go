package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/fp"
)

func (l *loader) decodeVariants(n *node) {
	if n.kind != list {
		l.want(n, "variants", "a list of variants")
		return
	}
	first := map[string]int{}
	for i, item := range n.items {
		path := fmt.Sprintf("variants[%d]", i)
		v := Variant{Sweep: l.spec.Sweep}
		fields := l.fields(item, path, []string{"name", "set", "sweep"})
		if f := fields["name"]; f != nil {
			v.Name, _ = l.name(f, path+".name", variantSyntax, variantWant)
			small := strings.ToLower(v.Name) // figures are files: some systems have no capitals
			if line, taken := first[small]; taken && v.Name != "" {
				l.problem(f.at, path+".name",
					"got %q again, want a unique name (first in line %d)", v.Name, line)
			}
			first[small] = f.at.Line
		} else if fields != nil {
			l.problem(item.at, path+".name", "got nothing, want %s", variantWant)
		}
		if f := fields["set"]; f != nil {
			v.Set = l.assignments(f, path+".set")
		}
		if f := fields["sweep"]; f != nil {
			v.Sweep = l.grid(f, path+".sweep")
		}
		for _, a := range v.Set {
			if axisOver(v.Sweep, a.Param) >= 0 {
				l.reject(path+".set."+a.Param, "got a value that the sweep replaces in every cell, "+
					"want the key either set or swept")
			}
		}
		l.count(v.Sweep, item.at)
		l.spec.Variants = append(l.spec.Variants, v)
	}
}

// axisOver returns the index of the axis that assigns a key, −1 where there is none.
func axisOver(sweep []Axis, key string) int {
	return slices.IndexFunc(sweep, func(axis Axis) bool { return slices.Contains(axis.Params, key) })
}

// count adds the cells of a grid to those of the file and records when they become too many.
func (l *loader) count(sweep []Axis, at Place) {
	before := l.cells
	l.cells = min(l.cells+Grid{Axes: sweep}.cells(), maxCells+1)
	if before <= maxCells && l.cells > maxCells {
		l.problem(at, "variants", "got more than %d cells, want at most %d", maxCells, maxCells)
	}
}

// grid decodes a list of axes. It generates no points once the file has too many cells.
func (l *loader) grid(n *node, path string) (axes []Axis) {
	if n.kind != list {
		l.want(n, path, "a list of axes, as [{param: KEY, values: [a, b]}]")
		return nil
	}
	good, cells, seen := true, 1, map[string]bool{}
	for i, item := range n.items {
		path := fmt.Sprintf("%s[%d]", path, i)
		params, ok := l.axis(item, path)
		for _, p := range params {
			if seen[p.key.Path] {
				l.problem(p.at, path, "got %s again, want one axis per key", p.key.Path)
				ok = false
			}
			seen[p.key.Path] = p.key.Path != ""
		}
		if good = good && ok; !ok {
			continue
		}
		if cells = min(cells*params[0].n, maxCells+1); cells <= maxCells && l.cells <= maxCells {
			axes = append(axes, l.makeAxis(params, item.at, path))
		}
	}
	if cells > maxCells {
		l.problem(n.at, path, "got more than %d cells, want at most %d", maxCells, maxCells)
		l.cells = maxCells + 1
	}
	if good && len(axes) == len(n.items) {
		return axes
	}
	for key := range seen {
		l.bad[key] = true
	}
	return nil
}

// param is one parameter of an axis, with its values or how they are made.
type param struct {
	key    Key
	at     Place
	n      int             // number of values
	value  func(i int) any // value i
	places []Place         // of each value that the file writes out, or one of all
}

// axis decodes the parameters of an axis: one, or those of a zip.
func (l *loader) axis(n *node, path string) (params []param, good bool) {
	isZip := slices.ContainsFunc(n.fields, func(f field) bool { return f.name == "zip" })
	if !isZip {
		p, ok := l.param(n, path)
		return []param{p}, ok
	}
	members := l.fields(n, path, []string{"zip"})["zip"]
	if path += ".zip"; len(members.items) < 2 {
		l.want(members, path, "a list of at least 2 axes")
		return nil, false
	}
	good = len(n.fields) == 1
	for i, item := range members.items {
		p, ok := l.param(item, fmt.Sprintf("%s[%d]", path, i))
		params = append(params, p)
		if good = good && ok; good && p.n != params[0].n {
			l.problem(p.at, path, "got %s for %s and %d for %s, want equally many values",
				CountWords(params[0].n, "value"), params[0].key.Path, p.n, p.key.Path)
			good = false
		}
	}
	return params, good
}

// param decodes one parameter of an axis and the form of its values.
func (l *loader) param(n *node, path string) (p param, good bool) {
	p.at = n.at
	forms := []string{"values", "log", "range"}
	fields := l.fields(n, path, append([]string{"param"}, forms...))
	if fields == nil {
		return p, false
	}
	f := fields["param"]
	if f == nil {
		l.problem(n.at, path+".param", "got nothing, want a dotted key of the base")
		return p, false
	}
	k, known := LookupKey(f.text)
	if !known || !f.isScalar() {
		l.want(f, path+".param", "a dotted key of the base"+didYou(meantKey(f.text, keyPaths())))
		return p, false
	}
	p.key = k
	given := slices.DeleteFunc(forms, func(form string) bool { return fields[form] == nil })
	if len(given) != 1 {
		got := cmp.Or(strings.Join(given, " and "), "nothing")
		l.problem(n.at, path, "got %s, want one of values, log or range", got)
		return p, false
	}
	form := fields[given[0]]
	path += "." + given[0]
	if given[0] == "values" {
		good = l.axisValues(&p, form, path)
	} else {
		good = l.axisInterval(&p, form, path, given[0])
	}
	return p, good && len(fields) == len(n.fields)
}

// axisValues decodes the form values: [a, b, c].
func (l *loader) axisValues(p *param, n *node, path string) bool {
	if n.kind != list || len(n.items) == 0 {
		want := "a list of at least 1 value"
		if n.isScalar() && len(n.text) <= shownText {
			want += ", in brackets: [" + n.text + "]"
		}
		l.want(n, path, want)
		return false
	}
	l.rounds = true
	defer func() { l.rounds = false }()
	read := func(item *node, path string) (any, bool) {
		p.places = append(p.places, item.at)
		return l.value(p.key, item, path)
	}
	values, good := items(&l.reader, n, path, "", math.MaxInt, "", read) // it is a list of any length
	p.n, p.value = len(values), func(i int) any { return values[i] }
	return good
}

// axisInterval decodes the forms log: {from, to, points} and range: {from, to, step}, of numbers
// of the type of the key.
func (l *loader) axisInterval(p *param, n *node, path, form string) bool {
	if !p.key.whole() && p.key.Kind != NumberValue {
		l.problem(n.at, path, "got an interval for %s, want values", p.key.Path)
		return false
	}
	var from, to, step float64
	end := p.key.Range
	last := numberPart("step", anyNumber.except(0), &step)
	if form == "log" {
		if end.Low <= 0 {
			end.Low, end.LowOpen = 0, true // its logarithm is taken
		}
		last = integerPart("points", 2, maxCells, &p.n)
	}
	parts := []part{numberPart("from", end, &from), numberPart("to", end, &to), last}
	for i := range parts {
		if p.key.whole() {
			parts[i].Kind = IntegerValue
		}
	}
	fields, ok := l.record(n, path, parts...)
	p.places = []Place{p.at}
	if form == "log" || !ok {
		p.value = func(i int) any { return p.key.valueOf(logPoint(from, to, i, p.n)) }
		return ok
	}
	steps := (to - from) / step
	whole := math.Round(steps)
	// most decimal steps have no exact binary form
	if steps < 0 || math.Abs(steps-whole) > 1e-9*max(1, whole) {
		const want = "a step that leads from %s to %s in whole steps"
		l.want(fields["step"], path+".step", fmt.Sprintf(want, Format(from), Format(to)))
		return false
	}
	p.n = int(min(whole+1, maxCells+1))
	p.value = func(i int) any { return p.key.valueOf(Round(from + float64(i)*step)) }
	return true
}

// logPoint returns number i of n numbers in equal ratios from `from` to `to`, both included.
func logPoint(from, to float64, i, n int) float64 {
	switch share := float64(i) / float64(n-1); share {
	case 0:
		return Round(from)
	case 1:
		return Round(to)
	default:
		return Round(fp.MathExp((1-share)*math.Log(from) + share*math.Log(to)))
	}
}

// makeAxis generates the points of an axis and records repeated ones.
func (l *loader) makeAxis(params []param, at Place, path string) Axis {
	axis := Axis{Points: make([][]any, params[0].n)}
	for _, p := range params {
		axis.Params = append(axis.Params, p.key.Path)
		axis.places = append(axis.places, p.places)
		for i := range axis.Points {
			axis.Points[i] = append(axis.Points[i], p.value(i))
		}
	}
	seen := map[string]bool{}
	for i, point := range axis.Points {
		text := Format(point)
		if seen[text] {
			if places := axis.places[0]; len(places) > 1 {
				at = places[i]
			}
			l.problem(at, path, "got %s again, want every value once", quoteText(text[1:len(text)-1]))
		}
		seen[text] = true
	}
	return axis
}

// placeIn returns the place of the value that a key has in a cell: an axis, the variant
// or the base.
func (l *loader) placeIn(g Grid, choice []int, key string) Place {
	if a := axisOver(g.Axes, key); a >= 0 {
		places := g.Axes[a].places[slices.Index(g.Axes[a].Params, key)]
		return places[min(choice[a], len(places)-1)]
	}
	if g.variant >= 0 {
		where, set := l.at[fmt.Sprintf("variants[%d].set.%s", g.variant, key)]
		if set && l.replaces(g, key) {
			return where
		}
	}
	if where, given := l.at[key]; given {
		return where
	}
	return l.at[""]
}
