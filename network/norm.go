package network

import "math"

// layerNorm standardises every row, then scales and shifts each column:
//
//	y_j = γ_j x̂_j + β_j,  x̂ = (x − mean x)/σ,  σ² = var x + 1e-5.
//
// Its weights are γ, then β.
type layerNorm struct {
	gains    []float64 // γ
	shifts   []float64 // β
	standard matrix    // x̂
	inverse  []float64 // 1/σ of each row
}

const varianceFloor = 1e-5 // that of PyTorch

func newLayerNorm(rows, columns int) *layerNorm {
	return &layerNorm{gains: make([]float64, columns), shifts: make([]float64, columns),
		standard: newMatrix(rows, columns), inverse: make([]float64, rows)}
}

func (l *layerNorm) size() int { return 2 * len(l.gains) }

// forward sets the first of the weights and out = y(x). It returns the other weights.
func (l *layerNorm) forward(w []float64, x, out matrix) (rest []float64) {
	copy(l.shifts, w[copy(l.gains, w):])
	for i := range x.rows {
		from, to, out := x.row(i), l.standard.row(i), out.row(i)
		mean, square := sum(from)/float64(len(from)), 0.
		for j, x := range from {
			to[j] = x - mean
			square += float64(to[j] * to[j])
		}
		l.inverse[i] = 1 / math.Sqrt(square/float64(len(from))+varianceFloor)
		for j := range to {
			to[j] *= l.inverse[i]
			out[j] = float64(l.gains[j]*to[j]) + l.shifts[j]
		}
	}
	return w[l.size():]
}

// pull writes the last of a gradient and sets on to the force on x, of the force on y. It returns
// the part of the gradient before.
func (l *layerNorm) pull(force matrix, gradient []float64, on matrix) (before []float64) {
	start := len(gradient) - l.size()
	gains, shifts := gradient[start:][:len(l.gains)], gradient[start+len(l.gains):]
	clear(gains)
	clear(shifts)
	for i := range force.rows {
		standard, to := l.standard.row(i), on.row(i)
		for j, f := range force.row(i) {
			gains[j] += float64(f * standard[j])
			shifts[j] += f
			to[j] = f * l.gains[j]
		}
		l.standardise(i, to)
	}
	return gradient[:start]
}

// push sets out to the change of y along changes of weights and of x. It overwrites changes by
// those of x̂, and returns what changes other weights.
func (l *layerNorm) push(d []float64, changes, out matrix) (rest []float64) {
	gains, shifts := d[:len(l.gains)], d[len(l.gains):l.size()]
	for i := range changes.rows {
		change, standard, out := changes.row(i), l.standard.row(i), out.row(i)
		l.standardise(i, change)
		for j, x := range standard {
			out[j] = float64(gains[j]*x) + float64(l.gains[j]*change[j]) + shifts[j]
		}
	}
	return d[l.size():]
}

// standardise applies the derivative of row i of x̂ with respect to x, which is symmetric. It sets
// v ← (v − mean v − x̂ mean(v x̂))/σ.
func (l *layerNorm) standardise(i int, v []float64) {
	standard := l.standard.row(i)
	mean, along := sum(v)/float64(len(v)), dot(v, standard)/float64(len(v))
	for j, x := range standard {
		v[j] = (v[j] - mean - float64(x*along)) * l.inverse[i]
	}
}

// sum returns the sum of numbers, in their order.
func sum(x []float64) float64 {
	total := 0.
	for _, x := range x {
		total += x
	}
	return total
}

// dot returns the sum of products of all of x with the first of y, in their order.
func dot(x, y []float64) float64 {
	total := 0.
	for i, x := range x {
		total += float64(x * y[i])
	}
	return total
}

func addScaled(y []float64, factor float64, x []float64) {
	for i, x := range x {
		y[i] += float64(factor * x)
	}
}
