package fit

import (
	"math"
	"math/rand/v2"
)

// curve returns n rows of y at the steps 1 … n with normal noise.
func curve(rng *rand.Rand, n int, noise float64, y func(t float64) float64) Curve {
	var c Curve
	for i := range n {
		t := float64(i + 1)
		c.Time = append(c.Time, t)
		c.Reward = append(c.Reward, y(t)+noise*rng.NormFloat64())
	}
	return c
}

// course is a kind of simulated curve; draw returns one over n steps, from 0 to 1 or so,
// and the step of a take-off or collapse, 0 if there is none.
type course struct {
	name  string
	noisy bool
	draw  func(rng *rand.Rand, n float64) (y func(t float64) float64, event float64)
}

func uniform(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

var courses = []course{
	{"saturating", false, func(rng *rand.Rand, n float64) (func(t float64) float64, float64) {
		tau := n * math.Exp(uniform(rng, math.Log(0.02), math.Log(0.5)))
		return []func(t float64) float64{
			func(t float64) float64 { return 1 - math.Exp(-t/tau) },
			func(t float64) float64 { return sigmoid(t/tau - 3) },
			func(t float64) float64 { return oscillator(t/tau, 1) },
		}[rng.IntN(3)], 0
	}},
	{"flat", true, func(*rand.Rand, float64) (func(t float64) float64, float64) {
		return func(float64) float64 { return 0 }, 0
	}},
	{"take-off", true, func(rng *rand.Rand, n float64) (func(t float64) float64, float64) {
		at := n * uniform(rng, 0.1, 0.9)
		return func(t float64) float64 { return sigmoid((t - at) / (0.02 * n)) }, at
	}},
	{"ringing", true, func(rng *rand.Rand, n float64) (func(t float64) float64, float64) {
		omega, zeta := 2*math.Pi*uniform(rng, 1, 10)/n, uniform(rng, 0.05, 0.65)
		return func(t float64) float64 { return oscillator(omega*t, zeta) }, 0
	}},
	{"collapsing", true, func(rng *rand.Rand, n float64) (func(t float64) float64, float64) {
		tau, at := n*uniform(rng, 0.02, 0.3), n*uniform(rng, 0.2, 0.9)
		return func(t float64) float64 {
			return (1 - math.Exp(-t/tau)) * math.Exp(-max(0, t-at)/(0.02*n))
		}, at
	}},
}
