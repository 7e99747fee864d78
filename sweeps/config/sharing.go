package config

// sharing compares the checks that select the same cell: they must measure it in the
// same way, because each cell is measured once.
type sharing struct {
	forces map[int]map[string]bool // by check: ForceID of the cells in which it measures a stiffness
	idle   map[string]bool         // overridden keys that some cell ignores because it locates along them
	used   map[string]bool         // overridden keys that some cell uses
}

// newSharing returns a comparison that has seen no cell.
func newSharing() *sharing {
	return &sharing{forces: map[int]map[string]bool{}, idle: map[string]bool{}, used: map[string]bool{}}
}

// firstChecks are the first checks of a cell, by index, that set its search, its
// stiffness measurement and its offset; −1: none.
type firstChecks struct {
	location  int // a cell with a search simulates nothing else
	stiffness int
	offset    int
}

// cell records conflicts among the checks that select a cell; selected holds their
// indices in the file.
func (s *sharing) cell(l *loader, g Grid, choice []int, p *Point, selected []int) {
	first := firstChecks{location: -1, stiffness: -1, offset: -1}
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
			l.cellProblem(at.fields["claim"], at.path+".claim", "a cell in which "+l.checks[first.location].path+" locates an event (nothing else is simulated there)",
				"other cells for this check (`where`, `variant`)")
		case check.Offset > 0 && first.offset < 0:
			first.offset = i
		case check.Offset > 0:
			l.sameNumber(first.offset, i, "offset", l.spec.Checks[first.offset].Offset, check.Offset)
		}
	}
}

// finish refuses an override that no cell uses because every cell locates along its key:
// it would have no effect.
func (s *sharing) finish(l *loader) {
	for _, param := range locatedParams {
		if s.idle[param] && !s.used[param] {
			l.problem(l.at[param], param, "got a value that no cell uses, want a key along which not every cell locates")
		}
	}
}

// measures reports whether stiffness check i measures in this cell: it measures in the
// first of the cells that share a force.
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

// sameLocation records how the search of check i differs from that of an earlier check
// of the same cell: each cell is searched once.
func (l *loader) sameLocation(earlier, i int) {
	a, b := &l.spec.Checks[earlier], &l.spec.Checks[i]
	at := &l.checks[i]
	switch {
	case a.Claim.Event != b.Claim.Event:
		l.cellProblem(at.fields["claim"], at.path+".claim", "a cell in which "+l.checks[earlier].path+" locates another event",
			"other cells for this check (`where`, `variant`)")
	case *a.Locate != *b.Locate:
		l.cellProblem(at.fields["locate"], at.path+".locate", "another search than that of "+l.checks[earlier].path+" in the same cell",
			"the same search, or other cells for this check (`where`, `variant`)")
	default:
		l.sameStiffness(earlier, i)
	}
}

// sameStiffness records how the stiffness measurement of check i differs from that of an
// earlier check of the same cell.
func (l *loader) sameStiffness(earlier, i int) {
	a, b := &l.spec.Checks[earlier], &l.spec.Checks[i]
	l.sameNumber(earlier, i, "displacement", a.Displacement, b.Displacement)
	l.sameNumber(earlier, i, "draws", a.Draws, b.Draws)
}

// sameNumber records that a measuring key of check i differs from that of an earlier
// check of the same cell.
func (l *loader) sameNumber(earlier, i int, name string, has, gets any) {
	if has == gets {
		return
	}
	at := &l.checks[i]
	l.cellProblem(at.fields[name], at.path+"."+name, Format(gets)+" in a cell that "+l.checks[earlier].path+" measures with "+Format(has),
		"the same value, or other cells for this check (`where`, `variant`)")
}
