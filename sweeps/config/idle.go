package config

import (
	"path"
	"slices"
)

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
