package deep

import (
	"fmt"

	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/rest"

	"gonum.org/v1/gonum/mat"
)

// Point is what all contexts are at given logits, with the policy as its own snapshot.
type Point struct {
	Arms   int       // A
	Logits []float64 // ℓ, C·A, row by row
	Reward float64   // J, the mean over contexts of the expected reward
	Slope  []float64 // ∂J/∂ℓ = π∘(m − J_x)/C, C·A

	// Of each context, A×A: H_f = −∂u/∂ℓ, H_s = −∂u/∂ℓ_old and Cov u of one step. Their rows and
	// columns sum to 0, up to rounding.
	Fresh, Stale, Noise []*mat.Dense
}

// FixedPoint returns the Point at which the mean force of every context vanishes. Each is the one
// that the mean field of that context alone reaches from Params.Start (see rest.Reached). With
// enough weights it is a fixed point of the whole. Without scale and with the exact KL it is log
// π = log π_ref + m/β. It is nil where a context has none.
func FixedPoint(contexts []cell.Params) *Point {
	var logits []float64
	for x := range contexts {
		at, ok := rest.Reached(contexts[x])
		if !ok {
			return nil
		}
		logits = append(logits, at.Logits...)
	}
	return At(contexts, logits)
}

// At returns the Point at logits, C·A, row by row. Away from a fixed point its matrices are those
// of Gauss and Newton. Λ also has the force times the curvature of the logits, which no product
// with J shows.
func At(contexts []cell.Params, logits []float64) *Point {
	arms := len(contexts[0].Arms)
	if len(logits) != arms*len(contexts) {
		panic(fmt.Sprintf("deep: %d logits, want %d, of %d contexts with %d arms",
			len(logits), arms*len(contexts), len(contexts), arms))
	}
	p := &Point{Arms: arms, Logits: logits, Slope: make([]float64, len(logits))}
	for x := range contexts {
		row := logits[x*arms : (x+1)*arms]
		fresh, stale := force.Stiffness(contexts[x], row)
		noise, _ := force.Covariance(contexts[x], row, row)
		p.Fresh, p.Stale = append(p.Fresh, fresh), append(p.Stale, stale)
		p.Noise = append(p.Noise, mat.DenseCopyOf(noise))
		slope := p.Slope[x*arms : (x+1)*arms]
		probs := cell.PolicyAt(row)
		reward := cell.Expected(contexts[x].Arms, probs)
		for a, arm := range contexts[x].Arms {
			slope[a] = probs[a] * (arm.Mean - reward) / float64(len(contexts))
		}
		p.Reward += reward / float64(len(contexts))
	}
	return p
}
