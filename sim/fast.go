package sim

import (
	"slices"

	"grposim/grpo"
	"grposim/option"
)

// A fast path is a shorter way to the numbers of replica.step, to the last bit. What it computes is
// here and is asked nowhere else. A cell with another word, such as one that is new to package
// option, takes the slower path. So does one with a number in a field that no path reads.
type fastPath struct {
	laws        []option.Law // of all arms
	filters     []option.Filter
	baselines   []option.Baseline
	weights     []grpo.WeightForm // of importance modes
	linear      bool              // of these, only weights of 1 and ρ
	klGradients []option.KLGradient
	samples     []option.Samples
	entropy     bool // a bonus
}

// vectorPath lists what package lanes computes, of groups that it or the sampler draws.
var vectorPath = fastPath{
	laws:    []option.Law{option.Bernoulli, option.Constant, option.Normal},
	filters: []option.Filter{option.KeepAll, option.Redraw},
	baselines: []option.Baseline{option.MeanBaseline, option.LeaveOneOut, option.SecondBest,
		option.ConstantBaseline, option.RunningMean},
	weights: []grpo.WeightForm{grpo.UnitWeight, grpo.DroppedWeight, grpo.DroppedByChange,
		grpo.HeldWeight, grpo.SigmoidWeight, grpo.PowerWeight},
	klGradients: []option.KLGradient{
		option.ExactKL, option.K1, option.K2, option.K3, option.RatioK1, option.RatioK3,
	},
	samples: option.SampleUses,
	entropy: true,
}

// twoArmPath has the options that a twoArmBatch computes. It leaves other steps than heavy ball's at
// a constant rate to package grpo.
var twoArmPath = fastPath{
	laws:        []option.Law{option.Bernoulli},
	filters:     []option.Filter{option.KeepAll, option.Redraw, option.Drop},
	baselines:   vectorPath.baselines[:4], // not of a running mean
	weights:     []grpo.WeightForm{grpo.UnitWeight, grpo.DroppedWeight},
	linear:      true,
	klGradients: []option.KLGradient{option.ExactKL},
	samples:     []option.Samples{option.Fresh},
}

// computes reports whether the path computes all options of a cell and what it records. No path
// runs cells with prompts.
func (p *fastPath) computes(c *Cell) bool {
	for _, arm := range c.Bandit.Arms {
		if !slices.Contains(p.laws, arm.Law) {
			return false
		}
	}
	adv, kl, imp := &c.Estimator.Advantage, &c.Estimator.KL, &c.Estimator.Importance
	form, _, _ := grpo.FormOf(imp)
	return !c.Deterministic() && onlyKnown(c) && imp.Schedule == (option.Schedule{}) &&
		c.Estimator.Rollout.Noise == 0 && c.Network == nil && c.Prompts == nil && !c.countsRedraws() &&
		!c.averages(EffectiveSampleSize) && !c.averages(GradientCosine) &&
		slices.Contains(p.filters, c.Estimator.Filter) && slices.Contains(p.baselines, adv.Baseline) &&
		among(adv.Scale, option.StdScale, option.NoScale, option.OthersStd, option.MeanScale) &&
		among(adv.Std, option.PopulationStd, option.SampleStd) &&
		slices.Contains(p.weights, form) && (!p.linear || imp.Linear()) &&
		(kl.Coefficient == 0 || among(kl.In, option.InLoss) && slices.Contains(p.klGradients, kl.Gradient) &&
			among(kl.At, option.AtCurrent, option.AtSnapshot)) &&
		slices.Contains(p.samples, c.Estimator.Samples) &&
		(p.entropy || c.Estimator.Entropy == 0) && among(c.Lag.Kind, option.Block, option.Delay) &&
		among(c.Optimizer.Kind, option.HeavyBall, option.Nesterov, option.Adam) &&
		c.ReferenceUpdate.Interval == 0
}

func among[T comparable](word T, words ...T) bool { return slices.Contains(words, word) }

// onlyKnown reports whether all fields with a value are among those that the paths read.
func onlyKnown(c *Cell) bool {
	e, o := &c.Estimator, &c.Optimizer
	adv, kl := &e.Advantage, &e.KL
	estimator := option.Estimator{
		GroupSize: e.GroupSize, GroupsPerStep: e.GroupsPerStep,
		Filter: e.Filter, Importance: e.Importance, Samples: e.Samples, Rollout: e.Rollout,
		Entropy: e.Entropy,
		Advantage: option.Advantage{Baseline: adv.Baseline, Scale: adv.Scale, Std: adv.Std,
			Value: adv.Value, Rate: adv.Rate, Epsilon: adv.Epsilon},
		KL: option.KL{Coefficient: kl.Coefficient, In: kl.In, Gradient: kl.Gradient, At: kl.At},
	}
	optimizer := option.Optimizer{Kind: o.Kind, LearningRate: o.LearningRate, Momentum: o.Momentum,
		Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, Schedule: o.Schedule,
		MaxNorm: o.MaxNorm}
	return *e == estimator && *o == optimizer
}
