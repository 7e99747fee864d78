package rom

// Refreshed returns the logits at the end of an infinitely long block that
// starts at old.
func Refreshed(p Params, old []float64) ([]float64, Scope) {
	newModel(&p)
	return nil, Scope{Because: "not computed"}
}

// SkewMultiplier returns −skew_π(r)/(2β) at the policy of theta.
func SkewMultiplier(p Params, theta []float64) float64 {
	newModel(&p)
	return 0
}
