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
}
