// Package deep is the linear theory of GRPO on a network at a fixed point: logits are functions of
// shared weights (docs/theory-deep.md). It sees the policy through two products with the Jacobian
// of the logits, and each context through its mean force's derivatives from package rom/force.
//
// To use it:
//
//  1. Describe each context by a cell.Params and call FixedPoint, which gives the logits π* of all
//     contexts, or At for logits of your own. A Point has the matrices H of each context there.
//  2. Bring the weights to these logits, and call NewRange with the Jacobian there: weight space on the
//     range of Jᵀ, dense.
//  3. Range.Dynamics has the spectral radius, thresholds, modes and the stationary law under an
//     optimizer and a lag.
//  4. Largest finds the largest eigenvalues from a few products, without the dense representation.
//
// Notation: C contexts of A arms, P weights w, logits ℓ (a row for each context), J = ∂ℓ/∂w. In
// each context u_x(ℓ, ℓ_old) is the mean force on the logits, H_f = −∂u/∂ℓ and H_s = −∂u/∂ℓ_old. A
// step climbs along g = (1/C) Σ_x J_xᵀ u_x. At a fixed point, where all u_x vanish,
//
//	Λ_f = (1/C) Jᵀ H_f J,  Λ_s = (1/C) Jᵀ H_s J,  Λ = Λ_f + Λ_s.
//
// At most C(A−1) eigenvalues of these are not 0.
package deep

// Jacobian is the matrix J = ∂ℓ/∂w of the logits of all contexts, C·A×P, at given weights, by its
// products. A network bound at its last weights is one.
type Jacobian interface {
	Weights() int               // P ≥ 1
	Contexts() int              // C ≥ 1
	Arms() int                  // A ≥ 2
	Pull(u, gradient []float64) // writes Jᵀu, u of C·A entries, into gradient, of P
	Push(d, change []float64)   // writes Jd, d of P entries, into change, of C·A
}
