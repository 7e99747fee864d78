package main

import (
	"slices"

	"grposim/option"
	"grposim/rom"
	"grposim/sweeps/config"
)

// fault is a mistake that a theory of these dynamics could make.
type fault struct {
	name    string // as on the page
	mistake mistake
}

// faults lists the mistakes of the table. A mistake that does not apply to a cell leaves
// the cell's settings unchanged: a longer delay changes no cell with block refresh.
var faults = []fault{
	{"exponential average instead of heavy ball: η(1−μ)", exponentialAverage},
	{"no momentum", set(func(s *config.Settings) { s.Optimizer.Momentum = 0 })},
	{"Nesterov instead of heavy ball", taken("optimizer.kind", "heavy-ball", "nesterov")},
	{"Adam's β1 and β2 exchanged", set(func(s *config.Settings) {
		s.Optimizer.Beta1, s.Optimizer.Beta2 = s.Optimizer.Beta2, s.Optimizer.Beta1
	})},
	{"heavy ball instead of Adam", set(func(s *config.Settings) {
		if s.Optimizer.Kind == option.Adam {
			s.Optimizer.Kind, s.Optimizer.Momentum = option.HeavyBall, s.Optimizer.Beta1
		}
	})},
	{"refresh interval longer by one step", longer(option.Block)},
	{"delay longer by one step", longer(option.Delay)},
	{"delay instead of block", taken("lag.kind", "", "delay")},
	{"stiffness × 1.1", scaled("stiffness")},
	{"noise × 1.1", scaled("noise")},
	{"lag × 1.1, to leading order", scaled("lag")},
	{"mass × 1.1, to leading order", scaled("mass")},
	{"group size larger by one", groupSize(func(g int) int { return g + 1 })},
	{"group size 16 in every cell", groupSize(func(int) int { return 16 })},
	{"leave-one-out instead of mean baseline", taken("grpo.advantage.baseline", "", "leave-one-out")},
	{"sample instead of population standard deviation", taken("grpo.advantage.std", "", "sample")},
	{"no scale instead of std", taken("grpo.advantage.scale", "", "none")},
	{"no importance weights instead of ratio", taken("grpo.importance.mode", "", "none")},
	{"KL coefficient × 1.1", set(func(s *config.Settings) { s.Estimator.KL.Coefficient *= 1.1 })},
	{"log π_ref with the wrong sign", set(func(s *config.Settings) {
		s.Policy.Reference = slices.Clone(s.Policy.Reference)
		for a := range s.Policy.Reference {
			s.Policy.Reference[a] *= -1
		}
	})},
	{"k2 instead of k3", taken("grpo.kl.gradient", "k3", "k2")},
	{"k3 instead of exact KL", taken("grpo.kl.gradient", "exact", "k3")},
	{"KL at snapshot instead of current policy", taken("grpo.kl.at", "", "snapshot")},
	{"KL at current policy instead of snapshot", taken("grpo.kl.at", "", "current")},
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
func set(change func(*config.Settings)) mistake {
	return func(*config.Check, *config.Settings) config.Fault {
		return config.Fault{Set: change, Scale: rom.Unit}
	}
}

// scaled is a mistake by 10 % in a quantity that the theory derives.
func scaled(constant string) mistake {
	return func(*config.Check, *config.Settings) config.Fault {
		return config.Fault{Scale: config.Scaled(constant, 1.1)}
	}
}

// taken is the mistake of taking one word of a key for another; from "": every word.
func taken(path, from, to string) mistake {
	key, _ := config.LookupKey(path)
	return set(func(s *config.Settings) {
		if from == "" || key.Get(s) == from {
			_ = key.Set(s, to) // only lists can fail
		}
	})
}

// longer is the mistake of a lag of one kind that is longer by one step.
func longer(kind option.LagKind) mistake {
	return set(func(s *config.Settings) {
		if s.Lag.Kind == kind {
			s.Lag.Interval++
		}
	})
}

// groupSize is a mistake in a finite group size.
func groupSize(other func(int) int) mistake {
	return set(func(s *config.Settings) {
		if s.Estimator.GroupSize != option.Infinite {
			s.Estimator.GroupSize = other(s.Estimator.GroupSize)
		}
	})
}

// anotherLaw is the mistake of fitting a law instead of the check's; of a check of that
// law, another.
func anotherLaw(law, other string) mistake {
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
func named(other func(mode string) string) mistake {
	return func(check *config.Check, _ *config.Settings) config.Fault {
		return config.Fault{Scale: rom.Unit, Names: config.Names{Mode: other(check.Mode)}}
	}
}

// exponentialAverage is the mistake of taking v ← μv + (1−μ)g for the heavy ball. It equals a
// learning rate smaller by the factor 1 − μ or, in a check that locates a value (which may be the
// learning rate itself), a force smaller by that factor. Adam is an exponential average already.
func exponentialAverage(check *config.Check, s *config.Settings) config.Fault {
	less := 1 - s.Optimizer.Momentum
	switch {
	case s.Optimizer.Kind == option.Adam:
		return config.NoFault
	case check.Locate != nil:
		return config.Fault{Scale: rom.Factors{Stiffness: less, Noise: less * less, Lag: 1, Mass: 1}}
	}
	return config.Fault{Scale: rom.Unit, Set: func(s *config.Settings) {
		s.Optimizer.LearningRate *= 1 - s.Optimizer.Momentum
	}}
}
