package measure

import (
	"math"
	"testing"
)

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
