package arrive

import (
	"math"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom/rest"
)

// Of the way from a small offset x, (1−κ)^t is left after t steps, with κ = ηλ, on
// average over the steps counted. A schedule that ends early leaves it where it was, and
// another attractor is out of scope.
func TestUnsettled(t *testing.T) {
	p := reference(option.StdScale, 1.2, option.Infinite)
	p.Optimizer = option.Optimizer{LearningRate: 0.05}
	at := rest.Predict(p)
	const x, from, to = 1e-4, 30, 90
	init := []float64{at.FixedPoint.Logits[0] + x, at.FixedPoint.Logits[1] - x}
	q := at.FixedPoint.Policy
	first := 2 * x * q[0] * q[1] * 0.7
	rho := 1 - 0.05*at.Stiffness.Total
	want := first * (math.Pow(rho, from) - math.Pow(rho, to)) / (1 - rho) / (to - from)
	left, within := Unsettled(p, &at, init, from, to)
	if !within.In {
		t.Fatal(within)
	}
	near(t, "left of J", left.RewardMean, want, 1e-3) // the curvature of J adds x
	p.Optimizer.Schedule.Kind, p.Optimizer.Schedule.Total = option.LinearDecay, 1
	left, _ = Unsettled(p, &at, init, from, to)
	near(t, "left after a decay", left.RewardMean, first*rho, 1e-3)
	if _, within := Unsettled(
		p, &at, []float64{at.FixedPoint.Logits[0] + 2, at.FixedPoint.Logits[1] - 2}, from,
		to); within.In || !strings.Contains(within.Because.String(), "logits away") {
		t.Errorf("a run that stays away: %+v", within)
	}
}
