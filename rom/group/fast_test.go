package group

import (
	"slices"
	"testing"

	"grposim/option"
)

// Value is the entry of Values and takes no memory. Cases: equal rewards of several arms, a density
// that has none, and rewards that the KL makes all different.
func TestValueOfTheRewards(t *testing.T) {
	arms := []option.Arm{{Mean: 0.25, Law: option.Bernoulli}, {Mean: 1, Law: option.Constant}, {Mean: 3, Std: 1, Law: option.Normal}, {Mean: 1, Law: option.Constant}, {Mean: 0.5, Law: option.Bernoulli}}
	probs := []float64{0.125, 0.25, 0.0625, 0.5, 0.0625}
	e := option.Estimator{GroupSize: 4, GroupsPerStep: 1}
	apart := e
	apart.KL = option.KL{Coefficient: 1, In: option.InReward}
	for _, c := range []struct {
		e    *option.Estimator
		want []float64
	}{
		{&e, []float64{0.125*0.25 + 0.25 + 0.5 + 0.0625*0.5, 0.125*0.75 + 0.0625*0.5}},
		{&apart, []float64{0.125 * 0.25, 0.125 * 0.75, 0.25, 0.5, 0.0625 * 0.5, 0.0625 * 0.5}},
	} {
		b := newBase(arms, c.e, NewSamples(len(arms)))
		if got := b.Values(probs); !slices.Equal(got, c.want) {
			t.Errorf("KL of the reward %v: values %v, want %v", c.e.KL.OfReward(), got, c.want)
		}
		for v, want := range c.want {
			if got := b.Value(probs, v); got != want {
				t.Errorf("value %d: %v, want %v", v, got, want)
			}
		}
		if n := testing.AllocsPerRun(10, func() { b.Value(probs, 1) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

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
