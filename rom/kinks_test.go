package rom

import (
	"math"
	"testing"

	"grposim/option"
)

// What a clip changes is found to a factor of two, up to where it changes Var J by
// a third, and is much larger than any margin beyond. The simulator's means and variances
// of J, from 384 replicas of 2,000 steps, have standard errors of 1.5e-4 and 1.6e-6; without
// the clip they are 0.75178 and 9.80e-5.
func TestClipNeglect(t *testing.T) {
	p := Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Estimator: option.Estimator{GroupSize: 16, GroupsPerStep: 1, Advantage: option.Advantage{Scale: option.NoScale}, Importance: option.Importance{Mode: option.Clip}, KL: option.KL{Coefficient: 0.5}},
		Lag:       option.Lag{Kind: option.Block, Interval: 16},
		Optimizer: option.Optimizer{LearningRate: 0.2},
	}
	for _, c := range []struct{ clip, mean, variance float64 }{
		{0.1, 0.75127, 9.37e-5}, {0.05, 0.74663, 7.26e-5}, {0.02, 0.73114, 6.25e-5},
	} {
		p.Importance.ClipLow, p.Importance.ClipHigh = c.clip, c.clip
		got := Predict(p).Neglected
		within := func(what string, got, change, err float64) {
			if !(got < 2*(change+3*err) && got > (change-3*err)/2) {
				t.Errorf("clip %g: neglected %s %.3g, simulated change %.3g ± %.2g", c.clip, what, got, change, err)
			}
		}
		within("mean", got.RewardMean, 0.75178-c.mean, 2.1e-4)
		within("variance", got.RewardVariance, 9.80e-5-c.variance, 2.3e-6)
	}
	p.Importance.ClipLow, p.Importance.ClipHigh = 0.001, 0.001 // simulated: 0.678, 2.2e-4
	if got := Predict(p).Neglected; got.RewardMean < 0.04 || got.RewardVariance < 2e-5 {
		t.Errorf("clip 0.001: neglected %+v", got)
	}
	p.Importance.ClipLow, p.Importance.ClipHigh = 0.2, 0.2 // simulated: 0.75183, 9.97e-5
	wide := Predict(p).Neglected
	p.Importance.Mode = option.Ratio
	if without := Predict(p).Neglected; wide.RewardMean > without.RewardMean+2e-5 || wide.RewardVariance > without.RewardVariance+1e-7 { // far below a margin
		t.Errorf("neglected with a clip of 0.2 %+v, without %+v", wide, without)
	}
}

// A clip too wide to matter leaves nothing out, also where the covariance under a clip is
// known as an expansion only, with equal arms and with a delay.
func TestWideClipNeglectsNothing(t *testing.T) {
	p := Params{
		Arms:      []option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3}, {Law: option.Normal, Mean: 0, Std: 0.5}, {Law: option.Normal, Mean: 0, Std: 0.5}},
		Estimator: option.Estimator{GroupSize: 64, GroupsPerStep: 1, Importance: option.Importance{Mode: option.Clip, ClipLow: 0.3, ClipHigh: 0.3}, KL: option.KL{Coefficient: 1}},
		Optimizer: option.Optimizer{LearningRate: 0.001},
	}
	for _, lag := range []option.Lag{{Kind: option.Block, Interval: 1}, {Kind: option.Block, Interval: 8}, {Kind: option.Delay, Interval: 3}} {
		p.Lag = lag
		p.Importance.Mode = option.Clip
		clipped := Predict(p).Neglected
		p.Importance.Mode = option.Ratio
		if ratio := Predict(p).Neglected; math.Abs(clipped.RewardMean/ratio.RewardMean-1) > 1e-3 || math.Abs(clipped.RewardVariance/ratio.RewardVariance-1) > 1e-3 {
			t.Errorf("%+v: neglected with a wide clip %+v, without %+v", lag, clipped, ratio)
		}
	}
}

