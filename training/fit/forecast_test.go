package fit

import (
	"math/rand/v2"
	"testing"
)

// Intervals cover nine of ten rows of a level that walks as exponential smoothing takes it to.
// The standard deviation of the share is about 0.015 for 400 curves.
func TestForecastIntervalsCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs, known, ahead = 400, 100, 30
	for _, walks := range []float64{0, smoothing} {
		covered := 0.0
		for range runs {
			l := 0.0
			c := curve(rng, known+ahead, 0, func(float64) float64 {
				e := rng.NormFloat64()
				y := l + e
				l += walks * e
				return y
			})
			f := (&Result{Regime: Monotone}).Predict(Curve{c.Time[:known], c.Reward[:known]}, c.Time[known:])
			if y := c.Reward[known+ahead-1]; f.Lo[ahead-1] <= y && y <= f.Hi[ahead-1] {
				covered += 1.0 / runs
			}
		}
		if covered < 0.84 || walks > 0 && covered > 0.96 {
			t.Errorf("90 %% intervals cover %.3f of the rows of a level that walks by %g", covered, walks)
		}
	}
}
