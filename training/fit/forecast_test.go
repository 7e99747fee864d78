package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Known rows of 0 forecast 0. Those that follow, 0, 2, 0, 2, …, are √2 away.
func TestBacktestKnown(t *testing.T) {
	var c Curve
	for i := range 60 {
		c.Time, c.Reward = append(c.Time, float64(i)), append(c.Reward, 0)
		if i >= 30 {
			c.Reward[i] = float64(2 * (i % 2))
		}
	}
	s, ok := Backtest(c, 0.5)
	for _, got := range append(s.LawRMSE, s.PersistenceRMSE, s.SmoothingRMSE) {
		if !ok || math.Abs(got-math.Sqrt2) > 1e-12 {
			t.Errorf("%+v, want √2", s)
		}
	}
	if _, ok := Backtest(c, 0.1); ok {
		t.Error("6 known rows make a forecast, want none")
	}
}

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
			f := Predict(c.head(known), c.Time[known:])
			if y := c.Reward[known+ahead-1]; f.Lo[ahead-1] <= y && y <= f.Hi[ahead-1] {
				covered += 1.0 / runs
			}
		}
		if covered < 0.84 || walks > 0 && covered > 0.96 {
			t.Errorf("90 %% intervals cover %.3f of the rows of a level that walks by %g", covered, walks)
		}
	}
}
