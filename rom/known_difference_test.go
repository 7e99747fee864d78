package rom_test

import (
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
)

// For three constant rewards without scale the mean force is (1 − 1/G)u at any G.
// Its stiffness is −(1 − 1/G)H_u, H_u = diag u − uπᵀ − πuᵀ (docs/theory.md §3).
func TestUnscaledStiffness(t *testing.T) {
	p := bandit(option.NoScale, 0, 8)
	p.Arms = []option.Arm{{Law: option.Constant, Mean: 0.1}, {Law: option.Constant, Mean: 1.3}, {Law: option.Constant, Mean: 0.6}}
	p.Reference = []float64{0, 0, 0}
	theta := []float64{0.4, -0.3, 1.1}
	pi, j := oracleSoftmax(theta), oracleReward(p, theta)
	for _, w := range []option.ImportanceMode{option.NoImportance, option.Ratio, option.Clip} {
		p.Importance.Mode, p.Importance.ClipLow, p.Importance.ClipHigh = w, 0.2, 0.2
		if kind := force.Mean(make([]float64, 3), p, theta, theta); (kind == rom.Exact) == (w == option.Clip) {
			t.Errorf("%s: the force is %s", describe(p), kind)
		}
		fresh, stale := force.Stiffness(p, theta)
		whole, nothing := fresh, stale
		if w == option.NoImportance {
			whole, nothing = stale, fresh
		}
		for a := range pi {
			for b := range pi {
				ua, ub := pi[a]*(p.Arms[a].Mean-j), pi[b]*(p.Arms[b].Mean-j)
				want := 7. / 8 * (ua*pi[b] + pi[a]*ub)
				if a == b {
					want -= 7. / 8 * ua
				}
				closeTo(t, describe(p), whole.At(a, b), want, 1e-12)
				closeTo(t, describe(p)+" the other part", nothing.At(a, b), 0, 1e-12)
			}
		}
	}
}
