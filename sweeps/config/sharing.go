package config

// sharing compares the checks that select the same cell: they must measure it in the
// same way, because each cell is measured once.
type sharing struct {
	*loader
	forces map[int]map[string]bool // by check: ForceID of the cells in which it measures a stiffness
	idle   map[string]bool         // overridden keys that some cell ignores because it locates along them
	used   map[string]bool         // overridden keys that some cell uses
}

// newSharing returns a comparison that has seen no cell.
func newSharing(l *loader) *sharing {
	return &sharing{loader: l, forces: map[int]map[string]bool{}, idle: map[string]bool{}, used: map[string]bool{}}
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
func (s *sharing) cell(g Grid, choice []int, p *Point, selected []int) {
	first := firstChecks{location: -1, stiffness: -1, offset: -1}
	for _, i := range selected {
		if s.spec.Checks[i].Locate != nil {
			first.location = i
			break
		}
	}
	for _, param := range locatedParams {
		switch {
		case s.at[param].source != override || s.placeIn(g, choice, param).source != override:
		case first.location >= 0 && s.spec.Checks[first.location].Locate.Param == param:
			s.idle[param] = true
		default:
			s.used[param] = true
		}
	}
	for _, i := range selected {
		check := &s.spec.Checks[i]
		switch {
		case check.Locate != nil:
			s.sameLocation(first.location, i)
		case check.Claim.Per == PerForce:
			if !s.measures(i, p) {
				continue
			}
			if first.location >= 0 {
				s.sameStiffness(first.location, i)
			} else if first.stiffness < 0 {
				first.stiffness = i
			} else {
				s.sameStiffness(first.stiffness, i)
			}
		case first.location >= 0:
			s.rejectCell(pathOf(i)+".claim", "a cell in which "+pathOf(first.location)+" locates an event (nothing else is simulated there)", otherCells)
		case check.Offset > 0 && first.offset < 0:
			first.offset = i
		case check.Offset > 0:
			s.sameNumber(first.offset, i, "offset", s.spec.Checks[first.offset].Offset, check.Offset)
		}
	}
}

// finish refuses an override that no cell uses because every cell locates along its key:
// it would have no effect.
func (s *sharing) finish() {
	for _, param := range locatedParams {
		if s.idle[param] && !s.used[param] {
			s.problem(s.at[param], param, "got a value that no cell uses, want a key along which not every cell locates")
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
func (s *sharing) sameLocation(earlier, i int) {
	a, b := &s.spec.Checks[earlier], &s.spec.Checks[i]
	switch {
	case a.Claim.Event != b.Claim.Event:
		s.rejectCell(pathOf(i)+".claim", "a cell in which "+pathOf(earlier)+" locates another event", otherCells)
	case *a.Locate != *b.Locate:
		s.rejectCell(pathOf(i)+".locate", "another search than that of "+pathOf(earlier)+" in the same cell", "the same search, or "+otherCells)
	default:
		s.sameStiffness(earlier, i)
	}
}

// sameStiffness records how the stiffness measurement of check i differs from that of an
// earlier check of the same cell.
func (s *sharing) sameStiffness(earlier, i int) {
	a, b := &s.spec.Checks[earlier], &s.spec.Checks[i]
	s.sameNumber(earlier, i, "displacement", a.Displacement, b.Displacement)
	s.sameNumber(earlier, i, "draws", a.Draws, b.Draws)
}

// sameNumber records that a measuring key of check i differs from that of an earlier
// check of the same cell.
func (s *sharing) sameNumber(earlier, i int, name string, has, gets any) {
	if has != gets {
		s.rejectCell(pathOf(i)+"."+name, Format(gets)+" in a cell that "+pathOf(earlier)+" measures with "+Format(has), "the same value, or "+otherCells)
	}
}

// otherCells ends a message about two checks of one cell.
const otherCells = "other cells for this check (`where`, `variant`)"
