package rom

import (
	"math"
	"testing"
)

// What a clip changes is estimated to a factor of two, up to where it changes Var J by
// a third, and is much larger than any margin beyond. The simulator's means and variances
// of J, from 384 replicas of 2,000 steps, have standard errors of 1.5e-4 and 1.6e-6; without
// the clip they are 0.75178 and 9.80e-5.
func TestClipNeglect(t *testing.T) {
	p := Params{
		Arms: []Arm{{Mean: 0.9}, {Mean: 0.2}}, GroupSize: 16, Groups: 1, Scale: Unscaled, Weighting: Clipped,
		Strength: 0.5, Lag: Lag{Kind: Block, Age: 16}, Optimizer: Optimizer{Rate: 0.2},
	}
	for _, c := range []struct{ clip, mean, variance float64 }{
		{0.1, 0.75127, 9.37e-5}, {0.05, 0.74663, 7.26e-5}, {0.02, 0.73114, 6.25e-5},
	} {
		p.ClipLow, p.ClipHigh = c.clip, c.clip
		got := Predict(p).Neglected
		within := func(what string, got, change, err float64) {
			if !(got < 2*(change+3*err) && got > (change-3*err)/2) {
				t.Errorf("clip %g: neglected %s %.3g, simulated change %.3g ± %.2g", c.clip, what, got, change, err)
			}
		}
		within("mean", got.RewardMean, 0.75178-c.mean, 2.1e-4)
		within("variance", got.RewardVariance, 9.80e-5-c.variance, 2.3e-6)
	}
	p.ClipLow, p.ClipHigh = 0.001, 0.001 // simulated: 0.678, 2.2e-4
	if got := Predict(p).Neglected; got.RewardMean < 0.04 || got.RewardVariance < 2e-5 {
		t.Errorf("clip 0.001: neglected %+v", got)
	}
	p.ClipLow, p.ClipHigh = 0.2, 0.2 // simulated: 0.75183, 9.97e-5
	wide := Predict(p).Neglected
	p.Weighting = Ratio
	if without := Predict(p).Neglected; wide.RewardMean > without.RewardMean+1e-6 || wide.RewardVariance > without.RewardVariance+1e-7 {
		t.Errorf("neglected with a clip of 0.2 %+v, without %+v", wide, without)
	}
}

// A clip too wide to matter leaves nothing out, also where the covariance under a clip is
// known as an expansion only, with equal arms and with a delay.
func TestWideClipNeglectsNothing(t *testing.T) {
	p := Params{
		Arms: []Arm{{Normal, 1, 0.3}, {Normal, 0, 0.5}, {Normal, 0, 0.5}}, GroupSize: 4, Groups: 1, Weighting: Clipped,
		Strength: 1, Optimizer: Optimizer{Rate: 0.001}, ClipLow: 0.3, ClipHigh: 0.3,
	}
	for _, lag := range []Lag{{Kind: Block, Age: 1}, {Kind: Block, Age: 8}, {Kind: Delay, Age: 3}} {
		p.Lag = lag
		p.Weighting = Clipped
		clipped := Predict(p).Neglected
		p.Weighting = Ratio
		if ratio := Predict(p).Neglected; math.Abs(clipped.RewardMean/ratio.RewardMean-1) > 1e-3 || math.Abs(clipped.RewardVariance/ratio.RewardVariance-1) > 1e-3 {
			t.Errorf("%+v: neglected with a wide clip %+v, without %+v", lag, clipped, ratio)
		}
	}
	p.Weighting, p.ClipLow, p.ClipHigh, p.Lag, p.Optimizer.Rate = Clipped, 0.01, 0.01, Lag{Kind: Block, Age: 8}, 0.02
	got := Predict(p)
	if n := got.Neglected; math.IsNaN(n.RewardVariance) || !(n.RewardMean > 0 && n.RewardVariance > 0.05**got.Exact.StationaryVariance.ExpectedReward) {
		t.Errorf("a narrow clip: neglected %+v", n)
	}
}

// The same for weights with other bounds, from 1536 replicas of 4,000 steps with standard
// errors of 4e-5 and 4e-7. A mask leaves the policy where no sample counts until the next
// refresh, which multiplies Var J.
func TestNeglectOfOtherBounds(t *testing.T) {
	for _, c := range []struct {
		weighting             Weighting
		bound, mean, variance float64
	}{
		{Truncated, 0.05, 0.751346, 1.0204e-4}, {Truncated, 0.02, 0.750668, 1.0510e-4},
		{Clamped, 0.05, 0.751735, 1.0626e-4}, {Clamped, 0.02, 0.751744, 1.1273e-4},
		{Masked, 0.1, 0.746876, 1.7770e-4}, {Masked, 0.05, 0.725038, 3.8968e-4}, {Masked, 0.02, 0.683761, 4.8154e-4},
	} {
		got := Predict(Params{
			Arms: []Arm{{Mean: 0.9}, {Mean: 0.2}}, GroupSize: 16, Groups: 1, Scale: Unscaled, Weighting: c.weighting,
			ClipLow: c.bound, ClipHigh: c.bound, Floor: 1 - c.bound, Cap: 1 + c.bound,
			Strength: 0.5, Lag: Lag{Kind: Block, Age: 16}, Optimizer: Optimizer{Rate: 0.2},
		}).Neglected
		within := func(what string, got, change, err float64) {
			if !(got < 2*(change+3*err) && got > (change-3*err)/2) {
				t.Errorf("weighting %d, bound %g: neglected %s %.3g, simulated change %.3g ± %.2g", c.weighting, c.bound, what, got, change, err)
			}
		}
		within("mean", got.RewardMean, 0.751786-c.mean, 6e-5)
		within("variance", got.RewardVariance, c.variance-9.953e-5, 6e-7)
	}
}
