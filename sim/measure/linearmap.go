package measure

import "math"

// LinearMap is the matrix C of a linear map with noise, fitted by least squares to rows (s, y).
//
//	y = C s + innovation.
//
// The fit is consistent if the innovation of a row is independent of its s, which must hold all
// that y depends on. Unlike a Recurrence it has any number of components. It solves normal
// equations, so that nearly parallel components of s lose twice as many digits. These are far fewer
// than the innovations lose.
type LinearMap struct {
	// Innovations is the number of innovations that are not 0, ≥ 0, which the caller
	// counts. Merge adds it up.
	Innovations int

	squares [][]float64 // Σ s sᵀ, by row, up to the diagonal
	moves   [][]float64 // Σ y sᵀ, by component of y
}

// NewLinearMap returns a fit without data to rows of from numbers s and to numbers y.
func NewLinearMap(from, to int) *LinearMap {
	m := &LinearMap{squares: make([][]float64, from), moves: make([][]float64, to)}
	for i := range m.squares {
		m.squares[i] = make([]float64, i+1)
	}
	for i := range m.moves {
		m.moves[i] = make([]float64, from)
	}
	return m
}

// Add adds a row.
func (m *LinearMap) Add(s, y []float64) {
	for i, row := range m.squares {
		for k := range row {
			row[k] += float64(s[i] * s[k])
		}
	}
	for i, row := range m.moves {
		for k := range row {
			row[k] += float64(y[i] * s[k])
		}
	}
}

// Merge adds all rows of o, which has the same numbers of components.
func (m *LinearMap) Merge(o *LinearMap) {
	m.Innovations += o.Innovations
	for i, row := range m.squares {
		for k := range row {
			row[k] += o.squares[i][k]
		}
	}
	for i, row := range m.moves {
		for k := range row {
			row[k] += o.moves[i][k]
		}
	}
}

// parallel is the share of a component of s, relative and squared, that is no combination of those
// before it. Below it rounding decides.
const parallel = 1e-12

// Fit returns C, one row for each component of y; ok is false where the rows do not determine it.
func (m *LinearMap) Fit() (c [][]float64, ok bool) {
	root := make([][]float64, len(m.squares)) // L of Σ s sᵀ = L Lᵀ
	for i, row := range m.squares {
		root[i] = make([]float64, i+1)
		for k := range row {
			x := row[k]
			for l := range k {
				x -= float64(root[i][l] * root[k][l])
			}
			if k < i {
				root[i][k] = x / root[k][k]
				continue
			}
			if !(x > float64(parallel*row[i])) {
				return nil, false
			}
			root[i][i] = math.Sqrt(x)
		}
	}
	for _, row := range m.moves {
		x := make([]float64, len(row))
		for i := range x {
			x[i] = row[i]
			for l := range i {
				x[i] -= float64(root[i][l] * x[l])
			}
			x[i] /= root[i][i]
		}
		for i := len(x) - 1; i >= 0; i-- {
			for l := i + 1; l < len(x); l++ {
				x[i] -= float64(root[l][i] * x[l])
			}
			x[i] /= root[i][i]
		}
		c = append(c, x)
	}
	return c, true
}
