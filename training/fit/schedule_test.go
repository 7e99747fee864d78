package fit

import (
	"math"
	"testing"
)

// The integral of a rate that falls linearly from 1 at step 1 to 0 is x − x²/2n from there on.
func TestLoggedTime(t *testing.T) {
	const n = 500
	var steps, rates []float64
	for i := range n {
		steps, rates = append(steps, float64(i+1)), append(rates, 5e-6*(1-float64(i)/n))
	}
	got, ok := LoggedTime(steps, rates)
	for i := range got {
		x := float64(i)
		if want := 1 + x - x*x/2/n; !ok || math.Abs(got[i]-want) > 1e-9 {
			t.Fatalf("time %g at step %g, want %g", got[i], steps[i], want)
		}
	}
	for _, bad := range []float64{-1, math.NaN()} {
		rates[0] = bad
		if _, ok := LoggedTime(steps, rates); ok {
			t.Errorf("rates that begin with %g give a time", bad)
		}
	}
	if _, ok := LoggedTime(steps, make([]float64, n)); ok {
		t.Error("rates of 0 give a time")
	}
}
