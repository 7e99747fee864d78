package config

import "fmt"

// sharing compares the checks that select the same cell: they must measure it in the
// same way, because each cell is measured once.
type sharing struct {
	*loader
	forces map[string]bool // the checks with the ForceID of cells in which they measure a stiffness
}

// cell records conflicts among the checks that select a cell; selected holds their
// indices in the file.
func (s *sharing) cell(p *Point, selected []int) {
	const other = "other cells for this check (`where`, `variant`)"
	located := -1 // the first check with a search: nothing else is simulated there
	for _, i := range selected {
		if located < 0 && s.spec.Checks[i].Locate != nil {
			located = i
		}
	}
	first := map[string]int{} // the first check that has a key
	for _, i := range selected {
		c := &s.spec.Checks[i]
		if c.Claim.Per == PerForce { // measured in the first of the cells that share a force
			force := pathOf(i) + ForceID(&p.Settings)
			if s.forces[force] {
				continue
			}
			s.forces[force] = true
		} else if located >= 0 && c.Locate == nil {
			s.rejectCell(pathOf(i)+".claim", "a cell in which "+pathOf(located)+" locates an event (nothing else is simulated there)", other)
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
			} else if has := s.spec.Checks[earlier].measures(key); has != gets {
				s.rejectCell(pathOf(i)+"."+key, gets+" in a cell that "+pathOf(earlier)+" measures with "+has, "the same, or "+other)
			}
		}
	}
}

// measures returns what a key of the check sets of a measurement in words, "" where it has none:
// of `claim` the event that is located.
func (c *Check) measures(key string) string {
	switch {
	case key == "claim":
		return string(c.Claim.Event)
	case key == "locate" && c.Locate != nil:
		l := c.Locate
		return fmt.Sprintf("%s from %g to %g (tolerance %g, visibility %g)", l.Param, l.From, l.To, l.Tolerance, l.Visibility)
	case key == "displacement" && c.Displacement > 0:
		return Format(c.Displacement)
	case key == "draws" && c.Draws > 0:
		return Format(c.Draws)
	case key == "offset" && c.Offset > 0:
		return Format(c.Offset)
	}
	return ""
}
