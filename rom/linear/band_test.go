package linear

import (
	"math"
	"testing"
)

// A walk on 0, …, n−1 that steps up with the probability p and down with q has the stationary law (p/q)^k.
func TestBandNull(t *testing.T) {
	const n, p, q = 40, 0.2, 0.3
	b := NewBand(n, 3)
	move := func(from, to int, x float64) {
		to = min(max(to, 0), n-1)
		b.Add(from, from, x)
		b.Add(to, from, -x)
	}
	for k := range n {
		move(k, k+1, p)
		move(k, k-1, q)
	}
	x := b.Null()
	for k := range n {
		if want := math.Pow(p/q, float64(k-n+1)); math.Abs(x[k]-want) > 1e-9*want {
			t.Errorf("state %d: %g, want %g", k, x[k], want)
		}
	}
}
