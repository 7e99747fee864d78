//go:build !goexperiment.simd || !amd64 || go1.27

package network

// accumulate adds to every entry of c, in this order of k,
//
//	c_ij += Σ_k a_(i·rowStep + k·step) b_kj,
//
// where the entries of a are counted in memory. Every product is rounded.
func accumulate(c, a matrix, rowStep, step int, b matrix) { accumulatePlain(c, a, rowStep, step, b) }

// tanhs replaces z by tanh z = sign(z) (1 − e)/(1 + e), e = e^(−2|z|), and sets slopes to 1 − tanh²
// z. The absolute error is two roundings. Lengths are multiples of 8.
func tanhs(z, slopes []float64) { tanhsPlain(z, slopes) }

// gelus replaces z by z Φ(z), Φ the normal distribution function, and sets slopes to Φ(z) + z
// Φ'(z). The absolute error is below 3e-16 (1+|z|). For x ≥ 0, Φ(−x) is Φ'(x) times a series.
// Lengths are multiples of 8.
func gelus(z, slopes []float64) { gelusPlain(z, slopes) }
