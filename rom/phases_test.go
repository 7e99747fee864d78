package rom

import (
	"math"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/mat"
)

// A mode with λ_s < 0 first oscillates inside the block, where only the fresh part
// acts: from ηλ_f = (1−√μ)², the on-policy onset. The map of the whole block does not
// show it yet (docs/theory.md §5).
func TestOnsetInsideABlock(t *testing.T) {
	for _, mu := range []float64{0, 0.5, 0.9} {
		for _, k := range []int{2, 3, 8} {
			s := &scalar{fresh: 1.5, stale: -0.5, method: option.HeavyBall, momentum: mu, lag: option.Lag{Kind: option.Block, Interval: k}}
			want := (1 - math.Sqrt(mu)) * (1 - math.Sqrt(mu)) / 1.5
			near(t, "onset", s.onsetRate().at, want, 1e-6)
			if m, _ := s.monodromy(1.2 * want); m.oscillates() {
				t.Errorf("μ = %v, K = %d: M rings just beyond the onset too", mu, k)
			}
		}
	}
}

// The first phase of a stationary block is the refresh, where x_old = x; x_old keeps
// its variance to the end of the block.
func TestPhasesBeginWithTheRefresh(t *testing.T) {
	l := &linear{fresh: single(0.3), stale: single(0.7), noise: single(1), method: option.HeavyBall, rate: 0.05, momentum: 0.5, lag: option.Lag{Kind: option.Block, Interval: 4}}
	law, ok := l.stationary()
	if !ok {
		t.Fatal("no stationary law")
	}
	var seen []*mat.Dense
	law.phases(func(joint *mat.Dense) { seen = append(seen, joint) })
	if len(seen) != 4 {
		t.Fatalf("%d phases, want 4", len(seen))
	}
	refreshed := seen[0].At(0, 0)
	for k, joint := range seen {
		near(t, "Var x_old", joint.At(1, 1), refreshed, 1e-12)
		if apart := joint.At(0, 0) + joint.At(1, 1) - 2*joint.At(0, 1); (k == 0) != (math.Abs(apart) < 1e-12*refreshed) {
			t.Errorf("phase %d: Var(x − x_old) = %v", k, apart)
		}
	}
}
