package rom

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// rest is what the theory knows at a fixed point, in the reduced coordinates
// √n_c θ_c of the classes of equal arms (plain logits where all arms differ).
type rest struct {
	folded
	model        *model
	logits       []float64  // merged
	q            *mat.Dense // basis of the reduced coordinates, C×(C−1)
	fresh, stale *mat.Dense // C×C
	noise        *mat.Dense // C×C, Cov of the force in those coordinates
	modes        []Mode     // of the merged bandit, stiffest first
}

// newRest evaluates stiffness and noise at the merged logits.
func newRest(f folded, logits []float64) *rest {
	r := &rest{folded: f, logits: logits, q: basis(f.count)}
	r.model = newModel(&r.folded.Params)
	r.fresh, r.stale = r.model.stiffness(logits)
	r.isometric(r.fresh)
	r.isometric(r.stale)
	r.noise = mat.DenseCopyOf(r.model.covariance())
	r.isometric(r.noise)
	r.modes = modes(r.fresh, r.stale, r.q)
	return r
}

// isometric writes D_n^{−1/2} M D_n^{−1/2}: the merged force per arm, and √n_c
// for the length of a class's common motion.
func (r *rest) isometric(m *mat.Dense) {
	for a, x := range r.count {
		for b, y := range r.count {
			m.Set(a, b, m.At(a, b)/math.Sqrt(x*y))
		}
	}
}

// rewardGradient returns ∇J in the reduced coordinates: per arm π_a(m_a − J),
// alike within a class.
func (r *rest) rewardGradient() []float64 {
	reward := r.model.expected(r.logits)
	gradient := make([]float64, len(r.count))
	for c, p := range r.model.now.probs {
		gradient[c] = p * (r.Arms[c].Mean - reward) / math.Sqrt(r.count[c])
	}
	return reduce(r.q, gradient)
}

// reduce returns Qᵀx.
func reduce(q *mat.Dense, x []float64) []float64 {
	var out mat.VecDense
	out.MulVec(q.T(), mat.NewVecDense(len(x), x))
	return out.RawVector().Data
}
