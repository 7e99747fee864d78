package network

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// newMatrix returns a matrix of zeros.
func newMatrix(rows, columns int) blas64.General {
	return asMatrix(make([]float64, rows*columns), rows, columns)
}

// asMatrix returns the first rows×columns entries of data as a matrix, row by row.
func asMatrix(data []float64, rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: data[:rows*columns]}
}

// part returns the upper left part of m.
func part(m blas64.General, rows, columns int) blas64.General {
	m.Rows, m.Cols = rows, columns
	return m
}

// row returns row i of m.
func row(m blas64.General, i int) []float64 { return m.Data[i*m.Stride:][:m.Cols] }

// multiply sets c = a b.
func multiply(a, b, c blas64.General) { blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c) }

// addProduct adds a b to c.
func addProduct(a, b, c blas64.General) { blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 1, c) }

// multiplyLeftTransposed sets c = aᵀ b.
func multiplyLeftTransposed(a, b, c blas64.General) {
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, a, b, 0, c)
}

// multiplyRightTransposed sets c = a bᵀ.
func multiplyRightTransposed(a, b, c blas64.General) {
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, c)
}

// mustHave panics unless a slice has the length that is needed.
func mustHave(name string, x []float64, want int) {
	if len(x) != want {
		panic(fmt.Sprintf("network: %s has length %d, want %d", name, len(x), want))
	}
}
