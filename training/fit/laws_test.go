package fit

import (
	"math"
	"testing"
)

// rk4 integrates y″ = f(y, y′) from y(0) = start, y′(0) = 0 to t in n steps.
func rk4(f func(y, v float64) float64, start, t float64, n int) float64 {
	y, v, h := start, 0.0, t/float64(n)
	for range n {
		a1, b1 := v, f(y, v)
		a2, b2 := v+h/2*b1, f(y+h/2*a1, v+h/2*b1)
		a3, b3 := v+h/2*b2, f(y+h/2*a2, v+h/2*b2)
		a4, b4 := v+h*b3, f(y+h*a3, v+h*b3)
		y += h / 6 * (a1 + 2*a2 + 2*a3 + a4)
		v += h / 6 * (b1 + 2*b2 + 2*b3 + b4)
	}
	return y
}

func TestOscillatorSolvesItsEquation(t *testing.T) {
	for _, zeta := range []float64{0.02, 0.3, 0.9999, 1, 1.0001, 3, 20} {
		for _, x := range []float64{0.01, 0.5, 3, 10} {
			got := oscillator(x, zeta)
			want := rk4(func(y, v float64) float64 { return 1 - y - 2*zeta*v }, 0, x, 20_000)
			if math.Abs(got-want) > 1e-8 {
				t.Errorf("oscillator(%g, ζ = %g) = %.10g, want %.10g", x, zeta, got, want)
			}
		}
	}
	if got := oscillator(criticalHalf, 1); math.Abs(got-0.5) > 1e-14 {
		t.Errorf("the critically damped oscillator is %g at its half time, want ½", got)
	}
}

func TestSoftmaxGrowthSolvesItsEquation(t *testing.T) {
	var time []float64
	for i := range 100 {
		time = append(time, 2.5*float64(i+1))
	}
	g := make([]float64, len(time))
	for _, shape := range [][]float64{{20, 0.1, 0.01}, {20, 0.001, 5}, {5, 0.01, 40}, {80, 0.5, 20}, {40, 1e-6, 100}} {
		timescale, start, inertia := shape[0], shape[1], shape[2]
		softmaxGrowth(g, time, shape)
		for i := 9; i < len(time); i += 10 {
			x := rk4(func(x, v float64) float64 { return (1/(timescale*math.Cosh(x/2)) - v) / inertia },
				math.Log(start/(1-start)), time[i], 40_000)
			want := (sigmoid(x) - start) / (1 - start)
			if math.Abs(g[i]-want) > 2e-3 {
				t.Errorf("softmax growth with T = %g, p₀ = %g, m = %g is %.5f at %g, want %.5f", timescale, start, inertia, g[i], time[i], want)
			}
		}
	}
}

// Without inertia sinh(x/2) grows linearly.
func TestSoftmaxGrowthWithoutInertia(t *testing.T) {
	time := []float64{1, 10, 30, 100}
	g := make([]float64, len(time))
	softmaxGrowth(g, time, []float64{15, 0.02, 1e-9})
	for i, at := range time {
		u := math.Sinh(math.Log(0.02/0.98)/2) + at/(2*15)
		if want := (0.5 + 0.5*u/math.Hypot(1, u) - 0.02) / 0.98; math.Abs(g[i]-want) > 2e-3 {
			t.Errorf("g(%g) = %.5f, want %.5f", at, g[i], want)
		}
	}
}
