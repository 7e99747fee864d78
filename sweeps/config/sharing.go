package config

// sharing holds the checks that select a cell against each other: what one of
// them measures there must be what the others measure.
type sharing struct {
	forces map[int]map[string]bool // by check: the forces whose stiffness it measures in an earlier cell
	idle   map[string]bool         // overrides that some cell locates along, so that it does not use them
	used   map[string]bool         // overrides that some cell uses
}

func newSharing() *sharing {
	return &sharing{forces: map[int]map[string]bool{}, idle: map[string]bool{}, used: map[string]bool{}}
}

// instruments are the checks of a cell that decide what is measured in it; −1
// where there is none.
type instruments struct {
	location  int // the search: nothing else is simulated
	stiffness int
	offset    int
}

// cell notes the problems among the checks that select a cell, given by their
// index in the file.
func (s *sharing) cell(l *loader, g Grid, choice []int, p *Point, selected []int) {
	first := instruments{location: -1, stiffness: -1, offset: -1}
	for _, i := range selected {
		if l.spec.Checks[i].Locate != nil {
			first.location = i
			break
		}
	}
	for _, param := range locatedParams {
		switch {
		case l.at[param].source != override || l.placeIn(g, choice, param).source != override:
		case first.location >= 0 && l.spec.Checks[first.location].Locate.Param == param:
			s.idle[param] = true
		default:
			s.used[param] = true
		}
	}
	for _, i := range selected {
		check, at := &l.spec.Checks[i], &l.checks[i]
		switch {
		case check.Locate != nil:
			l.sameLocation(first.location, i)
		case check.Claim.Per == PerForce:
			if !s.measures(i, p) {
				continue
			}
			if first.location >= 0 {
				l.sameStiffness(first.location, i)
			} else if first.stiffness < 0 {
				first.stiffness = i
			} else {
				l.sameStiffness(first.stiffness, i)
			}
		case first.location >= 0:
			l.cellProblem(at.fields["claim"], at.path+".claim", "a cell of "+l.checks[first.location].path+", which locates",
				"cells apart (where, variant): a located cell simulates nothing else")
		case check.Offset > 0 && first.offset < 0:
			first.offset = i
		case check.Offset > 0:
			l.sameNumber(first.offset, i, "offset", l.spec.Checks[first.offset].Offset, check.Offset)
		}
	}
}

// finish refuses an override whose value no cell uses because every one of them
// locates along it: it would change nothing, silently.
func (s *sharing) finish(l *loader) {
	for _, param := range locatedParams {
		if s.idle[param] && !s.used[param] {
			l.problem(l.at[param], param, "got a value that no cell of the file uses, want a key that is not located")
		}
	}
}

// measures says whether a stiffness check measures in this cell: it does in the
// first of those that share a force.
func (s *sharing) measures(i int, p *Point) bool {
	if s.forces[i] == nil {
		s.forces[i] = map[string]bool{}
	}
	id := ForceID(&p.Settings)
	if s.forces[i][id] {
		return false
	}
	s.forces[i][id] = true
	return true
}

// sameLocation notes where check i locates in a cell otherwise than an earlier
// check does: a cell carries one location.
func (l *loader) sameLocation(earlier, i int) {
	a, b := &l.spec.Checks[earlier], &l.spec.Checks[i]
	at := &l.checks[i]
	switch {
	case a.Claim.Event != b.Claim.Event:
		l.cellProblem(at.fields["claim"], at.path+".claim", "a cell in which "+l.checks[earlier].path+" locates another event",
			"cells apart (where, variant): a cell carries one location")
	case *a.Locate != *b.Locate:
		l.cellProblem(at.fields["locate"], at.path+".locate", "another search than "+l.checks[earlier].path+" in the same cell",
			"the same, or cells apart (where, variant): a cell carries one location")
	default:
		l.sameStiffness(earlier, i)
	}
}

// sameStiffness notes where check i measures the stiffness of a cell otherwise
// than an earlier check does.
func (l *loader) sameStiffness(earlier, i int) {
	a, b := &l.spec.Checks[earlier], &l.spec.Checks[i]
	l.sameNumber(earlier, i, "displacement", a.Displacement, b.Displacement)
	l.sameNumber(earlier, i, "draws", a.Draws, b.Draws)
}

// sameNumber notes where a measuring key of check i is not what an earlier
// check of the same cell has.
func (l *loader) sameNumber(earlier, i int, name string, has, gets any) {
	if has == gets {
		return
	}
	at := &l.checks[i]
	l.cellProblem(at.fields[name], at.path+"."+name, Format(gets)+" for a cell that "+l.checks[earlier].path+" measures with "+Format(has),
		"the same, or cells apart (where, variant)")
}
