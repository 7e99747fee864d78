package arrive

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/rest"
)

// pathCell is a bandit of two Bernoulli arms under a heavy ball of μ = 0.9, G = 16.
func pathCell(best, other float64, scale option.Scale, mode option.ImportanceMode, beta,
	rate float64, interval int) cell.Params {
	return cell.Params{
		Arms: []option.Arm{{Law: option.Bernoulli, Mean: best}, {Law: option.Bernoulli, Mean: other}},
		Estimator: option.Estimator{
			GroupSize: 16, GroupsPerStep: 1, Advantage: option.Advantage{Scale: scale},
			Importance: option.Importance{Mode: mode}, KL: option.KL{Coefficient: beta},
		},
		Lag:       option.Lag{Interval: interval},
		Optimizer: option.Optimizer{Kind: option.HeavyBall, LearningRate: rate, Momentum: 0.9},
	}
}

// The multipliers at given gaps and the overshoots of docs/theory-neglected.md §6.11, from another
// program.
func TestMarginAlong(t *testing.T) {
	within := func(name string, got, want, tolerance float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s: got %.7g, want %.7g", name, got, want)
		}
	}
	// A fixed point with a real multiplier, 0.969251, and an overshoot that comes from complex ones on
	// the way.
	m := MarginAlong(pathCell(0.63, 0.42, option.StdScale, option.Ratio, 0.1, 0.75, 1),
		[]float64{0, 0}, 400)
	within("overshoot", *m.Overshoot, 0.6220, 5e-5)
	within("real part at the start", m.Oscillating.Multiplier[0], 0.931619, 1e-6)
	within("imaginary part", m.Oscillating.Multiplier[1], 0.179127, 1e-6)
	// 0.914800 at a gap of 1
	within("real part where it is stiffest", m.Stiffest.Multiplier[0], 0.9148, 1e-3)
	if m.Stiffest.Step == 0 || !m.Stiffest.Oscillates {
		t.Errorf("stiffest %+v, want a point past the start", m.Stiffest)
	}
	for _, c := range []struct{ rate, atStart, overshoot float64 }{{0.05, 1.132830, 0},
		{0.2, 1.396634, 0.4871}} {
		p := pathCell(0.9, 0.2, option.NoScale, option.NoImportance, 0.2, c.rate, 4)
		p.KL.At = option.AtSnapshot
		at, start := MarginAlong(p, []float64{-1.5, 1.5}, int(200/c.rate)), []float64{-1.5, 1.5}
		within("overshoot of a frozen force", *at.Overshoot, c.overshoot, 5e-5)
		p = p.Checked()
		p.Start = start
		local, ok := rest.About(p)(start, c.rate)
		if within("multiplier at the start", real(local.Multipliers[0]), c.atStart, 1e-6); !ok ||
			local.Oscillates || at.Growth != TakeOff || at.Oscillating == nil {
			t.Errorf("%+v at the start, %+v on the path: want a real multiplier above 1, then complex ones",
				local, at)
		}
	}
	// Without a penalty a multiplier above 1 is take-off: two arms never turn back.
	m = MarginAlong(pathCell(0.9, 0.2, option.NoScale, option.NoImportance, 0, 0.2, 1),
		[]float64{-1.5, 1.5}, 1000)
	if m.Growth != TakeOff || m.Overshoot != nil || m.Drawdown != 0 || m.Points < marginPoints/2 ||
		m.Points > 2*marginPoints {
		t.Errorf("%+v, want take-off alone", m)
	}
}

// Without an oscillating mode between start and fixed point no mean path overshoots it (two arms,
// random cells).
func TestNoOvershootWithoutTurning(t *testing.T) {
	r := rand.New(rand.NewPCG(38, 4))
	turning, quiet := 0, 0
	for range 120 / Thin {
		between := func(low, high float64) float64 { return low * math.Pow(high/low, r.Float64()) }
		best := 0.3 + 0.65*r.Float64()
		p := pathCell(best, best*r.Float64(), option.Scale(r.IntN(2)), option.ImportanceMode(r.IntN(2)),
			between(0.1, 0.5), between(0.003, 1), []int{1, 4, 16}[r.IntN(3)])
		p.Optimizer.Momentum = []float64{0, 0.5, 0.9}[r.IntN(3)]
		z := []float64{-2, 0, 1}[r.IntN(3)]
		m := MarginAlong(p, []float64{z, 0}, 600)
		if m.Scope.In && m.Overshoot != nil && m.Oscillating == nil {
			if quiet++; *m.Overshoot > 1e-3 {
				t.Errorf("%+v from %g: overshoot %g without an oscillating mode", p, z, *m.Overshoot)
			}
		} else {
			turning++
		}
	}
	if quiet < turning/8 {
		t.Errorf("%d cells without an oscillating mode, %d others: the rule is not tried", quiet, turning)
	}
}

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

// reference returns the reference bandit of docs/theory.md §5.
func reference(scale option.Scale, beta float64, size int) cell.Params {
	return cell.Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Reference: []float64{0, 0},
		Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1,
			Advantage: option.Advantage{Scale: scale},
			KL:        option.KL{Coefficient: beta, At: option.AtSnapshot}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Factors:   cell.Unit,
	}
}

// near fails unless got agrees with want to the relative error.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}
