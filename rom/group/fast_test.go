package group

import (
	"slices"
	"testing"

	"grposim/option"
)

// Value is the entry of Values, and takes no memory: of equal rewards of several arms, of a density that has none, and where the
// KL makes all rewards different.
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
