package config

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"

	"grposim/option"
	"grposim/rom"
)

// maxJudged is the largest product of cells and checks; it bounds the time of Load.
const maxJudged = 4 * maxCells

// validate expands the sweep, applies the rules between keys to every cell, and checks
// each check's requirements on the cells that it selects.
func (l *loader) validate() {
	grids := l.spec.Grids()
	if l.cells > maxCells {
		return
	}
	if l.cells*len(l.spec.Checks) > maxJudged {
		l.problem(l.at["checks[0]"], "checks", "got %d checks of %d cells, want a product of at most %d",
			len(l.spec.Checks), l.cells, maxJudged)
		return
	}
	forces, idle := map[string]bool{}, l.newIdleKeys(grids)
	states := make([]*checkState, len(l.spec.Checks))
	for i := range states {
		if !l.broken[i] && !l.bad[ArmsKey] {
			states[i] = &checkState{loader: l, Check: &l.spec.Checks[i], path: pathOf(i)}
		}
	}
	for _, g := range grids {
		for choice, p := range g.points {
			groups, _ := g.start.with(p.Axes)[keyIndex(ArmsKey)].([]ArmGroup)
			for _, b := range breaches(&p.Settings, len(groups), l.isBad) {
				at := l.placeIn(g, choice, b.keys[0])
				l.problem(at, b.keys[0], "got %s, want %s", b.got, b.want)
			}
			idle.cell(&p.Settings)
			var selected []int
			for i, state := range states {
				if state != nil && state.Selects(p) {
					state.add(p)
					selected = append(selected, i)
				}
			}
			if !l.bad[ArmsKey] {
				l.share(p, selected, forces)
			}
		}
	}
	for _, state := range states {
		if state != nil {
			state.finish()
		}
	}
	l.spec.Notes = idle.notes(l, grids)
}

// isBad reports whether one of some keys has a reported value.
func (l *loader) isBad(keys ...string) bool {
	return len(l.bad) > 0 && slices.ContainsFunc(keys, func(key string) bool { return l.bad[key] })
}

// replaces reports whether an axis of a grid, or its variant, gives the key a value.
func (l *loader) replaces(g Grid, key string) bool {
	set := g.variant >= 0 && assigned(l.spec.Variants[g.variant].Set, key) >= 0
	return set || axisOver(g.Axes, key) >= 0
}

// checkState collects facts about the cells that a check selects, and records their problems.
type checkState struct {
	*loader
	*Check
	path     string                     // checks[i]
	selected int                        // number of selected cells
	values   map[string]map[string]bool // by OverID: the values of Check.Over that are judged
	order    []string                   // the keys of values in the order of the cells
	changed  bool                       // whether the control changes some cell, or has been reported
}

// add applies the requirements of the check to a selected cell.
func (c *checkState) add(p *Point) {
	c.selected++
	s := &p.Settings
	for i := range demands {
		d := &demands[i]
		if !d.of(c.Check) || !d.broken(s) || c.isBad(d.keys...) {
			continue
		}
		want := fill(d.Want, s)
		if d.Field == "claim" {
			want += " for " + c.Claim.Name
		}
		c.rejectCell(c.path+"."+d.Field, "a cell "+fill(d.Got, s), want)
	}
	if l := c.Locate; l != nil && assigned(p.Axes, l.Param) >= 0 {
		c.rejectCell(c.path+".locate.param", l.Param+", which the sweep varies",
			"a key that no axis varies (a located cell ignores its own value)")
	}
	key, got, want := beyondClip(c.Check, s)
	const weights = "grpo.importance."
	if got != "" && !c.isBad(weights+"mode", weights+"clip_low", weights+"clip_high") {
		c.rejectCell(c.path+"."+key, got, want)
	}
	if c.Claim.Has(NeedsThreeValues) && !c.bad[c.Over] {
		c.addValue(p)
	}
	if c.Control != nil && len(c.Control.Set) > 0 {
		c.addControl(p)
	}
}

// addValue records the cell's value of Check.Over under its OverID.
func (c *checkState) addValue(p *Point) {
	over, known := LookupKey(c.Over)
	if !known {
		return // reported where it was read
	}
	id := OverID(c.Over, p.Variant, &p.Settings)
	if c.values == nil {
		c.values = map[string]map[string]bool{}
	}
	if c.values[id] == nil {
		c.values[id] = map[string]bool{}
		c.order = append(c.order, id)
	}
	size := p.Settings.Estimator.GroupSize
	if c.Over != GroupSizeKey || size != option.Infinite && size >= c.SmallestJudged() {
		c.values[id][Format(over.Get(&p.Settings))] = true
	}
}

// addControl applies the rules between keys to the cell with its planted fault.
func (c *checkState) addControl(p *Point) {
	faulty := p.Settings
	for _, a := range c.Control.Set {
		k, _ := LookupKey(a.Param)
		k.set(&faulty, a.Value)
	}
	broken := breaches(&faulty, len(faulty.Bandit.Arms), c.isBad)
	// else the cell is reported
	if len(broken) > 0 && len(breaches(&p.Settings, len(p.Settings.Bandit.Arms), c.isBad)) == 0 {
		b, set := broken[0], c.path+".control.set."
		read := func(a Assignment) bool { return slices.Contains(b.keys, a.Param) }
		blamed := c.Control.Set[max(slices.IndexFunc(c.Control.Set, read), 0)].Param
		c.problem(c.near(set+blamed), set+b.keys[0], "got %s, want %s", b.got, b.want)
		c.changed = true
		return
	}
	c.changed = c.changed || string(Canonical(faulty)) != string(Canonical(p.Settings))
}

