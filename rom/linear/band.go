package linear

import "gonum.org/v1/gonum/floats"

// Band is a square matrix of n rows whose entries lie at most reach columns from the diagonal.
type Band struct {
	n, reach int
	values   []float64 // n×(2·reach+1), the diagonal in the middle
}

// NewBand returns the matrix of zeros.
func NewBand(n, reach int) *Band { return &Band{n, reach, make([]float64, n*(2*reach+1))} }

// Add adds x to an entry, |row − column| ≤ reach.
func (b *Band) Add(row, column int, x float64) { b.values[b.at(row, column)] += x }

func (b *Band) at(row, column int) int { return row*(2*b.reach+1) + column - row + b.reach }

// Null returns the x with bx = 0 and last entry 1 of a matrix of rank n−1 whose columns add to 0, as 1 − P of a Markov chain with the columns P. It overwrites the
// matrix, by elimination without exchange of rows, which such a matrix does not need. The work is that of 2n·reach² multiplications.
func (b *Band) Null() []float64 {
	for k := range b.n - 1 {
		end := min(k+b.reach, b.n-1)
		row := b.values[b.at(k, k)+1 : b.at(k, end)+1]
		for i := k + 1; i <= end; i++ {
			at := b.at(i, k)
			f := b.values[at] / b.values[b.at(k, k)]
			if f == 0 {
				continue
			}
			floats.AddScaled(b.values[at+1:at+1+len(row)], -f, row)
		}
	}
	x := make([]float64, b.n)
	x[b.n-1] = 1
	for i := b.n - 2; i >= 0; i-- {
		for j := i + 1; j <= min(i+b.reach, b.n-1); j++ {
			x[i] -= b.values[b.at(i, j)] * x[j]
		}
		x[i] /= b.values[b.at(i, i)]
	}
	return x
}
