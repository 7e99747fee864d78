package theory

import (
	"testing"

	"grposim/rom"
)

// A prediction cache keeps at most MaxPredictions, and goroutines share them.
func TestPredictionsAreBounded(t *testing.T) {
	cache := NewCache()
	shared := cache.Sharing(2)
	for i := range MaxPredictions + 10 {
		key := Key{extent: 1, equilibriumKey: equilibriumKey{maxNorm: float64(i)}}
		shared.predictions.get(key, 1, MaxPredictions, func() *rom.Prediction { return nil })
	}
	if n := len(cache.predictions.known); n != 10 {
		t.Errorf("%d predictions are kept, want 10", n)
	}
}
