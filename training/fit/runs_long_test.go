//go:build long

package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Simulated curves of each kind.
const falseClaimRuns, powerRuns, flatRuns = 100, 100, 60

// 90 % intervals contain the true parameters in 85 to 95 % of the runs. The share of
// each of 18 parameters may differ from 0.9 by four standard deviations of a binomial
// law.
func TestLongIntervalsCover(t *testing.T) {
	const coverRuns = 100
	rng := rand.New(rand.NewPCG(7, 6))
	var sum, count float64
	for _, s := range shapes {
		y := grown(s.law, s.shape)
		truth := append([]float64{2, 5}, s.shape...)
		covered := make([]float64, len(truth))
		for range coverRuns {
			m := fitLaw(curve(rng, 250, 0.6, y), s.law)
			for k, p := range m.Parameters() {
				if p.Lo <= truth[k] && truth[k] <= p.Hi {
					covered[k] += 1.0 / coverRuns
				}
			}
		}
		for k, share := range covered {
			sum += share
			count++
			if math.Abs(share-0.9) > 4*math.Sqrt(0.9*0.1/coverRuns) {
				t.Errorf("%s: intervals of parameter %d cover the truth in %.2f of the runs", s.law, k, share)
			}
		}
	}
	t.Logf("90 %% intervals cover the truth in %.3f of the runs", sum/count)
	if all := sum / count; all < 0.85 || all > 0.95 {
		t.Errorf("90 %% intervals cover the truth in %.3f of the runs", all)
	}
}
