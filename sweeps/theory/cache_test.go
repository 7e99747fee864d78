package theory

import "testing"

// A prediction cache keeps at most MaxPredictions, and goroutines share them.
func TestPredictionsAreBounded(t *testing.T) {
	cache := NewCache()
	shared := cache.Sharing(2)
	for i := range MaxPredictions + 10 {
		shared.predictions.put(Key{extent: 1, equilibriumKey: equilibriumKey{maxNorm: float64(i)}}, nil)
	}
	if n := len(cache.predictions.known); n != 10 {
		t.Errorf("%d predictions are kept, want 10", n)
	}
}
