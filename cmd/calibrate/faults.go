package main

import (
	"grposim/grpo"
	"grposim/rom"
	"grposim/sweeps"
	"grposim/sweeps/config"
)

// fault is a mistake that a theory of these dynamics could make.
type fault struct {
	name  string
	plant sweeps.Mistake
}

// faults is the list of mistakes. Those that a cell cannot show change nothing
// of it: a delay has no refresh interval.
var faults = []fault{
	{"exponential average for heavy ball: η(1−μ)", exponentialAverage},
	{"no momentum", set(func(s *config.Settings) { s.Optimizer.Momentum = 0 })},
	{"Nesterov for heavy ball", set(func(s *config.Settings) {
		if s.Optimizer.Kind == grpo.HeavyBall {
			s.Optimizer.Kind = grpo.Nesterov
		}
	})},
	{"Adam's β1 and β2 exchanged", set(func(s *config.Settings) {
		s.Optimizer.Beta1, s.Optimizer.Beta2 = s.Optimizer.Beta2, s.Optimizer.Beta1
	})},
	{"heavy ball for Adam", set(func(s *config.Settings) {
		if s.Optimizer.Kind == grpo.Adam {
			s.Optimizer.Kind, s.Optimizer.Momentum = grpo.HeavyBall, s.Optimizer.Beta1
		}
	})},
	{"block one step longer", set(func(s *config.Settings) {
		if s.Lag.Kind == grpo.Block {
			s.Lag.Interval++
		}
	})},
	{"delay one step longer", set(func(s *config.Settings) {
		if s.Lag.Kind == grpo.Delay {
			s.Lag.Interval++
		}
	})},
	{"delay for block", set(func(s *config.Settings) { s.Lag.Kind = grpo.Delay })},
	{"stiffness × 1.1", scale(rom.Factors{Stiffness: 1.1, Noise: 1, Lag: 1, Mass: 1})},
	{"noise × 1.1", scale(rom.Factors{Stiffness: 1, Noise: 1.1, Lag: 1, Mass: 1})},
	{"lag × 1.1, to leading order", scale(rom.Factors{Stiffness: 1, Noise: 1, Lag: 1.1, Mass: 1})},
	{"mass × 1.1, to leading order", scale(rom.Factors{Stiffness: 1, Noise: 1, Lag: 1, Mass: 1.1})},
	{"group size one larger", set(func(s *config.Settings) {
		if s.Estimator.GroupSize != grpo.Infinite {
			s.Estimator.GroupSize++
		}
	})},
	{"one group size for all: 16", set(func(s *config.Settings) {
		if s.Estimator.GroupSize != grpo.Infinite {
			s.Estimator.GroupSize = 16
		}
	})},
	{"leave-one-out for mean baseline", set(func(s *config.Settings) { s.Estimator.Advantage.Baseline = grpo.LeaveOneOut })},
	{"sample for population deviation", set(func(s *config.Settings) { s.Estimator.Advantage.Std = grpo.SampleStd })},
	{"no scale for std", set(func(s *config.Settings) { s.Estimator.Advantage.Scale = grpo.NoScale })},
	{"no importance weights for ratio", set(func(s *config.Settings) { s.Estimator.Importance.Mode = grpo.NoImportance })},
	{"KL coefficient × 1.1", set(func(s *config.Settings) { s.Estimator.KL.Coefficient *= 1.1 })},
	{"log π_ref with the wrong sign", set(func(s *config.Settings) {
		reference := make([]float64, len(s.Policy.Reference))
		for a, l := range s.Policy.Reference {
			reference[a] = -l
		}
		s.Policy.Reference = reference
	})},
	{"k2 for k3", gradient(grpo.K3, grpo.K2)},
	{"k3 for exact KL", gradient(grpo.ExactKL, grpo.K3)},
	{"KL at snapshot for current", set(func(s *config.Settings) { s.Estimator.KL.At = grpo.AtSnapshot })},
	{"KL at current for snapshot", set(func(s *config.Settings) { s.Estimator.KL.At = grpo.AtCurrent })},
	{"a failing run taken for a healthy one", named(func(mode string) string { return "none" })},
	{"a healthy run taken for a degenerate one", named(func(mode string) string {
		if mode == "none" {
			return "advantage-degeneracy"
		}
		return mode
	})},
}

func set(change func(*config.Settings)) sweeps.Mistake {
	return func(*config.Check, *config.Settings) config.Fault {
		return config.Fault{Set: change, Scale: rom.Unit}
	}
}

func scale(factors rom.Factors) sweeps.Mistake {
	return func(*config.Check, *config.Settings) config.Fault { return config.Fault{Scale: factors} }
}

func gradient(from, to grpo.KLGradient) sweeps.Mistake {
	return set(func(s *config.Settings) {
		if s.Estimator.KL.Gradient == from {
			s.Estimator.KL.Gradient = to
		}
	})
}

// named expects another failure mode than the check's.
func named(other func(mode string) string) sweeps.Mistake {
	return func(check *config.Check, _ *config.Settings) config.Fault {
		return config.Fault{Scale: rom.Unit, Mode: other(check.Mode)}
	}
}

// exponentialAverage takes v ← μv + (1−μ)g for the heavy ball, which is a force
// smaller by 1 − μ, or a learning rate; where that is what is located the force.
func exponentialAverage(check *config.Check, s *config.Settings) config.Fault {
	if s.Optimizer.Kind == grpo.Adam { // is one
		return config.NoFault
	}
	if less := 1 - s.Optimizer.Momentum; check.Locate != nil {
		return config.Fault{Scale: rom.Factors{Stiffness: less, Noise: less * less, Lag: 1, Mass: 1}}
	}
	return config.Fault{Scale: rom.Unit, Set: func(s *config.Settings) { s.Optimizer.LearningRate *= 1 - s.Optimizer.Momentum }}
}
