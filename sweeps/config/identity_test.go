package config

import (
	"testing"

	"grposim/option"
	"grposim/sim"
)

// Cells share a stiffness if bandit, estimator and reference are equal, whatever their
// lag, optimizer, start and run.
func TestForceID(t *testing.T) {
	base := func() *Settings { return &loadPoints(t, loadMinimal)[0].Settings }
	want := ForceID(base())
	for name, change := range map[string]func(*Settings){
		"lag":       func(s *Settings) { s.Lag = option.Lag{Kind: option.Delay, Interval: 3} },
		"optimizer": func(s *Settings) { s.Optimizer.Momentum = 0.5 },
		"run":       func(s *Settings) { s.Run = sim.Run{Steps: 7, Replicas: 2} },
		"start":     func(s *Settings) { s.Policy.Init.Logits = []float64{1, 2} },
	} {
		s := base()
		if change(s); ForceID(s) != want {
			t.Errorf("another %s has another force", name)
		}
	}
	for name, change := range map[string]func(*Settings){
		"seed":       func(s *Settings) { s.Seed = 2 },
		"reference":  func(s *Settings) { s.Policy.Reference = []float64{1, 0} },
		"group size": func(s *Settings) { s.Estimator.GroupSize = 17 },
		"norm":       func(s *Settings) { s.Optimizer.MaxNorm = 1 },
		"bandit": func(s *Settings) {
			s.Bandit.Arms = []option.Arm{s.Bandit.Arms[0],
				s.Bandit.Arms[0]}
		},
	} {
		s := base()
		if change(s); ForceID(s) == want {
			t.Errorf("another %s has the same force", name)
		}
	}
}

// A claim over the group size compares the cells of one variant that differ in the group
// size and in their run only.
func TestOverID(t *testing.T) {
	base := func() *Settings { return &loadPoints(t, loadMinimal)[0].Settings }
	want := OverID(GroupSizeKey, "v", base())
	s := base()
	s.Estimator.GroupSize = 64
	s.Run = sim.Run{Steps: 9, BurnIn: 1, Replicas: 5}
	s.Optimizer.Schedule.Total = 9
	if OverID(GroupSizeKey, "v", s) != want {
		t.Error("cells that differ in group size and run are in two groups")
	}
	if OverID(GroupSizeKey, "w", base()) == want {
		t.Error("cells of two variants are in one group")
	}
	s.Optimizer.LearningRate *= 2
	if OverID(GroupSizeKey, "v", s) == want {
		t.Error("cells with two learning rates are in one group")
	}
}
