package measure

import (
	"math"
	"testing"
)

// The extrapolated slope of sin at 0 is off by d⁴/30 to leading order, within the stated bound.
func TestExtrapolated(t *testing.T) {
	for _, d := range []float64{0.01, 0.1, 0.5} {
		near, far := math.Sin(d)/d, math.Sin(2*d)/(2*d)
		slope := Extrapolated(near, far)
		if off := 1 - slope; math.Abs(off/(math.Pow(d, 4)/30)-1) > 0.1 || off > Bent(near, slope, d) {
			t.Errorf("d = %g: off by %g, stated ± %g, want d⁴/30", d, off, Bent(near, slope, d))
		}
	}
}
