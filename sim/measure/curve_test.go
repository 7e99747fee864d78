package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sampled returns f at the given steps.
func sampled(steps []int, f func(t float64) float64) []float64 {
	values := make([]float64, len(steps))
	for i, t := range steps {
		values[i] = f(float64(t))
	}
	return values
}

// upTo returns the steps 0, every, 2·every, … up to last.
func upTo(last, every int) []int {
	var steps []int
	for t := 0; t <= last; t += every {
		steps = append(steps, t)
	}
	return steps
}

// The rate of an exponential is found, rising or falling, fast or slow.
func TestSaturationOfAnExponential(t *testing.T) {
	steps := upTo(1000, 4)
	for _, rate := range []float64{1e-4, 3e-3, 0.02, 0.5, 2} {
		for _, b := range []float64{0.3, -2} {
			reward := sampled(steps, func(t float64) float64 { return 0.7 - b*math.Exp(-rate*t) })
			got, r2 := Saturation(steps, reward)
			if !(math.Abs(got/rate-1) <= 1e-7 && math.Abs(r2-1) <= 1e-12) { // nor NaN
				t.Errorf("rate %g, b %g: %.12g with R² = %g", rate, b, got, r2)
			}
		}
	}
}

// For a curve that is not an exponential no other rate, with any a and b, has a smaller
// sum of squared residuals.
func TestSaturationIsLeastSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	steps := append(upTo(200, 7), 211, 400)
	for trial := range 50 {
		reward := sampled(steps, func(t float64) float64 {
			return 1/(1+math.Exp(2-0.03*t)) + 0.05*rng.NormFloat64()
		})
		rate, r2 := Saturation(steps, reward)
		// R² of the best a and b at a rate, by their normal equations
		explained := func(rate float64) float64 {
			var n, e, ee, y, ye, yy float64
			for i, t := range steps {
				x := math.Exp(-rate * float64(t))
				n, e, ee, y, ye, yy = n+1, e+x, ee+x*x, y+reward[i], ye+reward[i]*x, yy+reward[i]*reward[i]
			}
			return (ye - y*e/n) * (ye - y*e/n) / (ee - e*e/n) / (yy - y*y/n)
		}
		if !(math.Abs(explained(rate)-r2) <= 1e-9) { // nor NaN
			t.Errorf("trial %d: R² = %g at rate %g, where it is %g", trial, r2, rate, explained(rate))
		}
		for other := 1e-4; other < 1; other *= 1.01 {
			if explained(other) > r2+1e-12 {
				t.Fatalf("trial %d: rate %g explains %g, %g only %g", trial, other, explained(other), rate, r2)
			}
		}
	}
}

// Curves without a best exponential have no rate.
func TestSaturationWithoutARate(t *testing.T) {
	steps := upTo(100, 1)
	for name, f := range map[string]func(t float64) float64{
		"constant":      func(float64) float64 { return 0.5 },
		"straight line": func(t float64) float64 { return 0.1 + 0.01*t },
		"ever steeper":  func(t float64) float64 { return math.Exp(0.05 * t) },
		"a step":        func(t float64) float64 { return min(t, 1) },
		"not a number":  func(t float64) float64 { return math.NaN() },
	} {
		if rate, r2 := Saturation(steps, sampled(steps, f)); !math.IsNaN(rate) || !math.IsNaN(r2) {
			t.Errorf("%s: rate %g, R² = %g", name, rate, r2)
		}
	}
	if rate, _ := Saturation([]int{0, 1, 2}, []float64{0, 1, 1.5}); !math.IsNaN(rate) {
		t.Errorf("three points: rate %g", rate)
	}
}

// The early slope of an exponential approach is its rate; the last point, however far
// away, is the plateau.
func TestEarlySlope(t *testing.T) {
	const rate, eta = 0.0012, 0.01
	steps := append(upTo(100, 1), 500_000, 1_000_000)
	reward := sampled(steps, func(t float64) float64 { return 1.35 - 0.7*math.Exp(-rate*t) })
	if got, want := EarlySlope(steps, reward, eta), rate/(eta*(1+rate)); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("K = %.12g, want %.12g", got, want)
	}
	reward[50] = 1.36 // past the plateau
	if got := EarlySlope(steps, reward, eta); !math.IsNaN(got) {
		t.Errorf("a curve that passes its end: K = %g", got)
	}
	for _, steps := range [][]int{
		append(upTo(100, 1), 2500, 5000), // in the middle, e^−3 of the change is still to come
		append(upTo(100, 1), 1_000_000),  // no point in the middle
		upTo(100, 1),
	} {
		if got := EarlySlope(steps, sampled(steps, func(t float64) float64 { return -math.Exp(-rate * t) }), eta); !math.IsNaN(got) {
			t.Errorf("to %d: K = %g", steps[len(steps)-1], got)
		}
	}
	if got := EarlySlope([]int{0, 1}, []float64{0, 1}, eta); !math.IsNaN(got) {
		t.Errorf("two points: K = %g", got)
	}
}

// An approach from one side has no passage of its last value, an overshoot one, and a curve that
// returns from the other side two. Swings within the tolerance do not count.
func TestPassages(t *testing.T) {
	for _, c := range []struct {
		name  string
		curve []float64
		want  int
	}{
		{"approach", []float64{0, 0.5, 0.9, 1}, 0},
		{"overshoot", []float64{0, 1.2, 1.1, 1}, 1},
		{"oscillation", []float64{0, 1.2, 0.9, 1}, 2},
		{"a second swing within the tolerance", []float64{0, 1.2, 0.9995, 1}, 1},
	} {
		if got := Passages(c.curve, VisibleShare*Spread(c.curve)); got != c.want {
			t.Errorf("%s: %d passages, want %d", c.name, got, c.want)
		}
	}
	if Spread(nil) != 0 || math.Abs(Spread([]float64{3, -1, 2})-4) > 0 {
		t.Error("the spread is not max − min")
	}
}
