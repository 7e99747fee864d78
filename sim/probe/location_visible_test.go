package probe

import (
	"context"
	"testing"

	"grposim/option"
	"grposim/sim"
)

// The visible frontier of the eight-armed stand-in of docs/theory.md §9, at μ = 0.8. It is the
// smallest delay with at least two passages, here by an independent program that shares no code
// with this one.
func TestVisibleFrontier(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		mode  option.ImportanceMode
		point option.KLPoint
		share float64
		first int
	}{
		{0.12, option.Ratio, option.AtCurrent, 1e-3, 6},
		{0.12, option.NoImportance, option.AtCurrent, 1e-3, 11},
		{0.08, option.NoImportance, option.AtSnapshot, 1e-3, 3},
		{0.12, option.Ratio, option.AtCurrent, 1e-2, 7},
		{0.12, option.NoImportance, option.AtCurrent, 3e-3, 13},
		{0.12, option.NoImportance, option.AtCurrent, 1e-2, 16},
	} {
		cell := standIn(c.rate, c.mode, c.point)
		for lag, want := range map[int]outcome{c.first - 1: absent, c.first: present} {
			cell.Lag.Interval = lag
			if got := visible(context.Background(), &cell, c.share); got != want {
				t.Errorf("η = %g, %s at %s, visibility %g, delay %d: outcome %v, want %v", c.rate, c.mode,
					c.point, c.share, lag, got, want)
			}
		}
	}
}

// standIn returns the cell of the stand-in bandit, without probes.
func standIn(rate float64, mode option.ImportanceMode, point option.KLPoint) sim.Cell {
	var arms []option.Arm
	for _, mean := range []float64{0, 0, 0, 0.5, 0.5, 1, 1, 2} {
		arms = append(arms, option.Arm{Law: option.Constant, Mean: mean})
	}
	return sim.Cell{
		ID: "stand-in", Bandit: option.Bandit{Arms: arms}, Reference: make([]float64, 8), Init: make([]float64, 8),
		Estimator: option.Estimator{
			GroupSize: option.Infinite, GroupsPerStep: 1, Importance: option.Importance{Mode: mode},
			KL: option.KL{Coefficient: 1, At: point},
		},
		Lag:       option.Lag{Kind: option.Delay, Interval: 1},
		Optimizer: option.Optimizer{LearningRate: rate, Momentum: 0.8},
		Run:       sim.Run{Steps: 2500, Replicas: 1},
	}
}
