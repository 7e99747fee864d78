package network

// affine is a matrix of weights and what goes through it: sums = inputs W + b.
type affine struct {
	weights    matrix // n+1 × m: W, then b
	transposed matrix // m × n: Wᵀ
	gradient   matrix // n+1 × m: of weights, before it is written
	inputs     matrix // rows × n+1: whatever is before, then a column of ones
	changes    matrix // rows × n: derivatives of the inputs along a direction
	force      matrix // rows × n: derivatives with respect to the inputs
}

// newAffine returns a map of rows with n numbers to rows with m numbers.
func newAffine(rows, n, m int) *affine {
	l := &affine{newMatrix(n+1, m), newMatrix(m, n), newMatrix(n+1, m), newMatrix(rows, n+1), newMatrix(rows, n), newMatrix(rows, n)}
	for i := range rows {
		l.inputs.row(i)[n] = 1
	}
	return l
}

func (l *affine) size() int { return l.weights.rows * l.weights.columns }

// input returns the inputs, without the ones.
func (l *affine) input() matrix { return l.inputs.part(l.inputs.rows, l.changes.columns) }

// forward sets weights and computes sums of the inputs.
func (l *affine) forward(w []float64, sums matrix) {
	l.weights.read(w)
	l.transposed.transpose(l.weights)
	multiply(sums, l.inputs, l.weights)
}

// pull computes the gradient of the weights and the force on the inputs, of the force on the sums.
func (l *affine) pull(force matrix, gradient []float64) {
	l.pullWeights(force, gradient)
	multiply(l.force, force, l.transposed)
}

// pullWeights is pull without the inputs.
func (l *affine) pullWeights(force matrix, gradient []float64) {
	multiplyTransposed(l.gradient, l.inputs, force)
	l.gradient.write(gradient)
}

// push computes the change of the sums along a change of the weights and the changes of the inputs.
func (l *affine) push(d []float64, sums matrix) {
	l.pushWeights(d, sums)
	addProduct(sums, l.changes, l.weights.part(l.changes.columns, l.weights.columns))
}

// pushWeights is push with fixed inputs.
func (l *affine) pushWeights(d []float64, sums matrix) {
	l.gradient.read(d)
	multiply(sums, l.inputs, l.gradient)
}
