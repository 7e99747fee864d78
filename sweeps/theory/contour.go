package theory

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/sweeps/config"
)

// nodes holds the nodes of a lattice along one axis, in increasing order. A real parameter has the
// same values and places. An integer n has two nodes, at the places n ± ½, so that curves are
// steps. The upper node of n is at the place of the lower one of n + 1.
type nodes struct {
	value []float64 // of the parameter at each node
	place []float64 // of each node on the axis
}

// field is a function of two parameters with its values at the nodes of a lattice.
type field struct {
	x, y nodes
	of   func(x, y float64) float64 // NaN where it is not known
	at   [][]float64                // at[i][j] = of(x.value[i], y.value[j])
}

// newField evaluates a function at all nodes of a lattice.
func newField(x, y nodes, of func(x, y float64) float64) *field {
	f := &field{x: x, y: y, of: of}
	for _, a := range x.value {
		f.at = append(f.at, config.Each(y.value, func(b float64) float64 { return of(a, b) }))
	}
	return f
}

// Spot is a point in the plane of the axes: x and y.
type Spot [2]float64

// edge connects node (i, j) of a lattice with (i, j+1) where up is true, else with (i+1, j).
type edge struct {
	i, j int
	up   bool
}

// corners returns the nodes at the corners of lattice cell (i, j), counterclockwise.
func corners(i, j int) [4][2]int {
	return [4][2]int{{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}}
}

// sides returns the sides of lattice cell (i, j): side k connects corner k with corner
// k + 1 modulo 4.
func sides(i, j int) [4]edge {
	return [4]edge{{i, j, false}, {i + 1, j, true}, {i, j + 1, false}, {i, j, true}}
}

// zeros returns the lines on which the field is 0, by marching squares. Each line is a
// sequence of points; it is closed if the first and the last are equal. Cells with an
// unknown corner have no lines.
func (f *field) zeros() [][]Spot {
	var segments [][2]edge
	for i := range len(f.x.value) - 1 {
		for j := range len(f.y.value) - 1 {
			value, known := f.corner(i, j)
			if !known {
				continue
			}
			side := sides(i, j)
			var crossed []edge
			mean := 0.0
			for k := range 4 {
				mean += value[k] / 4
				if (value[k] < 0) != (value[(k+1)%4] < 0) {
					crossed = append(crossed, side[k])
				}
			}
			// At a saddle all four sides are crossed. A segment cuts off each of the two
			// corners whose sign differs from that of the mean: corners 1 and 3, or 0 and 2.
			if len(crossed) == 4 && (mean < 0) != (value[0] < 0) {
				crossed = slices.Concat(crossed[3:], crossed[:3])
			}
			for pair := range slices.Chunk(crossed, 2) {
				segments = append(segments, [2]edge{pair[0], pair[1]})
			}
		}
	}
	return f.chains(segments)
}

// chains joins segments that share an edge into lines: first the open lines, then the
// closed ones. At most two segments share an edge.
func (f *field) chains(segments [][2]edge) [][]Spot {
	at := make(map[edge][]int) // indices of segments
	for n, s := range segments {
		at[s[0]], at[s[1]] = append(at[s[0]], n), append(at[s[1]], n)
	}
	used := make([]bool, len(segments))
	follow := func(n int, from edge) []Spot {
		line := []Spot{f.crossing(from)}
		for {
			used[n] = true
			to := segments[n][0]
			if to == from {
				to = segments[n][1]
			}
			line = append(line, f.crossing(to))
			next := slices.IndexFunc(at[to], func(m int) bool { return !used[m] })
			if next < 0 {
				return line
			}
			n, from = at[to][next], to
		}
	}
	var lines [][]Spot
	for n, s := range segments {
		for _, end := range s {
			if !used[n] && len(at[end]) == 1 {
				lines = append(lines, follow(n, end))
			}
		}
	}
	for n, s := range segments {
		if !used[n] {
			lines = append(lines, follow(n, s[0]))
		}
	}
	return lines
}

