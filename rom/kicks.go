package rom

import (
	"math"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
)

// This file has the kicks of k3 (docs/theory-neglected.md §6.12). Where an arm is so rare that
// hardly any step draws it, the restoring force of k3 is there in the mean only. At the log odds u
// against the arm it is delivered by samples that come with the probability e^{−u}, each of which
// moves u in all, by momentum too, by c e^u less what the reward's part of it is.

// kickScale returns c = 2ηβπ_ref/(GB(1−μ)) for an arm of reference probability reference, in
// logits; gain is η/(1−μ), the sum of the steps that a force causes.
func kickScale(p *Params, reference, gain float64) float64 {
	return 2 * gain * p.KL.Coefficient * reference / (float64(p.GroupSize) * float64(p.GroupsPerStep))
}

// throwsAcross reports whether a sample at the log odds u against its arm throws the policy farther
// to the other side than it was, c e^u > 2u.
func throwsAcross(c, u float64) bool {
	return u > 0 && c*fp.MathExp(u) > 2*u && (u > 1 || c > 2/math.E)
}

// crossing returns u₂, the log odds from which on throwsAcross holds, the larger solution of c e^u
// = 2u; 0 for c > 2/e, where it always does, and +Inf for c = 0.
func crossing(c float64) float64 {
	switch {
	case c > 2/math.E:
		return 0
	case c <= 0:
		return math.Inf(1)
	}
	above := 1.0
	for !throwsAcross(c, above) {
		above *= 2
	}
	below := max(above/2, 1)
	for range 60 {
		if middle := (below + above) / 2; throwsAcross(c, middle) {
			above = middle
		} else {
			below = middle
		}
	}
	return above
}

// frozen reports whether an arm of the given probability is drawn less than once in the steps that
// a velocity lasts, 1/(1−μ), from there on no force slows the policy down.
func (p *Params) frozen(prob float64) bool {
	return prob*float64(p.GroupSize)*float64(p.GroupsPerStep) < (1 - p.Optimizer.Momentum)
}

// rareness is the log odds u against an arm where it is rarest on the way.
type rareness struct {
	end       float64 // u after the velocity has run out, in logits, the mean over runs
	deviation float64 // of end over runs
	frozen    bool
	// the sum of the steps that a force of that step causes, η/(1−μ) at a constant rate
	gain float64
}

// met returns the log odds that runs meet: 2 standard deviations above the mean where the arm is
// frozen, since what is left is the law of one step, and 3 where it is not, since then the largest
// of many steps decides. Both were chosen on 17 families and tried on others
// (docs/theory-neglected.md §6.12).
func (r *rareness) met() float64 {
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
		sum += rateAt(o, t) * carry * left
		t++
	}
	return sum
}

// gainAt returns the sum of the steps that a force of step t causes, per unit of the force.
func gainAt(o *option.Optimizer, t int) float64 {
	force, _ := linear.StepGains(o.Kind, o.Momentum)
	return rateAt(o, t)*force + coasting(o, t+1)
}

// logOddsAlong follows the mean and the spread of runs from the logits init, on-policy and without
// a largest norm, until every arm is frozen or the steps are over. It returns where each arm is
// rarest; ok is false where the path leaves the range in which it can be followed.
func logOddsAlong(p Params, init []float64, steps int) (all []rareness, ok bool) {
	p.Optimizer.MaxNorm, p.cut = 0, 0
	o, arms := &p.Optimizer, len(p.Arms)
	s := newSpread(p, init, steps)
	all = make([]rareness, arms)
	for a := range all {
		all[a].end = math.Inf(-1)
	}
	velocity, before, probs := make([]float64, arms), append([]float64{}, init...), make([]float64, arms)
	calm, thawed := 0, arms
	_, within := meanField(p, init, steps, func(t int, theta []float64) (more bool) {
		if t > 0 {
			moved := floats.Distance(theta, before, math.Inf(1))
			if calm++; moved > settled {
				calm = 0
			}
			gain, carry := linear.StepGains(o.Kind, o.Momentum)
			for a, x := range theta { // x − before = η(gain·g + carry·v), v′ = μv + g
				g := ((x-before[a])/rateAt(o, t-1) - carry*velocity[a]) / gain
				velocity[a] = o.Momentum*velocity[a] + g
			}
			copy(before, theta)
		}
		if s.lost || calm > restingSteps {
			return false
		}
		n, coast := s.n, coasting(o, t)
		at, speed := s.moved(theta, s.mean[n:2*n]), s.moved(velocity, s.mean[:n])
		softmax(probs, at)
		for a, prob := range probs {
			if all[a].frozen {
				continue
			}
			frozen, over := p.frozen(prob), coast
			if frozen {
				thawed--
			} else {
				over = 0 // forces still act
			}
			if r := s.rarenessOf(a, probs, speed, over); frozen || r.end > all[a].end {
				r.gain, r.frozen = gainAt(o, t), frozen
				all[a] = r
			}
		}
		if t < steps && thawed > 1 {
			s.step(t, theta)
			return true
		}
		return false
	})
	return all, within.In && !s.lost
}

// rarenessOf returns that of an arm given the probabilities and the velocity of the mean of runs.
func (s *spread) rarenessOf(arm int, probs, velocity []float64, coast float64) (r rareness) {
	odds := make([]float64, len(probs)) // the derivative of u
	for b, q := range probs {
		odds[b] = q / (1 - probs[arm])
	}
	odds[arm] = -1
	slope, n := reduce(s.q, odds), s.n
	r.end = math.Log1p(-probs[arm]) - math.Log(probs[arm]) + coast*floats.Dot(odds, velocity)
	ofVelocity, ofPlace, between := 0.0, 0.0, 0.0
	for i, x := range slope {
		for k, y := range slope {
			ofVelocity += x * y * s.cov[i][k]
			between += x * y * s.cov[i][n+k]
			ofPlace += x * y * s.cov[n+i][n+k]
		}
	}
	r.deviation = math.Sqrt(max(ofPlace+coast*(2*between+coast*ofVelocity), 0))
	return r
}
