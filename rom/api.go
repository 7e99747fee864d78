package rom

// ClosedForm returns the reduced-order model's J(t) from rest at init; two arms, or a start
// along one mode.
func ClosedForm(p Params, init []float64) (j func(t float64) float64, scope Scope) { panic("todo") }

// Closed forms of docs/theory.md §5 for one mode with a frozen force; κ = ηλ.
func BlockThreshold(mu float64, k int) float64    { panic("todo") }
func BlockOnset(mu float64, k int) float64        { panic("todo") }
func DelayThreshold(mu float64, tau int) float64  { panic("todo") }
func DelayOnset(mu float64, tau int) float64      { panic("todo") }
func NesterovThreshold(mu float64, k int) float64 { panic("todo") }
func NesterovOnset(mu float64, k int) float64     { panic("todo") }
func BetaCritical(refGap float64) float64         { panic("todo") } // β_c(z_ref), 0/1 arms, std, exact KL, G = ∞
