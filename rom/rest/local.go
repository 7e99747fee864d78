package rest

import (
	"math"

	"grposim/rom/cell"
)

// Local is the linear dynamics about a policy that is its own snapshot, a fixed point or not.
type Local struct {
	Reward      float64      // J there, in units of reward
	Stiffness   float64      // λ of the stiffest mode, in units of force per logit
	Multipliers []complex128 // the largest first, at least one
	Oscillates  bool         // see linear.Dynamics
}

// About returns a function that gives the linear dynamics of p about the logits of all arms at a
// learning rate; ok is false where it is not finite or not known.
func About(p cell.Params) func(theta []float64, rate float64) (local Local, ok bool) {
	f := fold(p)
	return func(theta []float64, rate float64) (local Local, ok bool) {
		logits := make([]float64, len(f.count))
		for a, c := range f.class {
			logits[c] = theta[a] + math.Log(f.count[c])
		}
		l := newLinearization(f, logits)
		if !l.finite() {
			return local, false
		}
		motion := l.newMotion(f.Optimizer.Kind, rate, f.Optimizer.Momentum, nil)
		if motion == nil || motion.TooLarge().Out() {
			return local, false
		}
		values := motion.Multipliers()
		if len(values) == 0 {
			return local, false
		}
		return Local{l.model.Expected(logits), l.modes()[0].total, values, motion.Oscillates()}, true
	}
}
