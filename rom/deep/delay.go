package deep

import (
	"grposim/rom/linear"

	"gonum.org/v1/gonum/mat"
)

// mixedDelay is a delay of τ steps, with p = ηv: p′ = μp − η(Λ_f x + Λ_s x_{t−τ}) and x′ = x −
// ηa(Λ_f x + Λ_s x_{t−τ}) + bp. The state is (x, x_{t−1}, …, x_{t−τ}, p), without p where no
// velocity is kept.
type mixedDelay struct{}

func (mixedDelay) monodromy(m *mixed, rate float64, tau int) *mat.Dense {
	n := len(m.fresh)
	gain, velocity := linear.StepGains(m.Method, m.Momentum)
	at, blocks := (tau+1)*n, tau+2 // place of p
	if velocity == 0 {
		blocks--
	}
	out := mat.NewDense(blocks*n, blocks*n, nil)
	add := func(row, column int, v float64) { out.Set(row, column, out.At(row, column)+v) }
	for i, lambda := range m.fresh {
		add(i, i, 1-rate*gain*lambda)
		for j, s := range m.stale.RawRowView(i) {
			add(i, tau*n+j, -rate*gain*s)
		}
		for k := range tau {
			add((k+1)*n+i, k*n+i, 1)
		}
		if velocity == 0 {
			continue
		}
		add(i, at+i, velocity)
		add(at+i, i, -rate*lambda)
		add(at+i, at+i, m.Momentum)
		for j, s := range m.stale.RawRowView(i) {
			add(at+i, tau*n+j, -rate*s)
		}
	}
	return out
}

func (mixedDelay) limit(*mixed, int) float64 { return 0 }

// provenStable holds where nothing is stale, which does not mix.
func (mixedDelay) provenStable(*mixed, float64) bool { return false }

// largestState is the size of the matrix up to which delays are searched: 0.5 s each of the
// largest.
const largestState = 600

// intervals are all, up to 50 as in package linear.
func (mixedDelay) intervals(n int) (from, to int, next func(int) int) {
	return 0, min(50, max(largestState/n-2, 0)), func(tau int) int { return tau + 1 }
}
