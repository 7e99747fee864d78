//go:build goexperiment.simd && amd64

package sim

import (
	"simd/archsimd"
	"testing"

	"grposim/grpo"
)

// A cell in which every option has the value that the configuration gives it by default is
// plain. One option that plainStep does not compute makes it another cell, which is not plain.
func TestDefaultCellIsPlain(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("this processor has no AVX-512")
	}
	standard := func() *Cell {
		return Cell{
			Bandit: grpo.Bandit{Arms: []grpo.Arm{{Reward: grpo.Bernoulli, Mean: 0.9}, {Reward: grpo.Bernoulli, Mean: 0.2}}},
			Estimator: grpo.Estimator{
				GroupSize: 16, GroupsPerStep: 1, Filter: grpo.KeepAll, Samples: grpo.Fresh,
				Advantage:  grpo.Advantage{Baseline: grpo.MeanBaseline, Scale: grpo.StdScale, Std: grpo.PopulationStd},
				Importance: everyWeight(grpo.NoImportance),
				KL:         grpo.KL{Coefficient: 0.5, In: grpo.InLoss, Gradient: grpo.ExactKL, At: grpo.AtCurrent},
			},
			Lag: grpo.Lag{Kind: grpo.Block, Interval: 2, Ages: grpo.Ages{Law: grpo.UniformAges, Drawn: grpo.AgePerGroup}},
			Optimizer: grpo.Optimizer{
				Kind: grpo.HeavyBall, LearningRate: 0.1, Momentum: 0.5, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8,
				Schedule: grpo.Schedule{Kind: grpo.ConstantRate, Total: 10},
			},
			ReferenceUpdate: grpo.ReferenceUpdate{Rate: 0.6},
			Run:             Run{Steps: 10, Replicas: chunkSize},
		}.complete()
	}
	plain := func(c *Cell) bool {
		return hasVectors(c) && newVectorCell(c, newSampler(&c.Bandit, &c.Estimator, newLaws(&c.Bandit, &c.Estimator), 1), 1).plain
	}
	if !plain(standard()) {
		t.Error("the default is not plain")
	}
	c := standard()
	c.Estimator.Filter, c.Estimator.Samples, c.Estimator.KL.In, c.ReferenceUpdate.Rate = "", "", "", 0
	if !plain(c) {
		t.Error("the default without words is not plain")
	}
	c = standard()
	c.Estimator.Filter, c.ReferenceUpdate.Interval = grpo.Redraw, 3
	c.Lag.Kind, c.Lag.Ages.To = grpo.Random, 3
	c.Estimator.Importance.Mode = grpo.VESPO
	if !plain(c) {
		t.Error("a cell with redraw, a moving reference, random ages and importance weights is not plain")
	}
	for name, change := range map[string]func(c *Cell){
		"drop":            func(c *Cell) { c.Estimator.Filter = grpo.Drop },
		"batch-std":       func(c *Cell) { c.Estimator.Advantage.Scale = grpo.BatchStd },
		"pooled-std":      func(c *Cell) { c.Estimator.Advantage.Scale = grpo.PooledStd },
		"batch-mean":      func(c *Cell) { c.Estimator.Advantage.Scale = grpo.BatchMean },
		"KL at snapshot":  func(c *Cell) { c.Estimator.KL.At = grpo.AtSnapshot },
		"k1":              func(c *Cell) { c.Estimator.KL.Gradient = grpo.K1 },
		"ratio-k1":        func(c *Cell) { c.Estimator.KL.Gradient = grpo.RatioK1 },
		"ratio-k3":        func(c *Cell) { c.Estimator.KL.Gradient = grpo.RatioK3 },
		"KL in advantage": func(c *Cell) { c.Estimator.KL.In = grpo.InAdvantage },
		"KL in reward":    func(c *Cell) { c.Estimator.KL.In = grpo.InReward },
		"entropy bonus":   func(c *Cell) { c.Estimator.Entropy = 0.1 },
		"reused samples":  func(c *Cell) { c.Estimator.Samples = grpo.Reused },
		"largest norm":    func(c *Cell) { c.Optimizer.MaxNorm = 1 },
	} {
		c := standard()
		if change(c); plain(c) {
			t.Errorf("a cell with %s is plain", name)
		}
	}
}
