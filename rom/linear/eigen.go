package linear

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// complexMatrix is a square matrix by rows.
type complexMatrix [][]complex128

// newComplexMatrix returns the n×n matrix of zeros.
func newComplexMatrix(n int) complexMatrix {
	m := make(complexMatrix, n)
	for i := range m {
		m[i] = make([]complex128, n)
	}
	return m
}

// maxSweeps is the largest number of QR sweeps per eigenvalue; three are usual.
const maxSweeps = 60

// eigenvalues returns the eigenvalues, by the QR algorithm with Wilkinson's shifts on the
// Hessenberg form. See Golub and Van Loan, Matrix Computations, §7.4, §7.5. It is nil where it does
// not converge, as with entries that are not finite. m is overwritten.
func (m complexMatrix) eigenvalues() []complex128 {
	for column := range len(m) {
		for row := len(m) - 1; row > column+1; row-- {
			g := givens(m[row-1][column], m[row][column])
			g.rows(m[row-1], m[row])
			g.columns(m, row-1, row)
		}
	}
	values := make([]complex128, 0, len(m))
	rotations := make([]rotation, len(m))
	for sweeps := 0; len(m) > 0; {
		n := len(m)
		first := n - 1 // row of the last block without a negligible subdiagonal
		for first > 0 && !(cmplx.Abs(m[first][first-1]) <= 1e-16*(cmplx.Abs(m[first][first])+cmplx.Abs(m[first-1][first-1]))) {
			first--
		}
		if first == n-1 {
			values = append(values, m[first][first])
			m, sweeps = m[:first], 0
			continue
		}
		if sweeps++; sweeps > maxSweeps {
			return nil
		}
		shift := m[n-1][n-1]
		if sweeps%10 == 0 {
			shift += m[n-1][n-2] // an exceptional shift, against cycles
		} else {
			shift = closerEigenvalue(m[n-2][n-2], m[n-2][n-1], m[n-1][n-2], m[n-1][n-1])
		}
		// QR of the block minus the shift, then RQ plus the shift.
		for i := first; i < n; i++ {
			m[i][i] -= shift
		}
		for i := first; i < n-1; i++ {
			rotations[i] = givens(m[i][i], m[i+1][i])
			rotations[i].rows(m[i][i:n], m[i+1][i:n])
		}
		for i := first; i < n-1; i++ {
			rotations[i].columns(m[first:min(i+2, n)], i, i+1)
		}
		for i := first; i < n; i++ {
			m[i][i] += shift
		}
	}
	slices.Reverse(values)
	return values
}

// direction returns the determinant over a positive number, of modulus about 1. It is 0 or NaN
// where the determinant is 0 or entries are not finite. m is overwritten.
func (m complexMatrix) direction() complex128 {
	size := func(z complex128) float64 { return math.Abs(real(z)) + math.Abs(imag(z)) }
	det := 1 + 0i
	for k := range m {
		best := k
		for i := k + 1; i < len(m); i++ {
			if size(m[i][k]) > size(m[best][k]) {
				best = i
			}
		}
		if best != k {
			m[k], m[best], det = m[best], m[k], -det
		}
		pivot := m[k][k]
		if pivot == 0 {
			return 0
		}
		det *= pivot * complex(1/size(pivot), 0)
		inverse, row := 1/pivot, m[k][k+1:]
		for _, other := range m[k+1:] {
			factor := other[k] * inverse
			for j, x := range row {
				other[k+1+j] -= factor * x
			}
		}
	}
	return det
}

// closerEigenvalue returns the eigenvalue of [[a, b], [c, d]] that is closer to d.
func closerEigenvalue(a, b, c, d complex128) complex128 {
	half := (a - d) / 2
	root := cmplx.Sqrt(half*half + b*c)
	if real(half)*real(root)+imag(half)*imag(root) < 0 {
		root = -root
	}
	if half+root == 0 {
		return d
	}
	return d - b*c/(half+root)
}

// rotation is the unitary [[c, s], [−s̄, c̄]].
type rotation struct{ c, s complex128 }

// givens returns the rotation that maps (x, y) to (|(x, y)|, 0).
func givens(x, y complex128) rotation {
	size := complex(cmplx.Abs(complex(cmplx.Abs(x), cmplx.Abs(y))), 0)
	if size == 0 {
		return rotation{c: 1}
	}
	return rotation{cmplx.Conj(x) / size, cmplx.Conj(y) / size}
}

// rows multiplies two rows by the rotation, from the left.
func (g rotation) rows(x, y []complex128) {
	for j := range x {
		x[j], y[j] = g.c*x[j]+g.s*y[j], cmplx.Conj(g.c)*y[j]-cmplx.Conj(g.s)*x[j]
	}
}

