package weight

import (
	"math"
	"testing"

	"grposim/option"
)

// Slopes are differences of the weights.
func TestSlopes(t *testing.T) {
	imp := option.Importance{ClipLow: 0.2, ClipHigh: 0.3, Cap: 3, Floor: 0.1}
	imp.Temperature.Positive, imp.Temperature.Negative = 1, 1.05
	imp.Power.Positive, imp.Power.Negative, imp.Decay.Positive, imp.Decay.Negative = 2, 3, 2, 1.5
	const h, old = 1e-6, 0.3
	for mode := range weightings {
		imp.Mode = option.ImportanceMode(mode)
		for _, ratio := range []float64{0.5, 0.9, 1, 1.2, 2.1, 5} {
			lowUp, lowDown := At(&imp, ratio-h, old)
			highUp, highDown := At(&imp, ratio+h, old)
			up, down := Slopes(&imp, ratio, old)
			if math.Abs((highUp-lowUp)/(2*h)-up) > 1e-6 || math.Abs((highDown-lowDown)/(2*h)-down) > 1e-6 {
				t.Errorf("%v at %v: slopes %v and %v", imp.Mode, ratio, up, down)
			}
		}
	}
}
