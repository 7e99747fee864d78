package option

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// described is all that a cell is described by.
type described struct {
	Bandit
	Estimator
	Lag
	Optimizer
	ReferenceUpdate
}

func (d *described) mistakes() string {
	var m Mistakes
	d.Bandit.Check(&m)
	d.Estimator.Check(&m)
	d.Lag.Check(&m)
	d.Optimizer.Check(&m)
	d.ReferenceUpdate.Check(&m)
	var lines []string
	for _, mistake := range m.List() {
		lines = append(lines, mistake.String())
	}
	return strings.Join(lines, "\n")
}

// A wrong value is reported with its field, the value and what is valid. Values that other options
// make unused are not, and all mistakes are reported at once.
func TestMistakes(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	d := new(described)
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, ""},
		{func() { *d = described{} }, "number of arms: got 0, want ≥ 2\nEstimator.GroupSize: got 0, want ≥ 2\nEstimator.GroupsPerStep: got 0, want ≥ 1\nLag.Interval: got 0, want an integer ≥ 1 for a block\nOptimizer.LearningRate: got 0, want a finite number > 0"},
		{func() { d.Arms[1].Law = 3 }, "Arms[1].Law: got 3, want bernoulli, constant or normal"},
		{func() { d.Arms[0].Mean = 1.1 }, "Arms[0].Mean: got 1.1, want a finite number in [0, 1]"},
		{func() { d.Arms[0] = Arm{Law: Constant, Mean: -inf} },
			"Arms[0].Mean: got -Inf, want a finite number"},
		{func() { d.Arms[0] = Arm{Law: Normal, Mean: 3, Std: -1} },
			"Arms[0].Std: got -1, want a finite number ≥ 0"},
		{func() { d.GroupSize = Infinite }, ""},
		{func() { d.GroupSize = 1 }, "Estimator.GroupSize: got 1, want ≥ 2"},
		{func() { d.Advantage.Baseline = 9 }, "Estimator.Advantage.Baseline: got 9, want mean, " +
			"leave-one-out, second-best, constant or running-mean"},
		{func() { d.Advantage.Baseline = ConstantBaseline }, "Estimator.Advantage.Baseline: got " +
			"constant, want mean, leave-one-out or second-best with the scale std"},
		{func() { d.Advantage = Advantage{Baseline: ConstantBaseline, Scale: NoScale, Value: 1} }, ""},
		{func() { d.Advantage = Advantage{Baseline: ConstantBaseline, Scale: NoScale, Value: 1.5} },
			"Estimator.Advantage.Value: got 1.5, want a finite number in [0, 1]"},
		{func() { d.Advantage = Advantage{Baseline: RunningMean, Scale: NoScale} },
			"Estimator.Advantage.Rate: got 0, want a finite number in (0, 1]"},
		{func() { d.Advantage.Baseline, d.Advantage.Scale = LeaveOneOut, PooledStd },
			"Estimator.Advantage.Baseline: got leave-one-out, want mean with the scale pooled-std"},
		{func() { d.Advantage.Epsilon = nan },
			"Estimator.Advantage.Epsilon: got NaN, want a finite number ≥ 0"},
		{func() { d.Advantage.Scale, d.Advantage.Epsilon = NoScale, nan }, ""},
		{func() { d.Advantage.Scale, d.Filter = BatchStd, Redraw }, "Estimator.Advantage.Scale: got " +
			"batch-std with the baseline mean, want bernoulli arms and Estimator.Filter none with it"},
		{func() { d.Importance.Mode = 99 },
			"Estimator.Importance.Mode: got 99, want " + oneOf(ImportanceModes)},
		{func() { d.Importance = Importance{Mode: Clip, ClipLow: 1, ClipHigh: 0.2} },
			"Estimator.Importance.ClipLow: got 1, want a finite number in (0, 1)"},
		{func() { d.Importance = Importance{Mode: DualClip, ClipLow: 0.2, Cap: 2} },
			"Estimator.Importance.ClipHigh: got 0, want a finite number > 0"},
		{func() { d.Importance = Importance{Mode: Truncated, Cap: 0.5} },
			"Estimator.Importance.Cap: got 0.5, want a finite number ≥ 1"},
		{func() { d.Importance = Importance{Mode: Masked, Cap: 2, Floor: 1.5} },
			"Estimator.Importance.Floor: got 1.5, want a finite number in [0, 1]"},
		{func() { d.Importance = Importance{Mode: SAPO, Temperature: Signed{Positive: 1}} },
			"Estimator.Importance.Temperature.Negative: got 0, want a finite number > 0"},
		{func() {
			d.Importance = Importance{Mode: VESPO, Power: Signed{-1, 1}, Decay: Signed{1, -1}}
		}, "Estimator.Importance.Power.Positive: got -1, want a finite number > " +
			"0\nEstimator.Importance.Decay.Negative: got -1, want a finite number ≥ 0"},
		{func() { d.KL.Coefficient = -1 }, "Estimator.KL.Coefficient: got -1, want a finite number ≥ 0"},
		{func() { d.KL.Coefficient = inf },
			"Estimator.KL.Coefficient: got +Inf, want a finite number ≥ 0"},
		{func() { d.KL.Gradient, d.KL.At, d.KL.In = 6, 2, 3 }, "Estimator.KL.Gradient: got 6, want exact, k1, k2, k3, ratio-k1 or ratio-k3\nEstimator.KL.At: got 2, want current or snapshot\nEstimator.KL.In: got 3, want loss, advantage or reward"},
		{func() {
			d.KL.In, d.Importance = InAdvantage, Importance{Mode: SAPO, Temperature: Signed{1, 1}}
		}, "Estimator.KL.In: got advantage, want loss or reward where Estimator.Importance.Mode is " +
			"neither none nor ratio"},
		{func() { d.KL.Gradient, d.Filter = K3, Drop },
			"Estimator.Filter: got drop, want none or redraw with a sampled Estimator.KL.Gradient"},
		{func() { d.KL.Coefficient, d.KL.Gradient, d.Filter = 0, K3, Drop }, ""},
		{func() { d.KL.In, d.Advantage.Scale = InReward, BatchStd }, "Estimator.KL.In: got reward, want loss, or Estimator.Filter none (in the advantage also redraw) and the scale std or none with the baseline mean or leave-one-out"},
		{func() { d.Entropy = -1 }, "Estimator.Entropy: got -1, want a finite number ≥ 0"},
		{func() { d.Samples = 2 }, "Estimator.Samples: got 2, want fresh or reused"},
		{func() { d.Lag.Kind = 3 }, "Lag.Kind: got 3, want block, delay or random"},
		{func() { d.Lag = Lag{Kind: Delay} }, ""},
		{func() { d.Lag = Lag{Kind: Delay, Interval: -1} }, "Lag.Interval: got -1, want ≥ 0"},
		{func() { d.Lag.Behind = -1 }, "Lag.Behind: got -1, want ≥ 0"},
		{func() { d.Lag = Lag{Kind: Random, Ages: Ages{From: 3, To: 2}} },
			"Lag.Ages.To: got 2, want an integer ≥ 3, the largest of uniform random ages"},
		{func() { d.Lag = Lag{Kind: Random, Ages: Ages{Law: GeometricAges}} },
			"Lag.Ages.Mean: got 0, want a number > 0, the mean of geometric random ages"},
		{func() { d.Lag = Lag{Kind: Random, Ages: Ages{Law: TableAges}} },
			"Lag.Ages.Weights: got 0, want a list with a number > 0, the weights of random ages"},
		{func() { d.Optimizer.Kind = 3 }, "Optimizer.Kind: got 3, want heavy-ball, nesterov or adam"},
		{func() { d.Optimizer.Momentum = 1 },
			"Optimizer.Momentum: got 1, want a finite number in [0, 1)"},
		{func() {
			d.Optimizer = Optimizer{Kind: Adam, LearningRate: 1, Momentum: 7, Beta1: -0.1, Beta2: 1,
				Epsilon: nan}
		},
			"Optimizer.Beta1: got -0.1, want a finite number in [0, 1)\nOptimizer.Beta2: got 1, want a " +
				"finite number in [0, 1)\nOptimizer.Epsilon: got NaN, want a finite number ≥ 0"},
		{func() { d.Optimizer = Optimizer{Kind: Adam, LearningRate: 1} },
			"Optimizer.Beta2: got 0, want a number in (0, 1) where epsilon is 0; usual are beta1 0.9, " +
				"beta2 0.999 and epsilon 1e-8"},
		{func() { d.Optimizer = Optimizer{Kind: Adam, LearningRate: 1, Epsilon: 1e-8} }, ""},
		{func() { d.KL.Coefficient, d.MaxNorm, d.Optimizer.LearningRate = 1e-310, 5e-324, 5e-324 },
			"Estimator.KL.Coefficient: got 1e-310, want a number that is 0 or at least 2.23e-308 in " +
				"size\nOptimizer.MaxNorm: got 5e-324, want a number that is 0 or at least 2.23e-308 in size"},
		{func() { d.MaxNorm = -1 }, "Optimizer.MaxNorm: got -1, want a finite number ≥ 0"},
		{func() { d.Schedule = Schedule{Kind: CosineDecay, Warmup: 5, Total: 5} },
			"Optimizer.Schedule.Warmup: got 5, want less than the total (5) of a cosine schedule"},
		{func() { d.KL.Coefficient, d.KL.In, d.KL.Schedule.Warmup = 1, InReward, 2 },
			"Estimator.KL.In: got reward, want loss where Estimator.KL.Schedule.Kind is not constant or has a warm-up"},
		{func() { d.ReferenceUpdate.Interval = -1 }, "ReferenceUpdate.Interval: got -1, want ≥ 0"},
		{func() { d.ReferenceUpdate.Interval = 2 },
			"ReferenceUpdate.Rate: got 0, want a finite number in (0, 1]"},
	} {
		*d = described{
			Bandit:    Bandit{Arms: []Arm{{Mean: 1}, {Mean: 0.2}}},
			Estimator: Estimator{GroupSize: 8, GroupsPerStep: 1, KL: KL{Coefficient: 1}},
			Lag:       Lag{Interval: 1},
			Optimizer: Optimizer{LearningRate: 0.1},
		}
		c.change()
		if got := d.mistakes(); got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
	defer func() {
		if got, want := recover(), "x: a: got 1, want 2\nx: b: got 3, want ≥ 4"; got != want {
			t.Errorf("panics with %q, want %q", got, want)
		}
	}()
	var m Mistakes
	m.Panic("x") // no mistake yet
	m.Want(false, "a", 1, "2")
	m.Least("b", 3, 4)
	m.Panic("x")
}

// A file has the word of each value.
func TestWords(t *testing.T) {
	const words = "[std none batch-std others-std mean pooled-std batch-mean]"
	if got := fmt.Sprint(Scales); got != words {
		t.Errorf("got %s, want %s", got, words)
	}
	if got, n := Scale(len(Scales)).String(), len(Scales); got != fmt.Sprintf("%d of %d words", n, n) {
		t.Errorf("a value beyond the words is %q", got)
	}
}
