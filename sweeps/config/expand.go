package config

import (
	"cmp"
	"slices"
)

// Point is one cell of a sweep before it is planned. Points share the slices
// in their settings, so these must be replaced, never written into.
type Point struct {
	Variant  string       // name of its variant; "": the file has no variants
	Axes     []Assignment // the values that the axes assign, in the order of the axes
	Settings Settings     // all values, defaults included
}

// Points expands the sweep, or the union of the variants' sweeps in the order of the
// file; in each, the last axis runs fastest.
func (s *Spec) Points() (points []Point) {
	for p := range s.EachPoint {
		points = append(points, *p)
	}
	return points
}

// EachPoint yields the points one by one, each in the place of the one before.
func (s *Spec) EachPoint(yield func(*Point) bool) {
	for _, g := range s.Grids() {
		for _, p := range g.points {
			if !yield(p) {
				return
			}
		}
	}
}

// Size returns the number of points.
func (s *Spec) Size() (n int) {
	for _, g := range s.Grids() {
		n += g.cells()
	}
	return n
}

// Grid is the sweep of one variant, or of a file without variants. Its points are the
// combinations of one point per axis.
type Grid struct {
	Name string // the variant's name; "": the file has no variants
	Axes []Axis // the last runs fastest

	variant int   // index into Spec.Variants; −1: the file has none
	start   draft // the base with the variant's values
}

// baseDraft returns the base as the file gives it, before defaults.
func (s *Spec) baseDraft() draft {
	if s.given != nil {
		return s.given
	}
	base := make(draft, len(Keys))
	for i, k := range Keys {
		base[i] = k.Get(&s.Base)
	}
	return base
}

// Grids lists the grids whose union is the sweep: one per variant, or the only one.
func (s *Spec) Grids() []Grid {
	base := s.baseDraft()
	if len(s.Variants) == 0 {
		return []Grid{{variant: -1, start: base, Axes: s.Sweep}}
	}
	var grids []Grid
	for i, v := range s.Variants {
		grids = append(grids, Grid{variant: i, Name: v.Name, start: base.with(v.Set), Axes: v.Sweep})
	}
	return grids
}

// cells returns the number of points, or maxCells+1 where it exceeds maxCells.
func (g Grid) cells() int {
	n := 1
	for _, axis := range g.Axes {
		if n *= len(axis.Points); n > maxCells {
			return maxCells + 1
		}
	}
	return n
}

// points yields every point with its index on each axis. The slice of indices and the point are
// reused for the next point.
func (g Grid) points(yield func([]int, *Point) bool) {
	choice := make([]int, len(g.Axes))
	p := &Point{Variant: g.Name}
	start, keys := g.start.settings(), varied(g.Axes)
	for range g.cells() {
		p.Axes = make([]Assignment, 0, len(g.Axes))
		for i, axis := range g.Axes {
			for j, param := range axis.Params {
				p.Axes = append(p.Axes, Assignment{Param: param, Value: axis.Points[choice[i]][j]})
			}
		}
		p.Settings = start
		g.start.with(p.Axes).assign(&p.Settings, keys)
		if !yield(choice, p) {
			return
		}
		for axis := len(choice) - 1; axis >= 0; axis-- { // the last runs fastest
			if choice[axis]++; choice[axis] < len(g.Axes[axis].Points) {
				break
			}
			choice[axis] = 0
		}
	}
}

// varied lists the keys, by index, that have other values in other cells: all where an axis gives
// a key from which defaults or the lengths of lists follow, and of a single cell.
func varied(sweep []Axis) (keys []int) {
	all := sweep == nil || axisOver(sweep, ArmsKey) >= 0 || axisOver(sweep, StepsKey) >= 0
	for i := range Keys {
		if all || axisOver(sweep, Keys[i].Path) >= 0 {
			keys = append(keys, i)
		}
	}
	return keys
}

// Selects reports whether the check judges the cell: the cell belongs to its variant
// and satisfies every condition of `where`.
func (c *Check) Selects(p *Point) bool {
	if c.Variant != "" && c.Variant != p.Variant {
		return false
	}
	fails := func(condition Condition) bool { return !condition.holds(&p.Settings) }
	return !slices.ContainsFunc(c.Where, fails)
}

// holds reports whether a cell satisfies the condition: axes round their numbers to 12 digits.
func (c Condition) holds(s *Settings) bool {
	value := rounded(Keys[keyIndex(c.Param)].Get(s))
	return slices.ContainsFunc(c.Values, func(v any) bool { return same(value, rounded(v)) })
}

// rounded returns a value of a key, Round of a number.
func rounded(v any) any {
	if x, is := v.(float64); is {
		return Round(x)
	}
	return v
}

// draft holds a value for each of Keys before defaults are filled in; nil: the key is left out.
type draft []any

// with returns a copy of the draft with some keys assigned.
func (d draft) with(set []Assignment) draft {
	changed := slices.Clone(d)
	for _, a := range set {
		changed[keyIndex(a.Param)] = a.Value
	}
	return changed
}

// settings fills in the defaults.
func (d draft) settings() (s Settings) {
	d.assign(&s, varied(nil))
	return s
}

// assign sets these of Keys, by index, and fills in their defaults. A list with one entry per item
// of bandit.arms gets one entry per arm: an entry is repeated Count times.
func (d draft) assign(s *Settings, keys []int) {
	groups, _ := d[keyIndex(ArmsKey)].([]ArmGroup)
	for _, i := range keys {
		if v := cmp.Or(d[i], Keys[i].Default); v != nil {
			Keys[i].set(s, perArm(v, groups, len(s.Bandit.Arms)))
		}
	}
	for _, i := range keys { // keys are large: none is copied
		if k := &Keys[i]; k.follow != nil && (d[i] == nil || k.Path == ScheduleTotalKey && d[i] == 0) {
			k.set(s, k.follow(s))
		}
	}
}

// perArm converts a list with one entry per item of bandit.arms to one entry per arm;
// any other value is returned unchanged.
func perArm(v any, groups []ArmGroup, arms int) any {
	if n, isList := listLength(v); !isList || n != len(groups) || n == arms {
		return v
	}
	if start, isInit := v.(Init); isInit {
		start.Logits = repeatEach(start.Logits, groups)
		return start
	}
	return repeatEach(v.([]float64), groups)
}

// repeatEach repeats entry i of the list groups[i].Count times.
func repeatEach(list []float64, groups []ArmGroup) []float64 {
	var long []float64
	for i, g := range groups {
		long = append(long, slices.Repeat(list[i:i+1], g.Count)...)
	}
	return long
}
