package grpo

import (
	"math"

	"grposim/option"
)

// OptimizerState is the memory of an optimizer. It starts at zero and survives every
// refresh of the snapshot.
type OptimizerState struct {
	velocity []float64 // v; for Adam the first moment
	square   []float64 // s, Adam's second moment
	decay1   float64   // β1^t
	decay2   float64   // β2^t
}

// NewOptimizerState returns the state before the first step, for a policy with the
// given number of arms. It panics unless arms ≥ 2.
func NewOptimizerState(arms int) *OptimizerState {
	mustHaveArms(arms)
	state := &OptimizerState{velocity: make([]float64, arms), square: make([]float64, arms)}
	state.Reset()
	return state
}

// Reset sets the state to that before the first step.
func (state *OptimizerState) Reset() {
	clear(state.velocity)
	clear(state.square)
	state.decay1, state.decay2 = 1, 1
}

// Velocity returns v, in units of force, one number per arm; for Adam the first
// moment. It is valid until the next Step.
func (state *OptimizerState) Velocity() []float64 { return state.velocity }

// Step moves logits uphill along the force g and updates the state (docs/theory.md §1). All have
// one number per arm. η = rate is the learning rate of the step, see Rate. It panics if o.Kind is
// unknown.
//
//	heavy ball  v ← μv + g,  θ ← θ + ηv
//	Nesterov    v ← μv + g,  θ ← θ + η(g + μv)
//	Adam        v ← β1 v + (1−β1) g,  s ← β2 s + (1−β2) g²,
//	            θ ← θ + η v̂/(√ŝ + ε), v̂ = v/(1−β1^t), ŝ = s/(1−β2^t)
func Step(o *option.Optimizer, logits, g []float64, state *OptimizerState, rate float64) {
	logits, velocity := logits[:len(g)], state.velocity[:len(g)]
	switch o.Kind {
	case option.HeavyBall:
		for a, x := range g {
			v := float64(o.Momentum*velocity[a]) + x
			velocity[a] = v
			logits[a] += float64(rate * v)
		}
	case option.Nesterov:
		for a, x := range g {
			v := float64(o.Momentum*velocity[a]) + x
			velocity[a] = v
			logits[a] += float64(rate * (x + float64(o.Momentum*v)))
		}
	case option.Adam:
		state.decay1 *= o.Beta1
		state.decay2 *= o.Beta2
		for a, x := range g {
			v := float64(o.Beta1*velocity[a]) + float64((1-o.Beta1)*x)
			s := float64(o.Beta2*state.square[a]) + float64((1-o.Beta2)*float64(x*x))
			velocity[a], state.square[a] = v, s
			scale := math.Sqrt(s/(1-state.decay2)) + o.Epsilon
			if scale > 0 { // 0 only if ε = 0 and the force has always been 0
				logits[a] += float64(rate * (v / (1 - state.decay1) / scale))
			}
		}
	default:
		panic(unknown("Optimizer.Kind", o.Kind))
	}
}

// LimitNorm scales the force g to the norm o.MaxNorm where it is longer.
func LimitNorm(o *option.Optimizer, g []float64) {
	if o.MaxNorm == 0 {
		return
	}
	if norm := Norm(g); norm > o.MaxNorm {
		factor := o.MaxNorm / norm
		for a := range g {
			g[a] *= factor
		}
	}
}

// Norm returns √Σ g².
func Norm(g []float64) float64 {
	square := 0.0
	for _, x := range g {
		square += float64(x * x)
	}
	return math.Sqrt(square)
}

// Rate returns the learning rate of step t ≥ 0, in logits per unit of force.
func Rate(o *option.Optimizer, t int) float64 { return o.LearningRate * RateFactor(&o.Schedule, t) }

// RateFactor returns the factor of a valid schedule at step t ≥ 0, in [0, 1].
func RateFactor(s *option.Schedule, t int) float64 {
	if t < s.Warmup {
		return float64(t+1) / float64(s.Warmup)
	}
	if s.Kind == option.ConstantRate {
		return 1
	}
	x := min(float64(t-s.Warmup)/float64(s.Total-s.Warmup), 1) // the elapsed share of the decay
	if s.Kind == option.LinearDecay {
		return 1 - x
	}
	return 0.5 * (1 + cosPi(x))
}

// cosPi returns cos πx for x in [0, 1] with an error below 1e-15, as 1 − 2 sin²(πx/2). The sine is
// its Taylor series, whose 12th term is below 1e-17.
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
