package theory

import (
	"math"
	"testing"
)

func TestReaches(t *testing.T) {
	steps, nan, inf := []int{0, 10, 30}, math.NaN(), math.Inf(1)
	for _, c := range []struct {
		values    []float64
		level     float64
		fromBelow bool
		want      float64
	}{
		{[]float64{0, 1, 3}, 0.5, true, 5},
		{[]float64{0, 1, 3}, 2, true, 20},
		{[]float64{0, 1, 3}, 0, true, 0},
		{[]float64{0, 1, 3}, 4, true, inf},
		{[]float64{0, 4, 2}, 3, true, 7.5}, // the first time
		{[]float64{3, 1, 0}, 2, false, 5},
		{[]float64{3, 1, 0}, -1, false, inf},
		{[]float64{0, 1, nan}, 0.5, true, 5},
		{[]float64{0, nan, 3}, 0.5, true, nan},
		{[]float64{0, inf, inf}, 0.5, true, 0},     // the upper edge of an unknown band
		{[]float64{0, -inf, -inf}, 0.5, true, inf}, // its lower edge
	} {
		if got := Reaches(steps, c.values, c.level, c.fromBelow); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v reaches %g at %g, want %g", c.values, c.level, got, c.want)
		}
	}
}
