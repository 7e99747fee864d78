package rom

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
)

// Without scale and clip a force is a polynomial of second order in a reward, its
// covariance one of fourth, so that five nodes of Gauss and Hermite integrate a normal
// reward exactly.
func TestUnscaledNormalRewardsAreExact(t *testing.T) {
	nodes := [5]float64{0, 1.3556261799742659, -1.3556261799742659, 2.8569700138728056, -2.8569700138728056}
	chances := [5]float64{8.0 / 15, 0.22207592200561266, 0.22207592200561266, 0.011257411327720689, 0.011257411327720689}
	base := Params{
		Arms:      []option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3}, {Law: option.Constant, Mean: 0.2}, {Law: option.Normal, Mean: -0.5, Std: 1.2}},
		Reference: []float64{0, 0.3, -0.2},
		Estimator: option.Estimator{GroupSize: 4, GroupsPerStep: 2, KL: option.KL{Coefficient: 0.4}},
		Factors:   Unit,
	}
	theta, old := []float64{0.1, 0, 0.3}, []float64{0, 0.2, -0.1}
	past := make([]float64, 3)
	cell.Softmax(past, old)
	var atoms []sample
	var chance []float64
	for a, arm := range base.Arms {
		for i, x := range nodes {
			atoms = append(atoms, sample{a, arm.Mean + arm.Std*x})
			chance = append(chance, past[a]*chances[i])
		}
	}
	for _, baseline := range []option.Baseline{option.MeanBaseline, option.LeaveOneOut} {
		for _, weighting := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
			p := base
			p.Advantage.Scale, p.Advantage.Baseline, p.Importance.Mode, p.KL.Gradient = option.NoScale, baseline, weighting, option.K2
			wantMean, wantCov := enumerate(p, theta, old, atoms, chance)
			mean, cov := exactForce(t, p, theta, old)
			for a := range mean {
				near(t, "mean", mean[a], wantMean[a], 1e-11)
				for b := range mean {
					near(t, "covariance", cov.At(a, b), wantCov.At(a, b), 1e-10)
				}
			}
		}
	}
}

// The fixed point of normal arms is off by at most what is neglected from the mean of J of 1,000
// simulated replicas at a small learning rate: four standard errors and the noise are 1e-3.
func TestFixedPointOfNormalArms(t *testing.T) {
	got := Predict(Params{
		Arms:      []option.Arm{{Law: option.Normal, Mean: 1, Std: 0.3}, {Law: option.Normal, Mean: 0, Std: 0.3}},
		Estimator: option.Estimator{GroupSize: 16, GroupsPerStep: 1, KL: option.KL{Coefficient: 1.2, At: option.AtSnapshot}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{LearningRate: 0.01},
	})
	if off, left := math.Abs(got.FixedPoint.Reward-0.83618), got.Neglected.RewardMean; off > 1e-3+left || left > 0.01 {
		t.Errorf("J* = %v, simulated 0.83618, neglected %.2g", got.FixedPoint.Reward, left)
	}
}