// columns multiplies columns i and j by the inverse rotation, from the right.
func (g rotation) columns(m complexMatrix, i, j int) {
	for _, row := range m {
		row[i], row[j] = cmplx.Conj(g.c)*row[i]+cmplx.Conj(g.s)*row[j], g.c*row[j]-g.s*row[i]
	}
}

// Symmetric reports whether m is its own transpose up to rounding.
func Symmetric(m *mat.Dense) bool {
	n, _ := m.Dims()
	largest, skew := 0.0, 0.0
	for i := range n {
		for j := range n {
			largest = max(largest, math.Abs(m.At(i, j)))
			skew = max(skew, math.Abs(m.At(i, j)-m.At(j, i)))
		}
	}
	return skew <= 1e-12*largest
}

// SymmetricPart returns (m + mᵀ)/2.
func SymmetricPart(m *mat.Dense) *mat.SymDense {
	n, _ := m.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, 0.5*(m.At(i, j)+m.At(j, i)))
		}
	}
	return sym
}

// Eigenvectors returns the real parts of the eigenvalues of m, whose entries are finite,
// and the right and left eigenvectors as columns.
func Eigenvectors(m *mat.Dense) (values []float64, right, left *mat.Dense) {
	if !Finite(m) { // gonum would not return
		panic("linear: a matrix of which eigenvalues are wanted is not finite")
	}
	n, _ := m.Dims()
	if Symmetric(m) {
		values, v := Axes(SymmetricPart(m))
		if values == nil {
			panic("linear: the eigenvalues of a symmetric matrix do not converge")
		}
		return values, v, v
	}
	var e mat.Eigen
	if !e.Factorize(m, mat.EigenBoth) {
		panic("linear: the eigenvalues of a matrix do not converge")
	}
	var r, l mat.CDense
	e.VectorsTo(&r)
	e.LeftVectorsTo(&l)
	right, left = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for k, value := range e.Values(nil) {
		values = append(values, real(value))
		// If lᴴr is real, the real and imaginary parts of the left eigenvector are dual to
		// those of the right one.
		dot := 0i
		for i := range n {
			dot += cmplx.Conj(l.At(i, k)) * r.At(i, k)
		}
		turn := complex(1, 0)
		if size := cmplx.Abs(dot); size > 0 {
			turn = dot / complex(size, 0)
		}
		for i := range n {
			// Of a conjugate pair the eigenvalue with positive imaginary part gets the
			// real part of the vector, the other one the imaginary part.
			x, y := r.At(i, k), turn*l.At(i, k)
			if imag(value) < 0 {
				right.Set(i, k, imag(x))
				left.Set(i, k, imag(y))
			} else {
				right.Set(i, k, real(x))
				left.Set(i, k, real(y))
			}
		}
	}
	return values, right, left
}

// tiny is the largest sum of a row, of sizes, below which the eigenvalues of a symmetric matrix are
// computed of a multiple.
const tiny = 0x1p-400

// Axes returns the eigenvalues of a symmetric matrix, ascending, and the orthonormal eigenvectors,
// the columns; nil where they do not converge, as those of NaN. The library, which scales small
// matrices itself, panics for sizes of more than 1 below about 1e-146.
func Axes(m *mat.SymDense) (values []float64, vectors *mat.Dense) {
	n, scale := m.SymmetricDim(), 1.0
	if largest := mat.Norm(m, math.Inf(1)); largest > 0 && largest < tiny {
		scale = 0x1p500
		scaled := mat.NewSymDense(n, nil)
		scaled.ScaleSym(scale, m)
		m = scaled
	}
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return nil, nil
	}
	vectors, values = new(mat.Dense), e.Values(nil)
	e.VectorsTo(vectors)
	for i := range values {
		values[i] /= scale
	}
	return values, vectors
}

// Form returns lᵀ M r.
func Form(l []float64, m *mat.Dense, r []float64) float64 {
	sum := 0.0
	for i, x := range l {
		if x != 0 {
			sum += x * floats.Dot(m.RawRowView(i), r)
		}
	}
	return sum
}

// Within returns Qᵀ M Q.
func Within(q *mat.Dense, m mat.Matrix) *mat.Dense {
	rows, columns := q.Dims()
	out := mat.NewDense(columns, columns, nil)
	if plain, ok := m.(*mat.Dense); ok {
		half := mat.NewDense(columns, rows, nil)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, q.RawMatrix(), plain.RawMatrix(), 0, half.RawMatrix())
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, half.RawMatrix(), q.RawMatrix(), 0, out.RawMatrix())
		return out
	}
	var half mat.Dense // of a symmetric matrix without a transposed copy
	half.Mul(m, q)
	out.Mul(half.T(), q)
	return out
}

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

// Basis returns an orthonormal basis of the vectors orthogonal to (√n_1, …, √n_C) as the columns of
// a C×(C−1) matrix: the centred subspace, in the coordinates √n_c θ_c of classes of n_c equal arms.
// It is Helmert's basis: on θ, column k is constant on the first k classes.
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
