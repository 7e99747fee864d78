package main

import (
	"grposim/option"
	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
)

// fault is a mistake that a theory of these dynamics could make.
type fault struct {
	name    string // as on the page
	mistake judge.Mistake
}

// faults lists the mistakes of the table. A mistake that does not apply to a cell leaves
// the cell's settings unchanged: a longer delay changes no cell with block refresh.
var faults = []fault{
	{"exponential average instead of heavy ball: η(1−μ)", exponentialAverage},
	{"no momentum", set(func(s *config.Settings) { s.Optimizer.Momentum = 0 })},
	{"Nesterov instead of heavy ball", set(func(s *config.Settings) {
		if s.Optimizer.Kind == option.HeavyBall {
			s.Optimizer.Kind = option.Nesterov
		}
	})},
	{"Adam's β1 and β2 exchanged", set(func(s *config.Settings) {
		s.Optimizer.Beta1, s.Optimizer.Beta2 = s.Optimizer.Beta2, s.Optimizer.Beta1
	})},
	{"heavy ball instead of Adam", set(func(s *config.Settings) {
		if s.Optimizer.Kind == option.Adam {
			s.Optimizer.Kind, s.Optimizer.Momentum = option.HeavyBall, s.Optimizer.Beta1
		}
	})},
	{"refresh interval longer by one step", set(func(s *config.Settings) {
		if s.Lag.Kind == option.Block {
			s.Lag.Interval++
		}
	})},
	{"delay longer by one step", set(func(s *config.Settings) {
		if s.Lag.Kind == option.Delay {
			s.Lag.Interval++
		}
	})},
	{"delay instead of block", set(func(s *config.Settings) { s.Lag.Kind = option.Delay })},
	{"stiffness × 1.1", scale(rom.Factors{Stiffness: 1.1, Noise: 1, Lag: 1, Mass: 1})},
	{"noise × 1.1", scale(rom.Factors{Stiffness: 1, Noise: 1.1, Lag: 1, Mass: 1})},
	{"lag × 1.1, to leading order", scale(rom.Factors{Stiffness: 1, Noise: 1, Lag: 1.1, Mass: 1})},
	{"mass × 1.1, to leading order", scale(rom.Factors{Stiffness: 1, Noise: 1, Lag: 1, Mass: 1.1})},
	{"group size larger by one", set(func(s *config.Settings) {
		if s.Estimator.GroupSize != option.Infinite {
			s.Estimator.GroupSize++
		}
	})},
	{"group size 16 in every cell", set(func(s *config.Settings) {
		if s.Estimator.GroupSize != option.Infinite {
			s.Estimator.GroupSize = 16
		}
	})},
	{"leave-one-out instead of mean baseline", set(func(s *config.Settings) { s.Estimator.Advantage.Baseline = option.LeaveOneOut })},
	{"sample instead of population standard deviation", set(func(s *config.Settings) { s.Estimator.Advantage.Std = option.SampleStd })},
	{"no scale instead of std", set(func(s *config.Settings) { s.Estimator.Advantage.Scale = option.NoScale })},
	{"no importance weights instead of ratio", set(func(s *config.Settings) { s.Estimator.Importance.Mode = option.NoImportance })},
	{"KL coefficient × 1.1", set(func(s *config.Settings) { s.Estimator.KL.Coefficient *= 1.1 })},
	{"log π_ref with the wrong sign", set(func(s *config.Settings) {
		reference := make([]float64, len(s.Policy.Reference))
		for a, l := range s.Policy.Reference {
			reference[a] = -l
		}
		s.Policy.Reference = reference
	})},
	{"k2 instead of k3", gradient(option.K3, option.K2)},
	{"k3 instead of exact KL", gradient(option.ExactKL, option.K3)},
	{"KL at snapshot instead of current policy", set(func(s *config.Settings) { s.Estimator.KL.At = option.AtSnapshot })},
	{"KL at current policy instead of snapshot", set(func(s *config.Settings) { s.Estimator.KL.At = option.AtCurrent })},
	{"exponential instead of another law", anotherLaw("exponential", "logistic")},
	{"logistic instead of another law", anotherLaw("logistic", "exponential")},
	{"a failing run named healthy", named(func(mode string) string { return "none" })},
	{"a healthy run named degenerate", named(func(mode string) string {
		if mode == "none" {
			return "advantage-degeneracy"
		}
		return mode
	})},
}

// set is a mistake in the settings that the theory is given.
func set(change func(*config.Settings)) judge.Mistake {
	return func(*config.Check, *config.Settings) config.Fault {
		return config.Fault{Set: change, Scale: rom.Unit}
	}
}

// scale is a mistake by a factor in a quantity that the theory derives.
func scale(factors rom.Factors) judge.Mistake {
	return func(*config.Check, *config.Settings) config.Fault { return config.Fault{Scale: factors} }
}

// gradient is the mistake of taking one estimator of the KL gradient for another.
func gradient(from, to option.KLGradient) judge.Mistake {
	return set(func(s *config.Settings) {
		if s.Estimator.KL.Gradient == from {
			s.Estimator.KL.Gradient = to
		}
	})
}

// anotherLaw is the mistake of fitting a law instead of the check's; of a check of that
// law, another.
func anotherLaw(law, other string) judge.Mistake {
	return func(check *config.Check, _ *config.Settings) config.Fault {
		fault := config.NoFault
		switch check.Law {
		case "":
		case law:
			fault.Law = other
		default:
			fault.Law = law
		}
		return fault
	}
}

// named is the mistake of expecting another failure mode than the check's.
func named(other func(mode string) string) judge.Mistake {
	return func(check *config.Check, _ *config.Settings) config.Fault {
		return config.Fault{Scale: rom.Unit, Names: config.Names{Mode: other(check.Mode)}}
	}
}

// exponentialAverage is the mistake of taking v ← μv + (1−μ)g for the heavy ball. It
// equals a learning rate smaller by the factor 1 − μ or, in a check that locates a value
// (which may be the learning rate itself), a force smaller by that factor. Adam is an
// exponential average already.
func exponentialAverage(check *config.Check, s *config.Settings) config.Fault {
	if s.Optimizer.Kind == option.Adam {
		return config.NoFault
	}
	if less := 1 - s.Optimizer.Momentum; check.Locate != nil {
		return config.Fault{Scale: rom.Factors{Stiffness: less, Noise: less * less, Lag: 1, Mass: 1}}
	}
	return config.Fault{Scale: rom.Unit, Set: func(s *config.Settings) { s.Optimizer.LearningRate *= 1 - s.Optimizer.Momentum }}
}
