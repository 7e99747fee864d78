package grpo

import "math"

// OptimizerState is the memory of an optimizer. It starts at rest and survives every
// refresh of the snapshot.
type OptimizerState struct {
	velocity []float64 // v; Adam's first moment
	square   []float64 // Adam's second moment
	decay1   float64   // β1^t
	decay2   float64   // β2^t
}

// NewOptimizerState returns the motion at rest of a policy with the given number of arms.
func NewOptimizerState(arms int) *OptimizerState {
	m := &OptimizerState{velocity: make([]float64, arms), square: make([]float64, arms)}
	m.Reset()
	return m
}

// Reset sets m to rest.
func (m *OptimizerState) Reset() {
	clear(m.velocity)
	clear(m.square)
	m.decay1, m.decay2 = 1, 1
}

// Velocity returns v, for Adam the first moment; it is valid until the next Step.
func (m *OptimizerState) Velocity() []float64 { return m.velocity }

// Step moves logits uphill by the force g (docs/theory.md §1), with the
// learning rate given, which is that of the step, Rate:
//
//	heavy ball  v ← μv + g,  θ ← θ + ηv
//	Nesterov    v ← μv + g,  θ ← θ + η(g + μv)
//	Adam        v ← β1 v + (1−β1) g,  s ← β2 s + (1−β2) g²,
//	            θ ← θ + η v̂/(√ŝ + ε), v̂ = v/(1−β1^t), ŝ = s/(1−β2^t)
func (o *Optimizer) Step(logits, g []float64, m *OptimizerState, rate float64) {
	logits, velocity := logits[:len(g)], m.velocity[:len(g)]
	switch o.Kind {
	case HeavyBall:
		for a, x := range g {
			v := float64(o.Momentum*velocity[a]) + x
			velocity[a] = v
			logits[a] += float64(rate * v)
		}
	case Nesterov:
		for a, x := range g {
			v := float64(o.Momentum*velocity[a]) + x
			velocity[a] = v
			logits[a] += float64(rate * (x + float64(o.Momentum*v)))
		}
	case Adam:
		m.decay1 *= o.Beta1
		m.decay2 *= o.Beta2
		for a, x := range g {
			v := float64(o.Beta1*velocity[a]) + float64((1-o.Beta1)*x)
			s := float64(o.Beta2*m.square[a]) + float64((1-o.Beta2)*float64(x*x))
			velocity[a], m.square[a] = v, s
			scale := math.Sqrt(s/(1-m.decay2)) + o.Epsilon
			if scale > 0 { // a force that has always been 0 moves nothing
				logits[a] += float64(rate * (v / (1 - m.decay1) / scale))
			}
		}
	}
}

// Rate returns the learning rate of step t ≥ 0.
func (o *Optimizer) Rate(t int) float64 {
	if o.Schedule.Kind == ConstantRate && t >= o.Schedule.Warmup {
		return o.LearningRate
	}
	return o.LearningRate * o.Schedule.Factor(t)
}

// Factor returns what multiplies the learning rate at step t ≥ 0.
func (s *Schedule) Factor(t int) float64 {
	if t < s.Warmup {
		return float64(t+1) / float64(s.Warmup)
	}
	if s.Kind == ConstantRate {
		return 1
	}
	x := 1.0
	if t < s.Total {
		x = float64(t-s.Warmup) / float64(s.Total-s.Warmup)
	}
	if s.Kind == LinearDecay {
		return 1 - x
	}
	return 0.5 * (1 + cosPi(x))
}

// cosPi returns cos πx for x in [0, 1] to 1e-15, as 1 − 2 sin²(πx/2) with the
// Taylor series of the sine: its terms fall below 1e-17 at the 12th.
func cosPi(x float64) float64 {
	y := 0.5 * math.Pi * x
	square := y * y
	sine, term := y, y
	for n := 1; n <= 12; n++ {
		term = float64(term * (-square / float64((2*n)*(2*n+1))))
		sine += term
	}
	return 1 - float64(2*float64(sine*sine))
}
