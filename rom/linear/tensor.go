package linear

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Rotator applies matrices to tensors, which are lists of entries, the last index the fastest. It holds entries that are summed together.
type Rotator [128]float64

// long is the number of entries from which on a call for a sum pays.
const long = 16

// Rotate returns, in the space given, the tensor t with the matrix a applied to its first index, which becomes the last one:
// out_jr = Σ_c a_rc t_cj.
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

// Transform returns the tensor t of the given rank with the matrix a applied to every index.
func Transform(a *mat.Dense, rank int, t []float64) []float64 {
	rows, columns := a.Dims()
	by := new(Rotator)
	for range rank {
		t = by.Rotate(a, t, make([]float64, len(t)/columns*rows))
	}
	return t
}

// Periodic returns X_0 of the periodic solution of X_{p+1} = (A⊗…⊗A) X_p + Q_p, p the phase of a period and X_p the state's tensor
// of the given rank before its step, given X_K of the solution that starts at 0. It doubles as Lyapunov does, so that a slow mode costs
// only the logarithm of its relaxation time.
func (s *Law) Periodic(rank int, gathered []float64) []float64 {
	size, _ := s.A.Dims()
	free, _ := s.start.Dims()
	begin, end := mat.NewDense(size, free, nil), mat.NewDense(free, size, nil)
	for i := range size {
		begin.Set(i, s.beforeRefresh(i), 1)
	}
	for i := range free {
		end.Set(i, i, 1)
	}
	x := Transform(end, rank, gathered)
	for k := range 64 {
		if k == len(s.powers) {
			factor := s.Monodromy()
			if k > 0 {
				factor = mat.NewDense(free, free, nil)
				factor.Mul(s.powers[k-1], s.powers[k-1])
			}
			s.powers = append(s.powers, factor)
		}
		more := Transform(s.powers[k], rank, x)
		floats.Add(x, more)
		if Norm(more) <= 1e-14*Norm(x) || !IsFinite(x...) {
			break
		}
	}
	return Transform(begin, rank, x)
}
