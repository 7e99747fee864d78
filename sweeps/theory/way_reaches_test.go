package theory

import (
	"math"
	"testing"
)

func TestReaches(t *testing.T) {
	steps, nan, inf := []int{0, 10, 30}, math.NaN(), math.Inf(1)
	for _, c := range []struct {
		values    []float64
		level     float64
		fromBelow bool
		want      float64
	}{
		{[]float64{0, 1, 3}, 0.5, true, 5},
		{[]float64{0, 1, 3}, 2, true, 20},
		{[]float64{0, 1, 3}, 0, true, 0},
		{[]float64{0, 1, 3}, 4, true, inf},
		{[]float64{0, 4, 2}, 3, true, 7.5}, // the first time
		{[]float64{3, 1, 0}, 2, false, 5},
		{[]float64{3, 1, 0}, -1, false, inf},
		{[]float64{0, 1, nan}, 0.5, true, 5},
		{[]float64{0, nan, 3}, 0.5, true, nan},
		{[]float64{0, inf, inf}, 0.5, true, 0},     // the upper edge of an unknown band
		{[]float64{0, -inf, -inf}, 0.5, true, inf}, // its lower edge
	} {
		got := Reaches(steps, c.values, c.level, c.fromBelow)
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v reaches %g at %g, want %g", c.values, c.level, got, c.want)
		}
	}
}

// A path that ends where its fixed point is has its own size, whichever arm is in front there. Of
// 256 runs J is 0.3904 ± 0.0003 at the last step.
func TestWayToAWorseArm(t *testing.T) {
	s := settingsOf(t, `name: worse-arm
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.1}, {reward: bernoulli, mean: 0.9}]}
policy: {reference: [1.5, 0], init: [1.5, 0]}
grpo: {group_size: 16, advantage: {scale: none}, kl: {coefficient: 0.8}}
optimizer: {learning_rate: 0.05}
run: {steps: 3000}
`)
	way := NewCache().Way(&s, math.NaN())
	n, lost := len(way.Steps)-1, way.Arrival.Lost
	near(t, "J", way.Reward[n], 0.3904, 3e-4)
	near(t, "the deviation of J", way.Deviation[n], 0.0044, 2e-4)
	near(t, "what is left out", way.Neglected[n], 0, 1e-4)
	if lost.Out() || lost.Value != 0 || way.TimeTo.Steps.Size() > 1 {
		t.Errorf("lost %+v, time %+v", lost, way.TimeTo)
	}
}
