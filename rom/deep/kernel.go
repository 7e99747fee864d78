package deep

import (
	"fmt"
	"math"

	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// Range is weight space as far as the logits depend on it: the range of Jᵀ, in an orthonormal basis
// of r ≤ C(A−1) vectors. Centred logits are Qᵀℓ, Q of A−1 orthonormal columns in each context. With
// the kernel K = QᵀJJᵀQ = V S Vᵀ the basis is JᵀQ V S^{-1/2}. In its coordinates y
//
//	Qᵀ δℓ = V S^{1/2} y,   Λ = (1/C) S^{1/2}Vᵀ (QᵀHQ) V S^{1/2}.
//
// The other directions of weight space move no logit and feel no force.
type Range struct {
	// Kernel is K, the centred empirical tangent kernel, C(A−1)×C(A−1).
	Kernel *mat.SymDense
	// Asymmetry is the largest |K_ij − K_ji| over the largest entry, before the mean of both was
	// taken. It is rounding, unless Pull and Push are not adjoint.
	Asymmetry float64

	contexts, arms int
	center         *mat.Dense // Q of one context, A×(A−1)
	lift           *mat.Dense // V S^{1/2}, C(A−1)×r
	drop           *mat.Dense // S^{-1/2} Vᵀ, r×C(A−1)
}

// adjoint is the largest Asymmetry of a Jacobian in floating point. Products sum over at most some
// 1e6 entries, whose rounding is 1e-16 each and at worst adds up.
const adjoint = 1e-9

// NewRange returns the range of a Jacobian from C(A−1) products Jᵀu and as many Jd. Singular values
// of J of at most 1e-6 times the largest are left out: stiffnesses of 1e-12, which package linear
// takes for rounding as well. It panics where the Jacobian is 0 or not finite, or Pull is not the
// transpose of Push.
func NewRange(j Jacobian) *Range {
	contexts, arms := j.Contexts(), j.Arms()
	r := &Range{contexts: contexts, arms: arms, center: linear.BasisOfArms(arms)}
	n := contexts * (arms - 1)
	rows := mat.NewDense(n, n, nil)
	u, gradient := make([]float64, contexts*arms), make([]float64, j.Weights())
	unit := make([]float64, n)
	for i := range n {
		unit[i] = 1
		r.spread(u, unit)
		unit[i] = 0
		j.Pull(u, gradient)
		j.Push(gradient, u)
		rows.SetRow(i, r.gather(u))
	}
	r.symmetrize(rows)
	values, vectors := linear.Axes(r.Kernel)
	rank := 0
	for _, s := range values {
		if s > linear.Negligible*values[n-1] {
			rank++
		}
	}
	if rank == 0 {
		panic("deep: no eigenvalue of JJᵀ is positive: Pull and Push have opposite signs")
	}
	r.lift, r.drop = mat.NewDense(n, rank, nil), mat.NewDense(rank, n, nil)
	for k := range rank { // the largest first
		root := math.Sqrt(values[n-1-k])
		for i := range n {
			v := vectors.At(i, n-1-k)
			r.lift.Set(i, k, v*root)
			r.drop.Set(k, i, v/root)
		}
	}
	return r
}

// symmetrize sets the kernel from the products of a row of JᵀQ each.
func (r *Range) symmetrize(rows *mat.Dense) {
	n, _ := rows.Dims()
	r.Kernel = mat.NewSymDense(n, nil)
	largest, miss := 0.0, 0.0
	for i := range n {
		for k := i; k < n; k++ {
			a, b := rows.At(i, k), rows.At(k, i)
			r.Kernel.SetSym(i, k, 0.5*(a+b))
			largest, miss = max(largest, math.Abs(a)), max(miss, math.Abs(a-b))
		}
	}
	if !(largest > 0 && largest <= math.MaxFloat64) {
		panic("deep: the Jacobian is 0 or not finite")
	}
	if r.Asymmetry = miss / largest; !(r.Asymmetry <= adjoint) {
		panic(fmt.Sprintf("deep: JJᵀ differs from its transpose by %.2g of its largest entry %.2g, want at most %.0g: Pull and Push are not adjoint", r.Asymmetry, largest, adjoint))
	}
}

// spread writes Qx, of C·A entries.
func (r *Range) spread(dst, x []float64) { r.perContext(dst, x, r.center) }

// gather returns Qᵀℓ, of C(A−1) entries.
func (r *Range) gather(logits []float64) []float64 {
	x := make([]float64, r.contexts*(r.arms-1))
	r.perContext(x, logits, r.center.T())
	return x
}

// perContext writes m x_x of each context x.
func (r *Range) perContext(dst, x []float64, m mat.Matrix) {
	rows, columns := m.Dims()
	for c := range r.contexts {
		mat.NewVecDense(rows, dst[c*rows:(c+1)*rows]).MulVec(m, mat.NewVecDense(columns, x[c*columns:(c+1)*columns]))
	}
}

// Reduced returns factor times S^{1/2}Vᵀ (QᵀHQ) V S^{1/2}, r×r, of the matrices H of the contexts,
// A×A each.
func (r *Range) Reduced(h []*mat.Dense, factor float64) *mat.Dense {
	n, rank := r.lift.Dims()
	within := r.arms - 1
	right := mat.NewDense(n, rank, nil)
	for x := range r.contexts {
		from, to := x*within, (x+1)*within
		right.Slice(from, to, 0, rank).(*mat.Dense).Mul(linear.Within(r.center, h[x]), r.lift.Slice(from, to, 0, rank))
	}
	var out mat.Dense
	out.Mul(r.lift.T(), right)
	out.Scale(factor, &out)
	return &out
}

// OnLogits returns the change of all logits, C·A, centred in each context, that coordinates y of
// the range stand for.
func (r *Range) OnLogits(y []float64) []float64 { return r.onLogits(r.lift, y) }

// Covector returns the covector on logits, C·A, whose product with a change of the logits is that
// of the given covector with its coordinates y.
func (r *Range) Covector(l []float64) []float64 { return r.onLogits(r.drop.T(), l) }

// onLogits returns Qmx, C·A.
func (r *Range) onLogits(m mat.Matrix, x []float64) []float64 {
	logits := make([]float64, r.contexts*r.arms)
	r.spread(logits, product(m, x))
	return logits
}

// onRange returns the covector in the coordinates y of a covector on logits.
func (r *Range) onRange(covector []float64) []float64 { return product(r.lift.T(), r.gather(covector)) }

// product returns mx.
func product(m mat.Matrix, x []float64) []float64 {
	var y mat.VecDense
	y.MulVec(m, mat.NewVecDense(len(x), x))
	return y.RawVector().Data
}
