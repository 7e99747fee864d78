package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// At most 0.5 % of forecasts are more than twice as far off as persistence, unless a
// take-off or a collapse comes after the last known row or is under way there: the curves
// take four times 2 % of their rows for it. Of 1,000 forecasts 2 were, by factors of 2.2 and
// 2.3: a saturated curve within the noise, and a slow ringing.
func TestForecastsOfSimulatedCurves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	forecasts, bad := 0, 0
	for _, k := range courses {
		for range forecastRuns {
			n := 100 + rng.IntN(900)
			y, event := k.draw(rng, float64(n))
			noise := 0.0
			if k.noisy {
				noise = math.Exp(uniform(rng, math.Log(0.02), 0))
			}
			scale, shift := uniform(rng, 0.2, 2.2), rng.NormFloat64()
			c := curve(rng, n, scale*noise, func(t float64) float64 { return shift + scale*y(t) })
			for _, from := range []float64{0.3, 0.5} {
				s, ok := Backtest(c, from, Predict)
				if !ok {
					t.Fatalf("no forecast from %g of %d rows", from, n)
				}
				forecasts++
				if later := event+0.08*float64(n) > from*float64(n) && event > 0; s.RMSE > 2*s.PersistenceRMSE && !later {
					bad++
					t.Logf("%s, from %g of %d rows, event at %g, noise %g: RMSE %g, persistence %g", k.name, from, n, event, noise, s.RMSE, s.PersistenceRMSE)
				}
			}
		}
	}
	if float64(bad) > 0.005*float64(forecasts) {
		t.Errorf("%d of %d forecasts are more than twice as far off as persistence", bad, forecasts)
	}
}

// The score of a forecast that is known.
func TestBacktestKnown(t *testing.T) {
	c := Curve{}
	for i := range 60 {
		c.Time, c.Reward = append(c.Time, float64(i)), append(c.Reward, 0)
		if i >= 30 {
			c.Reward[i] = float64(2 * (i % 2)) // 0, 2, 0, 2, …
		}
	}
	s, ok := Backtest(c, 0.5, func(_ Curve, times []float64) Forecast {
		f := Forecast{Mean: make([]float64, 30), Lo: make([]float64, 30), Hi: make([]float64, 30)}
		for i := range f.Mean {
			f.Mean[i], f.Lo[i], f.Hi[i] = 1, 0, 1.5
		}
		return f
	})
	want := Score{From: 0.5, RMSE: 1, PersistenceRMSE: math.Sqrt2, SmoothingRMSE: math.Sqrt2,
		Coverage: 0.5, Winkler: 1.5 + 20*0.5/2, PersistenceWinkler: 20}
	if !ok {
		t.Fatal("no score")
	}
	for _, x := range []struct {
		name      string
		got, want float64
	}{
		{"From", s.From, want.From}, {"RMSE", s.RMSE, want.RMSE}, {"PersistenceRMSE", s.PersistenceRMSE, want.PersistenceRMSE},
		{"SmoothingRMSE", s.SmoothingRMSE, want.SmoothingRMSE}, {"Coverage", s.Coverage, want.Coverage},
		{"Winkler", s.Winkler, want.Winkler}, {"PersistenceWinkler", s.PersistenceWinkler, want.PersistenceWinkler},
	} {
		if math.Abs(x.got-x.want) > 1e-12 {
			t.Errorf("%s = %g, want %g", x.name, x.got, x.want)
		}
	}
	if _, ok := Backtest(c, 0.1, Predict); ok {
		t.Error("6 known rows make a forecast, want none")
	}
}

// On curves of its own model the intervals cover what they say. 40 runs of 100 future
// rows, correlated within a run: the standard deviation of the share between runs is
// about 0.1, that of the mean 0.016; four of it are the bounds.
func TestForecastIntervalsCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs = 40
	var covered float64
	for range runs {
		half := uniform(rng, 30, 100)
		c := curve(rng, 200, 1, func(t float64) float64 { return -math.Expm1(-math.Ln2 * t / half) })
		s, _ := Backtest(c, 0.5, Predict)
		covered += s.Coverage / runs
	}
	if math.Abs(covered-0.9) > 0.064 {
		t.Errorf("90 %% intervals cover %.3f of the rows", covered)
	}
}

// A sibling that took off tells a forecast of the take-off; one at another level is
// believed by half.
func TestSiblingForeseesATakeOff(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rise := func(t float64) float64 { return sigmoid((t - 120) / 12) }
	sibling := curve(rng, 250, 0.1, rise)
	c := curve(rng, 250, 0.1, func(t float64) float64 { return 0.2 + rise(t) })
	alone, _ := Backtest(c, 0.3, Predict)
	s, _ := Backtest(c, 0.3, func(known Curve, times []float64) Forecast {
		return PredictFromSiblings(known, times, []Curve{sibling})
	})
	if s.RMSE > 0.25*alone.RMSE {
		t.Errorf("RMSE %.3f with a sibling, %.3f without, want a quarter", s.RMSE, alone.RMSE)
	}
	flat := curve(rng, 250, 0, func(float64) float64 { return 1 })
	known := curve(rng, 100, 0, func(float64) float64 { return 0 })
	if f := PredictFromSiblings(known, []float64{200}, []Curve{flat}); math.Abs(f.Mean[0]-0.5) > 1e-12 {
		t.Errorf("between a level of 0 and a sibling at 1 the forecast is %g, want ½", f.Mean[0])
	}
}
