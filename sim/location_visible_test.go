package sim

import (
	"context"
	"testing"

	"grposim/grpo"
)

// The visible frontier of the eight-armed stand-in of docs/theory.md §9 at η = 0.12,
// μ = 0.8 and η = 0.04: the smallest delays with at least two passages, found by an
// independent program that shares no code with this one.
func TestVisibleFrontier(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		mode  grpo.ImportanceMode
		point grpo.KLPoint
		share float64
		first int
	}{
		{0.12, grpo.Ratio, grpo.AtCurrent, 1e-3, 6},
		{0.12, grpo.NoImportance, grpo.AtCurrent, 1e-3, 11},
		{0.08, grpo.NoImportance, grpo.AtSnapshot, 1e-3, 3},
		{0.12, grpo.Ratio, grpo.AtCurrent, 1e-2, 7},
		{0.12, grpo.NoImportance, grpo.AtCurrent, 3e-3, 13},
		{0.12, grpo.NoImportance, grpo.AtCurrent, 1e-2, 16},
	} {
		cell := standIn(c.rate, c.mode, c.point)
		for lag, want := range map[int]outcome{c.first - 1: absent, c.first: present} {
			cell.Lag.Interval = lag
			if got := visible(context.Background(), &cell, c.share); got != want {
				t.Errorf("η = %g, %s at %s, visibility %g, delay %d: outcome %v, want %v", c.rate, c.mode, c.point, c.share, lag, got, want)
			}
		}
	}
}

// standIn returns the cell of the stand-in bandit, without probes.
func standIn(rate float64, mode grpo.ImportanceMode, point grpo.KLPoint) Cell {
	var arms []grpo.Arm
	for _, mean := range []float64{0, 0, 0, 0.5, 0.5, 1, 1, 2} {
		arms = append(arms, grpo.Arm{Reward: grpo.Constant, Mean: mean})
	}
	return Cell{
		ID: "stand-in", Bandit: grpo.Bandit{Arms: arms}, Reference: make([]float64, 8), Init: make([]float64, 8),
		Estimator: grpo.Estimator{
			GroupSize: grpo.Infinite, GroupsPerStep: 1,
			Advantage:  grpo.Advantage{Baseline: grpo.MeanBaseline, Scale: grpo.StdScale, Std: grpo.PopulationStd},
			Importance: grpo.Importance{Mode: mode, ClipLow: 0.2, ClipHigh: 0.2},
			KL:         grpo.KL{Coefficient: 1, Gradient: grpo.ExactKL, At: point},
		},
		Lag:       grpo.Lag{Kind: grpo.Delay, Interval: 1},
		Optimizer: grpo.Optimizer{Kind: grpo.HeavyBall, LearningRate: rate, Momentum: 0.8, Schedule: grpo.Schedule{Kind: grpo.ConstantRate}},
		Run:       Run{Steps: 2500, Replicas: 1},
	}
}
