package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Quantiles are to the bit those of the sorted values, and the values are only reordered. They are
// any number of random, equal, mostly equal or sorted values.
func TestQuantilesAreOfSortedValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, values := range []struct {
		name string
		at   func(i int) float64
	}{
		{"random", func(int) float64 { return rng.NormFloat64() }},
		{"equal", func(int) float64 { return 0.3 }},
		{"mostly equal", func(int) float64 { return math.Floor(1.1 * rng.Float64()) }},
		{"mostly one", func(int) float64 { return -math.Floor(1.1 * rng.Float64()) }},
		{"few", func(int) float64 { return float64(rng.IntN(5)) / 4 }},
		{"up", func(i int) float64 { return float64(i) }},
		{"down", func(i int) float64 { return -float64(i) }},
		{"up and down", func(i int) float64 { return math.Abs(float64(i) - 500) }},
		{"subnormal", func(int) float64 { return float64(rng.IntN(3)-1) * math.SmallestNonzeroFloat64 }},
		{"far apart", func(int) float64 { return math.Exp(100 * rng.NormFloat64()) }},
		{"infinite", func(int) float64 { return math.Inf(1) }},
		{"least infinite", func(int) float64 { return math.Inf(-1) }},
		{"some infinite", func(int) float64 { return 1 / math.Floor(1.5*rng.Float64()) }},
		{"largest there", func(int) float64 { return math.MaxFloat64 * (rng.Float64() - 0.5) }},
	} {
		for n := 1; n < 1100; n += 1 + n/7 {
			drawn := make([]float64, n)
			for i := range drawn {
				drawn[i] = values.at(i)
			}
			sorted := slices.Sorted(slices.Values(drawn))
			var want [5]float64
			for i, level := range QuantileLevels {
				at := float64(n-1) * level
				k := int(at)
				want[i] = sorted[k]
				if step := sorted[min(k+1, n-1)] - sorted[k]; step > 0 && at > float64(k) {
					want[i] += float64((at - float64(k)) * step)
				}
			}
			if got := quantiles(drawn); got != want {
				t.Errorf("%s, %d values: %v, want %v", values.name, n, got, want)
			}
			if slices.Sort(drawn); !slices.Equal(drawn, sorted) {
				t.Errorf("%s, %d values: values have changed, want the same in another order", values.name, n)
			}
		}
	}
}
