package linear

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Reduce returns Qᵀx.
func Reduce(q *mat.Dense, x []float64) []float64 {
	_, n := q.Dims()
	out := make([]float64, n)
	blas64.Gemv(blas.Trans, 1, q.RawMatrix(), Vector(x), 0, Vector(out))
	return out
}

func Vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// BasisOfArms returns the basis of classes of one arm each.
func BasisOfArms(arms int) *mat.Dense { return Basis(slices.Repeat([]float64{1}, arms)) }

// Basis returns an orthonormal basis of the vectors orthogonal to (√n_1, …, √n_C) as
// the columns of a C×(C−1) matrix: the centred subspace, in the coordinates √n_c θ_c
// of classes of n_c equal arms. It is Helmert's basis: on θ, column k is constant on
// the first k classes.
func Basis(count []float64) *mat.Dense {
	n := len(count)
	q := mat.NewDense(n, n-1, nil)
	sum := count[0]
	for k := 1; k < n; k++ {
		// On θ: 1/sum on the classes before k, −1/n_k on class k; norm² 1/sum + 1/n_k.
		scale := 1 / math.Sqrt(1/sum+1/count[k])
		for c := range k {
			q.Set(c, k-1, scale*math.Sqrt(count[c])/sum)
		}
		q.Set(k, k-1, -scale/math.Sqrt(count[k]))
		sum += count[k]
	}
	return q
}
