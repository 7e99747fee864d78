package path

import (
	"math"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
)

// Rareness is the log odds u against an arm where it is rarest on the way.
type Rareness struct {
	end       float64 // u after the velocity has run out, in logits, the mean over runs
	deviation float64 // of end over runs
	frozen    bool
	// the sum of the steps that a force of that step causes, η/(1−μ) at a constant rate
	Gain float64
}

// Met returns the log odds that runs meet: 2 standard deviations above the mean where the arm is
// frozen, since what is left is the law of one step, and 3 where it is not, since then the largest
// of many steps decides. Both were chosen on 17 families and tried on others
// (docs/theory-neglected.md §6.12).
func (r *Rareness) Met() float64 {
	if r.frozen {
		return r.end + 2*r.deviation
	}
	return r.end + 3*r.deviation
}

// coasting returns the sum of the steps that a velocity at step t causes without any force, per
// unit of the velocity.
func coasting(o *option.Optimizer, t int) (sum float64) {
	_, carry := linear.StepGains(o.Kind, o.Momentum)
	for left := 1.0; carry > 0 && left > 1e-12; left *= o.Momentum {
		sum += RateAt(o, t) * carry * left
		t++
	}
	return sum
}

// LogOddsAlong follows the mean and the spread of runs from the logits init, on-policy and without
// a largest norm, until every arm is frozen or the steps are over. It returns where each arm is
// rarest; ok is false where the path leaves the range in which it can be followed.
func LogOddsAlong(p cell.Params, init []float64, steps int) (all []Rareness, ok bool) {
	p = cell.WithoutNorm(p)
	o, arms := &p.Optimizer, len(p.Arms)
	s := newSpread(p, init, steps)
	all = make([]Rareness, arms)
	for a := range all {
		all[a].end = math.Inf(-1)
	}
	velocity, before, probs := make([]float64, arms), append([]float64{}, init...),
		make([]float64, arms)
	calm, thawed := 0, arms
	force, carry := linear.StepGains(o.Kind, o.Momentum)
	_, within := Follow(p, init, steps, func(t int, theta []float64) (more bool) {
		if t > 0 {
			moved := floats.Distance(theta, before, math.Inf(1))
			if calm++; moved > AtRest {
				calm = 0
			}
			for a, x := range theta { // x − before = η(force·g + carry·v), v′ = μv + g
				g := ((x-before[a])/RateAt(o, t-1) - carry*velocity[a]) / force
				velocity[a] = o.Momentum*velocity[a] + g
			}
			copy(before, theta)
		}
		if s.lost || calm > RestingSteps {
			return false
		}
		n, coast := s.n, coasting(o, t)
		at, speed := s.moved(theta, s.mean[n:2*n]), s.moved(velocity, s.mean[:n])
		cell.Softmax(probs, at)
		for a, prob := range probs {
			if all[a].frozen {
				continue
			}
			// drawn less than once in the steps that a velocity lasts, 1/(1−μ): from there on no force
			// slows the policy down
			rare := prob*float64(p.GroupSize)*float64(p.GroupsPerStep) < 1-o.Momentum
			over := coast
			if rare {
				thawed--
			} else {
				over = 0 // forces still act
			}
			if r := s.rarenessOf(a, probs, speed, over); rare || r.end > all[a].end {
				r.Gain, r.frozen = RateAt(o, t)*force+coasting(o, t+1), rare
				all[a] = r
			}
		}
		if more = t < steps && thawed > 1; more {
			s.step(t, theta)
		}
		return more
	})
	return all, within.In && !s.lost
}

// rarenessOf returns that of an arm given the probabilities and the velocity of the mean of runs.
func (s *spread) rarenessOf(arm int, probs, velocity []float64, coast float64) (r Rareness) {
	odds := make([]float64, len(probs)) // the derivative of u
	for b, q := range probs {
		odds[b] = q / (1 - probs[arm])
	}
	odds[arm] = -1
	slope, n := linear.Reduce(s.q, odds), s.n
	r.end = math.Log1p(-probs[arm]) - math.Log(probs[arm]) + coast*floats.Dot(odds, velocity)
	of := func(i, k int) float64 { return linear.Form(slope, block(s.cov, i, k, n), slope) }
	r.deviation = math.Sqrt(max(of(n, n)+coast*(2*of(0, n)+coast*of(0, 0)), 0))
	return r
}
