package rom_test

import (
	"testing"

	"grposim/option"
	"grposim/rom"
)

// Nesterov's force acts as (1+μ)g_t − μg_{t−1} (docs/theory.md §4). With a delay
// τ and the whole force frozen its terms are, to second order in d/dt,
//
//	(1+μ)x_{t−τ} − μx_{t−1−τ} ≈ x + (μ−τ)x′ + ½(τ² − 2μτ − μ)x″,
//
// times k on the side of m, γ and k.
func TestOscillatorConstantsOfNesterov(t *testing.T) {
	for _, tau := range []float64{0, 1, 3, 8} {
		const rate, mu = 0.02, 0.7
		p := bandit(option.NoScale, 0.5, option.Infinite)
		p.Lag, p.Optimizer = delay(int(tau)), option.Optimizer{Kind: option.Nesterov, LearningRate: rate, Momentum: mu}
		got := rom.Predict(p)
		k := rate * 0.1586848975
		closeTo(t, "k", got.Oscillator.Spring, k, 1e-12)
		closeTo(t, "γ", got.Oscillator.Damping, 1-mu+k*(mu-tau), 1e-11)
		closeTo(t, "m", got.Oscillator.Mass, (1+mu)/2+k*(tau*tau-2*mu*tau-mu)/2, 1e-10)
	}
}