// The same for weights with other bounds, from 1536 replicas of 4,000 steps with standard
// errors of 4e-5 and 4e-7. A mask leaves the policy where no sample counts until the next
// refresh, which multiplies Var J; at the narrowest, by five, what is neglected is three times that.
func TestNeglectOfOtherBounds(t *testing.T) {
	for _, c := range []struct {
		weighting             option.ImportanceMode
		bound, mean, variance float64
	}{
		{option.Truncated, 0.05, 0.751346, 1.0204e-4}, {option.Truncated, 0.02, 0.750668, 1.0510e-4},
		{option.CISPO, 0.05, 0.751735, 1.0626e-4}, {option.CISPO, 0.02, 0.751744, 1.1273e-4},
		{option.Masked, 0.1, 0.746876, 1.7770e-4}, {option.Masked, 0.05, 0.725038, 3.8968e-4}, {option.Masked, 0.02, 0.683761, 4.8154e-4},
	} {
		got := Predict(Params{
			Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
			Estimator: option.Estimator{GroupSize: 16, GroupsPerStep: 1, Advantage: option.Advantage{Scale: option.NoScale}, Importance: option.Importance{Mode: c.weighting, ClipLow: c.bound, ClipHigh: c.bound, Floor: 1 - c.bound, Cap: 1 + c.bound}, KL: option.KL{Coefficient: 0.5}},
			Lag:       option.Lag{Kind: option.Block, Interval: 16},
			Optimizer: option.Optimizer{LearningRate: 0.2},
		}).Neglected
		within := func(what string, got, change, err float64) {
			if !(got < 3.1*(change+3*err) && got > (change-3*err)/2) {
				t.Errorf("weighting %d, bound %g: neglected %s %.3g, simulated change %.3g ± %.2g", c.weighting, c.bound, what, got, change, err)
			}
		}
		within("mean", got.RewardMean, 0.751786-c.mean, 6e-5)
		within("variance", got.RewardVariance, c.variance-9.953e-5, 6e-7)
	}
}

// Across the largest norm with a lag, and across a tie of two rewards of which the KL is a part, E J and Var J less and
// more what is neglected hold the simulated ones, and what is neglected is at most twice their errors: of 256 replicas of
// 2,000 steps from the fixed point, without the first half.
func TestKinkNeglectAgainstSimulations(t *testing.T) {
	norm := Params{
		Estimator: option.Estimator{GroupSize: 16, GroupsPerStep: 1, Importance: option.Importance{Mode: option.Ratio}, KL: option.KL{Coefficient: 1.2}},
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
	}
	for _, c := range []struct {
		p                                    Params
		interval                             int
		rate, norm                           float64
		mean, meanErr, variance, varianceErr float64
	}{
		{norm, 8, 0.6, 0.1, 0.75545, 1.9e-4, 3.709e-4, 3.2e-6},
		{norm, 4, 2, 0.05, 0.75627, 2.1e-4, 7.362e-4, 5.7e-6},
		{norm, 8, 1.3, 0.0315, 0.75519, 2.0e-4, 3.079e-4, 3.5e-6},
	} {
		c.p.Lag, c.p.Optimizer = option.Lag{Kind: option.Block, Interval: c.interval}, option.Optimizer{LearningRate: c.rate, MaxNorm: c.norm}
		got := Predict(c.p)
		within := func(what string, neglected, off, err float64) {
			if off = math.Abs(off); !(off-3*err < 2*neglected && neglected < 2*(off+3*err)) {
				t.Errorf("%s of %+v: %.3g are neglected, off by %.3g ± %.2g", what, c, neglected, off, err)
			}
		}
		within("E J", got.Neglected.RewardMean, got.FixedPoint.Reward+*got.Moments.RewardShift-c.mean, c.meanErr)
		within("Var J", got.Neglected.RewardVariance, *got.Moments.RewardVariance-c.variance, c.varianceErr)
	}
}

// What an average over the law cannot see, another attractor that a clip makes within reach of the noise, puts runs out of
// scope: Var J is 1.1e-3 by linear theory, 2.3e-3 in simulation.
func TestClipBesideAnotherAttractor(t *testing.T) {
	p := Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Estimator: option.Estimator{GroupSize: 64, GroupsPerStep: 1, Importance: option.Importance{Mode: option.Clip, ClipLow: 0.4, ClipHigh: 0.4}, KL: option.KL{Coefficient: 1.2}},
		Lag:       option.Lag{Kind: option.Block, Interval: 2},
		Optimizer: option.Optimizer{LearningRate: 2.4},
	}
	if !NewEquilibrium(p).Settled(p.Optimizer, p.Lag, 300, 600).Escape.Out() {
		t.Error("no other attractor was found")
	}
}
