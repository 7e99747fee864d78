package sim

import (
	"slices"

	"grposim/grpo"
	"grposim/option"
)

// hasVectors reports whether package lanes computes the cell, of groups that it or the sampler
// draws: a shorter way to the numbers of replica.step, to the last bit. What it computes is here and
// is asked nowhere else. A cell with another word, such as one that is new to package option, takes
// the plain step. So does one with a number in a field that lanes does not read, and with prompts.
func hasVectors(c *Cell) bool {
	for _, arm := range c.Bandit.Arms {
		if !among(arm.Law, option.Bernoulli, option.Constant, option.Normal) {
			return false
		}
	}
	e := &c.Estimator
	adv, kl, imp := &e.Advantage, &e.KL, &e.Importance
	form, _, _ := grpo.FormOf(imp)
	return !c.Deterministic() && onlyKnown(c) && imp.Schedule == (option.Schedule{}) &&
		e.Rollout.Noise == 0 && c.Network == nil && c.Prompts == nil && !c.countsRedraws() &&
		!c.averages(EffectiveSampleSize) && !c.averages(GradientCosine) &&
		among(e.Filter, option.KeepAll, option.Redraw) &&
		among(adv.Baseline, option.MeanBaseline, option.LeaveOneOut, option.SecondBest,
			option.ConstantBaseline, option.RunningMean) &&
		among(adv.Scale, option.StdScale, option.NoScale, option.OthersStd, option.MeanScale) &&
		among(adv.Std, option.PopulationStd, option.SampleStd) &&
		among(form, grpo.UnitWeight, grpo.DroppedWeight, grpo.DroppedByChange, grpo.HeldWeight,
			grpo.SigmoidWeight, grpo.PowerWeight) &&
		(kl.Coefficient == 0 || among(kl.In, option.InLoss) &&
			among(kl.Gradient, option.ExactKL, option.K1, option.K2, option.K3, option.RatioK1, option.RatioK3) &&
			among(kl.At, option.AtCurrent, option.AtSnapshot)) &&
		among(e.Samples, option.Fresh) && among(c.Lag.Kind, option.Block, option.Delay) &&
		among(c.Optimizer.Kind, option.HeavyBall, option.Nesterov, option.Adam) &&
		c.ReferenceUpdate.Interval == 0
}

func among[T comparable](word T, words ...T) bool { return slices.Contains(words, word) }

// onlyKnown reports whether all fields with a value are among those that lanes reads.
func onlyKnown(c *Cell) bool {
	e, o := &c.Estimator, &c.Optimizer
	adv, kl := &e.Advantage, &e.KL
	estimator := option.Estimator{
		GroupSize: e.GroupSize, GroupsPerStep: e.GroupsPerStep,
		Filter: e.Filter, Importance: e.Importance, Samples: e.Samples, Rollout: e.Rollout,
		Advantage: option.Advantage{Baseline: adv.Baseline, Scale: adv.Scale, Std: adv.Std,
			Value: adv.Value, Rate: adv.Rate, Epsilon: adv.Epsilon},
		KL: option.KL{Coefficient: kl.Coefficient, In: kl.In, Gradient: kl.Gradient, At: kl.At},
	}
	optimizer := option.Optimizer{Kind: o.Kind, LearningRate: o.LearningRate, Momentum: o.Momentum,
		Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, Schedule: o.Schedule}
	return *e == estimator && *o == optimizer
}
