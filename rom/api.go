package rom

import "gonum.org/v1/gonum/mat"

// MeanForce writes E[g](θ, θ_old) into dst.
func MeanForce(dst []float64, p Params, theta, old []float64) Kind { panic("todo") }

// ForceCovariance returns Cov[g](θ, θ_old) of one optimizer step (B groups averaged).
func ForceCovariance(p Params, theta, old []float64) (*mat.SymDense, Kind) { panic("todo") }

// FixedPoints returns all fixed points found, by increasing expected reward.
func FixedPoints(p Params) []FixedPoint { panic("todo") }

// Reached returns the fixed point that the on-policy mean field reaches from the reference.
func Reached(p Params) (FixedPoint, bool) { panic("todo") }

// StiffnessAt returns Λ_f and Λ_s at θ (both A×A) in closed form.
func StiffnessAt(p Params, theta []float64) (fresh, stale *mat.Dense) { panic("todo") }

// Modes returns the modes of Λ_f + Λ_s on the centred subspace, stiffest first.
func Modes(fresh, stale *mat.Dense) []Mode { panic("todo") }

// MeanField runs θ_{t+1} = optimizer(E[g](θ_t, θ_old)) for steps steps from rest and
// calls visit at t = 0 … steps with the logits (valid during the call).
func MeanField(p Params, init []float64, steps int, visit func(t int, theta []float64)) Kind {
	panic("todo")
}

// ClosedForm returns the reduced-order model's J(t) from rest at init; two arms, or a start
// along one mode.
func ClosedForm(p Params, init []float64) (j func(t float64) float64, scope Scope) { panic("todo") }

// Predict returns everything the theory says of p at rest.
func Predict(p Params) Prediction { panic("todo") }

// Closed forms of docs/theory.md §5 for one mode with a frozen force; κ = ηλ.
func BlockThreshold(mu float64, k int) float64    { panic("todo") }
func BlockOnset(mu float64, k int) float64        { panic("todo") }
func DelayThreshold(mu float64, tau int) float64  { panic("todo") }
func DelayOnset(mu float64, tau int) float64      { panic("todo") }
func NesterovThreshold(mu float64, k int) float64 { panic("todo") }
func NesterovOnset(mu float64, k int) float64     { panic("todo") }
func BetaCritical(refGap float64) float64         { panic("todo") } // β_c(z_ref), 0/1 arms, std, exact KL, G = ∞
