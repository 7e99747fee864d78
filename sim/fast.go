package sim

import (
	"slices"

	"grposim/grpo"
	"grposim/option"
)

// A fast path is a shorter way to the numbers of replica.step, to the last bit. What it computes is
// a row here and is asked nowhere else. A cell with another word, such as one that is new to
// package option, takes the slower path. So does one with a number in a field that no row knows.

// vectorPath lists what package lanes computes, of groups that it or the sampler draws.
var vectorPath = fastPath{
	laws:        []option.Law{option.Bernoulli, option.Constant, option.Normal},
	filters:     []option.Filter{option.KeepAll, option.Redraw},
	baselines:   []option.Baseline{option.MeanBaseline, option.LeaveOneOut, option.SecondBest, option.ConstantBaseline, option.RunningMean},
	scales:      []option.Scale{option.StdScale, option.NoScale, option.OthersStd, option.MeanScale},
	stds:        []option.Deviation{option.PopulationStd, option.SampleStd},
	weights:     []grpo.WeightForm{grpo.UnitWeight, grpo.DroppedWeight, grpo.DroppedByChange, grpo.HeldWeight, grpo.SigmoidWeight, grpo.PowerWeight},
	klPlaces:    []option.KLPlacement{option.InLoss},
	klGradients: []option.KLGradient{option.ExactKL, option.K1, option.K2, option.K3, option.RatioK1, option.RatioK3},
	klPoints:    []option.KLPoint{option.AtCurrent, option.AtSnapshot},
	samples:     []option.Samples{option.Fresh},
	lags:        []option.LagKind{option.Block, option.Delay},
	methods:     []option.Method{option.HeavyBall, option.Nesterov, option.Adam},
}

// twoArmPath is what a twoArmBatch computes, of two arms. It leaves a step of the optimizer
// other than heavy ball at a constant rate to package grpo.
var twoArmPath = fastPath{
	laws:        []option.Law{option.Bernoulli},
	filters:     []option.Filter{option.KeepAll, option.Redraw, option.Drop},
	baselines:   []option.Baseline{option.MeanBaseline, option.LeaveOneOut, option.SecondBest, option.ConstantBaseline},
	scales:      vectorPath.scales,
	stds:        vectorPath.stds,
	weights:     []grpo.WeightForm{grpo.UnitWeight, grpo.DroppedWeight},
	linear:      true,
	klPlaces:    vectorPath.klPlaces,
	klGradients: []option.KLGradient{option.ExactKL},
	klPoints:    vectorPath.klPoints,
	samples:     vectorPath.samples,
	lags:        vectorPath.lags,
	methods:     vectorPath.methods,
}

// fastPath lists the words of options that a fast path computes. No path runs cells with prompts.
type fastPath struct {
	laws        []option.Law // of all arms
	filters     []option.Filter
	baselines   []option.Baseline
	scales      []option.Scale
	stds        []option.Deviation
	weights     []grpo.WeightForm // of importance modes
	linear      bool              // of these, only weights of 1 and ρ
	klPlaces    []option.KLPlacement
	klGradients []option.KLGradient
	klPoints    []option.KLPoint
	samples     []option.Samples
	lags        []option.LagKind
	methods     []option.Method
}

// computes reports whether the path computes all options of a cell with groups of finite size.
func (p *fastPath) computes(c *Cell) bool {
	for _, arm := range c.Bandit.Arms {
		if !slices.Contains(p.laws, arm.Law) {
			return false
		}
	}
	kl := &c.Estimator.KL
	form, _, _ := grpo.FormOf(&c.Estimator.Importance)
	return p.knows(c) && c.Network == nil && c.Prompts == nil &&
		slices.Contains(p.filters, c.Estimator.Filter) &&
		slices.Contains(p.baselines, c.Estimator.Advantage.Baseline) &&
		slices.Contains(p.scales, c.Estimator.Advantage.Scale) &&
		slices.Contains(p.stds, c.Estimator.Advantage.Std) &&
		slices.Contains(p.weights, form) && (!p.linear || c.Estimator.Importance.Linear()) &&
		(kl.Coefficient == 0 || slices.Contains(p.klPlaces, kl.In) &&
			slices.Contains(p.klGradients, kl.Gradient) && slices.Contains(p.klPoints, kl.At)) &&
		slices.Contains(p.samples, c.Estimator.Samples) &&
		slices.Contains(p.lags, c.Lag.Kind) &&
		slices.Contains(p.methods, c.Optimizer.Kind) && c.ReferenceUpdate.Interval == 0
}

// knows reports whether all fields with a value are among those that the path reads.
func (p *fastPath) knows(c *Cell) bool {
	e, o := &c.Estimator, &c.Optimizer
	estimator := option.Estimator{
		GroupSize: e.GroupSize, GroupsPerStep: e.GroupsPerStep, Filter: e.Filter, Importance: e.Importance, Samples: e.Samples,
		Advantage: option.Advantage{
			Baseline: e.Advantage.Baseline, Scale: e.Advantage.Scale, Std: e.Advantage.Std,
			Value: e.Advantage.Value, Rate: e.Advantage.Rate, Epsilon: e.Advantage.Epsilon,
		},
		KL: option.KL{Coefficient: e.KL.Coefficient, In: e.KL.In, Gradient: e.KL.Gradient, At: e.KL.At},
	}
	optimizer := option.Optimizer{
		Kind: o.Kind, LearningRate: o.LearningRate, Momentum: o.Momentum,
		Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, Schedule: o.Schedule,
	}
	return *e == estimator && *o == optimizer
}
