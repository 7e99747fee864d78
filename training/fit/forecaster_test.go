package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Two rows of 1 by hand: the walk is 0 at the first; at the second its variance is 1, the
// gain ½.
func TestFilter(t *testing.T) {
	w := filter{time: []float64{0, 1}, noise: []float64{1, 1}, drift: 1}.whiten([]float64{1, 1})
	if w.last != 0.5 || w.variance != 0.5 || w.innovations[0] != 1 || math.Abs(w.innovations[1]-math.Sqrt(0.5)) > 1e-15 || math.Abs(w.logVariance-math.Ln2) > 1e-15 {
		t.Errorf("%+v", w)
	}
}

// A rise that is over does not go on: with 15 % of the rows after it the forecast stays
// at the new level.
func TestForecastAfterAnAbruptRise(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var worst float64
	for range 20 {
		c := curve(rng, 400, 0.03, func(t float64) float64 { return sigmoid((t - 335) / 8) })
		worst = max(worst, math.Abs(Predict(c, []float64{800}).Mean[0]-1))
	}
	if worst > 0.1 {
		t.Errorf("a forecast is %.2f off the new level", worst)
	}
}
