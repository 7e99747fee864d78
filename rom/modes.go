package rom

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Modes returns the A−1 modes of Λ_f + Λ_s on the centred subspace, stiffest
// first; fresh and stale are the A×A matrices of StiffnessAt, A ≥ 2. The total
// stiffness is symmetric wherever rewards take two values. Where it is not, both
// modes of a complex pair have the real part as their Total; one has the real part
// of the eigenvectors, the other the imaginary part.
func Modes(fresh, stale *mat.Dense) []Mode {
	arms, _ := fresh.Dims()
	count := make([]float64, arms)
	for a := range count {
		count[a] = 1
	}
	return modes(fresh, stale, basis(count))
}

// basis returns an orthonormal basis of the vectors orthogonal to (√n_1, …, √n_C) as
// the columns of a C×(C−1) matrix: the centred subspace, in the coordinates √n_c θ_c
// of classes of n_c equal arms. It is Helmert's basis: on θ, column k is constant on
// the first k classes.
func basis(count []float64) *mat.Dense {
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

// within returns Qᵀ M Q.
func within(q *mat.Dense, m mat.Matrix) *mat.Dense {
	var half, out mat.Dense
	if _, symmetric := m.(mat.Symmetric); symmetric { // without a transposed copy
		half.Mul(m, q)
		out.Mul(half.T(), q)
	} else {
		half.Mul(q.T(), m)
		out.Mul(&half, q)
	}
	return &out
}

// modes returns the modes of fresh + stale in the subspace spanned by the columns of
// q, stiffest first.
func modes(fresh, stale *mat.Dense, q *mat.Dense) []Mode {
	f, s := within(q, fresh), within(q, stale)
	n, _ := f.Dims()
	total := mat.NewDense(n, n, nil)
	total.Add(f, s)
	values, right, left := eigenvectors(total)
	all := make([]Mode, n)
	for k := range n {
		r, l := right.ColView(k), left.ColView(k)
		var direction, covector mat.VecDense
		direction.MulVec(q, r)
		covector.MulVec(q, l)
		d, c := slices.Clone(direction.RawVector().Data), slices.Clone(covector.RawVector().Data)
		// Scale the largest |entry| to 1, the first of those equal up to rounding.
		largest, at := 0.0, 0
		for a, x := range d {
			if math.Abs(x) > largest*(1+1e-9) {
				largest, at = math.Abs(x), a
			}
		}
		scale := d[at]
		dot := 0.0
		for a := range d {
			d[a] /= scale
			dot += d[a] * c[a]
		}
		for a := range c {
			c[a] /= dot
		}
		mode := Mode{Total: values[k], Direction: d, Covector: c}
		mode.Fresh, mode.Stale = form(c, fresh, d), form(c, stale, d)
		all[k] = mode
	}
	slices.SortStableFunc(all, func(a, b Mode) int { return compare(b.Total, a.Total) })
	return all
}

// form returns lᵀ M r.
func form(l []float64, m *mat.Dense, r []float64) float64 {
	return mat.Inner(mat.NewVecDense(len(l), l), m, mat.NewVecDense(len(r), r))
}

// eigenvectors returns the real parts of the eigenvalues of m, whose entries are finite,
// and the right and left eigenvectors as columns.
func eigenvectors(m *mat.Dense) (values []float64, right, left *mat.Dense) {
	want(finite(m), "a matrix of which eigenvalues are wanted", m.RawMatrix().Data, "finite entries") // else gonum does not return
	n, _ := m.Dims()
	largest, skew := 0.0, 0.0
	for i := range n {
		for j := range n {
			largest = max(largest, math.Abs(m.At(i, j)))
			skew = max(skew, math.Abs(m.At(i, j)-m.At(j, i)))
		}
	}
	if skew <= 1e-12*largest {
		sym := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				sym.SetSym(i, j, 0.5*(m.At(i, j)+m.At(j, i)))
			}
		}
		var e mat.EigenSym
		if !e.Factorize(sym, true) {
			panic("rom: the eigenvalues of a symmetric matrix do not converge")
		}
		var v mat.Dense
		e.VectorsTo(&v)
		return e.Values(nil), &v, &v
	}
	var e mat.Eigen
	if !e.Factorize(m, mat.EigenBoth) {
		panic("rom: the eigenvalues of a matrix do not converge")
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