// positive returns the area in which the field is 0 or more, as closed polygons that run
// counterclockwise. They are rectangles, each of adjacent whole cells of one column, and the parts
// of cells that a line of zeros cuts off. Cells with an unknown corner are not part of the area.
func (f *field) positive() [][]Spot {
	area := [][]Spot{}
	for i := range len(f.x.value) - 1 {
		left, right := f.x.place[i], f.x.place[i+1]
		if left == right {
			continue
		}
		from := -1 // node at the bottom of the current rectangle; -1: there is none
		closeAt := func(to int) {
			if from >= 0 {
				low, high := f.y.place[from], f.y.place[to]
				area = append(area, []Spot{{left, low}, {right, low}, {right, high}, {left, high}})
				from = -1
			}
		}
		last := len(f.y.value) - 1
		for j := range last {
			value, known := f.corner(i, j)
			inside := 0
			for k := range 4 {
				if known && value[k] >= 0 {
					inside++
				}
			}
			if inside == 4 {
				if from < 0 {
					from = j
				}
				continue
			}
			closeAt(j)
			if inside == 0 || f.y.place[j] == f.y.place[j+1] {
				continue
			}
			var part []Spot
			node, side := corners(i, j), sides(i, j)
			for k := range 4 {
				if value[k] >= 0 {
					part = append(part, Spot{f.x.place[node[k][0]], f.y.place[node[k][1]]})
				}
				if (value[k] < 0) != (value[(k+1)%4] < 0) {
					part = append(part, f.crossing(side[k]))
				}
			}
			area = append(area, part)
		}
		closeAt(last)
	}
	return area
}

// corner returns the field at the corners of lattice cell (i, j), in the order of
// corners, and whether all four are known.
func (f *field) corner(i, j int) (value [4]float64, known bool) {
	known = true
	for k, node := range corners(i, j) {
		value[k] = f.at[node[0]][node[1]]
		known = known && !math.IsNaN(value[k])
	}
	return value, known
}

// crossing returns the point on an edge at which the field changes sign. Where both nodes
// have the same place it is that place.
func (f *field) crossing(e edge) Spot {
	x, y := f.x.value[e.i], f.y.value[e.j]
	at := Spot{f.x.place[e.i], f.y.place[e.j]}
	here := f.at[e.i][e.j]
	if e.up && f.y.place[e.j+1] != at[1] {
		along := func(y float64) float64 { return f.of(x, y) }
		at[1] = root(along, y, f.y.value[e.j+1], here, f.at[e.i][e.j+1])
	} else if !e.up && f.x.place[e.i+1] != at[0] {
		along := func(x float64) float64 { return f.of(x, y) }
		at[0] = root(along, x, f.x.value[e.i+1], here, f.at[e.i+1][e.j])
	}
	return at
}

// root returns a zero of f between a and b by the Illinois variant of regula falsi. fa = f(a) and
// fb = f(b) have opposite signs. Between positive numbers it works on logarithms: a function linear
// in log x takes one step. It stops when a step is shorter than 1e-4 of the bracket, when |f| <
// 1e-9 or NaN, and after 12 steps.
func root(f func(float64) float64, a, b, fa, fb float64) float64 {
	toScale, fromScale := func(x float64) float64 { return x }, func(x float64) float64 { return x }
	if a > 0 && b > 0 {
		toScale, fromScale = math.Log, fp.MathExp
	}
	const steps, share = 12, 1e-4
	low, high := toScale(a), toScale(b)
	at, kept := low, 0 // kept: the end that the last step left in place, -1 low, 1 high
	for range steps {
		before := at
		if at = (low*fb - high*fa) / (fb - fa); math.Abs(at-before) < share*math.Abs(high-low) {
			break
		}
		value := f(fromScale(at))
		if math.Abs(value) < 1e-9 || math.IsNaN(value) {
			break
		}
		if (value < 0) == (fb < 0) {
			if high, fb = at, value; kept < 0 {
				fa /= 2
			}
			kept = -1
		} else {
			if low, fa = at, value; kept > 0 {
				fb /= 2
			}
			kept = 1
		}
	}
	return fromScale(at)
}
