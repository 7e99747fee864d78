package rom

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/linear"
	"grposim/rom/path"
)

// reference returns the reference bandit of docs/theory.md §5.
func reference(scale option.Scale, beta float64, size int) Params {
	return Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Reference: []float64{0, 0},
		Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1, Advantage: option.Advantage{Scale: scale}, KL: option.KL{Coefficient: beta, At: option.AtSnapshot}},
		Lag:       block(1),
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Factors:   Unit,
	}
}

// near fails unless got agrees with want to the relative error.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}

// MeanReward is Paths of J.
func MeanReward(p Params, init []float64,
	at []int) Path {
	return Paths(p, init, at, path.Reward)[0]
}

// BetaCritical returns β_c(z_ref), the smallest penalty with an interior fixed point of two arms
// with the constant rewards 0 and 1 under StdScale, exact KL and G = ∞ (docs/theory.md §3). refGap
// is z_ref, the reference's logit of the better arm minus that of the other, finite. The fixed
// points solve 2cosh(L/2) = β(L − L_ref), so β_c is the minimum of 2cosh(L/2)/(L − L_ref):
// sinh(L/2) at the root of (L − L_ref)tanh(L/2) = 2.
func BetaCritical(refGap float64) float64 {
	f := func(l float64) float64 { return (l-refGap)*math.Tanh(l/2) - 2 }
	low := max(refGap, 0)
	high := low + 2
	for step := 2.0; f(high) < 0; step *= 2 {
		high += step
	}
	return math.Sinh(linear.Root(f, low, high, f(low)) / 2)
}

func block(k int) option.Lag { return option.Lag{Kind: option.Block, Interval: k} }

func delay(tau int) option.Lag { return option.Lag{Kind: option.Delay, Interval: tau} }
