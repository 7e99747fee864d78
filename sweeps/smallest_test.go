package sweeps

import (
	"fmt"
	"math"
	"testing"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/judge"
)

// The variance is proportional to the noise: an interval of ± 1 % about the prediction
// with a margin of 2 % catches a noise that is 3 % too high or too low, and one that lies
// 1 % above the prediction a noise that is 2 % too low.
func TestSmallestFaultOfNoise(t *testing.T) {
	const check = "{claim: stationary-fluctuation, margin: 0.02, control: {scale: {noise: 1.1}}}"
	for _, c := range []struct{ centre, half, percent float64 }{
		{1, 0.01, 3}, {1.005, 0, 1.5}, {0.99, 0, 1},
	} {
		unknown := judgeOne(t, check, outcomeOf(measure.Named{Name: sim.ExpectedRewardVariance, Estimate: measure.Estimate{Mean: restingVariance, DF: measure.Exactly}}))
		p := float64(unknown.Predicted)
		e := exactly(sim.ExpectedRewardVariance, c.centre*p)
		if c.half > 0 {
			e.DF, e.StdErr = 1_000_000, 1
			lo, hi := (measure.Estimate{StdErr: 1, DF: e.DF}).Interval(0.99)
			e.StdErr = c.half * p / ((hi - lo) / 2)
		}
		v := judgeOne(t, check, outcomeOf(e))
		f := v.SmallestFault
		if v.Verdict != agree || f == nil || f.Constant != "noise" ||
			math.Abs(f.Percent-c.percent) > 1e-3*c.percent {
			t.Errorf("interval %g ± %g: %s, smallest fault %v, want %g %% of noise", c.centre, c.half,
				v.Verdict, f, c.percent)
		}
	}
}

// The fixed point does not depend on the stiffness: the fault is one of the predicted
// value. A prediction that is refuted, or not confirmed, has none.
func TestSmallestFaultElsewhere(t *testing.T) {
	fixed := outcomeOf(measure.Named{Name: sim.ExpectedRewardMean, Estimate: measure.Estimate{Mean: restingReward,
		DF: measure.Exactly}})
	v := judgeOne(t,
		"{claim: fixed-point, margin: 0.005, control: {set: {grpo.kl.coefficient: 0.55}}}", fixed)
	if f := v.SmallestFault; f == nil || f.Constant != "prediction" || math.Abs(f.Percent-0.5) > 1e-3 {
		t.Errorf("smallest fault %v, want 0.5 %% of the prediction", f)
	}
	fixed.Estimates[0].Mean *= 1.1
	if v := judgeOne(t, "{claim: fixed-point, margin: 0.005}", fixed); v.Verdict != disagree ||
		v.SmallestFault != nil {
		t.Errorf("%s, smallest fault %v, want disagree and none", v.Verdict, v.SmallestFault)
	}
	variance := outcomeOf(measure.Named{Name: sim.ExpectedRewardVariance, Estimate: measure.Estimate{Mean: restingVariance,
		DF: measure.Exactly}})
	refuted := judgeOne(t,
		"{claim: stationary-fluctuation, margin: 0.02, prediction: paper-rule, expect: fails}", variance)
	if refuted.Verdict != agree || refuted.SmallestFault != nil ||
		refuted.Control.Kind != judge.ExactPrediction {
		t.Errorf("refutation: %s, smallest fault %v", told(refuted), refuted.SmallestFault)
	}
}

// The smallest fault is a fault that the check catches, and a slightly smaller one is not:
// by 0.02 percentage points, or 0.3 for whole numbers, which are bisected.
func TestSmallestFaultIsCaught(t *testing.T) {
	for _, c := range []struct {
		check     string
		tolerance float64 // percentage points
	}{
		{"param: optimizer.learning_rate, tolerance: 0.001, from: 0.4, to: 8}, margin: 0.01", 0.02},
		{"param: lag.interval, tolerance: 0.001, from: 0.4, to: 8}, absolute_margin: 0", 0.3},
	} {
		run := func(factor string) judge.Verdict {
			e, _ := runSweep(t,
				ringingText+"  - {claim: stability-threshold, displacement: 0.00001, draws: 1, locate: {"+
					c.check+", control: {scale: {stiffness: "+factor+"}}}\n", t.TempDir(), 1)
			return e.Verdicts[0]
		}
		first := run("1.1")
		f := first.SmallestFault
		if first.Verdict != agree || f == nil || f.Constant != "stiffness" {
			t.Fatalf("%s: %s, smallest fault %v", c.check, first.Verdict, f)
		}
		caught := false
		for _, sign := range []float64{1, -1} {
			if run(fmt.Sprint(1+sign*(f.Percent+c.tolerance)/100)).Control.Verdict == disagree {
				caught = true
			}
			if run(fmt.Sprint(1+sign*(f.Percent-c.tolerance)/100)).Control.Verdict == disagree {
				t.Errorf("%s: a smaller fault than %v is caught", c.check, f)
			}
		}
		if !caught {
			t.Errorf("%s: %v is not caught", c.check, f)
		}
	}
}

// ringingText is a configuration of one cell at G = ∞ whose whole force is stale, to be
// completed by a check.
const ringingText = `
name: ringing
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
policy: {init: fixed-point}
grpo: {group_size: inf, advantage: {scale: none}, kl: {coefficient: 0.5, at: snapshot}}
lag: {kind: delay, interval: 4}
optimizer: {learning_rate: 0.3, momentum: 0.5}
run: {steps: 6000}
checks:
`
