package sweeps

import "math"

// scale is one side of a lattice: the parameter's value at each node, and the
// place on the axis where the node is drawn. An integer parameter has two nodes
// a value, half a step to either side, so that what depends on it is drawn in
// steps; neighbouring values share a place.
type scale struct {
	value, place []float64
}

// lattice is a grid of nodes over two parameters.
type lattice struct{ x, y scale }

// levels is a function of two parameters at the nodes of a lattice, at[i][j] at
// the i-th x and the j-th y, NaN where it is not known. Between nodes it is
// evaluated by of.
type levels struct {
	lattice
	at [][]float64
	of func(x, y float64) float64
}

// spot is a place on a map.
type spot struct{ x, y float64 }

// edge is the side of a lattice's cell that leads from node (i, j) to the next
// in x, or in y where up.
type edge struct {
	i, j int
	up   bool
}

// corners are the nodes of cell (i, j) in turn, and sides the edges that leave
// them.
func corners(i, j int) [4][2]int {
	return [4][2]int{{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}}
}

func sides(i, j int) [4]edge {
	return [4]edge{{i, j, false}, {i + 1, j, true}, {i, j + 1, false}, {i, j, true}}
}

// zeros returns the lines on which the field is 0, found by marching squares:
// each line a chain of places, closed where its ends are the same. Where two
// lines cross within a cell the mean of its corners decides how they are
// joined.
func (f *levels) zeros() [][]spot {
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
			switch len(crossed) {
			case 2:
				segments = append(segments, [2]edge{crossed[0], crossed[1]})
			case 4: // all sides, in turn; a corner is cut off where the middle is on the other side of 0
				if (mean < 0) == (value[0] < 0) {
					segments = append(segments, [2]edge{crossed[0], crossed[1]}, [2]edge{crossed[2], crossed[3]})
				} else {
					segments = append(segments, [2]edge{crossed[3], crossed[0]}, [2]edge{crossed[1], crossed[2]})
				}
			}
		}
	}
	return f.chains(segments)
}

// chains joins segments that share an edge, open lines first.
func (f *levels) chains(segments [][2]edge) [][]spot {
	at := make(map[edge][]int) // segments by edge, two at most
	for n, s := range segments {
		at[s[0]], at[s[1]] = append(at[s[0]], n), append(at[s[1]], n)
	}
	used := make([]bool, len(segments))
	follow := func(n int, from edge) []spot {
		line := []spot{f.crossing(from)}
		for {
			used[n] = true
			to := segments[n][0]
			if to == from {
				to = segments[n][1]
			}
			line = append(line, f.crossing(to))
			next := -1
			for _, m := range at[to] {
				if !used[m] {
					next = m
				}
			}
			if next < 0 {
				return line
			}
			n, from = next, to
		}
	}
	var lines [][]spot
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

// positive returns the area where the field is 0 or more as closed polygons:
// whole cells in columns as high as they go, and the pieces of cells that a
// line of zeros cuts.
func (f *levels) positive() [][]spot {
	var area [][]spot
	for i := range len(f.x.value) - 1 {
		left, right := f.x.place[i], f.x.place[i+1]
		if left == right {
			continue
		}
		from := -1 // the node where a column of whole cells begins
		flush := func(to int) {
			if from >= 0 {
				low, high := f.y.place[from], f.y.place[to]
				area = append(area, []spot{{left, low}, {right, low}, {right, high}, {left, high}})
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
			flush(j)
			if inside == 0 || f.y.place[j] == f.y.place[j+1] {
				continue
			}
			var piece []spot
			node, side := corners(i, j), sides(i, j)
			for k := range 4 {
				if value[k] >= 0 {
					piece = append(piece, spot{f.x.place[node[k][0]], f.y.place[node[k][1]]})
				}
				if (value[k] < 0) != (value[(k+1)%4] < 0) {
					piece = append(piece, f.crossing(side[k]))
				}
			}
			area = append(area, piece)
		}
		flush(last)
	}
	return area
}

// corner returns the field at the corners of cell (i, j), if all are known.
func (f *levels) corner(i, j int) (value [4]float64, known bool) {
	known = true
	for k, node := range corners(i, j) {
		value[k] = f.at[node[0]][node[1]]
		known = known && !math.IsNaN(value[k])
	}
	return value, known
}

// crossing returns the place on an edge where the field changes sign.
func (f *levels) crossing(e edge) spot {
	x, y := f.x.value[e.i], f.y.value[e.j]
	at := spot{f.x.place[e.i], f.y.place[e.j]}
	if e.up {
		if f.y.place[e.j+1] != at.y {
			at.y = root(func(y float64) float64 { return f.of(x, y) }, y, f.y.value[e.j+1], f.at[e.i][e.j], f.at[e.i][e.j+1])
		}
	} else if f.x.place[e.i+1] != at.x {
		at.x = root(func(x float64) float64 { return f.of(x, y) }, x, f.x.value[e.i+1], f.at[e.i][e.j], f.at[e.i+1][e.j])
	}
	return at
}

// root returns where f is 0 between a and b, which have values fa and fb of
// opposite sign: regula falsi (Illinois), on a logarithmic scale where a and b
// are positive, to a ten-thousandth of what is left of the interval. What is
// linear in log x, as log(η/η_c) is in log η, is found in one step.
func root(f func(float64) float64, a, b, fa, fb float64) float64 {
	up, down := func(x float64) float64 { return x }, func(x float64) float64 { return x }
	if a > 0 && b > 0 {
		up, down = math.Log, math.Exp
	}
	const steps, share = 12, 1e-4
	low, high := up(a), up(b)
	at, kept := low, 0 // kept: the end that the last step left in place
	for range steps {
		before := at
		if at = (low*fb - high*fa) / (fb - fa); math.Abs(at-before) < share*math.Abs(high-low) {
			break
		}
		value := f(down(at))
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
	return down(at)
}
