package group

import (
	"math"
	"testing"

	"grposim/option"
)

// Σy_i² = G for every group with ε = 0 and the population deviation, and Σy_i = 0: for
// every composition ΣW_j = G, ΣT_j = 0 and Σ_kU_jk = 0. That holds over scales of rewards
// that differ by a factor 1e8.
func TestCompositionSums(t *testing.T) {
	for _, std := range []float64{1e-8, 1e-3, 0.3} {
		for _, size := range []int{2, 3, 8} {
			arms := []option.Arm{{Law: option.Normal, Mean: 1, Std: std}, {Law: option.Constant, Mean: 0.5}, {Law: option.Bernoulli, Mean: 0.4}}
			c := newCompositions(arms, &option.Estimator{GroupSize: size, GroupsPerStep: 1})
			parts := len(c.parts)
			for i := range c.ways {
				squares, pulls := 0.0, 0.0
				for j := range parts {
					squares += c.square[i*parts+j]
					pulls += c.pull[i*parts+j]
					row := 0.0
					for k := range parts {
						row += c.pairs[(i*parts+j)*parts+k]
					}
					if math.Abs(row) > 1e-10*c.square[i*parts+j]+1e-10 {
						t.Errorf("std %g, composition %v: Σ_kU_jk = %g", std, c.counts[i*parts:(i+1)*parts], row)
					}
				}
				if squares > 0 && math.Abs(squares/float64(size)-1) > 1e-11 || math.Abs(pulls) > 1e-11*float64(size) {
					t.Errorf("std %g, composition %v: ΣW = %.15g, ΣT = %g", std, c.counts[i*parts:(i+1)*parts], squares, pulls)
				}
			}
		}
	}
}

// The transforms of φ_1 and φ_2 by quadrature are 1/(s+ε) and its square, and the two
// branches of laplace agree where they meet.
func TestLaplace(t *testing.T) {
	for _, epsilon := range []float64{0, 1e-4, 0.3, 5, 1e4} {
		for _, s := range []float64{0.2, 1, 3} {
			first, second := 0.0, 0.0
			const h = 0.02
			for v := -80.0; v < 10; v += h {
				x := math.Exp(v)
				a, b := laplace(epsilon * math.Sqrt(x))
				first += h * x * a / math.Sqrt(x) * math.Exp(-x*s*s)
				second += h * x * b * math.Exp(-x*s*s)
			}
			near(t, "1/(s+ε)", first, 1/(s+epsilon), 1e-12)
			near(t, "1/(s+ε)²", second, 1/((s+epsilon)*(s+epsilon)), 1e-12)
		}
	}
	a, b := laplace(2)
	c, d := laplace(math.Nextafter(2, 0))
	near(t, "φ_1", a, c, 1e-13)
	near(t, "φ_2", b, d, 1e-12)
}
