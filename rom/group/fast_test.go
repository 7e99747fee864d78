package group

import (
	"testing"

	"grposim/option"
)

// φ is that of a law that has computed none before, for groups of which all inverse scales are kept
// and for larger ones.
func TestPhiIsKept(t *testing.T) {
	arms := []option.Arm{{Mean: 1, Law: option.Bernoulli}, {Mean: 0, Law: option.Bernoulli}}
	for _, size := range []int{2, 16, mostInverses + 100} {
		for _, scale := range []option.Scale{option.StdScale, option.MeanScale, option.NoScale} {
			e := option.Estimator{GroupSize: size, GroupsPerStep: 1, Advantage: option.Advantage{Scale: scale}}
			known := NewCounts(arms, &e, NewSamples(2))
			for _, j := range []float64{0.5, 0.5, 0.99, 0.01, 0.5} {
				if got, want := known.Phi(j, 1-j), NewCounts(arms, &e, NewSamples(2)).Phi(j, 1-j); got != want {
					t.Errorf("G = %d, %v, J = %v: φ = %v, of a new law %v", size, scale, j, got, want)
				}
			}
		}
	}
}
