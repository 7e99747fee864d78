package network

// affine is a matrix of weights and what goes through it: sums = inputs W + b. Its weights are W,
// a row for each input, then b.
type affine struct {
	weights    matrix    // W, n × m
	shift      []float64 // b
	transposed matrix    // Wᵀ
	gradient   matrix    // of W, or a change of it
	inputs     matrix    // rows × n
	changes    matrix    // of the inputs along a direction
	force      matrix    // on the inputs
}

// newAffine returns a map of rows with n numbers to rows with m numbers.
func newAffine(rows, n, m int) *affine {
	return &affine{newMatrix(n, m), make([]float64, m), newMatrix(m, n), newMatrix(n, m), newMatrix(rows, n), newMatrix(rows, n), newMatrix(rows, n)}
}

func (l *affine) size() int { return (l.weights.rows + 1) * l.weights.columns }

// cut returns the parts of weights, or of a gradient, that belong to W and to b.
func (l *affine) cut(w []float64) (matrix, shift []float64) {
	count := l.weights.rows * l.weights.columns
	return w[:count], w[count:l.size()]
}

// forward sets weights and computes sums of the inputs.
func (l *affine) forward(w []float64, sums matrix) {
	w, shift := l.cut(w)
	l.weights.read(w)
	copy(l.shift, shift)
	l.transposed.transpose(l.weights)
	sums.repeat(l.shift)
	addProduct(sums, l.inputs, l.weights)
}

// pull writes the gradient of the weights and computes the force on the inputs, of the force on the
// sums.
func (l *affine) pull(force matrix, gradient []float64) {
	l.pullWeights(force, gradient)
	multiply(l.force, force, l.transposed)
}

// pullWeights is pull without the inputs.
func (l *affine) pullWeights(force matrix, gradient []float64) {
	gradient, shift := l.cut(gradient)
	multiplyTransposed(l.gradient, l.inputs, force)
	l.gradient.write(gradient)
	clear(shift)
	for i := range force.rows {
		addScaled(shift, 1, force.row(i))
	}
}

// push computes the change of the sums along a change of the weights and the changes of the inputs.
func (l *affine) push(d []float64, sums matrix) {
	l.pushWeights(d, sums)
	addProduct(sums, l.changes, l.weights)
}

// pushWeights is push with fixed inputs.
func (l *affine) pushWeights(d []float64, sums matrix) {
	d, shift := l.cut(d)
	l.gradient.read(d)
	sums.repeat(shift)
	addProduct(sums, l.inputs, l.gradient)
}
