package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The fit finds the map of rows without noise, also of nearly parallel components, and else to
// σ/√(rows). Merged halves give the fit of the whole. Parallel components determine no map.
func TestLinearMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	want := [][]float64{{0.5, -1, 2}, {3, 0.25, -0.125}}
	fit := func(rows int, noise, apart float64) *LinearMap {
		whole, half := NewLinearMap(3, 2), NewLinearMap(3, 2)
		for n := range rows {
			s := []float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
			s[2] = s[0] + apart*(s[2]-s[0])
			y := make([]float64, 2)
			for i, row := range want {
				y[i] = noise * random.NormFloat64()
				for k, c := range row {
					y[i] += c * s[k]
				}
			}
			if n%2 == 0 {
				whole.Add(s, y)
			} else {
				half.Add(s, y)
			}
		}
		half.Innovations = 2
		whole.Merge(half)
		return whole
	}
	for _, x := range []struct {
		rows                   int
		noise, apart, accuracy float64
	}{{3, 0, 1, 1e-9}, {40, 0, 1, 1e-12}, {40, 0, 1e-3, 1e-7}, {10_000, 0.1, 1, 6e-3}} {
		m := fit(x.rows, x.noise, x.apart)
		got, ok := m.Fit()
		if !ok || m.Innovations != 2 {
			t.Fatalf("%+v: no map, or %d innovations", x, m.Innovations)
		}
		worst := 0.0
		for i, row := range want {
			for k, c := range row {
				worst = max(worst, math.Abs(got[i][k]-c))
			}
		}
		if worst > x.accuracy || x.noise > 0 && worst < x.accuracy/100 {
			t.Errorf("%+v: got %v, want %v", x, got, want)
		}
	}
	for _, m := range []*LinearMap{fit(2, 0, 1), fit(40, 0, 0), NewLinearMap(3, 2)} {
		if c, ok := m.Fit(); ok {
			t.Errorf("got %v from rows that determine no map", c)
		}
	}
}
