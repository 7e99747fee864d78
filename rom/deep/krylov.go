package deep

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Eigenvalue is an eigenvalue of a stiffness matrix, of a complex pair its real part.
type Eigenvalue struct {
	Value float64
	// Residual is ‖Λw − λw‖ for the unit vector w that was found, ≥ 0. Where Λ is symmetric some
	// eigenvalue is within it.
	Residual float64
}

// Largest returns the count largest eigenvalues of (1/C) Jᵀ H J on weight space, largest first. h
// has H of each context, A×A, such as Point.Fresh. It takes at most the given number of products,
// fewer if they span the range.
//
// Each product adds a vector to an orthonormal basis of the Krylov space of Jᵀ times a fixed
// irregular u. It is Lanczos' method where all H are symmetric, else Arnoldi's. Power iteration
// would find the largest modulus, which need not be positive. It panics where that vector is 0 or
// not finite.
func Largest(j Jacobian, h []*mat.Dense, count, products int) []Eigenvalue {
	weights, contexts, arms := j.Weights(), j.Contexts(), j.Arms()
	logits, forces := make([]float64, contexts*arms), make([]float64, contexts*arms)
	apply := func(w, out []float64) {
		j.Push(w, logits)
		for x := range contexts {
			at, to := mat.NewVecDense(arms, logits[x*arms:(x+1)*arms]), mat.NewVecDense(arms, forces[x*arms:(x+1)*arms])
			to.MulVec(h[x], at)
		}
		floats.Scale(1/float64(contexts), forces)
		j.Pull(forces, out)
	}
	for i := range logits { // sin is as irregular as random numbers and is the same everywhere
		logits[i] = math.Sin(float64(1 + i*i))
	}
	start := make([]float64, weights)
	j.Pull(logits, start)
	if norm := floats.Norm(start, 2); !(norm > 0 && norm <= math.MaxFloat64) {
		panic("deep: the Jacobian is 0 or not finite")
	}
	hessenberg, next := krylov(apply, start, min(products, weights, contexts*(arms-1)))
	of := ritzSymmetric
	if slices.ContainsFunc(h, func(m *mat.Dense) bool { return !linear.Symmetric(m) }) {
		of = ritz
	}
	all := of(hessenberg, next)
	slices.SortStableFunc(all, func(a, b Eigenvalue) int { return cmp.Compare(b.Value, a.Value) })
	return all[:min(count, len(all))]
}

// brokenDown is the share of a product that may be left over where the Krylov space is invariant:
// rounding.
const brokenDown = 1e-13

// krylov returns the matrix of a linear map, m×m, in an orthonormal basis of the Krylov space of
// start with at most size vectors. next is the norm of what the last product has outside of it.
func krylov(apply func(x, out []float64), start []float64, size int) (h *mat.Dense, next float64) {
	h = mat.NewDense(size, size, nil)
	v := slices.Clone(start)
	floats.Scale(1/floats.Norm(v, 2), v)
	var basis [][]float64
	largest := 0.0
	for k := range size {
		basis = append(basis, v)
		w := make([]float64, len(v))
		apply(v, w)
		largest = max(largest, floats.Norm(w, 2))
		for range 2 { // twice is enough (Kahan, Parlett)
			for i, b := range basis {
				dot := floats.Dot(b, w)
				h.Set(i, k, h.At(i, k)+dot)
				floats.AddScaled(w, -dot, b)
			}
		}
		next = floats.Norm(w, 2)
		if next <= brokenDown*largest {
			return mat.DenseCopyOf(h.Slice(0, k+1, 0, k+1)), 0
		}
		if k+1 < size {
			h.Set(k+1, k, next)
		}
		floats.Scale(1/next, w)
		v = w
	}
	return h, next
}

// ritz returns the eigenvalues of a Hessenberg matrix with their residuals: that of an eigenvector
// s is |next s_m|.
func ritz(h *mat.Dense, next float64) (all []Eigenvalue) {
	m, _ := h.Dims()
	var e mat.Eigen
	if !e.Factorize(h, mat.EigenRight) {
		panic("deep: the eigenvalues of a Hessenberg matrix do not converge")
	}
	var v mat.CDense
	e.VectorsTo(&v)
	for k, value := range e.Values(nil) {
		all = append(all, Eigenvalue{real(value), next * cmplx.Abs(v.At(m-1, k))})
	}
	return all
}

// ritzSymmetric does so of the matrix of a symmetric map, which is symmetric up to rounding.
func ritzSymmetric(h *mat.Dense, next float64) (all []Eigenvalue) {
	m, _ := h.Dims()
	values, vectors := linear.Axes(linear.SymmetricPart(h))
	for k, value := range values {
		all = append(all, Eigenvalue{value, next * math.Abs(vectors.At(m-1, k))})
	}
	return all
}
