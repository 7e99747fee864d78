package measure

import (
	"math"
	"testing"
)

// lawCurve returns 200 points of a + b s(t) at the steps 10, 13, …
func lawCurve(s func(t float64) float64, a, b float64) (steps []int, reward []float64) {
	for i := range 200 {
		steps = append(steps, 10+3*i)
		reward = append(reward, a+b*s(float64(3*i)))
	}
	return steps, reward
}

// Curves that follow a law are fitted with their own parameters; the shapes here are
// written down a second time.
func TestFitLawRecoversItsLaw(t *testing.T) {
	const rate, middle = 0.017, 210.5
	shapes := map[Law]func(t float64) float64{
		Exponential:      func(t float64) float64 { return -math.Expm1(-rate * t) },
		CriticallyDamped: func(t float64) float64 { return 1 - (1+rate*t)*math.Exp(-rate*t) },
		Logistic:         func(t float64) float64 { return 0.5 + 0.5*math.Tanh(rate*(t-middle)/2) },
	}
	for law, shape := range shapes {
		steps, reward := lawCurve(shape, 0.3, 0.5)
		f, ok := FitLaw(law, steps, reward)
		near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-3*math.Abs(want) }
		if !ok || !near(f.Rate, rate) || !near(f.Start, 0.3) || !near(f.Plateau, 0.8) || 1-f.R2 > 1e-6 {
			t.Errorf("%s: %+v, want rate %g from 0.3 to 0.8 with R² = 1", law, f, rate)
		}
		if law == Logistic && !near(f.Middle, middle) || law != Logistic && f.Middle != 0 {
			t.Errorf("%s: middle %g", law, f.Middle)
		}
		for _, i := range []int{0, 57, 199} {
			if got := f.At(steps[i]); math.Abs(got-reward[i]) > 2e-3 {
				t.Errorf("%s: %g at step %d, want %g", law, got, steps[i], reward[i])
			}
		}
	}
}

// Of a curve that follows no law R² is the largest on a fine grid of rates and middles. There a and
// b are from the normal equations. No grid point is better than the fit.
func TestFitLawIsTheBestFit(t *testing.T) {
	steps, reward := lawCurve(func(t float64) float64 { return math.Pow(0.5+0.5*math.Tanh((t-250)/60), 1.5) + 0.03*math.Sin(t) }, 0, 0.9)
	r2 := func(s func(t float64) float64) float64 {
		var n, x, y, xx, xy, yy float64
		for i := range steps {
			u, v := s(float64(3*i)), reward[i]
			n, x, y, xx, xy, yy = n+1, x+u, y+v, xx+u*u, xy+u*v, yy+v*v
		}
		return math.Pow(n*xy-x*y, 2) / ((n*xx - x*x) * (n*yy - y*y))
	}
	best := map[Law]float64{}
	for i := range 200 {
		rate := 1e-3 * math.Pow(200, float64(i)/200)
		best[Exponential] = max(best[Exponential], r2(func(t float64) float64 { return -math.Expm1(-rate * t) }))
		best[CriticallyDamped] = max(best[CriticallyDamped], r2(func(t float64) float64 { return (1 + rate*t) * math.Exp(-rate*t) }))
		for k := range 60 {
			best[Logistic] = max(best[Logistic], r2(func(t float64) float64 { return math.Tanh(rate * (t - 10*float64(k)) / 2) }))
		}
	}
	for _, law := range Laws {
		if f, _ := FitLaw(law, steps, reward); f.R2 < best[law]-1e-9 || f.R2 > best[law]+2e-3 {
			t.Errorf("%s: R² = %.6f, on the grid %.6f", law, f.R2, best[law])
		}
	}
}

// The beginning of a rise does not determine the plateau.
func TestFitLawOfAParabola(t *testing.T) {
	steps, reward := lawCurve(func(t float64) float64 { return t * t / 36e4 }, 0, 0.5)
	if f, ok := FitLaw(CriticallyDamped, steps, reward); !ok || f.Plateau < 5 || f.R2 < 0.999 {
		t.Errorf("%+v, want a plateau far above the data and R² near 1", f)
	}
}

func TestFitLawNeedsData(t *testing.T) {
	steps := []int{0, 1, 2, 3, 4, 5}
	if _, ok := FitLaw(Logistic, steps, []float64{1, 1, 1, 1, 1, 1}); ok {
		t.Error("a constant was fitted")
	}
	if _, ok := FitLaw(Exponential, steps[:4], []float64{0, 1, 2, 2.5}); ok {
		t.Error("four points were fitted")
	}
}

// A log that follows the law as far as it is known, and then is 0.1 above its plateau, has errors
// in closed form.
func TestForecastLog(t *testing.T) {
	const rate = 0.04
	shape := func(t float64) float64 { return 1 - (1+rate*t)*math.Exp(-rate*t) }
	steps, reward := lawCurve(shape, 0, 0.8)
	const known = 60 // 30 % of 200
	ofLaw, ofPersistence, persistent := 0.0, 0.0, (reward[57]+reward[58]+reward[59])/3
	for i := known; i < len(reward); i++ {
		reward[i] = 0.9
		ofLaw += math.Pow(0.8*shape(float64(3*i))-0.9, 2)
		ofPersistence += math.Pow(persistent-0.9, 2)
	}
	f, ok := ForecastLog(CriticallyDamped, steps, reward)
	if want := math.Sqrt(ofPersistence / ofLaw); !ok || math.Abs(f.Gain/want-1) > 1e-2 {
		t.Errorf("gain %g, want %g", f.Gain, want)
	}
	if !f.Found {
		t.Error("a plateau of 0.8 is not found, where 0.9 and a fifth of the rise are wanted")
	}
	for i := known; i < len(reward); i++ {
		reward[i] = 1.1
	}
	if f, _ := ForecastLog(CriticallyDamped, steps, reward); f.Found {
		t.Error("a plateau of 0.8 is found, where 1.1 and a fifth of the rise are wanted")
	}
	if _, ok := ForecastLog(CriticallyDamped, steps[:16], reward[:16]); ok {
		t.Error("four known points were fitted")
	}
}
