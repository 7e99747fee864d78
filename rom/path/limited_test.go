package path

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
)

// The law of a limited normal gradient is that of a 200,000 draws, from noise that is small beside
// the mean to noise alone.
func TestScaledLaw(t *testing.T) {
	const draws = 200_000
	for _, c := range []float64{0.3, 1, 3} {
		for _, noise := range []float64{0.05, 0.5, 2, 20} {
			cov := mat.NewSymDense(3, []float64{2, -1, -1, -1, 1.5, -0.5, -1, -0.5, 1.5})
			cov.ScaleSym(noise*noise/5, cov)
			mean := []float64{0.9, -0.7, -0.2}
			ridge := mat.NewSymDense(3, []float64{1e-12, 0, 0, 0, 1e-12, 0, 0, 0, 1e-12})
			ridge.AddSym(ridge, cov)
			law, _ := distmv.NewNormal(mean, ridge, rand.NewPCG(7, 7))
			sum, second := make([]float64, 3), mat.NewSymDense(3, nil)
			for range draws {
				g := law.Rand(nil)
				floats.Scale(min(1, c/floats.Norm(g, 2)), g)
				floats.AddScaled(sum, 1.0/draws, g)
				second.SymRankOne(second, 1.0/draws, mat.NewVecDense(3, g))
			}
			second.SymRankOne(second, -1, mat.NewVecDense(3, sum))
			scaledLaw(mean, cov, c)
			var off mat.SymDense
			off.ScaleSym(-1, second)
			off.AddSym(&off, cov)
			unit := min(c, math.Hypot(1.15, noise))
			if d := floats.Distance(mean, sum, 2); d > 5e-3*unit || mat.Norm(&off, 2) > 1e-2*unit*unit {
				t.Errorf("c = %g, noise %g: got %v and %v, want %v and %v", c, noise, mean,
					mat.Formatted(cov), sum, mat.Formatted(second))
			}
		}
	}
}
