package network

// matrix holds rows of numbers.
type matrix struct {
	rows, columns int
	data          []float64 // row by row
}

func newMatrix(rows, columns int) matrix {
	return matrix{rows, columns, make([]float64, rows*columns)}
}

func (m matrix) row(i int) []float64 { return m.data[i*m.columns:][:m.columns] }

// transpose sets m = aᵀ, as far as m goes.
func (m matrix) transpose(a matrix) {
	for i := range m.rows {
		for j, to := 0, m.row(i); j < len(to); j++ {
			to[j] = a.data[j*a.columns+i]
		}
	}
}

// repeat sets every row.
func (m matrix) repeat(row []float64) {
	for i := range m.rows {
		copy(m.row(i), row)
	}
}

// add adds a to m.
func (m matrix) add(a matrix) { addScaled(m.data, 1, a.data) }

// scale multiplies the entries of m by those of a.
func (m matrix) scale(a matrix) {
	for i, x := range a.data {
		m.data[i] *= x
	}
}

// addProduct adds a b to c.
func addProduct(c, a, b matrix) { accumulate(c, a, a.columns, 1, b) }

func multiply(c, a, b matrix) {
	clear(c.data)
	addProduct(c, a, b)
}

// multiplyTransposed sets c = aᵀ b.
func multiplyTransposed(c, a, b matrix) {
	clear(c.data)
	accumulate(c, a, 1, a.columns, b)
}

// accumulate adds to every entry of c, in this order of k,
//
//	c_ij += Σ_k a_(i·rowStep + k·step) b_kj,
//
// where the entries of a are counted in memory. Every product is rounded.
func accumulate(c, a matrix, rowStep, step int, b matrix) {
	for i := range c.rows {
		sums := c.row(i)
		for k := range b.rows {
			factor, from := a.data[i*rowStep+k*step], b.row(k)
			for j := range sums {
				sums[j] += float64(factor * from[j])
			}
		}
	}
}
