package theory

import (
	"testing"

	"grposim/rom"
)

// A prediction cache keeps at most maxPredictions, and goroutines share them.
func TestPredictionsAreBounded(t *testing.T) {
	cache := NewCache()
	shared := cache.Sharing(2)
	for i := range maxPredictions + 10 {
		key := keyOf(rom.Params{Start: []float64{float64(i)}})
		shared.predictions.get(key, 1, maxPredictions, func() *rom.Prediction { return nil })
	}
	if n := len(cache.predictions.known); n != 10 {
		t.Errorf("%d predictions are kept, want 10", n)
	}
}
