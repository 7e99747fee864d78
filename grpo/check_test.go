package grpo_test

import (
	"math"
	"testing"

	"grposim/grpo"
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
	estimator := func(change func(e *grpo.Estimator)) func() {
		e := grpo.Estimator{
			GroupSize: 8, GroupsPerStep: 1,
			Advantage:  grpo.Advantage{Baseline: grpo.MeanBaseline, Scale: grpo.StdScale, Std: grpo.PopulationStd},
			Importance: grpo.Importance{Mode: grpo.Clip, ClipLow: 0.2, ClipHigh: 0.2},
			KL:         grpo.KL{Coefficient: 1, Gradient: grpo.ExactKL, At: grpo.AtCurrent},
		}
		change(&e)
		return func() { grpo.NewForce(e, []float64{0, 0}) }
	}
	history := func(lag grpo.Lag, arms int) func() { return func() { grpo.NewHistory(lag, arms, 100) } }
	advantages := func(adv grpo.Advantage, size int) func() { return func() { grpo.NewBernoulliAdvantages(adv, size) } }
	atoms := func(adv grpo.Advantage) func() {
		return func() {
			s := grpo.GroupStatistics{Arms: make([]grpo.ArmStatistics, 2)}
			s.AddAtoms(&adv, []grpo.Atom{{Arm: 0, Count: 1, Reward: 1}, {Arm: 1, Count: 1, Reward: 2}}, 0)
		}
	}
	rate := func(o grpo.Optimizer, step int) func() { return func() { o.Rate(step) } }
	for _, c := range []struct {
		mistake func()
		want    string
	}{
		{estimator(func(e *grpo.Estimator) {}), ""},
		{estimator(func(e *grpo.Estimator) { e.GroupSize = grpo.Infinite }), ""},
		{estimator(func(e *grpo.Estimator) { e.GroupSize = 0 }), "grpo: Estimator.GroupSize: got 0, want ≥ 2"},
		{estimator(func(e *grpo.Estimator) { e.GroupSize = 1 }), "grpo: Estimator.GroupSize: got 1, want ≥ 2"},
		{estimator(func(e *grpo.Estimator) { e.GroupsPerStep = 0 }), "grpo: Estimator.GroupsPerStep: got 0, want ≥ 1"},
		{estimator(func(e *grpo.Estimator) { e.Advantage.Baseline = "" }), `grpo: Estimator.Advantage.Baseline: got "", want mean, leave-one-out, second-best, constant or running-mean`},
		{estimator(func(e *grpo.Estimator) { e.Advantage.Scale = "" }), `grpo: Estimator.Advantage.Scale: got "", want std, none, batch-std, others-std, mean, pooled-std or batch-mean`},
		{estimator(func(e *grpo.Estimator) { e.Advantage.Std = "" }), `grpo: Estimator.Advantage.Std: got "", want population or sample`},
		{estimator(func(e *grpo.Estimator) { e.Advantage.Scale, e.Advantage.Std = grpo.NoScale, "" }), ""},
		{estimator(func(e *grpo.Estimator) {
			e.GroupSize, e.Advantage = grpo.Infinite, grpo.Advantage{Baseline: grpo.RunningMean, Scale: grpo.NoScale, Rate: 1}
		}), "grpo: Estimator.GroupSize: got Infinite, want a finite size with the baseline running-mean"},
		{estimator(func(e *grpo.Estimator) { e.Advantage.Epsilon = -1e-9 }), "grpo: Estimator.Advantage.Epsilon: got -1e-09, want a finite number ≥ 0"},
		{estimator(func(e *grpo.Estimator) { e.Importance.Mode = "" }), `grpo: Estimator.Importance.Mode: got "", want none, ratio, clip, dual-clip, truncated, masked, cispo, sapo, vespo or dppo`},
		{estimator(func(e *grpo.Estimator) { e.Importance.Mode = "Clip" }), `grpo: Estimator.Importance.Mode: got "Clip", want none, ratio, clip, dual-clip, truncated, masked, cispo, sapo, vespo or dppo`},
		{estimator(func(e *grpo.Estimator) { e.Importance.ClipLow = 0 }), "grpo: Estimator.Importance.ClipLow: got 0, want a finite number in (0, 1)"},
		{estimator(func(e *grpo.Estimator) { e.Importance.ClipLow = 1 }), "grpo: Estimator.Importance.ClipLow: got 1, want a finite number in (0, 1)"},
		{estimator(func(e *grpo.Estimator) { e.Importance = importance(grpo.DualClip); e.Importance.ClipHigh = 0 }), "grpo: Estimator.Importance.ClipHigh: got 0, want a finite number > 0"},
		{estimator(func(e *grpo.Estimator) { e.Importance = importance(grpo.Truncated); e.Importance.Cap = 0.5 }), "grpo: Estimator.Importance.Cap: got 0.5, want a finite number ≥ 1"},
		{estimator(func(e *grpo.Estimator) { e.Importance = importance(grpo.Masked); e.Importance.Floor = 1.5 }), "grpo: Estimator.Importance.Floor: got 1.5, want a finite number in [0, 1]"},
		{estimator(func(e *grpo.Estimator) { e.Importance = importance(grpo.SAPO); e.Importance.Temperature.Negative = 0 }), "grpo: Estimator.Importance.Temperature.Negative: got 0, want a finite number > 0"},
		{estimator(func(e *grpo.Estimator) { e.Importance = importance(grpo.VESPO); e.Importance.Power.Positive = -1 }), "grpo: Estimator.Importance.Power.Positive: got -1, want a finite number > 0"},
		{estimator(func(e *grpo.Estimator) { e.Importance = importance(grpo.VESPO); e.Importance.Decay.Negative = -1 }), "grpo: Estimator.Importance.Decay.Negative: got -1, want a finite number ≥ 0"},
		{estimator(func(e *grpo.Estimator) { e.Importance.ClipHigh = 0 }), "grpo: Estimator.Importance.ClipHigh: got 0, want a finite number > 0"},
		{estimator(func(e *grpo.Estimator) { e.Importance = grpo.Importance{Mode: grpo.Ratio} }), ""},
		{estimator(func(e *grpo.Estimator) { e.KL.Coefficient = -1 }), "grpo: Estimator.KL.Coefficient: got -1, want a finite number ≥ 0"},
		{estimator(func(e *grpo.Estimator) { e.KL.Coefficient = math.Inf(1) }), "grpo: Estimator.KL.Coefficient: got +Inf, want a finite number ≥ 0"},
		{estimator(func(e *grpo.Estimator) { e.KL.Gradient = "k4" }), `grpo: Estimator.KL.Gradient: got "k4", want exact, k1, k2, k3, ratio-k1 or ratio-k3`},
		{estimator(func(e *grpo.Estimator) { e.KL.At = "" }), `grpo: Estimator.KL.At: got "", want current or snapshot`},
		{estimator(func(e *grpo.Estimator) { e.KL = grpo.KL{} }), ""},

		{history(grpo.Lag{Kind: grpo.Block, Interval: 1}, 2), ""},
		{history(grpo.Lag{Kind: grpo.Delay}, 2), ""},
		{history(grpo.Lag{Interval: 1}, 2), `grpo: Lag.Kind: got "", want block, delay or random`},
		{history(grpo.Lag{Kind: grpo.Block}, 2), "grpo: Lag.Interval: got 0, want ≥ 1"},
		{history(grpo.Lag{Kind: grpo.Delay, Interval: -1}, 2), "grpo: Lag.Interval: got -1, want ≥ 0"},
		{history(grpo.Lag{Kind: grpo.Delay}, 1), "grpo: number of arms: got 1, want ≥ 2"},

		{advantages(byStd, 2), ""},
		{advantages(grpo.Advantage{Baseline: grpo.ConstantBaseline, Scale: grpo.NoScale, Value: 1}, 2), ""},
		{advantages(grpo.Advantage{Baseline: grpo.ConstantBaseline, Scale: grpo.StdScale}, 2), `grpo: Advantage.Baseline: got "constant", want one that goes with the scale std`},
		{advantages(grpo.Advantage{Baseline: grpo.ConstantBaseline, Scale: grpo.NoScale, Value: 1.5}, 2), "grpo: Advantage.Value: got 1.5, want a finite number in [0, 1]"},
		{advantages(grpo.Advantage{Baseline: grpo.RunningMean, Scale: grpo.NoScale}, 2), "grpo: Advantage.Rate: got 0, want a finite number in (0, 1]"},
		{advantages(grpo.Advantage{Baseline: grpo.LeaveOneOut, Scale: grpo.PooledStd}, 2), `grpo: Advantage.Baseline: got "leave-one-out", want one that goes with the scale pooled-std`},
		{advantages(byStd, 0), "grpo: group size: got 0, want ≥ 2"},
		{advantages(grpo.Advantage{}, 2), `grpo: Advantage.Baseline: got "", want mean, leave-one-out, second-best, constant or running-mean`},
		{func() { grpo.NewBernoulliAdvantages(byStd, 4).Of(5) }, "grpo: number of rewards of 1: got 5, want from 0 to the group size 4"},
		{atoms(byStd), ""},
		{atoms(grpo.Advantage{}), `grpo: Advantage.Baseline: got "", want mean, leave-one-out, second-best, constant or running-mean`},
		{atoms(grpo.Advantage{Baseline: grpo.MeanBaseline}), `grpo: Advantage.Scale: got "", want std, none, batch-std, others-std, mean, pooled-std or batch-mean`},
		{atoms(grpo.Advantage{Baseline: grpo.MeanBaseline, Scale: grpo.StdScale}), `grpo: Advantage.Std: got "", want population or sample`},

		{func() { grpo.NewPolicy(nil) }, "grpo: number of arms: got 0, want ≥ 2"},
		{func() { grpo.NewOptimizerState(0) }, "grpo: number of arms: got 0, want ≥ 2"},
		{func() {
			e := grpo.Estimator{GroupSize: 2, GroupsPerStep: 1, Advantage: byStd, Importance: grpo.Importance{Mode: grpo.NoImportance}}
			grpo.NewForce(e, []float64{0, math.NaN()})
		}, "grpo: reference[1]: got NaN, want a finite number"},
		{func() {
			e := grpo.Estimator{GroupSize: grpo.Infinite, GroupsPerStep: 1, Advantage: byStd, Importance: grpo.Importance{Mode: grpo.NoImportance}}
			p := grpo.NewPolicy([]float64{0, 0})
			grpo.NewForce(e, []float64{0, 0}).Expected(make([]float64, 2), &grpo.Bandit{Arms: make([]grpo.Arm, 2)}, p, p)
		}, `grpo: Arm.Reward: got "", want bernoulli, constant or normal`},

		{func() { new(grpo.Optimizer).Step([]float64{0, 0}, []float64{1, 1}, grpo.NewOptimizerState(2), 1) },
			`grpo: Optimizer.Kind: got "", want heavy-ball, nesterov or adam`},
		{rate(grpo.Optimizer{}, 0), "grpo: Optimizer.LearningRate: got 0, want a finite number > 0"},
		{rate(grpo.Optimizer{LearningRate: 1}, 0), `grpo: Optimizer.Schedule.Kind: got "", want constant, linear or cosine`},
		{rate(grpo.Optimizer{LearningRate: 1, Schedule: grpo.Schedule{Kind: grpo.CosineDecay}}, 0), "grpo: Optimizer.Schedule.Total: got 0, want ≥ 1"},
		{rate(grpo.Optimizer{LearningRate: 1, Schedule: grpo.Schedule{Kind: grpo.LinearDecay, Warmup: 9, Total: 9}}, 9), "grpo: Optimizer.Schedule.Total: got 9, want ≥ 10"},
	} {
		if got := panicOf(c.mistake); got != c.want {
			t.Errorf("panics with %q, want %q", got, c.want)
		}
	}
}
