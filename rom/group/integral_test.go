package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
)

// The work of an evaluation of the force has a bound, whatever the arms.
func TestWorkIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	for range 200 {
		var arms []option.Arm
		e := option.Estimator{GroupSize: 2 << r.IntN(14), GroupsPerStep: 1, Advantage: option.Advantage{Epsilon: float64(r.IntN(2))}}
		for range 2 + r.IntN(12) {
			arms = append(arms, option.Arm{Law: option.Law(r.IntN(3)), Mean: r.Float64(), Std: math.Pow(10, -8*r.Float64())})
		}
		if work := New(arms, &e, NewTables(arms, &e), NewSamples(len(arms))).Work(); work > maxIntegralWork {
			t.Errorf("%d arms, G = %d: an evaluation takes %g ns", len(arms), e.GroupSize, work)
		}
	}
}
