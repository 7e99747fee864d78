package grpo_test

import (
	"math"
	"testing"

	"grposim/grpo"
	"grposim/option"
)

// panicOf returns the text with which f panics, "" if it does not.
func panicOf(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text, _ = r.(string)
		}
	}()
	f()
	return ""
}

// A wrong value is reported with its field, the value and what is valid.
func TestMistakes(t *testing.T) {
	// estimator returns a call of NewForce with one change to a valid estimator.
	estimator := func(change func(e *option.Estimator)) func() {
		e := option.Estimator{
			GroupSize: 8, GroupsPerStep: 1,
			Advantage:  byStd,
			Importance: option.Importance{Mode: option.Clip, ClipLow: 0.2, ClipHigh: 0.2},
			KL:         option.KL{Coefficient: 1},
		}
		change(&e)
		return func() { grpo.NewForce(e, []float64{0, 0}) }
	}
	history := func(lag option.Lag, arms int) func() { return func() { grpo.NewHistory(lag, arms, 100) } }
	advantages := func(adv option.Advantage, size int) func() {
		return func() { grpo.NewBernoulliAdvantages(adv, size) }
	}
	for _, c := range []struct {
		mistake func()
		want    string
	}{
		{estimator(func(e *option.Estimator) { e.GroupSize = option.Infinite }), ""},
		{estimator(func(e *option.Estimator) {
			e.GroupSize, e.Advantage = option.Infinite, option.Advantage{Baseline: option.RunningMean,
				Scale: option.NoScale, Rate: 1}
		}), "grpo: Estimator.GroupSize: got Infinite, want a finite size with the baseline running-mean"},
		{estimator(func(e *option.Estimator) { e.GroupSize = 0 }),
			"grpo: Estimator.GroupSize: got 0, want ≥ 2"},

		{history(option.Lag{Interval: 1}, 2), ""},
		{history(option.Lag{Kind: option.Delay}, 2), ""},
		{history(option.Lag{Kind: option.Delay}, 1), "grpo: number of arms: got 1, want ≥ 2"},

		{advantages(byStd, 2), ""},
		{advantages(option.Advantage{Baseline: option.ConstantBaseline, Scale: option.NoScale, Value: 1},
			2), ""},
		{advantages(byStd, 0), "grpo: group size: got 0, want ≥ 2"},
		{func() { grpo.NewBernoulliAdvantages(byStd, 4).Of(5) },
			"grpo: number of rewards of 1: got 5, want from 0 to the group size 4"},

		{func() { grpo.NewPolicy(nil) }, "grpo: number of arms: got 0, want ≥ 2"},
		{func() { grpo.NewOptimizerState(0) }, "grpo: number of arms: got 0, want ≥ 2"},
		{func() {
			e := option.Estimator{GroupSize: 2, GroupsPerStep: 1, Advantage: byStd,
				Importance: option.Importance{Mode: option.NoImportance}}
			grpo.NewForce(e, []float64{0, math.NaN()})
		}, "grpo: reference[1]: got NaN, want a finite number"},
	} {
		equal(t, "panics with", panicOf(c.mistake), c.want)
	}
}
