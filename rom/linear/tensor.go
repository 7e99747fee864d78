package linear

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Rotator applies matrices to tensors, which are lists of entries, the last index the fastest. It
// holds entries that are summed together.
type Rotator [128]float64

// long is the number of entries from which on a call for a sum pays.
const long = 16

// Rotate applies the matrix a to the first index of the tensor t, which becomes the last one:
// out_jr = Σ_c a_rc t_cj. The result stands in space.
func (sums *Rotator) Rotate(a *mat.Dense, t, space []float64) []float64 {
	rows, columns := a.Dims()
	rest := len(t) / columns
	out := space[:rest*rows]
	raw := a.RawMatrix()
	if rest < long {
		for r := range rows {
			row := raw.Data[r*raw.Stride:][:columns]
			if columns == 3 { // of two arms in a block
				a, b, c := row[0], row[1], row[2]
				y, z := t[rest:][:rest], t[2*rest:][:rest]
				for j, x := range t[:rest] {
					out[j*rows+r] = 0 + a*x + b*y[j] + c*z[j]
				}
				continue
			}
			for j := range rest {
				sum, at := 0.0, j
				for _, x := range row {
					sum += x * t[at]
					at += rest
				}
				out[j*rows+r] = sum
			}
		}
		return out
	}
	for from := 0; from < rest; from += len(sums) {
		sum := sums[:min(len(sums), rest-from)]
		for r := range rows {
			clear(sum)
			for c, x := range raw.Data[r*raw.Stride:][:columns] {
				if x != 0 {
					floats.AddScaled(sum, x, t[c*rest+from:][:len(sum)])
				}
			}
			for j, v := range sum {
				out[(from+j)*rows+r] = v
			}
		}
	}
	return out
}
