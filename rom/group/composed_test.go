package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
)

// Nodes in the place of compositions err by what LeftOut says, and without shifts by rounding. Half
// of the force is of groups that both sum alike.
func TestNodesAreNearCompositions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	e := &option.Estimator{GroupSize: 8, Advantage: option.Advantage{Epsilon: 1e-4},
		KL: option.KL{Coefficient: 1, In: option.InReward}, Importance: option.Importance{Mode: option.Clip}}
	for i := range 120 {
		width := [3]float64{0, 0.01, 0.1}[i%3]
		s, arms, total := NewSamples(3), make([]option.Arm, 3), 0.0
		for a := range arms {
			arms[a].Mean = max(0, min(2*r.Float64()-0.5, 1))
			s.Old[a] = math.Exp(r.NormFloat64())
			s.Up[a], s.Down[a] = 1-0.2*r.Float64(), float64(r.IntN(2))
			s.Shift[a] = width * r.NormFloat64()
			total += s.Old[a]
		}
		arms[0].Mean = 0.4
		for a := range s.Old {
			s.Old[a] /= total
		}
		exact, near := Compose(arms, e, s), Compose(arms, e, s)
		near.summed = make([][]int, 2)
		for _, x := range near.listed() {
			near.summed[int(x.reward)] = append(near.summed[int(x.reward)], x.value)
		}
		if !exact.Exact() || near.Exact() {
			t.Fatal("want compositions and nodes")
		}
		laws, means, noises := [2]*Composed{exact, near}, Zeros(2, 3), [2][][]float64{Square(3), Square(3)}
		for k, l := range laws {
			l.Mean(means[k])
			l.Covariance(noises[k], Square(3), nil)
		}
		mean, noise := near.LeftOut()
		scale, trace := 0.0, 0.0
		for a, f := range means[0] {
			scale, trace = max(scale, math.Abs(f)), trace+noises[0][a][a]
		}
		for a, f := range means[0] {
			if err := math.Abs(means[1][a] - f); err > (mean+1e-12)*scale {
				t.Errorf("%d: force errs by %g of %g, said %g", i, err, scale, mean)
			}
			if err := math.Abs(noises[1][a][a] - noises[0][a][a]); err > (noise+1e-12)*trace {
				t.Errorf("%d: noise errs by %g of %g, said %g", i, err, trace, noise)
			}
		}
	}
}
