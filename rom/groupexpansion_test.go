package rom

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

// What an expansion in 1/G neglects, estimated from its own term of 1/G, is 1 to 8 times
// the difference of the predictions with and without it, where both are known.
func TestExpansionNeglect(t *testing.T) {
	p := Params{
		Arms:      []option.Arm{{Law: option.Constant, Mean: 0, Std: 0}, {Law: option.Constant, Mean: 0.5, Std: 0}, {Law: option.Constant, Mean: 0.8, Std: 0}, {Law: option.Constant, Mean: 2, Std: 0}},
		Estimator: option.Estimator{GroupSize: 36, GroupsPerStep: 1, KL: option.KL{Coefficient: 1.2}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{LearningRate: 1e-3},
	}
	exact := Predict(p)
	p = p.checked()
	if !p.tables.Summed() {
		t.Fatal("no compositions")
	}
	p.tables = group.Tables{}
	f := fold(p)
	l := newLinearization(f, f.reached())
	m := l.newMotion(option.HeavyBall, 1e-3, 0, nil)
	law, _ := m.Whole.Law()
	gradient := l.rewardGradient()
	variance := linear.Form(gradient, law.TimeAverage(), gradient)
	got := l.expansionNeglect(variance)
	within := func(what string, got, change float64) {
		if !(got < 8*math.Abs(change) && got > math.Abs(change)) {
			t.Errorf("%s: neglected %.3g, changed by %.3g", what, got, change)
		}
	}
	within("mean", got.RewardMean, l.model.expected(l.logits)-exact.FixedPoint.Reward)
	within("variance", got.RewardVariance, variance-*exact.Exact.StationaryVariance.ExpectedReward)
	p = p.checked()
	f = fold(p)
	if got := newLinearization(f, f.reached()).expansionNeglect(variance); got != (scope.Sizes{}) {
		t.Errorf("an exact force: neglected %+v", got)
	}
}
