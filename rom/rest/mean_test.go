package rest

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
)

// A KL in the reward and an entropy bonus pull together: 16 runs of 6,000 steps have the mean J
// 0.351285(29), without the bonus 0.356033(31).
func TestRewardedKLWithEntropy(t *testing.T) {
	for entropy, simulated := range map[float64]float64{0.0114: 0.351285, 0: 0.356033} {
		p := Predict(cell.Params{
			Arms: []option.Arm{{Law: option.Bernoulli, Mean: 0.4}, {Law: option.Bernoulli, Mean: 0.07}},
			Estimator: option.Estimator{GroupSize: 32, GroupsPerStep: 16, Entropy: entropy,
				Advantage: option.Advantage{Scale: option.NoScale},
				KL:        option.KL{Coefficient: 0.1764, In: option.InReward}},
			Optimizer: option.Optimizer{Kind: option.Adam, LearningRate: 0.0117, Beta1: 0.9, Beta2: 0.95,
				Epsilon: 1e-8},
		})
		if !p.Noise.In || math.Abs(p.FixedPoint.Reward-simulated) > p.Neglected.RewardMean+1.2e-4 {
			t.Errorf("entropy bonus %g: %v, not %g", entropy, p.FixedPoint, simulated)
		}
	}
}

// Between arms that always pay, J does not move: what is left of its deviation is rounding.
func TestNoiseThatMovesNoReward(t *testing.T) {
	p := cell.Params{Arms: make([]option.Arm, 6),
		Estimator: option.Estimator{GroupSize: 32, GroupsPerStep: 16, Filter: option.Redraw,
			Advantage:  option.Advantage{Baseline: option.LeaveOneOut, Std: option.SampleStd, Epsilon: 1e-6},
			Importance: option.Importance{Mode: option.Ratio},
			KL:         option.KL{Coefficient: 0.0972, In: option.InAdvantage}},
		Lag: option.Lag{Interval: 2}, Optimizer: option.Optimizer{LearningRate: 0.371}}
	for a, mean := range []float64{1, 1, 0.04, 0.27, 0.25, 1} {
		p.Arms[a].Mean = mean
	}
	if rest := Predict(p); math.Abs(rest.FixedPoint.Reward-1) > 1e-6 || rest.Noise.In {
		t.Errorf("J %v, law of its noise: %v", rest.FixedPoint.Reward, rest.Noise)
	}
}