// finish records problems of the selection as a whole.
func (c *checkState) finish() {
	if c.selected == 0 {
		if slices.ContainsFunc(c.Where, func(where Condition) bool { return c.bad[where.Param] }) {
			return
		}
		path := c.path
		for _, key := range []string{".variant", ".where"} {
			if _, given := c.at[c.path+key]; given {
				path = c.path + key
			}
		}
		c.reject(path, "got a selection without cells, want at least 1 cell of the sweep")
		return
	}
	for _, id := range c.order {
		if n := len(c.values[id]); n < 3 {
			value, least := "value", "3"
			if c.Over == GroupSizeKey {
				value = "finite value"
				if from := c.SmallestJudged(); from > 0 {
					least += " that are ≥ " + strconv.Itoa(from)
				}
			}
			c.rejectCell(c.path+".over", CountWords(n, value)+" of "+c.Over,
				"at least "+least+" for "+c.Claim.Name)
		}
	}
	if c.Control != nil && len(c.Control.Set) > 0 && !c.changed && c.Control.Scale == rom.Unit {
		c.problem(c.near(c.path+".control"), c.path+".control.set",
			"got values that all judged cells already have, want a value that changes a cell")
	}
}

// share records conflicts among the checks that select a cell, given by their indices: they must
// measure it in the same way, because each cell is measured once. Forces are the checks with the
// ForceID of cells in which they measure a stiffness.
func (l *loader) share(p *Point, selected []int, forces map[string]bool) {
	const other = "other cells for this check (`where`, `variant`)"
	located := -1 // the first check with a search: nothing else is simulated there
	for _, i := range selected {
		if located < 0 && l.spec.Checks[i].Locate != nil {
			located = i
		}
	}
	first := map[string]int{} // the first check that has a key
	for _, i := range selected {
		c := &l.spec.Checks[i]
		if c.Claim.Per == PerForce { // measured in the first of the cells that share a force
			force := pathOf(i) + ForceID(&p.Settings)
			if forces[force] {
				continue
			}
			forces[force] = true
		} else if located >= 0 && c.Locate == nil {
			l.rejectCell(pathOf(i)+".claim", "a cell in which "+pathOf(located)+
				" locates an event (nothing else is simulated there)", other)
			continue
		}
		for _, key := range []string{"claim", "locate", "displacement", "draws", "offset"} {
			gets := c.measures(key)
			if gets == "" {
				continue
			}
			earlier, shares := first[key]
			if !shares {
				first[key] = i
			} else if has := l.spec.Checks[earlier].measures(key); has != gets {
				got := gets + " in a cell that " + pathOf(earlier) + " measures with " + has
				l.rejectCell(pathOf(i)+"."+key, got, "the same, or "+other)
			}
		}
	}
}

// measures returns what a key of the check sets of a measurement in words, "" where it has none:
// of `claim` the event that is located.
func (c *Check) measures(key string) string {
	if key == "claim" {
		return string(c.Claim.Event)
	}
	v := reflect.ValueOf(checkKeyOf(key).of(c)).Elem()
	switch l := c.Locate; {
	case v.IsZero():
		return ""
	case key == "locate":
		return fmt.Sprintf("%s from %g to %g (tolerance %g, visibility %g)",
			l.Param, l.From, l.To, l.Tolerance, l.Visibility)
	}
	return Format(v.Interface())
}

// idleKeys holds the given keys that have had no effect in any cell so far, by index in
// Keys, each with the values of Key.Idle that cells have.
type idleKeys map[int]*Condition

// newIdleKeys returns the keys that the base, an axis or a variant gives and that can be
// without effect. A document that writes out every default, as Spec.Document does, gives
// only the keys that are not at their default.
func (l *loader) newIdleKeys(grids []Grid) idleKeys {
	complete := true
	for i, k := range Keys {
		complete = complete && (k.Default == nil || l.given[i] != nil)
	}
	idle := idleKeys{}
	for i, k := range Keys {
		inBase := l.given[i] != nil && !(complete && Format(l.given[i]) == Format(k.Default))
		replaced := slices.ContainsFunc(grids, func(g Grid) bool { return l.replaces(g, k.Path) })
		inControl := slices.ContainsFunc(l.spec.Checks, func(c Check) bool {
			return c.Control != nil && assigned(c.Control.Set, k.Idle.Param) >= 0
		})
		if k.Idle.Param != "" && (inBase || replaced) && !inControl {
			idle[i] = &Condition{Param: k.Idle.Param}
		}
	}
	return idle
}

// cell removes the keys that have an effect in a cell.
func (idle idleKeys) cell(s *Settings) {
	for i, met := range idle {
		if !Keys[i].Idle.holds(s) {
			delete(idle, i)
		} else if !met.holds(s) {
			other, _ := LookupKey(met.Param)
			met.Values = append(met.Values, other.Get(s))
		}
	}
}

// notes returns the notes of the loader and one on each key without effect, at the first
// place that gives it. A preset may give keys that other settings make effective.
func (idle idleKeys) notes(l *loader, grids []Grid) []string {
	notes := l.notes
	for i, met := range idle {
		key := Keys[i].Path
		at, found := l.at[key]
		for _, g := range grids {
			if !found && l.replaces(g, key) {
				at, found = l.placeIn(g, make([]int, len(g.Axes)), key), true
			}
		}
		if path.Dir(at.Source) == presetFolder {
			continue
		}
		text := key + " has no effect: " + met.Param + " is " + met.Alternatives() + " in every cell"
		notes = append(notes, Problem{Place: at, Text: text})
	}
	return Each(notes.sorted(l.files), Problem.String)
}

// Alternatives lists the values of the condition in words.
func (c Condition) Alternatives() string { return listWords(Each(c.Values, Format)) }
