package network

// affine is a matrix of weights and what goes through it: sums = inputs W + b. Its weights are W,
// a row for each input, then b.
type affine struct {
	weights    matrix    // W, n × m
	shift      []float64 // b
	transposed matrix    // Wᵀ
	gradient   matrix    // of W, or a change of it
	fixed      bool      // the inputs depend on no weights, and the next two are unused
	inputs     matrix    // rows × n
	changes    matrix    // of the inputs along a direction
	force      matrix    // on the inputs
}

// newAffine returns a map of rows with n numbers to rows with m numbers.
func newAffine(rows, n, m int) *affine {
	return &affine{weights: newMatrix(n, m), shift: make([]float64, m), transposed: newMatrix(m, n),
		gradient: newMatrix(n, m), inputs: newMatrix(rows, n), changes: newMatrix(rows, n),
		force: newMatrix(rows, n)}
}

func (l *affine) size() int { return (l.weights.rows + 1) * l.weights.columns }

// cut returns the parts of the first weights, or of a change of them, that belong to W and to b.
func (l *affine) cut(w []float64) (matrix, shift, rest []float64) {
	count := l.weights.rows * l.weights.columns
	return w[:count], w[count:l.size()], w[l.size():]
}

// forward sets the first of the weights and computes sums of the inputs. It returns the others.
func (l *affine) forward(w []float64, sums matrix) (rest []float64) {
	w, shift, rest := l.cut(w)
	copy(l.weights.data, w)
	copy(l.shift, shift)
	l.transposed.transpose(l.weights)
	sums.repeat(l.shift)
	addProduct(sums, l.inputs, l.weights)
	return rest
}

// pull writes the last of a gradient and computes the force on the inputs, of the force on the sums.
// It returns the part of the gradient before.
func (l *affine) pull(force matrix, gradient []float64) (before []float64) {
	start := len(gradient) - l.size()
	w, shift, _ := l.cut(gradient[start:])
	multiplyTransposed(l.gradient, l.inputs, force)
	copy(w, l.gradient.data)
	clear(shift)
	for i := range force.rows {
		addScaled(shift, 1, force.row(i))
	}
	if !l.fixed {
		multiply(l.force, force, l.transposed)
	}
	return gradient[:start]
}

// push computes the change of the sums along a change of the weights and the changes of the inputs.
// It returns what changes other weights.
func (l *affine) push(d []float64, sums matrix) (rest []float64) {
	d, shift, rest := l.cut(d)
	copy(l.gradient.data, d)
	sums.repeat(shift)
	addProduct(sums, l.inputs, l.gradient)
	if !l.fixed {
		addProduct(sums, l.changes, l.weights)
	}
	return rest
}
