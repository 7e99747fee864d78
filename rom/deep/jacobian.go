// Package deep is the linear theory of GRPO on a policy whose logits are functions of shared weights,
// such as a network, at a fixed point (docs/theory-deep.md). It sees the policy through two products
// with the Jacobian of the logits alone, and each context through the derivatives of its mean force,
// which package rom has.
//
// To use it:
//
//  1. Describe each context by a rom.Params and call FixedPoint, which gives the logits π* of all
//     contexts, or At for logits of your own. A Point has the matrices H of each context there.
//  2. Bring the weights to these logits, and call NewRange with the Jacobian there: the dense
//     representation of weight space on the range of Jᵀ.
//  3. Range.Dynamics has the spectral radius, thresholds, modes and the stationary law under an
//     optimizer and a lag. Under Adam take the Jacobian from Preconditioned.
//  4. Largest finds the largest eigenvalues from a few products, without the dense representation;
//     Path follows the mean field through the kernel of a Range.
//
// Notation: C contexts of A arms, P weights w, logits ℓ, row by row of a context each, J = ∂ℓ/∂w. In
// each context u_x(ℓ, ℓ_old) is the mean force on the logits, H_f = −∂u/∂ℓ and H_s = −∂u/∂ℓ_old. A
// step climbs along g = (1/C) Σ_x J_xᵀ u_x, so that at a fixed point, where all u_x vanish,
//
//	Λ_f = (1/C) Jᵀ H_f J,  Λ_s = (1/C) Jᵀ H_s J,  Λ = Λ_f + Λ_s
//
// of which at most C(A−1) eigenvalues are not 0.
package deep

import (
	"fmt"
	"math"
)

// Jacobian is the matrix J = ∂ℓ/∂w of the logits of all contexts, C·A×P, at given weights, by its
// products. A network bound at its last weights is one.
type Jacobian interface {
	Weights() int               // P ≥ 1
	Contexts() int              // C ≥ 1
	Arms() int                  // A ≥ 2
	Pull(u, gradient []float64) // writes Jᵀu, u of C·A entries, into gradient, of P
	Push(d, change []float64)   // writes Jd, d of P entries, into change, of C·A
}

// Preconditioned returns the Jacobian of the same logits in the weights w_i/√p_i, J diag(√p), where p are the
// gains, of P entries ≥ 0. A step that multiplies the gradient by p is plain in these weights, so that all of this package
// holds for the preconditioned matrices diag(√p) Λ diag(√p).
func Preconditioned(j Jacobian, gains []float64) Jacobian {
	if len(gains) != j.Weights() {
		panic(fmt.Sprintf("deep: %d gains, want %d, one per weight", len(gains), j.Weights()))
	}
	root := make([]float64, len(gains))
	for i, p := range gains {
		root[i] = squareRoot(p)
	}
	return &preconditioned{Jacobian: j, root: root, scaled: make([]float64, len(gains))}
}

type preconditioned struct {
	Jacobian
	root, scaled []float64
}

func (p *preconditioned) Pull(u, gradient []float64) {
	p.Jacobian.Pull(u, gradient)
	for i, r := range p.root {
		gradient[i] *= r
	}
}

func (p *preconditioned) Push(d, change []float64) {
	for i, r := range p.root {
		p.scaled[i] = r * d[i]
	}
	p.Jacobian.Push(p.scaled, change)
}

// squareRoot returns √x and panics unless x ≥ 0 is finite.
func squareRoot(x float64) float64 {
	if !(x >= 0) || math.IsInf(x, 1) {
		panic(fmt.Sprintf("deep: a gain of %v, want finite and at least 0", x))
	}
	return math.Sqrt(x)
}
