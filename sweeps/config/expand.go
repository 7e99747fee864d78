package config

import (
	"math"
	"slices"
)

// Point is one cell of a sweep before it is planned. Points share the slices
// of their settings: replace them, never write into them.
type Point struct {
	Variant  string       // "" where the file has no variants
	Axes     []Assignment // the values of this cell, in the order of the axes
	Settings Settings
}

// Points expands the sweep, or the union of the variants' sweeps: axes in
// order, the last running fastest.
func (s *Spec) Points() []Point {
	var points []Point
	for _, g := range s.Grids() {
		for _, p := range g.points {
			points = append(points, p)
		}
	}
	return points
}

// Grid is the sweep of one variant, or of a file without variants.
type Grid struct {
	variant int // index into Spec.Variants; -1 where there are none
	Name    string
	start   draft
	Axes    []Axis
}

// baseDraft is the base as the file gives it, before defaults.
func (s *Spec) baseDraft() draft {
	if s.given != nil {
		return s.given
	}
	base := make(draft, len(Keys))
	for i, k := range Keys {
		base[i] = k.get(&s.Base)
	}
	return base
}

// grids lists the grids whose union is the sweep.
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

// cells counts the points of a grid, and gives maxCells+1 where there are more
// than maxCells.
func (g Grid) cells() int {
	n := 1
	for _, axis := range g.Axes {
		if n *= len(axis.Points); n > maxCells {
			return maxCells + 1
		}
	}
	return n
}

// points yields the grid's points, and with each its index on every axis; the
// indices are overwritten by the next point.
func (g Grid) points(yield func([]int, Point) bool) {
	for _, axis := range g.Axes {
		if len(axis.Points) == 0 {
			return
		}
	}
	choice := make([]int, len(g.Axes))
	var last Settings // of the last cell that was built from its draft
	reshaped := g.reshapes()
	for first := true; ; first = false {
		set := g.assignments(choice)
		s := last
		if first || reshaped {
			last = g.start.with(set).settings()
			s = last
		} else {
			for _, a := range set {
				Keys[keyIndex(a.Param)].set(&s, a.Value)
			}
			if total := keyIndex(ScheduleTotalKey); g.start.with(set).follows(total) {
				Keys[total].set(&s, s.Run.Steps)
			}
		}
		if !yield(choice, Point{Variant: g.Name, Axes: set, Settings: s}) {
			return
		}
		axis := len(choice) - 1
		for ; axis >= 0; axis-- {
			if choice[axis]++; choice[axis] < len(g.Axes[axis].Points) {
				break
			}
			choice[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}

// reshapes says whether an axis changes the arms or a list that has one entry
// an arm, so that every cell must be built from its draft; otherwise cells
// share these lists.
func (g Grid) reshapes() bool {
	return slices.ContainsFunc(g.Axes, func(axis Axis) bool {
		return slices.ContainsFunc(axis.Params, func(param string) bool {
			k, _ := LookupKey(param)
			return k.Kind >= ListValue
		})
	})
}

func (g Grid) assignments(choice []int) []Assignment {
	var set []Assignment
	for i, axis := range g.Axes {
		for j, param := range axis.Params {
			set = append(set, Assignment{Param: param, Value: axis.Points[choice[i]][j]})
		}
	}
	return set
}

// Selects says whether the check judges the cell: its variant, and every
// condition of `where`.
func (c *Check) Selects(p *Point) bool {
	if c.Variant != "" && c.Variant != p.Variant {
		return false
	}
	for _, condition := range c.Where {
		k, _ := LookupKey(condition.Param)
		value := comparable12(k.get(&p.Settings))
		if !slices.ContainsFunc(condition.Values, func(v any) bool { return comparable12(v) == value }) {
			return false
		}
	}
	return true
}

// logPoints returns n numbers from `from` to `to`, both included, in equal
// ratios: from·(to/from)^(i/(n−1)), rounded to 12 significant digits.
func logPoints(from, to float64, n int) []float64 {
	points := make([]float64, n)
	for i := range points {
		share := float64(i) / float64(n-1)
		points[i] = Round(math.Exp((1-share)*math.Log(from) + share*math.Log(to)))
	}
	points[0], points[n-1] = Round(from), Round(to)
	return points
}

// rangePoints returns n numbers from, from + step, …, rounded to 12
// significant digits.
func rangePoints(from, step float64, n int) []float64 {
	points := make([]float64, n)
	for i := range points {
		points[i] = Round(from + float64(i)*step)
	}
	return points
}

// value is what key i has in a cell of the grid, nil where it is left out.
func (g Grid) value(i int, choice []int) any {
	for a, axis := range g.Axes {
		for j, param := range axis.Params {
			if param == Keys[i].Path {
				return axis.Points[choice[a]][j]
			}
		}
	}
	return g.start[i]
}
