//go:build goexperiment.simd && amd64

package sim

import (
	"simd/archsimd"
	"testing"

	"grposim/option"
)

// A cell in which every option has the value that the configuration gives it by default is
// plain. One option that plainStep does not compute makes it another cell, which is not plain.
func TestDefaultCellIsPlain(t *testing.T) {
	if !archsimd.X86.AVX512() {
		t.Skip("this processor has no AVX-512")
	}
	standard := func() *Cell {
		return Cell{
			Bandit: option.Bandit{Arms: []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}}},
			Estimator: option.Estimator{
				GroupSize: 16, GroupsPerStep: 1, Filter: option.KeepAll, Samples: option.Fresh,
				Advantage:  option.Advantage{Baseline: option.MeanBaseline, Scale: option.StdScale, Std: option.PopulationStd},
				Importance: everyWeight(option.NoImportance),
				KL:         option.KL{Coefficient: 0.5, In: option.InLoss, Gradient: option.ExactKL, At: option.AtCurrent},
			},
			Lag: option.Lag{Kind: option.Block, Interval: 2, Ages: option.Ages{Law: option.UniformAges, Drawn: option.AgePerGroup}},
			Optimizer: option.Optimizer{
				Kind: option.HeavyBall, LearningRate: 0.1, Momentum: 0.5, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8,
				Schedule: option.Schedule{Kind: option.ConstantRate, Total: 10},
			},
			ReferenceUpdate: option.ReferenceUpdate{Rate: 0.6},
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
	c.ReferenceUpdate.Rate = 0
	if !plain(c) {
		t.Error("the default without words is not plain")
	}
	c = standard()
	c.Estimator.Filter, c.ReferenceUpdate.Interval = option.Redraw, 3
	c.Lag.Kind, c.Lag.Ages.To = option.Random, 3
	c.Estimator.Importance.Mode = option.VESPO
	if !plain(c) {
		t.Error("a cell with redraw, a moving reference, random ages and importance weights is not plain")
	}
	for name, change := range map[string]func(c *Cell){
		"drop":            func(c *Cell) { c.Estimator.Filter = option.Drop },
		"batch-std":       func(c *Cell) { c.Estimator.Advantage.Scale = option.BatchStd },
		"pooled-std":      func(c *Cell) { c.Estimator.Advantage.Scale = option.PooledStd },
		"batch-mean":      func(c *Cell) { c.Estimator.Advantage.Scale = option.BatchMean },
		"KL at snapshot":  func(c *Cell) { c.Estimator.KL.At = option.AtSnapshot },
		"k1":              func(c *Cell) { c.Estimator.KL.Gradient = option.K1 },
		"ratio-k1":        func(c *Cell) { c.Estimator.KL.Gradient = option.RatioK1 },
		"ratio-k3":        func(c *Cell) { c.Estimator.KL.Gradient = option.RatioK3 },
		"KL in advantage": func(c *Cell) { c.Estimator.KL.In = option.InAdvantage },
		"KL in reward":    func(c *Cell) { c.Estimator.KL.In = option.InReward },
		"entropy bonus":   func(c *Cell) { c.Estimator.Entropy = 0.1 },
		"reused samples":  func(c *Cell) { c.Estimator.Samples = option.Reused },
		"largest norm":    func(c *Cell) { c.Optimizer.MaxNorm = 1 },
	} {
		c := standard()
		if change(c); plain(c) {
			t.Errorf("a cell with %s is plain", name)
		}
	}
}
