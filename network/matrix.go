package network

// matrix holds numbers row by row. Its memory is padded to full tiles, see accumulate: what
// stands in the padding is arbitrary, and never meets an entry.
type matrix struct {
	rows, columns int
	stride        int // numbers from one row to the next, a multiple of tileColumns
	data          []float64
}

// A tile is what accumulate keeps in registers: with vectors of eight numbers, 8 of the 15 that
// the compiler uses.
const tileRows, tileColumns = 8, 8

// newMatrix returns a matrix of zeros.
func newMatrix(rows, columns int) matrix {
	stride := roundUp(columns, tileColumns)
	return matrix{rows, columns, stride, make([]float64, roundUp(rows, tileRows)*stride)}
}

// roundUp returns the least multiple of step that is at least n.
func roundUp(n, step int) int { return (n + step - 1) / step * step }

// row returns row i.
func (m matrix) row(i int) []float64 { return m.data[i*m.stride:][:m.columns] }

// read sets the entries to numbers that stand row by row without padding.
func (m matrix) read(numbers []float64) {
	for i := range m.rows {
		copy(m.row(i), numbers[i*m.columns:])
	}
}

// write is the inverse of read.
func (m matrix) write(numbers []float64) {
	for i := range m.rows {
		copy(numbers[i*m.columns:], m.row(i))
	}
}

// transpose sets m = aᵀ, as far as m goes.
func (m matrix) transpose(a matrix) {
	for i := range m.rows {
		for j, to := 0, m.row(i); j < len(to); j++ {
			to[j] = a.data[j*a.stride+i]
		}
	}
}

// repeat sets every row, and clears the padding: NaN of a run that diverged would stay there, and
// exponentials of NaN are slow.
func (m matrix) repeat(row []float64) {
	clear(m.data)
	for i := range m.rows {
		copy(m.row(i), row)
	}
}

// set sets m = a.
func (m matrix) set(a matrix) { copy(m.data, a.data) }

// add adds a to m.
func (m matrix) add(a matrix) {
	for i := range m.rows {
		from := a.row(i)
		for j, to := 0, m.row(i); j < len(to); j++ {
			to[j] += from[j]
		}
	}
}

// scale multiplies the entries of m by those of a.
func (m matrix) scale(a matrix) {
	for i := range m.rows {
		from := a.row(i)
		for j, to := 0, m.row(i); j < len(to); j++ {
			to[j] *= from[j]
		}
	}
}

// addProduct adds a b to c.
func addProduct(c, a, b matrix) { accumulate(c, a, a.stride, 1, b) }

// multiply sets c = a b.
func multiply(c, a, b matrix) {
	clear(c.data)
	addProduct(c, a, b)
}

// multiplyTransposed sets c = aᵀ b.
func multiplyTransposed(c, a, b matrix) {
	clear(c.data)
	accumulate(c, a, 1, a.stride, b)
}

// accumulatePlain is accumulate without vectors.
func accumulatePlain(c, a matrix, rowStep, step int, b matrix) {
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
